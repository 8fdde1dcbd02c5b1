// diff(): the differences of neighbours along an axis.
//
//     Buffer<float> steps = diff(x);              // x[1] - x[0], x[2] - x[1], ...
//     diff(to, image, {.axis = 0});
#pragma once

#include <volley/algorithms/any_sink.hpp>
#include <volley/algorithms/any_source.hpp>
#include <volley/buffer.hpp>
#include <volley/event.hpp>
#include <volley/lang/operators.hpp>
#include <volley/queue.hpp>

#include <concepts>
#include <optional>

namespace volley {

struct DiffOptions {
    int axis = -1;
    std::optional<Queue> queue = {};
};

namespace detail {

VOLLEY_API Event run_diff(const AnySink& to, const AnySource& from, const AnyFunction& subtract,
                          const DiffOptions& options);
[[nodiscard]] VOLLEY_API AnyBuffer new_diff(const AnySource& from, const AnyFunction& subtract,
                                            const DiffOptions& options);

template <class X>
concept DiffOutput = std::derived_from<X, AnyBuffer> || std::derived_from<X, AnySink>;
template <class T>
[[nodiscard]] const AnyFunction& diff_subtraction() {
    static_assert(!lang::is_bool<T>, "volley: bool has no difference: convert it, as in cast<i32>(lazy(x))");
    static const AnyFunction subtract = trace_function([](Value<T> a, Value<T> b) { return a - b; });
    return subtract;
}

}  // namespace detail

/// Returns the differences of neighbours along an axis, `x[k + 1] - x[k]`: one element fewer than x has. An
/// axis of length 0 gives a length of 0. The output must not overlap the input.
template <detail::DiffOutput To, Source S>
Event diff(const To& to, const S& x, const DiffOptions& options = {}) {
    return detail::run_diff(to, x, detail::diff_subtraction<source_element_t<S>>(), options);
}
template <Source S>
[[nodiscard]] Buffer<source_element_t<S>> diff(const S& x, const DiffOptions& options = {}) {
    using T = source_element_t<S>;
    return Buffer<T>(detail::new_diff(x, detail::diff_subtraction<T>(), options));
}

}  // namespace volley
