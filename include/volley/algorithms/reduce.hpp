// reduce: sums, extrema and other reductions of arrays, over all axes or any set of them.
//
//     float total = reduce::sum(a).item();
//     Buffer<float> rows = reduce::max(image, {.axes = {-1}, .keepdims = true});
//     auto squares = map([](Value<u32> i, Buff<const float> x) { return x[i] * x[i]; });
//     float energy = reduce::sum(squares(a)).item();
//     Buffer<u32> best = reduce::argmin(costs, {.axes = {1}});
//
// Each reduction exists in two forms. `Buffer<R> sum(source, options)` returns a new buffer, and
// `Event sum(sink, source, options)` writes to a buffer or store map of the result's type and shape. Neither
// blocks; `.item()` of the buffer does. Sources are buffers, maps and lazy expressions, which are computed in
// the same kernel. The result has the shape of the source without the reduced axes (rank 0 if all are
// reduced), or with length 1 there if `keepdims` is set.
//
// Cost: the source is read once. Long reductions with few results take a second, small launch, which combines
// the results of workgroups; their intermediate memory is a few kilobytes, or a small part of the result's
// size for many results.
//
// Results are deterministic for a device and a shape: the order of operations never depends on timing.
//
// Types of results:
//
// | reduction | integers, bool | f16, f32, f64, complex, vectors |
// |---|---|---|
// | sum, prod, dot | i64 or u64, as in NumPy: sums of fewer than 2^32 elements are exact | the type |
// | mean, variance, stddev, norm | f32 (the sum of a mean is exact) | the type; variance and norm: real |
// | min, max, bit_and, bit_or, bit_xor | the type | the type |
// | argmin, argmax, count_if | u32 | u32 |
// | any, all | bool | bool |
//
// f16 is computed in f32 and rounded once. To compute in another type, convert the source:
// `reduce::sum(cast<double>(lazy(x)))`.
//
// Accuracy of float sums: with u = 2^-24 for f32 and 2^-53 for f64, the error of a sum of n numbers is at
// most (min(ceil(log2(n)), 6) + 2) u sum(|x|), to first order in u: blocks of at most 32 numbers are summed
// pairwise, and the blocks with a compensation of their rounding errors. Pairwise summation has
// ceil(log2(n)) u. An infinity or NaN in the source, or an overflow of a partial sum, gives an infinity or
// NaN, as a plain sum does. mean, dot and norm are computed by such sums. dot and norm add the roundings of
// their products; a norm overflows if the sum of squares does. Variances are computed from means and squared
// deviations of blocks, which are merged (Chan, Golub and LeVeque); they are never negative.
//
// min and max order floats as IEEE 754's minimum and maximum: NaN is the result if one is in the array, and
// -0 is less than +0. argmin and argmax return the first of equal elements, where -0 is less than +0, and the
// first NaN is smaller and greater than all numbers. This holds on every device.
#pragma once

#include <volley/algorithms/any_sink.hpp>
#include <volley/algorithms/any_source.hpp>
#include <volley/buffer.hpp>
#include <volley/event.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/math.hpp>
#include <volley/queue.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace volley {

/// Tuning parameters of reductions. Zero means the default of the device class. They do not affect exact
/// results; those of floats may round differently.
struct ReduceTuning {
    /// Invocations of a workgroup: a power of two that the device allows.
    std::uint32_t local = 0;
    /// Elements that an invocation loads at once: a power of two of at most 32.
    std::uint32_t unroll = 0;
    /// The most workgroups that share the elements of one result. 1 forbids the second launch.
    std::uint32_t splits = 0;
};

struct ReduceOptions {
    /// The axes to reduce; negative axes count from the end. Empty: all.
    std::vector<int> axes = {};
    /// Keeps the reduced axes, with length 1.
    bool keepdims = false;
    /// The queue to run on. Unset: all queues that have the buffers.
    std::optional<Queue> queue = {};
    ReduceTuning tuning = {};
};

/// As ReduceOptions, for reduce::reduce().
struct ReduceOperatorOptions {
    std::vector<int> axes = {};
    bool keepdims = false;
    /// Allows operands in any order, which is faster for long rows: elements of one row are then loaded by
    /// neighbouring invocations. Otherwise op needs only be associative.
    bool commutative = false;
    std::optional<Queue> queue = {};
    ReduceTuning tuning = {};
};

/// As ReduceOptions, for reduce::variance() and reduce::stddev().
struct VarianceOptions {
    std::vector<int> axes = {};
    /// The sum of squared deviations is divided by n - ddof: 0 for the variance of a population, 1 for the
    /// estimate from a sample.
    double ddof = 0;
    bool keepdims = false;
    std::optional<Queue> queue = {};
    ReduceTuning tuning = {};
};

namespace detail {

enum class Reduction : std::uint8_t {
    Sum,
    Prod,
    Min,
    Max,
    ArgMin,
    ArgMax,
    Any,
    All,
    BitAnd,
    BitOr,
    BitXor,
    Mean,
    Variance,
    Stddev,
    Norm,
    Operator,
};

/// A reduction with everything but its arrays.
struct ReduceCall {
    Reduction reduction;
    DType result;
    std::string_view name;  // for messages
    double ddof = 0;
    const AnyFunction* function = nullptr;  // of an Operator
    const void* identity = nullptr;         // of an Operator: the bytes of a value of type result
    bool commutative = true;
};

[[nodiscard]] VOLLEY_API AnyBuffer reduce(const ReduceCall& call, const AnySource& source,
                                          const ReduceOptions& options);
VOLLEY_API Event reduce(const ReduceCall& call, const AnySink& to, const AnySource& source,
                        const ReduceOptions& options);

template <class T>
using real_part_t = std::conditional_t<lang::is_complex<T>, lang::scalar_t<T>, T>;

/// The type of a sum: 64 bits for integers and bool.
template <class T>
struct SumResult {
    using type = T;
};
template <class T>
requires lang::is_whole<T> || lang::is_bool<T>
struct SumResult<T> {
    using component = std::conditional_t<std::is_signed_v<lang::scalar_t<T>>, std::int64_t, std::uint64_t>;
    using type = typename lang::Type<T>::template with<component>;
};
template <class T>
using sum_result_t = typename SumResult<T>::type;

/// The type of a mean: f32 for integers and bool.
template <class T>
struct MeanResult {
    using type = T;
};
template <class T>
requires lang::is_whole<T> || lang::is_bool<T>
struct MeanResult<T> {
    using type = typename lang::Type<T>::template with<float>;
};
template <class T>
using mean_result_t = typename MeanResult<T>::type;

// What each reduction takes, with advice for other types.
template <class T>
consteval void need_summable() {
    static_assert(lang::Numeric<T> && !lang::is_matrix<T>,
                  "volley: this reduction takes scalars, complex numbers and vectors: use reduce::reduce() "
                  "for other types");
}
template <class T>
consteval void need_ordered() {
    static_assert(
        lang::Scalar<T> && !lang::is_bool<T>,
        "volley: this reduction takes integers and floats: use reduce::any() or all() for bool, and "
        "reduce::reduce() for other types");
}
template <class T>
consteval void need_truth() {
    static_assert(lang::Scalar<T>,
                  "volley: this reduction takes scalars: reduce a map that compares the elements");
}
template <class T>
consteval void need_integers() {
    static_assert(lang::Scalar<T> && lang::is_whole<T> && !lang::is_bool<T>,
                  "volley: this reduction takes integers: use reduce::any() or all() for bool");
}
template <class T>
consteval void need_moments() {
    static_assert(lang::Scalar<T> || lang::is_complex<T>,
                  "volley: this reduction takes scalars and complex numbers: reduce a map of a component");
}

template <class T>
[[nodiscard]] ReduceOptions plain_options(const T& options) {
    return {options.axes, options.keepdims, options.queue, options.tuning};
}

}  // namespace detail

namespace reduce {

#define VOLLEY_REDUCTION(name, Reduction_, Result, need)                                                    \
    template <Source S>                                                                                     \
    [[nodiscard]] Buffer<Result<source_element_t<S>>> name(const S& source,                                 \
                                                           const ReduceOptions& options = {}) {             \
        using T = source_element_t<S>;                                                                      \
        detail::need<T>();                                                                                  \
        return Buffer<Result<T>>(detail::reduce(                                                            \
            {detail::Reduction::Reduction_, dtype_of<Result<T>>(), "reduce::" #name}, source, options));    \
    }                                                                                                       \
    template <Source S>                                                                                     \
    Event name(const AnySink& to, const S& source, const ReduceOptions& options = {}) {                     \
        using T = source_element_t<S>;                                                                      \
        detail::need<T>();                                                                                  \
        return detail::reduce({detail::Reduction::Reduction_, dtype_of<Result<T>>(), "reduce::" #name}, to, \
                              source, options);                                                             \
    }

template <class T>
using same_t = T;
template <class T>
using index_t = std::uint32_t;
template <class T>
using truth_t = bool;
template <class T>
using norm_t = detail::real_part_t<detail::mean_result_t<T>>;

/// The sum of the elements; 0 of nothing.
VOLLEY_REDUCTION(sum, Sum, detail::sum_result_t, need_summable)
/// The product of the elements; 1 of nothing.
VOLLEY_REDUCTION(prod, Prod, detail::sum_result_t, need_summable)
/// The least element. Throws ArgumentError if there is none.
VOLLEY_REDUCTION(min, Min, same_t, need_ordered)
/// The greatest element. Throws ArgumentError if there is none.
VOLLEY_REDUCTION(max, Max, same_t, need_ordered)
/// The position of the first least element: its row-major number in the reduced axes. Throws ArgumentError if
/// there is none.
VOLLEY_REDUCTION(argmin, ArgMin, index_t, need_ordered)
/// The position of the first greatest element, as argmin().
VOLLEY_REDUCTION(argmax, ArgMax, index_t, need_ordered)
/// Whether an element is not zero; NaN is not. False for nothing.
VOLLEY_REDUCTION(any, Any, truth_t, need_truth)
/// Whether all elements are not zero. True for nothing.
VOLLEY_REDUCTION(all, All, truth_t, need_truth)
/// The bits that all elements have; all bits for nothing.
VOLLEY_REDUCTION(bit_and, BitAnd, same_t, need_integers)
/// The bits that some element has; 0 for nothing.
VOLLEY_REDUCTION(bit_or, BitOr, same_t, need_integers)
/// The bits that an odd number of elements have; 0 for nothing.
VOLLEY_REDUCTION(bit_xor, BitXor, same_t, need_integers)
/// The sum divided by the number of elements. Throws ArgumentError if there are none.
VOLLEY_REDUCTION(mean, Mean, detail::mean_result_t, need_summable)
/// The square root of the sum of the squares of the elements' moduli; 0 of nothing.
VOLLEY_REDUCTION(norm, Norm, norm_t, need_moments)
#undef VOLLEY_REDUCTION

#define VOLLEY_VARIANCE(name, Reduction_)                                                                   \
    template <Source S>                                                                                     \
    [[nodiscard]] Buffer<norm_t<source_element_t<S>>> name(const S& source,                                 \
                                                           const VarianceOptions& options = {}) {           \
        using T = source_element_t<S>;                                                                      \
        detail::need_moments<T>();                                                                          \
        return Buffer<norm_t<T>>(detail::reduce(                                                            \
            {detail::Reduction::Reduction_, dtype_of<norm_t<T>>(), "reduce::" #name, options.ddof}, source, \
            detail::plain_options(options)));                                                               \
    }                                                                                                       \
    template <Source S>                                                                                     \
    Event name(const AnySink& to, const S& source, const VarianceOptions& options = {}) {                   \
        using T = source_element_t<S>;                                                                      \
        detail::need_moments<T>();                                                                          \
        return detail::reduce(                                                                              \
            {detail::Reduction::Reduction_, dtype_of<norm_t<T>>(), "reduce::" #name, options.ddof}, to,     \
            source, detail::plain_options(options));                                                        \
    }

/// The mean of the squared distances from the mean, divided by n - ddof instead of n. Throws ArgumentError
/// unless the number of elements exceeds ddof.
VOLLEY_VARIANCE(variance, Variance)
/// The square root of the variance.
VOLLEY_VARIANCE(stddev, Stddev)
#undef VOLLEY_VARIANCE

}  // namespace reduce

namespace detail {

/// The products of two sources, in the type that they are summed in.
template <Source A, Source B>
[[nodiscard]] AnySource products(const A& a, const B& b) {
    using T = source_element_t<A>;
    static_assert(std::same_as<source_element_t<B>, T>,
                  "volley: dot() takes two arrays of one type: convert one with cast<T>(lazy(buffer))");
    need_summable<T>();
    // f16 is multiplied in f32.
    using Wide = std::conditional_t<std::same_as<lang::scalar_t<T>, half>,
                                    typename lang::Type<T>::template with<float>, sum_result_t<T>>;
    static const AnyFunction product =
        trace_function([](Value<T> x, Value<T> y) { return cast<Wide>(x) * cast<Wide>(y); });
    return AnySource::computed(product, {AnySource(a), AnySource(b)});
}

template <class F, Source S>
[[nodiscard]] AnySource tested(const S& source, F predicate) {
    using T = source_element_t<S>;
    const AnyFunction function = trace_function(std::move(predicate));
    static_assert(std::same_as<lang::function_result_t<F>, bool> &&
                      std::same_as<lang::function_params_t<F>, lang::ParamList<Value<T>>>,
                  "volley: the predicate of count_if() takes a Value of the element type and returns a "
                  "Value<bool>");
    return AnySource::computed(function, {AnySource(source)});
}

template <class F, class T>
[[nodiscard]] AnyFunction reduce_operator(F op) {
    static_assert(std::same_as<lang::function_result_t<F>, T> &&
                      std::same_as<lang::function_params_t<F>, lang::ParamList<Value<T>, Value<T>>>,
                  "volley: the operator of reduce() takes two Values of the element type and returns one");
    return trace_function(std::move(op));
}

}  // namespace detail

namespace reduce {

/// The sum of the products of two arrays, which are broadcast to their common shape. Complex numbers are not
/// conjugated. 0 for nothing.
template <Source A, Source B>
[[nodiscard]] Buffer<detail::sum_result_t<source_element_t<A>>> dot(const A& a, const B& b,
                                                                    const ReduceOptions& options = {}) {
    using R = detail::sum_result_t<source_element_t<A>>;
    return Buffer<R>(detail::reduce({detail::Reduction::Sum, dtype_of<R>(), "reduce::dot"},
                                    detail::products(a, b), options));
}
template <Source A, Source B>
Event dot(const AnySink& to, const A& a, const B& b, const ReduceOptions& options = {}) {
    using R = detail::sum_result_t<source_element_t<A>>;
    return detail::reduce({detail::Reduction::Sum, dtype_of<R>(), "reduce::dot"}, to, detail::products(a, b),
                          options);
}

/// The number of elements for which the predicate, a lambda of the kernel language, is true:
/// `count_if(x, [](Value<float> v) { return v > 0.f; })`.
template <Source S, class F>
[[nodiscard]] Buffer<std::uint32_t> count_if(const S& source, F predicate,
                                             const ReduceOptions& options = {}) {
    return Buffer<std::uint32_t>(
        detail::reduce({detail::Reduction::Sum, dtype_of<std::uint32_t>(), "reduce::count_if"},
                       detail::tested(source, std::move(predicate)), options));
}
template <Source S, class F>
Event count_if(const AnySink& to, const S& source, F predicate, const ReduceOptions& options = {}) {
    return detail::reduce({detail::Reduction::Sum, dtype_of<std::uint32_t>(), "reduce::count_if"}, to,
                          detail::tested(source, std::move(predicate)), options);
}

/// Combines all elements with a lambda `op(Value<T> a, Value<T> b)` of the kernel language, which must be
/// associative: `reduce(1.f, [](Value<float> a, Value<float> b) { return a * b; }, x)`. T is any type of the
/// language, also a struct. Operands are in the row-major order of the reduced axes, unless the options say
/// that op is commutative. `identity` must satisfy op(identity, x) = op(x, identity) = x; it is the result of
/// nothing, and another identity needs no other kernel. Throws TraceError as kernel() does.
template <class F, Source S>
[[nodiscard]] Buffer<source_element_t<S>> reduce(const std::type_identity_t<source_element_t<S>>& identity,
                                                 F op, const S& source,
                                                 const ReduceOperatorOptions& options = {}) {
    using T = source_element_t<S>;
    const AnyFunction function = detail::reduce_operator<F, T>(std::move(op));
    return Buffer<T>(detail::reduce({detail::Reduction::Operator, dtype_of<T>(), "reduce::reduce", 0,
                                     &function, &identity, options.commutative},
                                    source, detail::plain_options(options)));
}
template <class F, Source S>
Event reduce(const AnySink& to, const std::type_identity_t<source_element_t<S>>& identity, F op,
             const S& source, const ReduceOperatorOptions& options = {}) {
    using T = source_element_t<S>;
    const AnyFunction function = detail::reduce_operator<F, T>(std::move(op));
    return detail::reduce({detail::Reduction::Operator, dtype_of<T>(), "reduce::reduce", 0, &function,
                           &identity, options.commutative},
                          to, source, detail::plain_options(options));
}

}  // namespace reduce
}  // namespace volley
