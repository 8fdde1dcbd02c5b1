// Brings detail::fail into namespace volley for the library's own code: one statement throws the class that
// belongs to the code.
#pragma once

#include <volley/error.hpp>

namespace volley {

using detail::fail;

/// A state that the library's own logic excludes. Used instead of assert, which would abort the program.
[[noreturn]] inline void fail_internal(std::string_view what_failed, std::string_view subject = {}) {
    fail(ErrorCode::Internal, what_failed, subject, "this is a defect of volley: please report it");
}

}  // namespace volley
