// Selections: copy_if(), partition(), unique(), run_length_encode(), indices_if() and nonzero(). All of them
// keep the order of the elements.
//
//     Buffer<float> positive = copy_if(x, [](Value<float> a) { return a > 0.f; });
//     Buffer<float> inside = copy_if(x, lazy(y) < 1.f);  // a mask: another array, of bool
//     auto [values, lengths] = run_length_encode(sort(ids));
//     copy_if(to, count, x, lazy(x) > 0.f);              // does not block; count[0] is the number kept
//
// Only the device knows how many elements a selection keeps, so there are two forms:
//
// With outputs (buffers or store maps with one axis, of at least as many elements as the input, and a count,
// which is an output of one u32) a function does not block and can be recorded. Elements of the outputs after
// the last one selected keep their values.
//
// Without outputs it returns buffers of the exact size. It blocks until the number is known, so it cannot be
// recorded. It counts first, and needs no temporary of the size of the input.
//
// Inputs are buffers, maps and lazy expressions of any shape, read in row-major order. Those with outputs run
// in one pass on the CPU backend and evaluate each element once; otherwise in two passes, which evaluate it
// twice (partition() always does). Results are the same on every device. Outputs must not overlap inputs.
#pragma once

#include <volley/algorithms/any_sink.hpp>
#include <volley/algorithms/any_source.hpp>
#include <volley/buffer.hpp>
#include <volley/event.hpp>
#include <volley/lang/operators.hpp>
#include <volley/lang/vector.hpp>
#include <volley/queue.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace volley {

/// The shape of the kernels. Zero: the default of the device's class. Any values give the same result.
struct SelectTuning {
    /// CPU backend: bytes of the elements that a workgroup selects at once, and keeps in the cache until the
    /// tiles before have been counted. Default: 64 KiB; 16 KiB for few elements. At most 1 MiB.
    std::uint32_t tile_bytes = 0;
    /// Other devices: neighbouring elements that an invocation tests one after the other. Default: by the
    /// number of cores; 32 on GPUs. At most 32768.
    std::uint32_t strip = 0;
    /// CPU backend: whether to count all elements first instead of running in one pass: 1 yes, 2 no.
    std::uint32_t two_passes = 0;
};

struct SelectOptions {
    /// The queue to run on. Unset: all queues that have the buffers.
    std::optional<Queue> queue = {};
    SelectTuning tuning = {};
};

namespace detail {

/// Which elements are selected: those with a true element of `mask`; those for which the predicate is true;
/// or, if `runs`, those that are not equal to the element before. One of `mask` and `function` is set.
struct SelectTest {
    std::optional<AnySource> mask = {};
    std::optional<AnyFunction> function = {};  ///< the predicate or equality
    bool runs = false;
};

template <class P>
concept SelectPredicate = Source<P> || lang::Callable<P>;

template <class T, SelectPredicate P>
[[nodiscard]] SelectTest select_test(const P& predicate) {
    if constexpr (Source<P>) {
        static_assert(std::same_as<source_element_t<P>, bool>,
                      "volley: a mask is an array of bool, for example lazy(x) != 0");
        return {.mask = AnySource(predicate)};
    } else {
        static_assert(std::same_as<lang::function_params_t<P>, lang::ParamList<Value<T>>> &&
                          std::same_as<lang::function_result_t<P>, bool>,
                      "volley: a predicate takes one Value<T>, where T is the type of the elements, and "
                      "returns a Value<bool>");
        return {.function = trace_function(predicate)};
    }
}

template <class T>
[[nodiscard]] SelectTest select_heads() {
    static const AnyFunction equal = trace_function([](Value<T> a, Value<T> b) {
        if constexpr (lang::is_vector<T>) {
            return all(a == b);
        } else {
            return a == b;
        }
    });
    return {.function = equal, .runs = true};
}
template <class T, class Equal>
[[nodiscard]] SelectTest select_heads(const Equal& equal) {
    static_assert(
        std::same_as<lang::function_params_t<Equal>, lang::ParamList<Value<T>, Value<T>>> &&
            std::same_as<lang::function_result_t<Equal>, bool>,
        "volley: this equality takes two Value<T>, where T is the type of the elements, and returns "
        "a Value<bool>");
    return {.function = trace_function(equal), .runs = true};
}

VOLLEY_API Event run_copy_if(const AnySink& to, const AnySink& count, const AnySource& from,
                             const SelectTest& test, const SelectOptions& options);
[[nodiscard]] VOLLEY_API AnyBuffer new_copy_if(const AnySource& from, const SelectTest& test,
                                               const SelectOptions& options);
VOLLEY_API Event run_partition(const AnySink& to, const AnySink& count, const AnySource& from,
                               const SelectTest& test, const SelectOptions& options);
[[nodiscard]] VOLLEY_API std::pair<AnyBuffer, AnyBuffer> new_partition(const AnySource& from,
                                                                       const SelectTest& test,
                                                                       const SelectOptions& options);
VOLLEY_API Event run_indices_if(const AnySink& to, const AnySink& count, const AnySource& from,
                                const SelectTest& test, const SelectOptions& options);
[[nodiscard]] VOLLEY_API AnyBuffer new_indices_if(const AnySource& from, const SelectTest& test,
                                                  const SelectOptions& options);
VOLLEY_API Event run_length_encoding(const AnySink& values_to, const AnySink& lengths_to,
                                     const AnySink& count, const AnySource& from, const SelectTest& heads,
                                     const SelectOptions& options);
[[nodiscard]] VOLLEY_API std::pair<AnyBuffer, AnyBuffer> new_run_lengths(const AnySource& from,
                                                                         const SelectTest& heads,
                                                                         const SelectOptions& options);

template <class X>
concept SelectOutput = std::derived_from<X, AnyBuffer> || std::derived_from<X, AnySink>;

}  // namespace detail

// All functions throw ArgumentError for other types, for outputs with too few elements or more than one axis,
// for a mask of another shape and for overlaps, and TraceError for what a lambda throws, before anything
// runs. Those that block throw ArgumentError while a graph is recorded.

/// Stores the elements for which a predicate is true, in their order. The predicate is a lambda that takes a
/// Value<T>, or a mask: an array of bool with the shape of the input. Does not block.
template <detail::SelectOutput To, detail::SelectOutput Count, Source S, detail::SelectPredicate P>
Event copy_if(const To& to, const Count& count, const S& from, const P& predicate,
              const SelectOptions& options = {}) {
    return detail::run_copy_if(to, count, from, detail::select_test<source_element_t<S>>(predicate), options);
}
/// Returns these elements. Blocks.
template <Source S, detail::SelectPredicate P>
[[nodiscard]] Buffer<source_element_t<S>> copy_if(const S& from, const P& predicate,
                                                  const SelectOptions& options = {}) {
    using T = source_element_t<S>;
    return Buffer<T>(detail::new_copy_if(from, detail::select_test<T>(predicate), options));
}

/// The result of partition().
template <class T>
struct Partitioned {
    Buffer<T> elements;
    Buffer<std::uint32_t> count;  ///< one element: how many are in the first part
};

/// Stores the elements for which a predicate is true, and after them the others, both in their order. Stores
/// the number of the first ones to `count`. Does not block.
template <detail::SelectOutput To, detail::SelectOutput Count, Source S, detail::SelectPredicate P>
Event partition(const To& to, const Count& count, const S& from, const P& predicate,
                const SelectOptions& options = {}) {
    return detail::run_partition(to, count, from, detail::select_test<source_element_t<S>>(predicate),
                                 options);
}
/// Returns the elements so divided. Does not block.
template <Source S, detail::SelectPredicate P>
[[nodiscard]] Partitioned<source_element_t<S>> partition(const S& from, const P& predicate,
                                                         const SelectOptions& options = {}) {
    using T = source_element_t<S>;
    std::pair<AnyBuffer, AnyBuffer> result =
        detail::new_partition(from, detail::select_test<T>(predicate), options);
    return {Buffer<T>(std::move(result.first)), Buffer<std::uint32_t>(std::move(result.second))};
}

/// Stores the first element of each run of equal neighbours, as std::unique does; in a sorted array these are
/// the different elements. Equality is == by default (so that each NaN is a run), or a lambda that takes two
/// neighbours, the earlier one first. Does not block.
template <detail::SelectOutput To, detail::SelectOutput Count, Source S>
Event unique(const To& to, const Count& count, const S& from, const SelectOptions& options = {}) {
    return detail::run_copy_if(to, count, from, detail::select_heads<source_element_t<S>>(), options);
}
template <detail::SelectOutput To, detail::SelectOutput Count, Source S, lang::Callable Equal>
Event unique(const To& to, const Count& count, const S& from, const Equal& equal,
             const SelectOptions& options = {}) {
    return detail::run_copy_if(to, count, from, detail::select_heads<source_element_t<S>>(equal), options);
}
/// Returns these elements. Blocks.
template <Source S>
[[nodiscard]] Buffer<source_element_t<S>> unique(const S& from, const SelectOptions& options = {}) {
    using T = source_element_t<S>;
    return Buffer<T>(detail::new_copy_if(from, detail::select_heads<T>(), options));
}
template <Source S, lang::Callable Equal>
[[nodiscard]] Buffer<source_element_t<S>> unique(const S& from, const Equal& equal,
                                                 const SelectOptions& options = {}) {
    using T = source_element_t<S>;
    return Buffer<T>(detail::new_copy_if(from, detail::select_heads<T>(equal), options));
}

/// The result of run_length_encode().
template <class T>
struct EncodedRuns {
    Buffer<T> values;
    Buffer<std::uint32_t> lengths;
};

/// Stores the first element and the length (a u32) of each run of equal neighbours, and the number of runs.
/// Equality is that of unique(). Needs temporary memory for one u32 per element. Does not block.
template <detail::SelectOutput Values, detail::SelectOutput Lengths, detail::SelectOutput Count, Source S>
Event run_length_encode(const Values& values, const Lengths& lengths, const Count& count, const S& from,
                        const SelectOptions& options = {}) {
    return detail::run_length_encoding(values, lengths, count, from,
                                       detail::select_heads<source_element_t<S>>(), options);
}
template <detail::SelectOutput Values, detail::SelectOutput Lengths, detail::SelectOutput Count, Source S,
          lang::Callable Equal>
Event run_length_encode(const Values& values, const Lengths& lengths, const Count& count, const S& from,
                        const Equal& equal, const SelectOptions& options = {}) {
    return detail::run_length_encoding(values, lengths, count, from,
                                       detail::select_heads<source_element_t<S>>(equal), options);
}
/// Returns the values and lengths of the runs. Blocks.
template <Source S>
[[nodiscard]] EncodedRuns<source_element_t<S>> run_length_encode(const S& from,
                                                                 const SelectOptions& options = {}) {
    using T = source_element_t<S>;
    std::pair<AnyBuffer, AnyBuffer> runs = detail::new_run_lengths(from, detail::select_heads<T>(), options);
    return {Buffer<T>(std::move(runs.first)), Buffer<std::uint32_t>(std::move(runs.second))};
}
template <Source S, lang::Callable Equal>
[[nodiscard]] EncodedRuns<source_element_t<S>> run_length_encode(const S& from, const Equal& equal,
                                                                 const SelectOptions& options = {}) {
    using T = source_element_t<S>;
    std::pair<AnyBuffer, AnyBuffer> runs =
        detail::new_run_lengths(from, detail::select_heads<T>(equal), options);
    return {Buffer<T>(std::move(runs.first)), Buffer<std::uint32_t>(std::move(runs.second))};
}

/// Stores the row-major numbers (u32) of the elements for which a predicate is true. Does not block.
template <detail::SelectOutput To, detail::SelectOutput Count, Source S, detail::SelectPredicate P>
Event indices_if(const To& to, const Count& count, const S& from, const P& predicate,
                 const SelectOptions& options = {}) {
    return detail::run_indices_if(to, count, from, detail::select_test<source_element_t<S>>(predicate),
                                  options);
}
/// Returns these numbers. Blocks.
template <Source S, detail::SelectPredicate P>
[[nodiscard]] Buffer<std::uint32_t> indices_if(const S& from, const P& predicate,
                                               const SelectOptions& options = {}) {
    return Buffer<std::uint32_t>(
        detail::new_indices_if(from, detail::select_test<source_element_t<S>>(predicate), options));
}

/// Stores the row-major numbers (u32) of the elements that are true or not zero, as numpy.flatnonzero() does.
/// NaN is not zero. Does not block.
template <detail::SelectOutput To, detail::SelectOutput Count, Source S>
Event nonzero(const To& to, const Count& count, const S& from, const SelectOptions& options = {}) {
    const AnySource source(from);
    return detail::run_indices_if(to, count, source, {.mask = source}, options);
}
/// Returns these numbers. Blocks.
template <Source S>
[[nodiscard]] Buffer<std::uint32_t> nonzero(const S& from, const SelectOptions& options = {}) {
    const AnySource source(from);
    return Buffer<std::uint32_t>(detail::new_indices_if(source, {.mask = source}, options));
}

}  // namespace volley
