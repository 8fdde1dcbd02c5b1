// Counter-based random numbers inside kernels: Philox4x32-10 and Threefry of Salmon et al., "Parallel Random
// Numbers: As Easy as 1, 2, 3" (2011). They are pure functions of a key and a counter, so any invocation
// computes any part of a stream. The results are those of Random123 and equal on all devices.
//
//     auto words = random::philox({seed, 0u}, {i, 0u, 0u, 0u});       // four random words
//     auto x = random::unit_float(words.x);                           // in [0, 1)
//
//     random::Philox generator(seed, i);                              // one stream for each invocation
//     auto y = generator.uniform() + generator.normal();
//
// random.hpp fills buffers.
#pragma once

#include <volley/lang/math.hpp>
#include <volley/lang/var.hpp>
#include <volley/lang/vector.hpp>

namespace volley::random {

/// Words of random bits, keys and counters, while a kernel is traced.
using Words2 = Value<vec<u32, 2>>;
using Words4 = Value<vec<u32, 4>>;

/// Return random words for a key and a counter: Philox4x32 with 10 rounds, Threefry4x32 and Threefry2x32 with
/// 20 rounds. Philox is the fastest on most devices.
[[nodiscard]] VOLLEY_API Words4 philox(const Words2& key, const Words4& counter);
[[nodiscard]] VOLLEY_API Words4 threefry(const Words4& key, const Words4& counter);
[[nodiscard]] VOLLEY_API Words2 threefry(const Words2& key, const Words2& counter);

/// Returns a multiple of 2^-24 in [0, 1).
[[nodiscard]] VOLLEY_API Value<float> unit_float(const Value<u32>& word);
/// Returns a multiple of 2^-53 in [0, 1).
[[nodiscard]] VOLLEY_API Value<double> unit_double(const Words2& words);
/// Returns two independent numbers of the standard normal distribution by the transform of Box and Muller.
/// They differ by at most 2e-6 from those of exact arithmetic, and are at most 6.8 in magnitude.
[[nodiscard]] VOLLEY_API Value<vec<float, 2>> normal_floats(const Words2& words);
/// The same with 53 bits. They are at most 8.6 in magnitude.
[[nodiscard]] VOLLEY_API Value<vec<double, 2>> normal_doubles(const Words4& words);
/// Returns a number of the exponential distribution with rate 1.
[[nodiscard]] VOLLEY_API Value<float> exponential_float(const Value<u32>& word);
[[nodiscard]] VOLLEY_API Value<double> exponential_double(const Words2& words);
/// Returns an integer below `range` from 64 random bits. The probabilities differ by less than 2^-32 of
/// themselves. Returns the first word if `range` is 0, which stands for 2^32.
[[nodiscard]] VOLLEY_API Value<u32> integer_below(const Value<u32>& range, const Words2& words);

/// A sequence of random numbers of each invocation, with state in variables: Philox with the key `seed` and
/// the counter (block, 0, low and high word of `stream`). Give each invocation its own stream. A period has
/// 2^34 words.
class VOLLEY_API Philox {
public:
    Philox(lang::In<u64> seed, lang::In<u64> stream);
    Philox(const Philox&) = delete;
    Philox& operator=(const Philox&) = delete;

    /// Returns the next four words, without those that are left of the last four.
    [[nodiscard]] Words4 next4();
    /// Returns the next word. One call in four computes new ones.
    [[nodiscard]] Value<u32> next();
    /// Returns the next number in [0, 1), from one word.
    [[nodiscard]] Value<float> uniform();
    /// Returns the next number of the standard normal distribution, from two words.
    [[nodiscard]] Value<float> normal();
    /// Returns the next integer below `range`, from two words.
    [[nodiscard]] Value<u32> below(lang::In<u32> range);

private:
    Words4 block();

    Var<vec<u32, 2>> key_;
    Var<vec<u32, 2>> stream_;
    Var<u32> blocks_;
    Var<vec<u32, 4>> words_;
    Var<u32> left_;
};

}  // namespace volley::random
