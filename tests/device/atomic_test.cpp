// Atomics under contention, on buffers and in shared memory, for every type that has them.
#include "support/device_fixture.hpp"

#include <volley/volley.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace volley::testing {
namespace {

constexpr u32 hits = 3000;  // several workgroups and threads on few elements
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
    }).over(hits)(sums, lows, highs);
    std::vector<T> sum(places, T(1000)), low(places, T(50)), high(places, T(50));
    for (u32 i = 0; i < hits; ++i) {
        const T v = operand<T>(i);
        if (i % 2 != 0) sum[i % places] += v;  // integers: exact in any order, even as floats
        low[i % places] = std::min(low[i % places], v);
        high[i % places] = std::max(high[i % places], v);
    }
    EXPECT_EQ(sums.read(0), sum) << dtype_of<T>().name();
    EXPECT_EQ(lows.read(0), low) << dtype_of<T>().name();
    EXPECT_EQ(highs.read(0), high) << dtype_of<T>().name();
}

VOLLEY_DEVICE_TEST(Atomic, AddSubMinMaxOnBuffers) {
    each_atomic_type<u32, i32, u64, i64, f32, f64>([]<class T>() { check_buffer_atomics<T>(); });
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
    each_atomic_type<i32, i64, f32, f64>([]<class T>() { check_signed_min<T>(); });
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
    each_type<u32, i32, u64, i64>([]<class T>() { check_bit_atomics<T>(); });
}

template <class T>
void check_tickets() {
    Buffer<T> counter = as_buffer({T(0)});
    Buffer<T> tickets(hits);
    kernel("tickets", [](Buff<T> c, Buff<T> t) {
        t[global_id().x] = c.atomic(0u).add(T(1));
    }).over(hits)(counter, tickets);
    auto drawn = tickets.read(0);
    std::sort(drawn.begin(), drawn.end());
    for (u32 i = 0; i < hits; ++i) ASSERT_EQ(drawn[i], T(i)) << dtype_of<T>().name();
}

VOLLEY_DEVICE_TEST(Atomic, TheOldValuesOfACounterAreAllDifferent) {
    each_atomic_type<u32, i32, u64, i64, f32, f64>([]<class T>() { check_tickets<T>(); });
}

// Lanes finish these operations at different times; each keeps its own result.
template <class T>
void check_climbing() {
    // A lane whose number exceeds the record finds a lower one; the final record is the highest number.
    Buffer<T> record = as_buffer({T(-1)});
    Buffer<T> found(hits);
    kernel("climb", [](Buff<T> r, Buff<T> f) {
        const auto i = global_id().x;
        f[i] = r.atomic(0u).max(cast<T>((i * 7919u) % hits));
    }).over(hits)(record, found);
    const auto seen = found.read(0);
    std::vector<T> beaten = {T(hits - 1)};  // each record, found by the lane that exceeded it
    for (u32 i = 0; i < hits; ++i) {
        if (seen[i] < T(i * 7919 % hits)) beaten.push_back(seen[i]);
    }
    EXPECT_EQ(record.read(0)[0], T(hits - 1)) << dtype_of<T>().name();
    std::sort(beaten.begin(), beaten.end());
    EXPECT_EQ(beaten.front(), T(-1)) << dtype_of<T>().name();
    EXPECT_TRUE(std::adjacent_find(beaten.begin(), beaten.end()) == beaten.end()) << dtype_of<T>().name();
}

VOLLEY_DEVICE_TEST(Atomic, EachRecordIsBeatenOnce) {
    each_atomic_type<i32, i64, f32, f64>([]<class T>() { check_climbing<T>(); });
}

template <class T>
void check_exchange() {
    // Each invocation puts its number in and takes another out: together they took all the numbers.
    Buffer<T> slot = as_buffer({T(hits)});
    Buffer<T> taken(hits);
    kernel("exchange", [](Buff<T> s, Buff<T> t) {
        const auto i = global_id().x;
        t[i] = s.atomic(0u).exchange(cast<T>(i));
    }).over(hits)(slot, taken);
    auto all = taken.read(0);
    all.push_back(slot.read(0)[0]);
    std::sort(all.begin(), all.end());
    for (u32 i = 0; i <= hits; ++i) ASSERT_EQ(all[i], T(i)) << dtype_of<T>().name();
}

VOLLEY_DEVICE_TEST(Atomic, ExchangeLosesNothing) {
    each_atomic_type<u32, i32, u64, i64, f32, f64>([]<class T>() { check_exchange<T>(); });
}

template <class T>
void check_compare_exchange() {
    // Addition by a compare-exchange loop.
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

VOLLEY_DEVICE_TEST(Atomic, CompareExchangeLoopsTerminate) {
    each_atomic_type<u32, i32, u64, i64, f32, f64>([]<class T>() { check_compare_exchange<T>(); });
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
    each_atomic_type<u32, i32, u64, i64, f32, f64>([]<class T>() { check_shared_atomics<T>(); });
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

/// One invocation runs every operation on one element: each returns the previous value.
template <class T>
void check_old_values() {
    Buffer<T> data = as_buffer({T(100)});
    Buffer<T> old(8);
    kernel("old", [](Buff<T> d, Buff<T> o) {
        const auto a = d.atomic(0u);
        o[0] = a.add(5);
        o[1] = a.sub(20);
        o[2] = a.min(50);
        o[3] = a.max(60);
        o[4] = a.exchange(9);
        o[5] = a.compare_exchange(9, 11);
        o[6] = a.compare_exchange(9, 12);
        o[7] = d[0];
    }).over(1)(data, old);
    EXPECT_EQ(old.read(0), (std::vector<T>{100, 105, 85, 50, 60, 9, 11, 11})) << dtype_of<T>().name();
}

VOLLEY_DEVICE_TEST(Atomic, ReturnTheOldValue) {
    each_atomic_type<u32, i32, u64, i64, f32, f64>([]<class T>() { check_old_values<T>(); });
    Buffer<u32> data = as_buffer({0xffu});
    Buffer<u32> old(4);
    kernel("bits", [](Buff<u32> d, Buff<u32> o) {
        o[0] = d.atomic(0u).bit_and(0x3cu);
        o[1] = d.atomic(0u).bit_or(0x100u);
        o[2] = d.atomic(0u).bit_xor(0x1ffu);
        o[3] = d[0];
    }).over(1)(data, old);
    EXPECT_EQ(old.read(0), (std::vector<u32>{0xff, 0x3c, 0x13c, 0xc3}));
}

// Integer overflow wraps, and min and max respect the type's sign.
template <class T>
void check_wrapping() {
    using Limits = std::numeric_limits<T>;
    static constexpr T low = Limits::min();
    static constexpr T high = Limits::max();
    Buffer<T> data = as_buffer({low, static_cast<T>(high - 1), low, high});
    kernel("wrap", [](Buff<T> d) {
        d.atomic(0u).sub(T(1));
        d.atomic(1u).max(low);
        d.atomic(2u).min(T(1));
        d.atomic(3u).add(T(1));
    }).over(1)(data);
    EXPECT_EQ(data.read(0), (std::vector<T>{high, static_cast<T>(high - 1), low, low}))
        << dtype_of<T>().name();
}

VOLLEY_DEVICE_TEST(Atomic, IntegersWrap) {
    each_atomic_type<u32, i32, u64, i64>([]<class T>() { check_wrapping<T>(); });
}

VOLLEY_DEVICE_TEST(Atomic, CompareExchangeOfFloatsComparesBits) {
    Buffer<float> data = as_buffer({-0.0f, std::numeric_limits<float>::quiet_NaN(), 0.5f});
    kernel("bits", [](Buff<float> d) {
        d.atomic(0u).compare_exchange(0.0f, 7.0f);  // a zero with different bits
        d.atomic(1u).compare_exchange(nan<float>(), 8.0f);
        d.atomic(2u).compare_exchange(0.5f, 9.0f);
    }).over(1)(data);
    EXPECT_EQ(data.read(0), (std::vector<float>{-0.0f, 8.0f, 9.0f}));
    EXPECT_TRUE(std::signbit(data.read(0)[0]));
}

// In divergent control flow, on elements that some lanes of a vector share, with the old values in use.
VOLLEY_DEVICE_TEST(Atomic, TicketsInDivergentFlowAreAPermutationForEachElement) {
    constexpr u32 bins = 5;
    Buffer<u32> counters(bins);
    Buffer<u32> tickets(hits);
    counters.fill(0);
    tickets.fill(~0u);
    kernel("tickets", [](Buff<u32> c, Buff<u32> t) {
        const auto i = global_id().x;
        $if (i % 7u != 2u) {
            $for (k, 0u, i % 2u + 1u) {
                $if (k == i % 2u) {
                    t[i] = c.atomic(i * i % bins).add(1u);
                }
            }
        }
    }).over(hits)(counters, tickets);
    const auto drawn = tickets.read(0);
    std::vector<std::vector<u32>> of(bins);
    for (u32 i = 0; i < hits; ++i) {
        if (i % 7 == 2)
            EXPECT_EQ(drawn[i], ~0u) << i;
        else
            of[i * i % bins].push_back(drawn[i]);
    }
    for (u32 b = 0; b < bins; ++b) {
        std::sort(of[b].begin(), of[b].end());
        for (u32 k = 0; k < of[b].size(); ++k) ASSERT_EQ(of[b][k], k) << "place " << b;
        EXPECT_EQ(counters.read(0)[b], of[b].size());
    }
}

template <class T>
void check_shared_tickets() {
    constexpr u32 local = 80;
    Buffer<T> out(local * 2);
    kernel("tickets", [](Buff<T> d) {
        Shared<T> counter(2, 2);
        const auto i = local_id().x;
        $if (i < 4) {
            counter[i / 2][i % 2] = 0;
        }
        barrier();
        const auto mine = counter.atomic(1, 0).add(1);
        counter.atomic(0u, i % 2u).exchange(mine);
        barrier();
        d[global_id().x] = mine + select(counter[0][0] < 80 && counter[0][1] < 80, T(0), T(1000));
    }).local(local)(out);
    auto drawn = out.read(0);
    for (u32 g = 0; g < 2; ++g) {
        std::sort(drawn.begin() + g * local, drawn.begin() + (g + 1) * local);
        for (u32 k = 0; k < local; ++k) ASSERT_EQ(drawn[g * local + k], T(k)) << dtype_of<T>().name();
    }
}

VOLLEY_DEVICE_TEST(Atomic, SharedTicketsAreAPermutation) {
    each_atomic_type<u32, i64, f32, f64>([]<class T>() { check_shared_tickets<T>(); });
}

}  // namespace
}  // namespace volley::testing
