// The three parts of a message, and the class that each code throws.
#include "core/fail.hpp"

#include <gtest/gtest.h>
#include <volley/error.hpp>

#include <string>

namespace volley {
namespace {

TEST(Error, JoinsThreePartsIntoOneMessage) {
    const Error error(ErrorCode::InvalidLaunch, "the launch failed", "kernel 'scale'", "use a smaller grid");
    EXPECT_STREQ(error.what(), "the launch failed; kernel 'scale'; use a smaller grid");
    EXPECT_EQ(error.what_failed(), "the launch failed");
    EXPECT_EQ(error.subject(), "kernel 'scale'");
    EXPECT_EQ(error.advice(), "use a smaller grid");
    EXPECT_EQ(error.code(), ErrorCode::InvalidLaunch);
}

TEST(Error, LeavesEmptyPartsOut) {
    const Error error(ErrorCode::Internal, "it failed", "", "report it");
    EXPECT_STREQ(error.what(), "it failed; report it");
    EXPECT_EQ(error.subject(), "");
    EXPECT_EQ(error.advice(), "report it");
    EXPECT_STREQ(Error(ErrorCode::Internal, "alone").what(), "alone");
    EXPECT_STREQ(Error(ErrorCode::Internal, "", "subject").what(), "subject");
}

TEST(Error, CopiesKeepTheirPartsAndCannotThrow) {
    static_assert(std::is_nothrow_copy_constructible_v<Error>);
    static_assert(std::is_nothrow_copy_constructible_v<LaunchError>);
    std::string text = "what";
    const Error original(ErrorCode::Timeout, text, "where", "how");
    text = "gone";
    const Error copy = original;
    EXPECT_EQ(copy.what_failed(), "what");
    EXPECT_EQ(copy.advice(), "how");
}

template <class Family>
void expect_family(ErrorCode code) {
    try {
        fail(code, "what", "where", "how");
    } catch (const Family& error) {
        EXPECT_EQ(error.code(), code);
        return;
    } catch (const Error& error) {
        ADD_FAILURE() << to_string(code) << " threw another class: " << error.what();
        return;
    }
    ADD_FAILURE() << to_string(code) << " did not throw";
}

TEST(Error, FailThrowsTheClassOfTheCode) {
    expect_family<ArgumentError>(ErrorCode::InvalidArgument);
    expect_family<ArgumentError>(ErrorCode::InvalidShape);
    expect_family<ArgumentError>(ErrorCode::Overflow);
    expect_family<ArgumentError>(ErrorCode::TypeMismatch);
    expect_family<ArgumentError>(ErrorCode::SizeMismatch);
    expect_family<ArgumentError>(ErrorCode::InvalidView);
    expect_family<ArgumentError>(ErrorCode::IndexError);
    expect_family<MemoryError>(ErrorCode::OutOfMemory);
    expect_family<MemoryError>(ErrorCode::NotAllocated);
    expect_family<MemoryError>(ErrorCode::NotHostAccessible);
    expect_family<LaunchError>(ErrorCode::InvalidLaunch);
    expect_family<LaunchError>(ErrorCode::WrongContext);
    expect_family<TraceError>(ErrorCode::TraceError);
    expect_family<IrError>(ErrorCode::IrError);
    expect_family<CompileError>(ErrorCode::CompileError);
    expect_family<DeviceError>(ErrorCode::Unsupported);
    expect_family<DeviceError>(ErrorCode::DeviceLost);
    expect_family<DeviceError>(ErrorCode::Timeout);
    expect_family<DeviceError>(ErrorCode::UnknownDevice);
    expect_family<InternalError>(ErrorCode::Internal);
}

TEST(Error, FamiliesHaveAGeneralCode) {
    EXPECT_EQ(TraceError("no kernel is being traced").code(), ErrorCode::TraceError);
    EXPECT_EQ(LaunchError(ErrorCode::WrongContext, "mixed").code(), ErrorCode::WrongContext);
}

TEST(Error, EveryCodeHasAName) {
    EXPECT_EQ(to_string(ErrorCode::InvalidArgument), "InvalidArgument");
    EXPECT_EQ(to_string(ErrorCode::Internal), "Internal");
    for (int i = 0; i <= static_cast<int>(ErrorCode::Internal); ++i) {
        EXPECT_NE(to_string(static_cast<ErrorCode>(i)), "unknown");
    }
}

}  // namespace
}  // namespace volley
