// Random numbers for tests: small, fast, and identical on every machine and standard library, so that a
// printed seed reproduces a failure anywhere. VOLLEY_SEED=n in the environment replaces the seed of every
// test; VOLLEY_FIRST_SEED=n is the first seed of tests with many seeds.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <vector>

namespace volley::testing {

/// SplitMix64.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {
        state_ += 0x9e3779b97f4a7c15u;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    /// Returns 0 to n - 1.
    std::uint64_t below(std::uint64_t n) { return bits() % n; }
    /// Returns low to high, inclusive.
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
    }
    bool chance(unsigned percent) { return below(100) < percent; }
    /// Returns 0 <= x < 1.
    double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
    double uniform(double low, double high) { return low + (high - low) * unit(); }

    template <class T>
    T pick(std::initializer_list<T> choices) {
        return choices.begin()[below(choices.size())];
    }
    template <class T>
    const T& pick(const std::vector<T>& choices) {
        return choices[below(choices.size())];
    }

private:
    std::uint64_t state_;
};

inline std::uint64_t number_in_environment(const char* name, std::uint64_t otherwise) {
    const char* const text = std::getenv(name);
    return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 0) : otherwise;
}

/// Returns VOLLEY_SEED if it is set, else `otherwise`.
inline std::uint64_t seed_or(std::uint64_t otherwise) {
    return number_in_environment("VOLLEY_SEED", otherwise);
}

/// Returns the first seed of a test with many seeds: VOLLEY_FIRST_SEED if it is set, else `otherwise`.
inline std::uint64_t first_seed_or(std::uint64_t otherwise) {
    return number_in_environment("VOLLEY_FIRST_SEED", otherwise);
}

}  // namespace volley::testing
