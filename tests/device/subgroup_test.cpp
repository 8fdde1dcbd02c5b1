// Subgroup operations at every device's width: folds, scans, exchanges and votes, with all lanes and with
// some.
#include "support/device_fixture.hpp"

#include <volley/volley.hpp>

#include <functional>
#include <limits>

namespace volley::testing {
namespace {

constexpr u32 local = 48;  // full subgroups at widths up to 16
constexpr u32 groups = 2;

u32 width() { return current_context().devices()[0].subgroup_size; }

template <class T>
T input(u32 i) {
    return static_cast<T>(i * 37 % 11 + 1);
}

template <class T>
struct Fold {
    const char* name;
    Value<T> (*all)(const Value<T>&);
    Value<T> (*inclusive)(const Value<T>&);
    Value<T> (*exclusive)(const Value<T>&);
    T (*combine)(T, T);
    T identity;
};

// Returns lane i's expected result, where `active` selects the participating lanes.
template <class T>
T expected(const Fold<T>& fold, int kind, u32 i, const std::function<bool(u32)>& active) {
    const u32 begin = i / local * local + i % local / width() * width();
    const u32 end = std::min(begin + width(), i / local * local + local);
    T sum = fold.identity;
    for (u32 k = begin; k < end; ++k) {
        if (!active(k) || (kind == 1 && k > i) || (kind == 2 && k >= i)) continue;
        sum = fold.combine(sum, input<T>(k));
    }
    return sum;
}

template <class T>
void check_folds(const std::vector<Fold<T>>& folds) {
    for (const Fold<T>& fold : folds) {
        Buffer<T> all(local * groups), inclusive(local * groups), exclusive(local * groups),
            some(local * groups);
        kernel("folds", [&fold](Buff<T> a, Buff<T> b, Buff<T> c, Buff<T> d) {
            const auto i = global_id().x;
            const auto v = cast<T>(i * 37 % 11 + 1);
            a[i] = fold.all(v);
            b[i] = fold.inclusive(v);
            c[i] = fold.exclusive(v);
            d[i] = v;
            $if (i % 3 != 1) {
                d[i] = fold.exclusive(v);
            }
        }).local(local)(all, inclusive, exclusive, some);
        const auto everyone = [](u32) { return true; };
        const auto chosen = [](u32 k) { return k % 3 != 1; };
        const auto a = all.read(0), b = inclusive.read(0), c = exclusive.read(0), d = some.read(0);
        for (u32 i = 0; i < local * groups; ++i) {
            SCOPED_TRACE(dtype_of<T>().name() + " " + fold.name + ", invocation " + std::to_string(i));
            ASSERT_EQ(a[i], expected(fold, 0, i, everyone));
            ASSERT_EQ(b[i], expected(fold, 1, i, everyone));
            ASSERT_EQ(c[i], expected(fold, 2, i, everyone));
            ASSERT_EQ(d[i], chosen(i) ? expected(fold, 2, i, chosen) : input<T>(i));
        }
    }
}

template <class T>
std::vector<Fold<T>> arithmetic_folds() {
    using V = const Value<T>&;
    using Limits = std::numeric_limits<T>;
    const T highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
    const T lowest = Limits::has_infinity ? T(-Limits::infinity()) : Limits::lowest();
    return {
        {"add", [](V v) { return subgroup_add(v); }, [](V v) { return subgroup_inclusive_add(v); },
         [](V v) { return subgroup_exclusive_add(v); }, [](T x, T y) { return T(x + y); }, T(0)},
        {"min", [](V v) { return subgroup_min(v); }, [](V v) { return subgroup_inclusive_min(v); },
         [](V v) { return subgroup_exclusive_min(v); }, [](T x, T y) { return y < x ? y : x; }, highest},
        {"max", [](V v) { return subgroup_max(v); }, [](V v) { return subgroup_inclusive_max(v); },
         [](V v) { return subgroup_exclusive_max(v); }, [](T x, T y) { return x < y ? y : x; }, lowest},
    };
}

template <class T>
std::vector<Fold<T>> integer_folds() {
    using V = const Value<T>&;
    auto folds = arithmetic_folds<T>();
    folds.push_back(
        {"mul", [](V v) { return subgroup_mul(v); }, [](V v) { return subgroup_inclusive_mul(v); },
         [](V v) { return subgroup_exclusive_mul(v); },
         [](T x, T y) { return static_cast<T>(static_cast<u64>(x) * static_cast<u64>(y)); }, T(1)});
    folds.push_back({"and", [](V v) { return subgroup_and(v); },
                     [](V v) { return subgroup_inclusive_and(v); },
                     [](V v) { return subgroup_exclusive_and(v); }, [](T x, T y) { return T(x & y); },
                     static_cast<T>(~T(0))});
    folds.push_back({"or", [](V v) { return subgroup_or(v); }, [](V v) { return subgroup_inclusive_or(v); },
                     [](V v) { return subgroup_exclusive_or(v); }, [](T x, T y) { return T(x | y); }, T(0)});
    folds.push_back({"xor", [](V v) { return subgroup_xor(v); },
                     [](V v) { return subgroup_inclusive_xor(v); },
                     [](V v) { return subgroup_exclusive_xor(v); }, [](T x, T y) { return T(x ^ y); }, T(0)});
    return folds;
}

// Small integers: float sums are exact in any order.
VOLLEY_DEVICE_TEST(Subgroup, FoldsAndScansOfFloats) {
    each_type<f32, f64, f16>([]<class T>() { check_folds(arithmetic_folds<T>()); });
}
VOLLEY_DEVICE_TEST(Subgroup, FoldsAndScansOf32BitIntegers) {
    check_folds(integer_folds<i32>());
    check_folds(integer_folds<u32>());
}
VOLLEY_DEVICE_TEST(Subgroup, FoldsAndScansOfOtherIntegers) {
    check_folds(integer_folds<u8>());
    check_folds(integer_folds<i16>());
    check_folds(integer_folds<i64>());
}

VOLLEY_DEVICE_TEST(Subgroup, FoldsOfVectorsAndComplexNumbers) {
    Buffer<vec<i32, 3>> vectors(local);
    Buffer<std::complex<float>> numbers(local);
    kernel("composites", [](Buff<vec<i32, 3>> v, Buff<std::complex<float>> z) {
        const auto i = cast<i32>(global_id().x);
        v[i] = subgroup_add(make_vec(i, i * 2, 1 - i));
        z[i] = subgroup_inclusive_add(make_complex(cast<float>(i), 1.0f));
    }).local(local)(vectors, numbers);
    const auto v = vectors.read(0);
    const auto z = numbers.read(0);
    for (u32 i = 0; i < local; ++i) {
        const u32 begin = i / width() * width();
        const u32 end = std::min(begin + width(), local);
        vec<i32, 3> sum;
        std::complex<float> prefix;
        for (u32 k = begin; k < end; ++k) {
            const auto s = static_cast<i32>(k);
            sum += vec<i32, 3>(s, s * 2, 1 - s);
            if (k <= i) prefix += std::complex<float>(static_cast<float>(k), 1);
        }
        ASSERT_EQ(v[i], sum) << i;
        ASSERT_EQ(z[i], prefix) << i;
    }
}

template <class Wide>
void check_shuffles() {
    Buffer<u32> rotated(local), neighbour(local), second(local);
    Buffer<vec<Wide, 2>> pairs(local);
    kernel("shuffles", [](Buff<u32> r, Buff<u32> n, Buff<u32> s, Buff<vec<Wide, 2>> p) {
        const auto i = global_id().x;
        const auto size = subgroup_size();
        r[i] = subgroup_shuffle(i * 10, (subgroup_lane() + 1) % size);
        n[i] = subgroup_shuffle_xor(i * 10, select(size > 1, 1u, 0u));
        s[i] = subgroup_broadcast(i * 10, size / 2);
        const auto d = cast<Wide>(i);
        p[i] = subgroup_shuffle(make_vec(d, -d), size - 1 - subgroup_lane());
    }).local(local)(rotated, neighbour, second, pairs);
    const auto r = rotated.read(0), n = neighbour.read(0), s = second.read(0);
    const auto p = pairs.read(0);
    for (u32 i = 0; i < local; ++i) {
        const u32 begin = i / width() * width();
        const u32 lane = i - begin;
        ASSERT_EQ(r[i], (begin + (lane + 1) % width()) * 10) << i;
        ASSERT_EQ(n[i], (begin + (width() > 1 ? lane ^ 1 : lane)) * 10) << i;
        ASSERT_EQ(s[i], (begin + width() / 2) * 10) << i;
        const auto other = static_cast<Wide>(begin + width() - 1 - lane);
        ASSERT_EQ(p[i], (vec<Wide, 2>(other, -other))) << i;
    }
}

VOLLEY_DEVICE_TEST(Subgroup, ShufflesMoveValuesBetweenLanes) {
    widest_float([]<class Wide>() { check_shuffles<Wide>(); });
}

VOLLEY_DEVICE_TEST(Subgroup, VotesBallotsAndElections) {
    Buffer<vec<u32, 4>> ballots(local);
    Buffer<u32> flags(local);
    kernel("votes", [](Buff<vec<u32, 4>> b, Buff<u32> f) {
        const auto i = global_id().x;
        b[i] = subgroup_ballot(i % 3 == 0);
        Var<u32> bits = 0u;
        $if (subgroup_any(i == 7)) {
            bits += 1u;
        }
        $if (subgroup_all(i < 32)) {
            bits += 2u;
        }
        $if (subgroup_elect()) {
            bits += 4u;
        }
        $if (i % 2 == 1) {
            $if (subgroup_elect()) {
                bits += 8u;
            }
        }
        f[i] = bits;
    }).local(local)(ballots, flags);
    const auto b = ballots.read(0);
    const auto f = flags.read(0);
    for (u32 i = 0; i < local; ++i) {
        const u32 begin = i / width() * width();
        const u32 end = std::min(begin + width(), local);
        u32 ballot = 0;
        for (u32 k = begin; k < end; ++k) ballot |= (k % 3 == 0 ? 1u : 0u) << (k - begin);
        u32 bits = begin <= 7 && 7 < end ? 1 : 0;
        bits += end <= 32 ? 2 : 0;
        bits += i == begin ? 4 : 0;
        bits += i % 2 == 1 && i == (begin | 1) ? 8 : 0;
        ASSERT_EQ(b[i], (vec<u32, 4>(ballot, 0, 0, 0))) << i;
        ASSERT_EQ(f[i], bits) << i;
    }
}

VOLLEY_DEVICE_TEST(Subgroup, IdsCountTheSubgroupsOfAWorkgroup) {
    constexpr u32 odd = 21;  // the last subgroup is partial
    Buffer<vec<u32, 4>> ids(odd);
    Buffer<u32> sums(odd);
    kernel("ids", [](Buff<vec<u32, 4>> d, Buff<u32> s) {
        const auto i = global_id().x;
        d[i] = make_vec(subgroup_id(), subgroup_lane(), subgroup_count(), subgroup_size());
        s[i] = subgroup_add(Value<u32>(1u));
    }).local(odd)(ids, sums);
    const auto actual = ids.read(0);
    const auto counts = sums.read(0);
    for (u32 i = 0; i < odd; ++i) {
        ASSERT_EQ(actual[i], (vec<u32, 4>(i / width(), i % width(), (odd + width() - 1) / width(), width())))
            << i;
        ASSERT_EQ(counts[i], std::min(width(), odd - i / width() * width())) << i;
    }
}

}  // namespace
}  // namespace volley::testing
