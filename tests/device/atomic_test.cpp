// Atomics under contention, on buffers and in shared memory, for every type that has them.
#include "support/device_test.hpp"

#include <volley/volley.hpp>

#include <algorithm>
#include <numeric>

namespace volley::testing {
namespace {

constexpr u32 count = 3000;  // several workgroups and threads on few places
constexpr u32 places = 3;

template <class T>
T operand(u32 i) {
    return static_cast<T>(i * 7 % 113);
}

template <class T>
void check_buffer_atomics() {
    Buffer<T> sums = as_buffer(std::vector<T>(places, T(1000)));
    Buffer<T> lows = as_buffer(std::vector<T>(places, T(50)));
    Buffer<T> highs = as_buffer(std::vector<T>(places, T(50)));
    kernel("atomics", [](Buff<T> sum, Buff<T> low, Buff<T> high) {
        const auto i = global_id().x;
        const auto v = cast<T>(i * 7 % 113);
        sum.atomic(i % places).add(v);
        $if (i % 2 == 0) {
            sum.atomic(i % places).sub(v);
        }
        low.atomic(i % places).min(v);
        high.atomic(i % places).max(v);
    }).over(count)(sums, lows, highs);
    std::vector<T> sum(places, T(1000)), low(places, T(50)), high(places, T(50));
    for (u32 i = 0; i < count; ++i) {
        const T v = operand<T>(i);
        if (i % 2 != 0) sum[i % places] += v;  // whole numbers: exact in any order, in floats too
        low[i % places] = std::min(low[i % places], v);
        high[i % places] = std::max(high[i % places], v);
    }
    EXPECT_EQ(sums.read(0), sum) << dtype_of<T>().name();
    EXPECT_EQ(lows.read(0), low) << dtype_of<T>().name();
    EXPECT_EQ(highs.read(0), high) << dtype_of<T>().name();
}

VOLLEY_DEVICE_TEST(Atomic, AddSubMinMaxOnBuffers) {
    check_buffer_atomics<u32>();
    check_buffer_atomics<i32>();
    check_buffer_atomics<u64>();
    check_buffer_atomics<i64>();
    check_buffer_atomics<float>();
    check_buffer_atomics<double>();
}

template <class T>
void check_signed_min() {
    Buffer<T> data = as_buffer({T(5), T(-5)});
    kernel("signed", [](Buff<T> d) {
        const auto v = cast<T>(cast<i32>(global_id().x) - 50);
        d.atomic(0u).min(v);
        d.atomic(1u).max(v);
    }).over(100)(data);
    EXPECT_EQ(data.read(0), (std::vector<T>{T(-50), T(49)})) << dtype_of<T>().name();
}

VOLLEY_DEVICE_TEST(Atomic, MinAndMaxOfSignedNumbersOrderBySign) {
    check_signed_min<i32>();
    check_signed_min<i64>();
    check_signed_min<float>();
    check_signed_min<double>();
}

template <class T>
void check_bit_atomics() {
    Buffer<T> data = as_buffer({static_cast<T>(~T{0}), T{0}, T{0}});
    kernel("bits", [](Buff<T> d) {
        const auto i = global_id().x;
        const auto bit = cast<T>(1u) << cast<T>(i % (sizeof(T) * 8));
        $if (i % 3 == 0) {
            d.atomic(0u).bit_and(~bit);
        }
        $if (i % 5 == 0) {
            d.atomic(1u).bit_or(bit);
        }
        d.atomic(2u).bit_xor(bit);
    }).over(100)(data);
    T all = static_cast<T>(~T{0}), any = 0, odd = 0;
    for (u32 i = 0; i < 100; ++i) {
        const T bit = static_cast<T>(T{1} << (i % (sizeof(T) * 8)));
        if (i % 3 == 0) all = static_cast<T>(all & ~bit);
        if (i % 5 == 0) any = static_cast<T>(any | bit);
        odd = static_cast<T>(odd ^ bit);
    }
    EXPECT_EQ(data.read(0), (std::vector<T>{all, any, odd})) << dtype_of<T>().name();
}

VOLLEY_DEVICE_TEST(Atomic, BitOperations) {
    check_bit_atomics<u32>();
    check_bit_atomics<i32>();
    check_bit_atomics<u64>();
    check_bit_atomics<i64>();
}

VOLLEY_DEVICE_TEST(Atomic, TheOldValuesOfACounterAreAllDifferent) {
    Buffer<u32> counter = as_buffer({0u});
    Buffer<u32> tickets(count);
    kernel("tickets", [](Buff<u32> c, Buff<u32> t) {
        t[global_id().x] = c.atomic(0u).add(1u);
    }).over(count)(counter, tickets);
    auto drawn = tickets.read(0);
    std::sort(drawn.begin(), drawn.end());
    for (u32 i = 0; i < count; ++i) ASSERT_EQ(drawn[i], i);
}

template <class T>
void check_exchange() {
    // Each invocation puts its number in and takes another out: together they are all the numbers.
    Buffer<T> slot = as_buffer({T(count)});
    Buffer<T> taken(count);
    kernel("exchange", [](Buff<T> s, Buff<T> t) {
        const auto i = global_id().x;
        t[i] = s.atomic(0u).exchange(cast<T>(i));
    }).over(count)(slot, taken);
    auto all = taken.read(0);
    all.push_back(slot.read(0)[0]);
    std::sort(all.begin(), all.end());
    for (u32 i = 0; i <= count; ++i) ASSERT_EQ(all[i], T(i)) << dtype_of<T>().name();
}

VOLLEY_DEVICE_TEST(Atomic, ExchangeLosesNothing) {
    check_exchange<u32>();
    check_exchange<i32>();
    check_exchange<u64>();
    check_exchange<i64>();
    check_exchange<float>();
    check_exchange<double>();
}

template <class T>
void check_compare_exchange() {
    // Addition by a compare-and-exchange loop.
    Buffer<T> data = as_buffer({T(0)});
    kernel("cas", [](Buff<T> d) {
        const auto v = cast<T>(global_id().x % 4);
        Var<T> seen = d[0];
        Var<bool> done = false;
        $while (!done) {
            const auto old = d.atomic(0u).compare_exchange(seen, seen + v);
            done = old == seen;
            seen = old;
        }
    }).over(400)(data);
    EXPECT_EQ(data.read(0)[0], T(600)) << dtype_of<T>().name();
}

VOLLEY_DEVICE_TEST(Atomic, CompareExchangeLoopsEnd) {
    check_compare_exchange<u32>();
    check_compare_exchange<i32>();
    check_compare_exchange<u64>();
    check_compare_exchange<i64>();
    check_compare_exchange<float>();
    check_compare_exchange<double>();
}

VOLLEY_DEVICE_TEST(Atomic, CompareExchangeStoresOnlyWhatMatches) {
    Buffer<u32> data = as_buffer({10u, 10u});
    Buffer<u32> old(2);
    kernel("match", [](Buff<u32> d, Buff<u32> o) {
        const auto i = global_id().x;
        o[i] = d.atomic(i).compare_exchange(select(i == 0, 10u, 11u), 77u);
    })(data, old);
    EXPECT_EQ(data.read(0), (std::vector<u32>{77, 10}));
    EXPECT_EQ(old.read(0), (std::vector<u32>{10, 10}));
}

template <class T>
void check_shared_atomics() {
    constexpr u32 local = 96;
    Buffer<T> out(3 * 4);
    kernel("shared",
           [](Buff<T> d) {
               Shared<T> s(3);
               const auto i = local_id().x;
               $if (i < 3) {
                   s[i] = 10;
               }
               barrier();
               const auto v = cast<T>(i % 10);
               s.atomic(0u).add(v);
               $if (i % 3 != 0) {
                   s.atomic(1u).min(v);
               }
               s.atomic(2u).max(v * 2);
               barrier();
               $if (i < 3) {
                   d[group_id().x * 3 + i] = s[i];
               }
           })
        .over(local * 4)
        .local(local)(out);
    T sum = T(10);
    for (u32 i = 0; i < local; ++i) sum += T(i % 10);
    const auto actual = out.read(0);
    for (u32 g = 0; g < 4; ++g) {
        EXPECT_EQ(actual[g * 3], sum) << dtype_of<T>().name();
        EXPECT_EQ(actual[g * 3 + 1], T(0)) << dtype_of<T>().name();
        EXPECT_EQ(actual[g * 3 + 2], T(18)) << dtype_of<T>().name();
    }
}

VOLLEY_DEVICE_TEST(Atomic, ActOnSharedMemory) {
    check_shared_atomics<u32>();
    check_shared_atomics<i32>();
    check_shared_atomics<u64>();
    check_shared_atomics<i64>();
    check_shared_atomics<float>();
    check_shared_atomics<double>();
}

VOLLEY_DEVICE_TEST(Atomic, AHistogramCountsEverything) {
    constexpr u32 bins = 16;
    std::vector<u8> values(5000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<u8>(i * i % 251 % bins);
    Buffer<u8> in = as_buffer(values);
    Buffer<u32> out = as_buffer(std::vector<u32>(bins, 0u));
    kernel("histogram", [](Buff<const u8> v, Buff<u32> h) { h.atomic(v[global_id().x]).add(1u); })(in, out);
    std::vector<u32> expected(bins);
    for (const u8 v : values) ++expected[v];
    EXPECT_EQ(out.read(0), expected);
}

}  // namespace
}  // namespace volley::testing
