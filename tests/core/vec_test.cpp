// Host vectors and matrices: layout, construction, componentwise and linear-algebra operators.
#include <gtest/gtest.h>
#include <volley/mat.hpp>
#include <volley/vec.hpp>

#include <sstream>

namespace volley {
namespace {

TEST(Vec, IsTightlyPacked) {
    EXPECT_EQ(sizeof(vec3), 12u);
    EXPECT_EQ(alignof(vec4), 4u);
    EXPECT_EQ(sizeof(dvec3), 24u);
    EXPECT_EQ(sizeof(half3), 6u);
    EXPECT_EQ(sizeof(uchar4), 4u);
    EXPECT_TRUE((std::is_same_v<float2, vec<float, 2>>));
    EXPECT_TRUE((std::is_same_v<uvec4, vec<std::uint32_t, 4>>));
}

TEST(Vec, ConstructsFromComponentsScalarsAndOtherVectors) {
    EXPECT_EQ(vec2(), vec2(0, 0));
    EXPECT_EQ(vec3(2), vec3(2, 2, 2));
    EXPECT_EQ(vec4(vec3(vec2(1, 2), 3), 4), vec4(1, 2, 3, 4));
    EXPECT_EQ(ivec3(vec3(1.9f, -1.9f, 0)), ivec3(1, -1, 0));
}

TEST(Vec, IndexesItsMembers) {
    vec4 v(1, 2, 3, 4);
    EXPECT_EQ(v[0], v.x);
    EXPECT_EQ(v[3], v.w);
    v[2] = 9;
    EXPECT_EQ(v.z, 9);
}

TEST(Vec, HasTheGeometricFunctions) {
    static_assert(dot(vec3(1, 2, 3), vec3(4, 5, 6)) == 32);
    static_assert(cross(ivec3(1, 0, 0), ivec3(0, 1, 0)) == ivec3(0, 0, 1));
    EXPECT_EQ(length(vec2(3, 4)), 5);
    EXPECT_EQ(length(dvec4(1, 1, 1, 1)), 2);
    EXPECT_EQ(normalize(vec3(0, 0, 8)), vec3(0, 0, 1));
    EXPECT_EQ(length(hvec2(half(3), half(4))), half(5));
    EXPECT_EQ(cross(vec3(1, 2, 3), vec3(-2, 5, 4)), vec3(-7, -10, 9));
}

TEST(Vec, IsPrintedInParentheses) {
    std::ostringstream out;
    out << vec3(1, 2.5f, -3) << u8vec2(65, 66) << bvec2(true, false) << hvec2(half(1.5f), half(2));
    EXPECT_EQ(out.str(), "(1, 2.5, -3)(65, 66)(1, 0)(1.5, 2)");
    std::wostringstream wide;
    wide << ivec2(1, -2);
    EXPECT_EQ(wide.str(), L"(1, -2)");
}

TEST(Vec, ComputesComponentwise) {
    EXPECT_EQ(vec2(1, 2) + vec2(3, 4), vec2(4, 6));
    EXPECT_EQ(vec2(1, 2) - 1, vec2(0, 1));
    EXPECT_EQ(2 * ivec3(1, 2, 3), ivec3(2, 4, 6));
    EXPECT_EQ(vec2(1, 2) / vec2(2, 4), vec2(0.5f));
    EXPECT_EQ(12 / ivec2(3, 4), ivec2(4, 3));
    EXPECT_EQ(-ivec2(1, -2), ivec2(-1, 2));
    EXPECT_EQ(u8vec2(200, 1) + u8vec2(100, 1), u8vec2(44, 2));
    EXPECT_NE(vec2(1, 2), vec2(1, 3));
    dvec2 v(1, 2);
    v += dvec2(1, 1);
    v *= 2;
    EXPECT_EQ(v, dvec2(4, 6));
}

TEST(Mat, IsColumnMajor) {
    mat2x3 m;  // two columns of three rows
    m[1][2] = 5;
    EXPECT_EQ(m.column[1].z, 5);
    EXPECT_EQ(sizeof(m), 24u);
    EXPECT_EQ(mat2x3::columns, 2);
    EXPECT_EQ(mat2x3::rows, 3);
}

TEST(Mat, MultipliesAsLinearAlgebraDoes) {
    const mat2x3 m{{vec3(1, 2, 3), vec3(4, 5, 6)}};
    EXPECT_EQ(m * vec2(1, 10), vec3(41, 52, 63));
    EXPECT_EQ(vec3(1, 10, 100) * m, vec2(321, 654));
    EXPECT_EQ(m * mat2::identity(), m);
    EXPECT_EQ(mat3::identity() * m, m);
    EXPECT_EQ(transpose(m) * vec3(1, 10, 100), vec3(1, 10, 100) * m);
    EXPECT_EQ(m + m, 2 * m);
    EXPECT_EQ(m - m, mat2x3{});
}

}  // namespace
}  // namespace volley
