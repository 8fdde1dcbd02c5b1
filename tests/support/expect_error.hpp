// Expects errors of the library: their code, and all three parts of their message.
#pragma once

#include <volley/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace volley::testing {

/// Runs f, which must throw a volley::Error of that code with all three parts; returns its text.
template <class F>
std::string error_of(ErrorCode code, F&& f) {
    try {
        f();
    } catch (const Error& error) {
        EXPECT_EQ(to_string(error.code()), to_string(code)) << error.what();
        EXPECT_FALSE(error.what_failed().empty()) << error.what();
        EXPECT_FALSE(error.subject().empty()) << error.what();
        EXPECT_FALSE(error.advice().empty()) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

inline void expect_contains(const std::string& text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

}  // namespace volley::testing
