// docs/errors.md has a section for every error code, and names the class that the code throws.
#include "core/fail.hpp"

#include <gtest/gtest.h>
#include <volley/error.hpp>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace volley {
namespace {

std::string read_error_document() {
    std::ifstream in(VOLLEY_ERROR_DOCUMENT);
    EXPECT_TRUE(in) << "cannot open " << VOLLEY_ERROR_DOCUMENT;
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// New codes are added at the end, so the first number without a name ends the list.
std::vector<ErrorCode> every_error_code() {
    std::vector<ErrorCode> codes;
    for (int i = 0; to_string(static_cast<ErrorCode>(i)) != "unknown"; ++i)
        codes.push_back(static_cast<ErrorCode>(i));
    return codes;
}

std::string_view class_thrown_for(ErrorCode code) {
    try {
        fail(code, "what", "where", "how");
    } catch (const ArgumentError&) {
        return "ArgumentError";
    } catch (const MemoryError&) {
        return "MemoryError";
    } catch (const LaunchError&) {
        return "LaunchError";
    } catch (const TraceError&) {
        return "TraceError";
    } catch (const IrError&) {
        return "IrError";
    } catch (const CompileError&) {
        return "CompileError";
    } catch (const DeviceError&) {
        return "DeviceError";
    } catch (const InternalError&) {
        return "InternalError";
    }
}

TEST(ErrorDocument, HasASectionForEveryCode) {
    const std::string document = read_error_document();
    for (const ErrorCode code : every_error_code()) {
        const std::string heading =
            "\n### `" + std::string(to_string(code)) + "` (`" + std::string(class_thrown_for(code)) + "`)\n";
        EXPECT_NE(document.find(heading), std::string::npos)
            << "docs/errors.md has no section" << heading << "with the code's meaning and what to do";
    }
}

TEST(ErrorDocument, HasNoSectionForACodeThatIsGone) {
    const std::string document = read_error_document();
    std::size_t sections = 0;
    for (std::size_t at = document.find("\n### "); at != std::string::npos;
         at = document.find("\n### ", at + 1))
        ++sections;
    EXPECT_EQ(sections, every_error_code().size());
}

}  // namespace
}  // namespace volley
