// Adds the enclosing object to the subject of an error: a shape whose size overflows is reported together
// with the buffer that was to have it.
#pragma once

#include "core/fail.hpp"
#include "core/text.hpp"

#include <string>

namespace volley {

/// Calls f and returns its result. If f throws an Error, rethrows it with subject() prepended to its subject;
/// subject() is called only then.
template <class Subject, class F>
decltype(auto) on_behalf_of(Subject&& subject, F&& f) {
    try {
        return f();
    } catch (const Error& error) {
        const std::string whole =
            error.subject().empty() ? std::string(subject()) : cat(subject(), ", ", error.subject());
        fail(error.code(), error.what_failed(), whole, error.advice());
    }
}

}  // namespace volley
