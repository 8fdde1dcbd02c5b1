// Random arrays. Element i of a stream depends only on the seed, the stream and i: it is the same on every
// device, for every shape and in every part of a larger fill.
//
//     Buffer<float> x = random::uniform<float>({1024, 1024}, {.seed = 7});
//     Buffer<float> z = random::normal<float>(1000, {.seed = 7, .stream = 1, .stddev = 0.1});
//     Buffer<int> dice = random::integers<int>(100, {.low = 1, .high = 7});
//     random::uniform(x, {.seed = 8, .low = -1});                       // into a buffer or store map
//     Buffer<float> mixed = random::shuffle(x, {.seed = 7});            // rows in random order
//
// The generator is Philox4x32-10 with the key `seed` and the counter (block: 64 bits, stream: 64 bits).
// Element i of 32-bit floats is computed from word i % 4 of block i / 4, of doubles and integers of up to 32
// bits from words 2 * (i % 2) and the next one of block i / 2, and of a wider range of integers from block i.
// Two normal floats come from two words, two normal doubles from a block.
//
// Integers and uniform numbers are equal to the bit on all devices. Normal and exponential ones differ by the
// rounding of log, sin and cos (docs/ir.md). All functions run without blocking.
#pragma once

#include <volley/algorithms/any_sink.hpp>
#include <volley/algorithms/any_source.hpp>
#include <volley/algorithms/random_generators.hpp>
#include <volley/buffer.hpp>
#include <volley/dyn.hpp>
#include <volley/event.hpp>
#include <volley/queue.hpp>

#include <concepts>
#include <optional>

namespace volley::random {

/// A seed: a whole number, or while a graph is recorded, dyn<u64>("name"), so that each instance of the graph
/// can have other numbers.
class Seed {
public:
    // NOLINTBEGIN(google-explicit-constructor): seeds are written as numbers
    template <ExtentInteger I>
    Seed(I number) : value_(static_cast<u64>(number)) {}
    Seed(const DynamicValue<u64>& name) : value_(name) {}
    // NOLINTEND(google-explicit-constructor)
    [[nodiscard]] const AnyArgument& value() const noexcept { return value_; }

private:
    AnyArgument value_;
};

/// A bound of integers(): any whole number of 64 bits.
class Whole {
public:
    template <ExtentInteger I>
    constexpr Whole(I number) noexcept  // NOLINT(google-explicit-constructor): written as a number
        : bits_(static_cast<u64>(number)), negative_(std::cmp_less(number, 0)) {}
    [[nodiscard]] constexpr u64 bits() const noexcept { return bits_; }
    [[nodiscard]] constexpr bool is_negative() const noexcept { return negative_; }

private:
    u64 bits_;
    bool negative_;
};

struct UniformOptions {
    Seed seed = 0;
    u64 stream = 0;                   ///< streams of one seed are independent
    u64 offset = 0;                   ///< the number of the first element in its stream
    double low = 0;                   ///< the smallest number
    double high = 1;                  ///< numbers are below it
    std::optional<Queue> queue = {};  ///< unset: all queues that have the output
};

struct NormalOptions {
    Seed seed = 0;
    u64 stream = 0;
    u64 offset = 0;
    double mean = 0;
    double stddev = 1;
    std::optional<Queue> queue = {};
};

struct ExponentialOptions {
    Seed seed = 0;
    u64 stream = 0;
    u64 offset = 0;
    double rate = 1;  ///< the mean is 1 / rate
    std::optional<Queue> queue = {};
};

struct IntegerOptions {
    Seed seed = 0;
    u64 stream = 0;
    u64 offset = 0;
    std::optional<Whole> low = {};   ///< the smallest number; unset: 0 if high is set, else that of the type
    std::optional<Whole> high = {};  ///< numbers are below it; unset: as many as the type has
    std::optional<Queue> queue = {};
};

struct PermutationOptions {
    Seed seed = 0;
    u64 stream = 0;
    std::optional<Queue> queue = {};
};

struct ShuffleOptions {
    Seed seed = 0;
    u64 stream = 0;
    /// The axis whose elements, rows of the others, change places; negative axes count from the end.
    int axis = 0;
    std::optional<Queue> queue = {};
};

// These throw ArgumentError: TypeMismatch for outputs of another type, InvalidArgument for parameters without
// a distribution (low >= high, stddev < 0, rate <= 0, NaN), before anything is written.

/// Fills with numbers in [low, high): f16, f32 or f64 from 11, 24 or 53 random bits.
VOLLEY_API Event uniform(const AnySink& to, const UniformOptions& options = {});
/// Fills with numbers of a normal distribution: f16, f32 or f64. Standard normal floats differ by at most
/// 2e-6 from those of exact arithmetic.
VOLLEY_API Event normal(const AnySink& to, const NormalOptions& options = {});
/// Fills with numbers of an exponential distribution: f16, f32 or f64.
VOLLEY_API Event exponential(const AnySink& to, const ExponentialOptions& options = {});
/// Fills with integers in [low, high), of any integer type. The probabilities of up to 2^32 different numbers
/// deviate from equal ones by less than 2^-32 of themselves, of more by less than 2^-64.
VOLLEY_API Event integers(const AnySink& to, const IntegerOptions& options = {});
/// Fills a one-dimensional array of u32 with the numbers below its length in random order. Each element is
/// computed by itself, by a keyed bijection (a Feistel network). Not every order occurs: there are more
/// orders of 21 elements than seeds.
VOLLEY_API Event permutation(const AnySink& to, const PermutationOptions& options = {});
/// Stores `from` with the elements of an axis in random order: take(from, permutation(n), {.axis = axis}).
/// `to` may be a buffer that `from` reads, which takes a temporary copy of it.
VOLLEY_API Event shuffle(const AnySink& to, const AnySource& from, const ShuffleOptions& options = {});

namespace detail {
[[nodiscard]] VOLLEY_API AnyBuffer new_result(DType type, const Shape& shape,
                                              const std::optional<Queue>& queue);
[[nodiscard]] VOLLEY_API AnyBuffer shuffled(const AnySource& source, const ShuffleOptions& options);
}  // namespace detail

/// As above, into a new buffer.
template <class T>
[[nodiscard]] Buffer<T> uniform(const Shape& shape, const UniformOptions& options = {}) {
    Buffer<T> result(detail::new_result(dtype_of<T>(), shape, options.queue));
    uniform(result, options);
    return result;
}
template <class T>
[[nodiscard]] Buffer<T> normal(const Shape& shape, const NormalOptions& options = {}) {
    Buffer<T> result(detail::new_result(dtype_of<T>(), shape, options.queue));
    normal(result, options);
    return result;
}
template <class T>
[[nodiscard]] Buffer<T> exponential(const Shape& shape, const ExponentialOptions& options = {}) {
    Buffer<T> result(detail::new_result(dtype_of<T>(), shape, options.queue));
    exponential(result, options);
    return result;
}
template <ExtentInteger T>
[[nodiscard]] Buffer<T> integers(const Shape& shape, const IntegerOptions& options = {}) {
    Buffer<T> result(detail::new_result(dtype_of<T>(), shape, options.queue));
    integers(result, options);
    return result;
}
[[nodiscard]] inline Buffer<u32> permutation(u32 count, const PermutationOptions& options = {}) {
    Buffer<u32> result(detail::new_result(dtype_of<u32>(), count, options.queue));
    permutation(result, options);
    return result;
}
template <Source S>
[[nodiscard]] Buffer<source_element_t<S>> shuffle(const S& source, const ShuffleOptions& options = {}) {
    return Buffer<source_element_t<S>>(detail::shuffled(source, options));
}

}  // namespace volley::random
