// Elements, variables, arrays, shared memory and atomics: when they are read, and where values are stored.
#include "lang/traced.hpp"

namespace volley::test {
namespace {

TEST(Memory, ANamedElementKeepsTheValueItRead) {
    EXPECT_EQ(body_of([](Buff<float> data) {
                  auto old = data[0];
                  data[0] = 0.f;
                  data[1] = old;
              }),
              "  %0 = buffer f32 \"arg0\"\n"
              "  %1 = load %0[0] : f32\n"
              "  %2 = const 0.0 : f32\n"
              "  store %0[0], %2\n"
              "  store %0[1], %1\n");
}

TEST(Memory, AssigningReadsNothing) {
    EXPECT_EQ(count_of(body_of([](Buff<float> data) { data[0] = 1.f; }), "load"), 0u);
    EXPECT_EQ(count_of(body_of([](Buff<vec3> data) { data[0].y = 1.f; }), "load"), 0u);
    EXPECT_EQ(
        count_of(body_of([](Buff<std::array<float, 4>> data) { data[0][global_id().x] = 1.f; }), "load"), 0u);
    EXPECT_EQ(count_of(body_of([](Buff<mat3> data) { data[0][1][2] = 1.f; }), "load"), 0u);
    EXPECT_EQ(count_of(body_of([](Buff<mat3> data) { data[0][1].z = 1.f; }), "load"), 0u);
}

TEST(Memory, AssignmentReturnsTheStoredValue) {
    EXPECT_EQ(count_of(body_of([](Buff<float> a, Buff<float> b) { a[0] = b[0] = 1.f; }), "load"), 0u);
}

TEST(Memory, ElementsToElements) {
    EXPECT_EQ(body_of([](Buff<float> a, Buff<const float> b) { a[0] = b[1]; }),
              "  %0 = buffer f32 \"arg0\"\n"
              "  %1 = buffer f32 \"arg1\" read_only\n"
              "  %2 = load %1[1] : f32\n"
              "  store %0[0], %2\n");
}

TEST(Memory, ABufferConvertsToAConstBuffer) {
    const auto first = [](Buff<const float> data) { return data[0] * 1; };
    EXPECT_EQ(count_of(body_of([&](Buff<float> data) { data[1] = first(data); }), "load"), 1u);
}

TEST(Memory, IndicesOfAnyIntegerType) {
    const std::string text = body_of([](Buff<float> data, Const<i64> a, Const<u8> b, Const<u64> c) {
        data[a] = data[b];
        data[c] = data[std::size_t{1} << 33];
    });
    EXPECT_THAT(text, HasSubstr("const 8589934592 : u64"));
}

TEST(Memory, NegativeHostIndicesAreErrors) {
    EXPECT_THAT(error_of([](Buff<float> data) { data[-1] = 0.f; }), HasSubstr("the index -1 is negative"));
}

TEST(Memory, IndicesPastTheEndOfAVectorOrArrayAreErrors) {
    EXPECT_THAT(error_of([](Buff<vec3> data) { data[0][3] = 0.f; }),
                HasSubstr("the index 3 is out of range for vec3<f32>"));
    EXPECT_THAT(error_of([](Const<vec3> v) { print("{}", v[3]); }), HasSubstr("use 0 to 2"));
    EXPECT_THAT(error_of([](Buff<float> out) {
                    Array<float, 4> a;
                    out[0] = a[4];
                }),
                HasSubstr("the index 4 is out of range for array<f32, 4>"));
}

TEST(Memory, ComponentsOfVariablesAreVariables) {
    EXPECT_EQ(body_of([](Buff<float> out) {
                  Var<vec3> v;
                  v.y = 2.f;
                  v.y += 1;
                  out[0] = v.y;
              }),
              "  %0 = buffer f32 \"arg0\"\n"
              "  %1 = var vec3<f32>\n"
              "  %2 = const 2.0 : f32\n"
              "  store %1[1], %2\n"
              "  %3 = const 1.0 : f32\n"
              "  %4 = load %1[1] : f32\n"
              "  %5 = add %4, %3 : f32\n"
              "  store %1[1], %5\n"
              "  %6 = load %1[1] : f32\n"
              "  store %0[0], %6\n");
}

TEST(Memory, ACopyOfAVariableIsANewVariable) {
    const std::string text = body_of([](Buff<float> out) {
        Var<vec2> v = vec2(1, 2);
        auto copy = v.x;
        static_assert(std::same_as<decltype(copy), Var<float>>);
        v.x = 5;
        out[0] = copy;
        Value<float> now = v.x;
        v.x = 6;
        out[1] = now;
    });
    EXPECT_EQ(count_of(text, " = var "), 2u);
    EXPECT_EQ(count_of(text, "load"), 3u);
}

TEST(Memory, ContainersOfVariables) {
    const auto make_counter = [] {
        Var<u32> counter = 1;
        return counter;
    };
    const std::string text = body_of([&](Buff<u32> out) {
        std::vector<Var<u32>> counters;
        for (int k = 0; k < 5; ++k) counters.push_back(make_counter());
        for (auto& counter : counters) counter += 1;
        out[0] = counters[4];
    });
    EXPECT_EQ(count_of(text, " = add "), 5u);
}

// Two variables never become one, even if they are moved.
TEST(Memory, AMovedVariableIsANewVariable) {
    const std::string text = body_of([](Buff<u32> out) {
        Var<u32> a = 1;
        Var<u32> b = std::move(a);
        a = 5;
        out[0] = b;
    });
    EXPECT_EQ(count_of(text, " = var "), 2u);
}

TEST(Memory, ElementsCountUpAndDown) {
    EXPECT_EQ(body_of([](Buff<int> data) {
                  ++data[0];
                  data[1] = data[2]--;
              }),
              "  %0 = buffer i32 \"arg0\"\n"
              "  %1 = load %0[0] : i32\n"
              "  %2 = const 1 : i32\n"
              "  %3 = add %1, %2 : i32\n"
              "  store %0[0], %3\n"
              "  %4 = load %0[2] : i32\n"
              "  %5 = const 1 : i32\n"
              "  %6 = sub %4, %5 : i32\n"
              "  store %0[2], %6\n"
              "  store %0[1], %4\n");
}

TEST(Memory, LocalArraysTakeComputedIndices) {
    const std::string text = body_of([](Buff<float> data) {
        Array<float, 4> a;
        auto i = local_id().x;
        a[i] = data[i];
        a[3] = a[i] * 2;
        data[i] = a[3];
    });
    EXPECT_THAT(text, HasSubstr("var array<f32, 4>"));
    EXPECT_EQ(count_of(text, "load"), 3u);
}

TEST(Memory, SharedArraysOfSeveralDimensions) {
    EXPECT_EQ(body_of([](Buff<float> data) {
                  Shared<float> tile(16, 17);
                  auto y = local_id().y;
                  tile[y][2] = 1.f;
                  barrier();
                  data[0] = tile[3][y];
              }),
              "  %0 = buffer f32 \"arg0\"\n"
              "  %1 = shared array<array<f32, 17>, 16>\n"
              "  %2 = local_id : vec3<u32>\n"
              "  %3 = extract %2[1] : u32\n"
              "  %4 = const 1.0 : f32\n"
              "  store %1[%3, 2], %4\n"
              "  barrier\n"
              "  %5 = load %1[3, %3] : f32\n"
              "  store %0[0], %5\n");
}

TEST(Memory, SharedArraysOfVectorsAndThreeDimensions) {
    const std::string text = body_of([](Buff<float> data) {
        Shared<vec4> line(64);
        Shared<float> cube(2, 3, 4);
        line[0].y = 1.f;
        line(1)[global_id().x] = 2.f;
        line[2] = line[3];
        cube[1][2][3] = cube(0, 0, 0);
        cube[1][1][1] += 1;
        data[0] = line[5].z;
    });
    EXPECT_THAT(text, HasSubstr("[0, 1]"));
    EXPECT_THAT(text, HasSubstr("[1, 2, 3]"));
    EXPECT_THAT(text, HasSubstr("load %1[5] : vec4<f32>"));
}

TEST(Memory, WrongNumbersOfSharedIndicesAreErrors) {
    EXPECT_THAT(error_of([](Buff<float> data) {
                    Shared<float> tile(4, 4);
                    data[0] = tile[1];
                }),
                HasSubstr("a shared array is used with too few indices"));
    EXPECT_THAT(error_of([](Buff<float> data) {
                    Shared<float> tile(4);
                    data[0] = tile[1][2];
                }),
                HasSubstr("a shared array of 1 dimension is accessed with 2 indices"));
    EXPECT_THAT(error_of([](Buff<float> data) {
                    Shared<float> tile(4, 4);
                    tile(1) = data[0];
                }),
                HasSubstr("a shared array of 2 dimensions is accessed with 1 index"));
    EXPECT_THAT(error_of([](Buff<float> data) {
                    Shared<float> tile(0);
                    tile[0] = data[0];
                }),
                HasSubstr("extent of zero"));
    EXPECT_THAT(error_of([](Buff<float> data) {
                    Shared<float> tile(4);
                    tile[4] = data[0];
                }),
                HasSubstr("the index 4 is out of range for array<f32, 4>"));
}

TEST(Memory, Atomics) {
    const std::string text = body_of([](Buff<u32> data, Buff<float> floats) {
        Shared<i32> bins(8);
        auto old = data.atomic(3).add(1u);
        data.atomic(0).max(old);
        data.atomic(0).sub(1);
        data.atomic(0).min(1);
        data.atomic(1).bit_and(1);
        data.atomic(1).bit_or(1);
        data.atomic(1).bit_xor(1);
        data.atomic(1).exchange(1);
        data.atomic(2).compare_exchange(0, old);
        floats.atomic(0).add(0.5);
        bins.atomic(local_index()).add(1);
        atomic(bins[2]).add(1);
    });
    EXPECT_THAT(text, HasSubstr("atomic_cas"));
    EXPECT_EQ(count_of(text, "atomic_add"), 4u);
    EXPECT_EQ(count_of(text, "load"), 0u);
    for (const char* op : {"max", "sub", "min", "and", "or", "xor", "exchange"}) {
        EXPECT_THAT(text, HasSubstr(std::string("atomic_") + op));
    }
}

TEST(Memory, AtomicsOnVariablesAreErrors) {
    EXPECT_THAT(error_of([](Buff<u32>) {
                    Array<u32, 4> a;
                    atomic(a[0]).add(1u);
                }),
                HasSubstr("an atomic operation cannot act on a variable"));
}

TEST(Memory, BufferSizes) {
    const std::string text = body_of([](Buff<float> data, Buff<const u64> sizes) {
        data[data.size() - 1] = 0.f;
        data[sizes.size64() - 1] = 0.f;
    });
    EXPECT_THAT(text, HasSubstr("buffer_size %0 : u32"));
    EXPECT_THAT(text, HasSubstr("buffer_size %1 : u64"));
}

TEST(Memory, PartsOfAnElementComeFromOneLoad) {
    // passes/narrow_loads loads only the part if that is better.
    EXPECT_EQ(body_of([](Buff<vec4> data, Buff<float> out) { out[0] = data[1].z; }),
              "  %0 = buffer vec4<f32> \"arg0\"\n"
              "  %1 = buffer f32 \"arg1\"\n"
              "  %2 = load %0[1] : vec4<f32>\n"
              "  %3 = extract %2[2] : f32\n"
              "  store %1[0], %3\n");
}

TEST(Memory, PositionsUseTheStridesOfTheBoundBuffer) {
    EXPECT_EQ(body_of([](Buff<float> image) {
                  const auto y = global_id().y;
                  image(y, 3) = 1.0f;
              }),
              "  %0 = buffer f32 \"arg0\" rank 2\n"
              "  %1 = param u32 \"arg0.stride0\" stride(0, 0)\n"
              "  %2 = param u32 \"arg0.stride1\" stride(0, 1)\n"
              "  %3 = global_id : vec3<u32>\n"
              "  %4 = extract %3[1] : u32\n"
              "  %5 = const 1.0 : f32\n"
              "  %6 = const 3 : u32\n"
              "  %7 = mul %4, %1 : u32\n"
              "  %8 = mul %6, %2 : u32\n"
              "  %9 = add %7, %8 : u32\n"
              "  store %0[%9], %5\n");
    EXPECT_EQ(count_of(body_of([](Buff<float> data) { data[0] = 1.f; }), "param"), 0u);
}

TEST(Memory, PositionsWithAnotherNumberOfIndicesAreRefused) {
    EXPECT_THAT(error_of([](Buff<float> image) {
                    image(0, 1) = 1.0f;
                    image(0) = 2.0f;
                }),
                HasSubstr("a buffer is accessed with 1 index and with 2 elsewhere"));
    EXPECT_THAT(error_of([](Buff<float> image) { image[0] = cast<float>(image.extent(8)); }),
                HasSubstr("extent(8) is not an axis"));
}

}  // namespace
}  // namespace volley::test
