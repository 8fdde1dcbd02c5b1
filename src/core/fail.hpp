// Makes detail::fail available to the library as volley::fail: it throws the exception class of an error
// code.
#pragma once

#include <volley/error.hpp>

namespace volley {

using detail::fail;

/// Throws InternalError for a state that the library's logic rules out. Used instead of assert, which would
/// abort the program.
[[noreturn]] inline void fail_internal(std::string_view what_failed, std::string_view subject = {}) {
    fail(ErrorCode::Internal, what_failed, subject, "this is a bug in volley: please report it");
}

}  // namespace volley
