// Shared by the tests of the language: the IR of a kernel as text, and the message of a failed trace.
#pragma once

#include "ir/printer.hpp"

#include <volley/error.hpp>
#include <volley/lang/lang.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace volley::test {

using ::testing::HasSubstr;
using ::testing::Not;

/// Returns the printed body of a kernel, without its first and last line and without locations.
template <class F>
std::string body_of(F&& f) {
    const auto kernel = lang::trace_kernel("k", f);
    std::string text = ir::print(kernel.function(), {.locations = false});
    text.erase(0, text.find("kernel"));
    text.erase(0, text.find('\n') + 1);
    text.erase(text.rfind('}'));
    return text;
}

/// Returns the message of the TraceError that tracing f throws; empty if it throws none.
template <class F>
std::string error_of(F&& f, const lang::TraceOptions& options = {}) {
    try {
        static_cast<void>(lang::trace_kernel("k", f, options));
    } catch (const TraceError& e) {
        return e.what();
    }
    return {};
}

inline std::size_t count_of(std::string_view text, std::string_view piece) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(piece, at)) != std::string_view::npos; at += piece.size())
        ++count;
    return count;
}

}  // namespace volley::test
