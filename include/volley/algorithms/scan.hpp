// Scans (prefix sums): element k of the result combines the elements 0 to k of a line (inclusive), or an
// initial value and those before k (exclusive), by addition or any associative operator.
//
//     Buffer<float> running = scan::inclusive_sum(x);  // along the last axis
//     Buffer<u32> offsets = scan::exclusive_sum(counts);
//     Buffer<i32> peaks = scan::inclusive([](Value<i32> a, Value<i32> b) { return max(a, b); }, x);
//     scan::inclusive_sum(to, x, {.axis = 0, .reverse = true});  // into a buffer or store map
//     Buffer<float> totals = scan::inclusive_sum(x, {.segments = scan::by_key(keys)});
//
// Operands are combined in order, so that the operator need not be commutative. Elements are of any type,
// structs and complex numbers included. The result has the type of the input: convert small integers, as in
// inclusive_sum(cast<i64>(lazy(x))), if their sums overflow. Sums of floats are deterministic for a given
// device and size.
//
// Cost: one pass over memory, and one kernel, where there are enough lines to occupy the device, and on the
// CPU backend for lines along the last axis. Otherwise lines are cut into parts, and three or more kernels
// read the input twice. The functions do not block. The output may be the input buffer itself, but must not
// overlap it otherwise.
#pragma once

#include <volley/algorithms/any_sink.hpp>
#include <volley/algorithms/any_source.hpp>
#include <volley/buffer.hpp>
#include <volley/event.hpp>
#include <volley/lang/math.hpp>
#include <volley/lang/operators.hpp>
#include <volley/queue.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

namespace volley {
namespace detail {

template <class T>
[[nodiscard]] const AnyFunction& scan_equality() {
    static const AnyFunction equal = trace_function([](Value<T> a, Value<T> b) { return a == b; });
    return equal;
}
template <class T>
[[nodiscard]] const AnyFunction& scan_addition() {
    static_assert(!lang::is_bool<T>, "volley: bool has no sum: convert it, as in cast<u32>(lazy(flags))");
    static const AnyFunction add = trace_function([](Value<T> a, Value<T> b) { return a + b; });
    return add;
}

template <class T>
[[nodiscard]] const AnyFunction& scan_product() {
    static_assert(!lang::is_bool<T>, "volley: bool has no product: convert it, as in cast<u32>(lazy(flags))");
    static const AnyFunction multiply = trace_function([](Value<T> a, Value<T> b) { return a * b; });
    return multiply;
}

}  // namespace detail

/// Divides lines into segments, at whose starts a scan begins anew.
class VOLLEY_API ScanSegments {
public:
    /// For element types known at run time. Elements k and k + 1 are in one segment if `equal(key k, key k +
    /// 1)`.
    ScanSegments(AnySource keys, AnyFunction equal);
    /// A segment starts where the flag, a bool or an integer, is not zero, and at the start of each line.
    explicit ScanSegments(AnySource flags);

    [[nodiscard]] const AnySource& source() const noexcept { return source_; }
    [[nodiscard]] const std::optional<AnyFunction>& equal() const noexcept { return equal_; }

private:
    AnySource source_;
    std::optional<AnyFunction> equal_;
};

/// The shape of the kernels. Zero: the default of the device's class. Results of floats depend on it.
struct ScanTuning {
    /// Elements that an invocation scans one after the other, where lines are cut. Default: 256; 32 on GPUs.
    std::uint32_t part = 0;
    /// CPU backend, lines along the last axis: bytes of a tile, which a workgroup keeps in the cache while it
    /// waits for the tile before it. Default: 16 to 256 KiB, by the length of the line.
    std::uint32_t tile_bytes = 0;
    /// The number of lines from which they are not cut. Default: by the number of cores; 16384 on GPUs.
    std::uint32_t enough_lines = 0;
};

struct ScanOptions {
    /// The axis of the lines; negative axes count from the end.
    int axis = -1;
    /// Scans from the end of each line to its start. Segments stay the same.
    bool reverse = false;
    std::optional<ScanSegments> segments = {};
    /// The queue to run on. Unset: all queues that have the buffers.
    std::optional<Queue> queue = {};
    ScanTuning tuning = {};
};

namespace scan {

/// Returns segments of neighbours with equal keys. The keys have the shape of the scanned array.
template <Source K>
[[nodiscard]] ScanSegments by_key(const K& keys) {
    return {AnySource(keys), detail::scan_equality<source_element_t<K>>()};
}
/// Returns segments that start where a flag is set.
template <Source F>
[[nodiscard]] ScanSegments by_flags(const F& flags) {
    return ScanSegments(AnySource(flags));
}
/// Returns segments of a one-dimensional array with `length` elements that start at these offsets, which may
/// be repeated (the segment is empty) or equal `length`. Larger ones are ignored. Launches two kernels.
[[nodiscard]] VOLLEY_API ScanSegments by_offsets(const AnySource& offsets, std::int64_t length,
                                                 const std::optional<Queue>& queue = {});

}  // namespace scan

namespace detail {

/// What a scan computes.
struct ScanRequest {
    AnyFunction op;
    std::optional<AnyArgument> initial = {};
    bool exclusive = false;  ///< needs `initial`
};

VOLLEY_API Event run_scan(const AnySink& to, const AnySource& from, const ScanRequest& request,
                          const ScanOptions& options);
[[nodiscard]] VOLLEY_API AnyBuffer new_scan(const AnySource& from, const ScanRequest& request,
                                            const ScanOptions& options);

template <class X>
concept ScanOutput = std::derived_from<X, AnyBuffer> || std::derived_from<X, AnySink>;

template <class T, class Op>
[[nodiscard]] AnyFunction scan_operator(Op op) {
    static_assert(std::same_as<lang::function_params_t<Op>, lang::ParamList<Value<T>, Value<T>>> &&
                      std::same_as<lang::function_result_t<Op>, T>,
                  "volley: this operator takes two Value<T> and returns one, where T is the type of the "
                  "elements");
    return trace_function(std::move(op));
}

}  // namespace detail

namespace scan {

// All functions throw ArgumentError for an axis out of range, for other types and shapes, and for overlaps,
// and TraceError for what the operator throws, before anything runs.

/// Combines the elements up to and including each one.
template <detail::ScanOutput To, class Op, Source S>
Event inclusive(const To& to, Op op, const S& x, const ScanOptions& options = {}) {
    return detail::run_scan(to, x, {.op = detail::scan_operator<source_element_t<S>>(std::move(op))},
                            options);
}
template <class Op, Source S>
[[nodiscard]] Buffer<source_element_t<S>> inclusive(Op op, const S& x, const ScanOptions& options = {}) {
    using T = source_element_t<S>;
    return Buffer<T>(detail::new_scan(x, {.op = detail::scan_operator<T>(std::move(op))}, options));
}

/// The same, after an initial value: the first result is `op(initial, x[0])`, in each segment.
template <detail::ScanOutput To, class Op, Source S>
Event inclusive(const To& to, const source_element_t<S>& initial, Op op, const S& x,
                const ScanOptions& options = {}) {
    using T = source_element_t<S>;
    return detail::run_scan(to, x, {.op = detail::scan_operator<T>(std::move(op)), .initial = initial},
                            options);
}
template <class Op, Source S>
[[nodiscard]] Buffer<source_element_t<S>> inclusive(const source_element_t<S>& initial, Op op, const S& x,
                                                    const ScanOptions& options = {}) {
    using T = source_element_t<S>;
    return Buffer<T>(
        detail::new_scan(x, {.op = detail::scan_operator<T>(std::move(op)), .initial = initial}, options));
}

/// Combines an initial value, usually the identity of the operator, and the elements before each one. The
/// first result is the initial value, in each segment.
template <detail::ScanOutput To, class Op, Source S>
Event exclusive(const To& to, const source_element_t<S>& initial, Op op, const S& x,
                const ScanOptions& options = {}) {
    using T = source_element_t<S>;
    return detail::run_scan(
        to, x, {.op = detail::scan_operator<T>(std::move(op)), .initial = initial, .exclusive = true},
        options);
}
template <class Op, Source S>
[[nodiscard]] Buffer<source_element_t<S>> exclusive(const source_element_t<S>& initial, Op op, const S& x,
                                                    const ScanOptions& options = {}) {
    using T = source_element_t<S>;
    return Buffer<T>(detail::new_scan(
        x, {.op = detail::scan_operator<T>(std::move(op)), .initial = initial, .exclusive = true}, options));
}

/// Sum the elements up to and including, or before, each one.
template <detail::ScanOutput To, Source S>
Event inclusive_sum(const To& to, const S& x, const ScanOptions& options = {}) {
    return detail::run_scan(to, x, {.op = detail::scan_addition<source_element_t<S>>()}, options);
}
template <Source S>
[[nodiscard]] Buffer<source_element_t<S>> inclusive_sum(const S& x, const ScanOptions& options = {}) {
    using T = source_element_t<S>;
    return Buffer<T>(detail::new_scan(x, {.op = detail::scan_addition<T>()}, options));
}
template <detail::ScanOutput To, Source S>
Event exclusive_sum(const To& to, const S& x, const ScanOptions& options = {}) {
    using T = source_element_t<S>;
    return detail::run_scan(to, x, {.op = detail::scan_addition<T>(), .initial = T{}, .exclusive = true},
                            options);
}
template <Source S>
[[nodiscard]] Buffer<source_element_t<S>> exclusive_sum(const S& x, const ScanOptions& options = {}) {
    using T = source_element_t<S>;
    return Buffer<T>(
        detail::new_scan(x, {.op = detail::scan_addition<T>(), .initial = T{}, .exclusive = true}, options));
}

}  // namespace scan

struct CumsumOptions {
    /// Unset: the elements in row-major order, as NumPy does; the result has one axis then.
    std::optional<int> axis = {};
    std::optional<Queue> queue = {};
};

namespace detail {

[[nodiscard]] inline AnySource cumulated(const AnySource& x, const CumsumOptions& options) {
    return options.axis ? x : x.reshape(Shape(x.size()));
}
[[nodiscard]] inline ScanOptions cumulate_options(const CumsumOptions& options) {
    return {.axis = options.axis.value_or(-1), .queue = options.queue};
}

}  // namespace detail

/// Returns running sums; as scan::inclusive_sum().
template <detail::ScanOutput To, Source S>
Event cumsum(const To& to, const S& x, const CumsumOptions& options = {}) {
    return detail::run_scan(to, detail::cumulated(x, options),
                            {.op = detail::scan_addition<source_element_t<S>>()},
                            detail::cumulate_options(options));
}
template <Source S>
[[nodiscard]] Buffer<source_element_t<S>> cumsum(const S& x, const CumsumOptions& options = {}) {
    using T = source_element_t<S>;
    return Buffer<T>(detail::new_scan(detail::cumulated(x, options), {.op = detail::scan_addition<T>()},
                                      detail::cumulate_options(options)));
}
/// Returns running products.
template <detail::ScanOutput To, Source S>
Event cumprod(const To& to, const S& x, const CumsumOptions& options = {}) {
    return detail::run_scan(to, detail::cumulated(x, options),
                            {.op = detail::scan_product<source_element_t<S>>()},
                            detail::cumulate_options(options));
}
template <Source S>
[[nodiscard]] Buffer<source_element_t<S>> cumprod(const S& x, const CumsumOptions& options = {}) {
    using T = source_element_t<S>;
    return Buffer<T>(detail::new_scan(detail::cumulated(x, options), {.op = detail::scan_product<T>()},
                                      detail::cumulate_options(options)));
}

}  // namespace volley
