// Errors of what a thing is made of, told as the thing's own: the size of a shape that overflows is named
// with the buffer that was to have it.
#pragma once

#include "core/fail.hpp"
#include "core/text.hpp"

#include <string>

namespace volley {

/// Calls f. What it refuses is said of subject() too, a text that is made only then.
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
