// The generators and the distributions of their words. Each operation is exact or correctly rounded except
// log, sin and cos, so that integers and uniform numbers are equal on all devices.
#include "algorithms/philox.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>

#include <array>
#include <cstddef>
#include <numbers>
#include <optional>
#include <vector>

namespace volley::random {
namespace {

constexpr u64 low_word = 0xffffffff;

Value<vec<u32, 2>> halves(const Value<u64>& x) {
    return make<vec<u32, 2>>(cast<u32>(x), cast<u32>(x >> 32U));
}

Value<u32> rotated(const Value<u32>& x, u32 by) { return (x << by) | (x >> (32 - by)); }

// A word that changes while the kernel is traced. A Value cannot be assigned to.
using Word = std::optional<Value<u32>>;

// Threefry with N words. Its key is extended by the parity of its words.
template <std::size_t N>
class Threefry {
public:
    Threefry(const std::array<Value<u32>, N>& key, const std::array<Value<u32>, N>& counter) {
        Word parity(Value<u32>(0x1bd11bda));
        for (std::size_t i = 0; i < N; ++i) {
            key_[i].emplace(key[i]);
            parity.emplace(*parity ^ key[i]);
            x_[i].emplace(counter[i] + key[i]);
        }
        key_[N].emplace(*parity);
    }
    void mix(std::size_t a, std::size_t b, u32 rotation) {
        x_[a].emplace(*x_[a] + *x_[b]);
        x_[b].emplace(rotated(*x_[b], rotation) ^ *x_[a]);
    }
    /// Adds the key after every fourth round.
    void add_key(u32 times) {
        for (std::size_t i = 0; i < N; ++i) x_[i].emplace(*x_[i] + *key_[(times + i) % (N + 1)]);
        x_[N - 1].emplace(*x_[N - 1] + times);
    }
    [[nodiscard]] const Value<u32>& operator[](std::size_t i) const { return *x_[i]; }

private:
    std::array<Word, N> x_;
    std::array<Word, N + 1> key_;
};

// Returns 53 of 64 bits as a whole number.
Value<double> whole_of(const Words2& words) {
    return fma(cast<double>(words.x >> 5U), 0x1p26, cast<double>(words.y >> 6U));
}

// Return a number in (0, 1] for a logarithm.
Value<float> positive_float(const Value<u32>& word) { return fma(cast<float>(word), 0x1p-32F, 0x1p-33F); }
Value<double> positive_double(const Words2& words) { return (whole_of(words) + 1.0) * 0x1p-53; }

}  // namespace

// The words are the low halves of u64, because vector units multiply the low halves of 64-bit lanes. The high
// halves may have any value: only the multiplication clears them, and it ignores them.
std::vector<Words4> philox_blocks(const Words2& key, std::span<const Words4> counters) {
    constexpr u64 multiplier0 = 0xd2511f53, multiplier1 = 0xcd9e8d57;
    constexpr u32 weyl0 = 0x9e3779b9, weyl1 = 0xbb67ae85;
    std::vector<std::vector<Value<u64>>> blocks;
    for (const Words4& counter : counters) {
        blocks.push_back(
            {cast<u64>(counter.x), cast<u64>(counter.y), cast<u64>(counter.z), cast<u64>(counter.w)});
    }
    for (u32 round = 0; round < 10; ++round) {
        const Value<u64> key0 = cast<u64>(key.x + round * weyl0), key1 = cast<u64>(key.y + round * weyl1);
        for (std::vector<Value<u64>>& x : blocks) {
            const Value<u64> product0 = (x[0] & low_word) * multiplier0;
            const Value<u64> product1 = (x[2] & low_word) * multiplier1;
            std::vector<Value<u64>> next{(product1 >> 32U) ^ x[1] ^ key0, product1,
                                         (product0 >> 32U) ^ x[3] ^ key1, product0};
            x.swap(next);
        }
    }
    std::vector<Words4> words;
    words.reserve(blocks.size());
    for (const std::vector<Value<u64>>& x : blocks)
        words.push_back(
            make<vec<u32, 4>>(cast<u32>(x[0]), cast<u32>(x[1]), cast<u32>(x[2]), cast<u32>(x[3])));
    return words;
}

Words4 philox(const Words2& key, const Words4& counter) { return philox_blocks(key, {&counter, 1}).front(); }

Words4 threefry(const Words4& key, const Words4& counter) {
    constexpr u32 rotations[8][2] = {{10, 26}, {11, 21}, {13, 27}, {23, 5},
                                     {6, 20},  {17, 11}, {25, 10}, {18, 20}};
    Threefry<4> state({key.x, key.y, key.z, key.w}, {counter.x, counter.y, counter.z, counter.w});
    for (u32 round = 0; round < 20; ++round) {
        const bool even = round % 2 == 0;
        state.mix(0, even ? 1 : 3, rotations[round % 8][0]);
        state.mix(2, even ? 3 : 1, rotations[round % 8][1]);
        if (round % 4 == 3) state.add_key(round / 4 + 1);
    }
    return make<vec<u32, 4>>(state[0], state[1], state[2], state[3]);
}

Words2 threefry(const Words2& key, const Words2& counter) {
    constexpr u32 rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
    Threefry<2> state({key.x, key.y}, {counter.x, counter.y});
    for (u32 round = 0; round < 20; ++round) {
        state.mix(0, 1, rotations[round % 8]);
        if (round % 4 == 3) state.add_key(round / 4 + 1);
    }
    return make<vec<u32, 2>>(state[0], state[1]);
}

Value<float> unit_float(const Value<u32>& word) { return cast<float>(word >> 8U) * 0x1p-24F; }

Value<double> unit_double(const Words2& words) { return whole_of(words) * 0x1p-53; }

Value<vec<float, 2>> normal_floats(const Words2& words) {
    const Value<float> radius = sqrt(log(positive_float(words.x)) * -2.F);
    const Value<float> angle = cast<float>(bit_cast<i32>(words.y)) * (std::numbers::pi_v<float> * 0x1p-31F);
    return make<vec<float, 2>>(radius * cos(angle), radius * sin(angle));
}

Value<vec<double, 2>> normal_doubles(const Words4& words) {
    const Value<double> radius = sqrt(log(positive_double(words.xy())) * -2.0);
    const Value<double> angle = (unit_double(words.zw()) - 0.5) * (2 * std::numbers::pi);
    return make<vec<double, 2>>(radius * cos(angle), radius * sin(angle));
}

Value<float> exponential_float(const Value<u32>& word) { return -log(positive_float(word)); }
Value<double> exponential_double(const Words2& words) { return -log(positive_double(words)); }

Value<u32> integer_below(const Value<u32>& range, const Words2& words) {
    const Value<u64> r = cast<u64>(range);
    const Value<u64> low = (cast<u64>(words.y) * r) >> 32U;
    return select(range == 0U, words.x, cast<u32>((cast<u64>(words.x) * r + low) >> 32U));
}

Philox::Philox(lang::In<u64> seed, lang::In<u64> stream)
    : key_(halves(Value<u64>(seed.ref))),
      stream_(halves(Value<u64>(stream.ref))),
      blocks_(0U),
      words_(Value<vec<u32, 4>>(0U)),
      left_(0U) {}

Words4 Philox::next4() {
    left_ = 0U;
    return block();
}

Words4 Philox::block() {
    const Value<u32> number = blocks_;
    blocks_ = number + 1U;
    return philox(key_, make<vec<u32, 4>>(number, 0U, stream_.x, stream_.y));
}

Value<u32> Philox::next() {
    $if (left_ == 0U) {
        words_ = block();
        left_ = 4U;
    }
    left_ -= 1U;
    return words_[3U - left_];
}

Value<float> Philox::uniform() { return unit_float(next()); }

Value<float> Philox::normal() {
    const Value<u32> first = next();
    return normal_floats(make<vec<u32, 2>>(first, next())).x;
}

Value<u32> Philox::below(lang::In<u32> range) {
    const Value<u32> first = next();
    return integer_below(Value<u32>(range.ref), make<vec<u32, 2>>(first, next()));
}

}  // namespace volley::random
