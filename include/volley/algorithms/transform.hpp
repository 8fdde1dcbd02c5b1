// transform(): evaluates a source into a buffer or store map. evaluate(): into a new buffer.
//
//     transform(c, lazy(a) * 2.f + lazy(b));
//     Buffer<float> d = evaluate(map(f)(a, b));
#pragma once

#include <volley/algorithms/any_sink.hpp>
#include <volley/algorithms/any_source.hpp>
#include <volley/buffer.hpp>
#include <volley/event.hpp>
#include <volley/queue.hpp>

#include <optional>
#include <utility>

namespace volley {

struct TransformOptions {
    /// The queue to run on. Unset: all queues that have the buffers.
    std::optional<Queue> queue = {};
};

/// Stores the elements of `from` to `to`, in one kernel. Does not block. The shapes must be equal; `from` may
/// also be broadcast to the shape of `to`. A buffer may be read and written at the same elements; a map that
/// reads other elements than its own must not read the buffer that is written.
///
/// Throws ArgumentError for different types, shapes, and other overlaps, before anything runs.
VOLLEY_API Event transform(const AnySink& to, const AnySource& from, const TransformOptions& options = {});

namespace detail {
[[nodiscard]] VOLLEY_API AnyBuffer evaluate(const AnySource& source, const TransformOptions& options);
}

/// Returns a new buffer with the elements. Does not block.
template <Source S>
[[nodiscard]] Buffer<source_element_t<S>> evaluate(const S& source, const TransformOptions& options = {}) {
    return Buffer<source_element_t<S>>(detail::evaluate(source, options));
}

}  // namespace volley
