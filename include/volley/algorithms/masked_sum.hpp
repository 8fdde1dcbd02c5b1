// masked_sum(): weighted sums along an axis, with one weight for all elements at an index of that axis. Sums
// the rows of a matrix that a mask selects.
//
//     Buffer<std::complex<float>> total = masked_sum(visibilities, mask);        // sum_k mask[k] v[k, j]
//     Buffer<float> power = masked_amplitude_sum(visibilities, mask);            // sum_k mask[k] |v[k, j]|
//
// Elements with the weight 0, or false, do not count, whatever they are: NaN and infinities too. They are not
// read where the device can skip them. Sums are computed as by reduce::sum(), in one pass over the array,
// with its accuracy; those of integers have 64 bits. Sources are buffers, maps and lazy arrays; the result
// has the shape of the array without the axis. The functions do not block.
//
// All throw ArgumentError before anything is written: IndexError for an axis out of range, SizeMismatch for
// weights or outputs that do not fit, TypeMismatch and InvalidView for outputs.
#pragma once

#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/reduce.hpp>

#include <concepts>
#include <optional>

namespace volley {

struct MaskedSumOptions {
    int axis = 0;
    bool keepdims = false;            ///< keeps the axis, with length 1
    std::optional<Queue> queue = {};  ///< unset: all queues that have the buffers
    ReduceTuning tuning = {};
};

namespace detail {

/// Returns the weights in a shape that broadcasts along the other axes. Throws ArgumentError.
[[nodiscard]] VOLLEY_API AnySource weights_along(const AnySource& weights, const Shape& shape,
                                                 const MaskedSumOptions& options);
[[nodiscard]] VOLLEY_API ReduceOptions reduction_along(const MaskedSumOptions& options);

template <bool amplitudes, class T>
using weighted_t = std::conditional_t<amplitudes, real_part_t<T>, T>;

/// The elements, or their moduli, times their weights.
template <bool amplitudes, Source S, Source M>
[[nodiscard]] AnySource weighted(const S& source, const M& weights, const MaskedSumOptions& options) {
    using T = source_element_t<S>;
    using W = source_element_t<M>;
    using R = weighted_t<amplitudes, T>;
    need_moments<T>();
    static_assert(!lang::is_bool<T>, "volley: bool has no masked sum: convert it, as in convert<u32>(flags)");
    static_assert(
        std::same_as<W, bool> || std::same_as<W, real_part_t<T>>,
        "volley: the weights of masked_sum() are bool, or of the elements' (real) type: convert them "
        "with convert<T>(weights)");
    static const AnyFunction product = trace_function([](Value<T> x, Value<W> w) {
        const auto value = [&] {
            if constexpr (amplitudes) {
                return Value<R>(abs(x));
            } else {
                return x;
            }
        }();
        if constexpr (std::same_as<W, bool>) {
            return select(w, value, Value<R>(R{}));
        } else {
            return select(w != W{}, Value<R>(value * w), Value<R>(R{}));
        }
    });
    const AnySource array(source);
    return AnySource::computed(product, {array, weights_along(weights, array.shape(), options)});
}

template <class R>
[[nodiscard]] ReduceCall masked_call(std::string_view name) {
    return {Reduction::Sum, dtype_of<R>(), name};
}

}  // namespace detail

/// Returns the sums of the elements along an axis, each times the weight at its index. The weights are one-
/// dimensional: bool, or numbers of the elements' type, for complex elements of that of their parts.
template <Source S, Source M>
[[nodiscard]] auto masked_sum(const S& source, const M& weights, const MaskedSumOptions& options = {}) {
    using R = detail::sum_result_t<source_element_t<S>>;
    return Buffer<R>(detail::reduce(detail::masked_call<R>("masked_sum"),
                                    detail::weighted<false>(source, weights, options),
                                    detail::reduction_along(options)));
}
template <Source S, Source M>
Event masked_sum(const AnySink& to, const S& source, const M& weights, const MaskedSumOptions& options = {}) {
    using R = detail::sum_result_t<source_element_t<S>>;
    return detail::reduce(detail::masked_call<R>("masked_sum"), to,
                          detail::weighted<false>(source, weights, options),
                          detail::reduction_along(options));
}

/// The same for the absolute values of the elements, which are real.
template <Source S, Source M>
[[nodiscard]] auto masked_amplitude_sum(const S& source, const M& weights,
                                        const MaskedSumOptions& options = {}) {
    using R = detail::sum_result_t<detail::real_part_t<source_element_t<S>>>;
    return Buffer<R>(detail::reduce(detail::masked_call<R>("masked_amplitude_sum"),
                                    detail::weighted<true>(source, weights, options),
                                    detail::reduction_along(options)));
}
template <Source S, Source M>
Event masked_amplitude_sum(const AnySink& to, const S& source, const M& weights,
                           const MaskedSumOptions& options = {}) {
    using R = detail::sum_result_t<detail::real_part_t<source_element_t<S>>>;
    return detail::reduce(detail::masked_call<R>("masked_amplitude_sum"), to,
                          detail::weighted<true>(source, weights, options), detail::reduction_along(options));
}

}  // namespace volley
