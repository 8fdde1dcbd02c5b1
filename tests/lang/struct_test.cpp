// VOLLEY_STRUCT in any namespace: layout, members, nesting.
#include "lang/traced.hpp"

struct Plain {
    float a;
    int b;
};
VOLLEY_STRUCT(Plain, a, b)

namespace outer {
struct Particle {
    volley::vec3 position;
    volley::vec3 velocity;
    float mass;
};
VOLLEY_STRUCT(Particle, position, velocity, mass)

namespace inner {
struct Cell {
    std::uint8_t tag;
    Particle particle;
    Plain plain[2];
    std::array<double, 3> weights;
    std::complex<float> z;
    volley::mat2 m;
    bool alive;
};
VOLLEY_STRUCT(Cell, tag, particle, plain, weights, z, m, alive);
}  // namespace inner

struct Host {
    struct Nested {
        int value;
    };
};
VOLLEY_STRUCT(Host::Nested, value)

template <class T>
struct Pair {
    T first;
    T second;
};
VOLLEY_STRUCT(Pair<float>, first, second)
VOLLEY_STRUCT(Pair<int>, first, second)

// Names that the classes of the language might use.
struct Awkward {
    float ref, type, list, members, size, read, x, list_;
    float step, put, widen, read_only, reach, extended, root_, Base;
};
VOLLEY_STRUCT(Awkward, ref, type, list, members, size, read, x, list_, step, put, widen, read_only, reach,
              extended, root_, Base)

struct Many {
    int m00, m01, m02, m03, m04, m05, m06, m07, m08, m09, m10, m11, m12, m13, m14, m15;
    int m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31;
};
VOLLEY_STRUCT(Many, m00, m01, m02, m03, m04, m05, m06, m07, m08, m09, m10, m11, m12, m13, m14, m15, m16, m17,
              m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31)
}  // namespace outer

// Structs in an unnamed namespace or behind a using-directive are also found from the enclosing namespace.
namespace around {
namespace {
struct Unnamed {
    float a;
};
VOLLEY_STRUCT(Unnamed, a)
}  // namespace
using namespace outer;
struct Named {
    float b;
    Particle particle;
};
VOLLEY_STRUCT(Named, b, particle)
}  // namespace around

namespace volley::test {
namespace {

struct Hidden {
    half h;
    u64 n;
};
VOLLEY_STRUCT(Hidden, h, n)

TEST(Struct, TheLayoutIsThatOfTheHost) {
    const DType cell = dtype_of<outer::inner::Cell>();
    ASSERT_EQ(cell.count(), 7u);
    EXPECT_EQ(cell.size(), sizeof(outer::inner::Cell));
    EXPECT_EQ(cell.align(), alignof(outer::inner::Cell));
    EXPECT_EQ(cell.fields()[1].name, "particle");
    EXPECT_EQ(cell.fields()[1].type, dtype_of<outer::Particle>());
    EXPECT_EQ(cell.fields()[2].type, DType::array(dtype_of<Plain>(), 2));
    EXPECT_EQ(cell.fields()[3].offset, offsetof(outer::inner::Cell, weights));
    EXPECT_EQ(cell.fields()[6].type, DType(ScalarType::Bool));
    EXPECT_EQ(dtype_of<Hidden>().fields()[1].offset, 8u);
    EXPECT_EQ(dtype_of<outer::Many>().count(), 32u);
    EXPECT_NE(dtype_of<outer::Pair<int>>(), dtype_of<outer::Pair<float>>());
    EXPECT_EQ(dtype_of<outer::Host::Nested>().struct_name(), "Host::Nested");
}

TEST(Struct, MembersOfElements) {
    EXPECT_EQ(body_of([](Buff<outer::Particle> p) {
                  auto i = global_id().x;
                  p[i].position.x = p[i].velocity.y;
              }),
              "  %0 = buffer Particle \"arg0\"\n"
              "  %1 = global_id : vec3<u32>\n"
              "  %2 = extract %1[0] : u32\n"
              "  %3 = load %0[%2] : Particle\n"
              "  %4 = extract %3[1, 1] : f32\n"
              "  store %0[%2, 0, 0], %4\n");
}

TEST(Struct, AWholeElementIsReadOnceWhereItIsWritten) {
    EXPECT_EQ(body_of([](Buff<Plain> p, Buff<float> out) {
                  auto old = p[0];
                  p[0].a = 0.f;
                  out[0] = old.a;
              }),
              "  %0 = buffer Plain \"arg0\"\n"
              "  %1 = buffer f32 \"arg1\"\n"
              "  %2 = load %0[0] : Plain\n"
              "  %3 = const 0.0 : f32\n"
              "  store %0[0, 0], %3\n"
              "  %4 = extract %2[0] : f32\n"
              "  store %1[0], %4\n");
}

TEST(Struct, MembersOfVariablesParametersAndValues) {
    const std::string text = body_of([](Const<outer::Particle> c, Buff<outer::Particle> out) {
        Var<outer::Particle> v = c;
        v.position.y += c.mass;
        v.velocity = c.velocity * 2;
        v.position = v.velocity;
        Value<outer::Particle> snapshot = v;
        v.mass = 3;
        out[0] = snapshot;
        out[1] = v;
        out[2] = outer::Particle{vec3(1, 2, 3), vec3(4, 5, 6), 7};
        out[3] = make<outer::Particle>(c.position, vec3(1, 1, 1), 3);
        out[4].mass = select(c.mass > 0, c, snapshot).mass;
    });
    EXPECT_THAT(text, HasSubstr("var Particle"));
    EXPECT_THAT(text, HasSubstr("construct"));
}

TEST(Struct, NestedMembersAndArrays) {
    const std::string text = body_of([](Buff<outer::inner::Cell> cells, Const<u32> k) {
        cells[0].particle.position.z = 1.f;
        cells[0].plain[1].b = 2;
        cells[0].plain[k].a = 2.f;
        cells[0].weights[k] += 0.5;
        cells[0].z *= cells[1].z;
        cells[0].m[1][0] = 1.f;
        cells[0].alive = cells[1].tag > 3;
    });
    EXPECT_THAT(text, HasSubstr("[0, 1, 0, 2]"));
    EXPECT_THAT(text, HasSubstr("[0, 2, 1, 1]"));
    EXPECT_THAT(text, HasSubstr("[0, 2, %1, 0]"));
    EXPECT_THAT(text, HasSubstr("[0, 5, 1, 0]"));
}

TEST(Struct, TemplatesNestedClassesAndAwkwardNames) {
    body_of([](Buff<outer::Pair<float>> pairs, Buff<outer::Host::Nested> nested, Buff<outer::Awkward> awkward,
               Buff<outer::Many> many, Buff<Hidden> hidden, Buff<const outer::Awkward> fixed,
               Buff<around::Named> named, Buff<const around::Unnamed> unnamed) {
        pairs[0].first = pairs[0].second;
        nested[0].value = 1;
        auto a = awkward[0];
        awkward[1].ref = a.type + a.list + a.members + a.size + a.read + a.x + a.list_;
        many[0].m31 = many[0].m00;
        hidden[0].h = hidden[1].h * 2;
        Var<outer::Awkward> v = awkward[2];
        v.size = 3;
        v.step += v.put * v.widen;
        awkward[3] = v;
        awkward[4].put = fixed[0].read_only + fixed[1].step;
        const Value<outer::Awkward> w = v;
        awkward[5].Base = w.widen + w.Base + w.put;
        Shared<outer::Awkward> tile(2, 2);
        tile[0][1].reach = tile[1][0].extended + tile[1][1].root_ + tile[1][1].put;
        named[0].b = named[1].particle.mass + unnamed[0].a;
    });
}

TEST(Struct, AtomicsOnMembers) {
    EXPECT_THAT(body_of([](Buff<Plain> p) { atomic(p[3].b).add(1); }), HasSubstr("atomic_add %0[3, 1]"));
}

TEST(Struct, SharedArraysOfStructs) {
    EXPECT_THAT(body_of([](Buff<Plain> p) {
                    Shared<Plain> tile(4, 4);
                    tile[1][2].b = 3;
                    p[0] = tile[1][2];
                }),
                HasSubstr("store %1[1, 2, 1]"));
}

}  // namespace
}  // namespace volley::test
