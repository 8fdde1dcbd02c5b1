// Shared memory: arrays of every type, with one to three dimensions, and algorithms built on them.
#include "support/compare.hpp"
#include "support/device_fixture.hpp"

#include <volley/volley.hpp>

#include <complex>
#include <numeric>

namespace volley::testing {

struct Mixed {
    i8 tag;
    vec3 position;
    double weight;
    std::complex<float> phase;
};
VOLLEY_STRUCT(Mixed, tag, position, weight, phase)

namespace {

// Each workgroup reverses its part: every value passes through shared memory.
template <class T>
void check_reversal(const std::vector<T>& values, u32 local) {
    Buffer<T> data = as_buffer(values);
    kernel("reverse", [local](Buff<T> d) {
        Shared<T> tile(local);
        const auto i = local_id().x;
        tile[i] = d[global_id().x];
        barrier();
        d[global_id().x] = tile[local - 1 - i];
    }).local(local)(data);
    std::vector<T> expected = values;
    for (std::size_t begin = 0; begin < values.size(); begin += local) {
        for (u32 k = 0; k < local; ++k) expected[begin + k] = values[begin + local - 1 - k];
    }
    expect_same(data.read(0), expected, dtype_of<T>().name().c_str());
}

template <class T>
void check_scalar() {
    for (const u32 local : {1u, 5u, 64u}) {
        std::vector<T> values;
        for (u32 i = 0; i < local * 3; ++i) values.push_back(T(static_cast<int>(i % 120)));
        check_reversal(values, local);
    }
}

VOLLEY_DEVICE_TEST(Shared, HoldsEveryScalarType) {
    check_scalar<i8>();
    check_scalar<u8>();
    check_scalar<i16>();
    check_scalar<u16>();
    check_scalar<i32>();
    check_scalar<u32>();
    check_scalar<i64>();
    check_scalar<u64>();
    check_scalar<half>();
    check_scalar<float>();
    check_scalar<double>();
    check_reversal<bool>({true, false, false, true, true, true, false, true}, 4);
}

VOLLEY_DEVICE_TEST(Shared, HoldsVectorsAndComplexNumbers) {
    std::vector<vec3> vectors;
    std::vector<std::complex<double>> numbers;
    for (int i = 0; i < 48; ++i) {
        vectors.emplace_back(float(i), float(-i), 0.5f * float(i));
        numbers.emplace_back(i, 100 - i);
    }
    check_reversal(vectors, 16);
    check_reversal(numbers, 24);
}

VOLLEY_DEVICE_TEST(Shared, HoldsStructs) {
    constexpr u32 n = 24;
    std::vector<Mixed> values;
    for (u32 i = 0; i < n; ++i) {
        const auto f = static_cast<float>(i);
        values.push_back({static_cast<i8>(i), {f, f + 1, f + 2}, f * 0.25, {f, -f}});
    }
    Buffer<Mixed> data = as_buffer(values);
    kernel("structs", [](Buff<Mixed> d) {
        Shared<Mixed> tile(12);
        const auto i = local_id().x;
        tile[i] = d[global_id().x];
        barrier();
        const auto other = tile[11 - i];
        d[global_id().x].weight = other.weight;
        d[global_id().x].position.y = other.position.z;
        d[global_id().x].phase = other.phase;
    }).local(12)(data);
    const auto actual = data.read(0);
    for (u32 i = 0; i < n; ++i) {
        const Mixed& other = values[i / 12 * 12 + 11 - i % 12];
        EXPECT_EQ(actual[i].tag, static_cast<i8>(i));
        EXPECT_EQ(actual[i].weight, other.weight);
        EXPECT_EQ(actual[i].position, vec3(values[i].position.x, other.position.z, values[i].position.z));
        EXPECT_EQ(actual[i].phase, other.phase);
    }
}

VOLLEY_DEVICE_TEST(Shared, ATransposeUsesTwoDimensionsWithPadding) {
    constexpr u32 n = 32;
    std::vector<float> values(n * n);
    std::iota(values.begin(), values.end(), 0.0f);
    Buffer<float> in = as_buffer(values);
    Buffer<float> out(n * n);
    kernel("transpose",
           [](Buff<const float> a, Buff<float> b) {
               Shared<float> tile(8, 9);
               const auto l = local_id();
               const auto g = group_id();
               tile[l.y][l.x] = a[(g.y * 8 + l.y) * n + g.x * 8 + l.x];
               barrier();
               b[(g.x * 8 + l.y) * n + g.y * 8 + l.x] = tile[l.x][l.y];
           })
        .over({n, n})
        .local({8, 8})(in, out);
    const auto actual = out.read(0);
    for (u32 y = 0; y < n; ++y) {
        for (u32 x = 0; x < n; ++x) ASSERT_EQ(actual[y * n + x], values[x * n + y]);
    }
}

VOLLEY_DEVICE_TEST(Shared, ThreeDimensionalArraysAreIndexedByCall) {
    Buffer<u32> out(24);
    kernel("cube",
           [](Buff<u32> d) {
               Shared<u32> cube(2, 3, 4);
               const auto l = local_id();
               cube(l.z, l.y, l.x) = local_index();
               barrier();
               d[local_index()] = cube[1 - l.z][2 - l.y][3 - l.x];
           })
        .over({4, 3, 2})
        .local({4, 3, 2})(out);
    const auto actual = out.read(0);
    for (u32 i = 0; i < 24; ++i) EXPECT_EQ(actual[i], 23 - i);
}

// The tree reduction: a barrier in a uniform loop whose bound is a parameter.
template <class T>
void check_reduction(u32 local) {
    const u32 groups = 3;
    std::vector<T> values;
    for (u32 i = 0; i < local * groups; ++i) values.push_back(T(static_cast<int>(i % 7)));
    Buffer<T> in = as_buffer(values);
    Buffer<T> out(groups);
    kernel("reduce",
           [local](Buff<const T> a, Buff<T> sums) {
               Shared<T> tile(local);
               const auto i = local_id().x;
               tile[i] = a[global_id().x];
               barrier();
               Var<u32> stride = local / 2;
               $while (stride > 0u) {
                   $if (i < stride) {
                       tile[i] = tile[i] + tile[i + stride];
                   }
                   barrier();
                   stride = stride / 2;
               }
               $if (i == 0) {
                   sums[group_id().x] = tile[0];
               }
           })
        .over(local * groups)
        .local(local)(in, out);
    const auto actual = out.read(0);
    for (u32 g = 0; g < groups; ++g) {
        T expected = T(0);
        for (u32 k = 0; k < local; ++k) expected = T(expected + values[g * local + k]);
        EXPECT_EQ(actual[g], expected) << dtype_of<T>().name() << ", local size " << local;
    }
}

VOLLEY_DEVICE_TEST(Shared, TreeReductionsSumEachWorkgroup) {
    for (const u32 local : {1u, 2u, 8u, 64u, std::min(256u, device().max_local_size)}) {
        check_reduction<float>(local);
        check_reduction<i32>(local);
    }
    if (supports<f64>()) check_reduction<double>(128);
    check_reduction<u8>(16);
}

}  // namespace
}  // namespace volley::testing
