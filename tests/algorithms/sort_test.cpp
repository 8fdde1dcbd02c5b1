// sort(), argsort() and sort_by_key() against std::stable_sort.
#include "support/device_fixture.hpp"
#include "support/expect_error.hpp"

#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/sort.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

namespace volley {
namespace {

/// The order that sort.hpp documents.
template <class T>
bool comes_before(const T& a, const T& b) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        const int nan_a = std::isnan(a) ? 1 + std::signbit(a) : 0;
        const int nan_b = std::isnan(b) ? 1 + std::signbit(b) : 0;
        if (nan_a != nan_b) return nan_a < nan_b;
        if (nan_a != 0) return false;
        if (a == b) return std::signbit(a) && !std::signbit(b);
    }
    return a < b;
}

template <class T>
std::vector<u32> stable_order(const std::vector<T>& x, bool descending = false) {
    std::vector<u32> order(x.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) {
        return descending ? comes_before(x[b], x[a]) : comes_before(x[a], x[b]);
    });
    return order;
}

template <class T>
std::vector<T> gathered(const std::vector<T>& x, const std::vector<u32>& order) {
    std::vector<T> result;
    for (const u32 i : order) result.push_back(x[i]);
    return result;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
std::vector<T> random_keys(std::size_t count, std::mt19937& random, u64 limit = 0) {
    std::vector<T> keys(count);
    for (T& key : keys) {
        const u64 bits = u64{random()} << 32U | random();
        if constexpr (std::is_floating_point_v<T>) {
            key = static_cast<T>(static_cast<double>(bits) / 1e18 - 9);
        } else {
            key = static_cast<T>(limit == 0 ? bits : bits % limit);
        }
    }
    return keys;
}

template <class T>
void expect_sorts(const std::vector<T>& keys, const SortOptions& options = {}) {
    const Buffer<T> x = as_buffer(keys);
    const std::vector<u32> order = stable_order(keys, options.descending);
    EXPECT_TRUE(same_bits(sort(x, options).read(0), gathered(keys, order))) << keys.size();
    EXPECT_EQ(argsort(x, options).read(0), order) << keys.size();
}

VOLLEY_DEVICE_TEST(Sort, OrdersNumbersOfAllSizes) {
    std::mt19937 random(1);
    for (const std::size_t n : {0, 1, 2, 3, 31, 64, 257, 1000, 4099}) {
        expect_sorts(random_keys<u32>(n, random));
        expect_sorts(random_keys<i32>(n, random), {.descending = true});
        expect_sorts(random_keys<float>(n, random));
    }
}

}  // namespace
}  // namespace volley
