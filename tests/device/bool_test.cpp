// Bool: logic, comparisons, select, and bytes that are neither 0 nor 1.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"
#include "support/edge_values.hpp"

namespace volley {
namespace {

using testing::check_exact;

using B = const Value<bool>&;
using I = const Value<i32>&;

const std::vector<bool> first_operands = {false, false, true, true, true, false, true};
const std::vector<bool> second_operands = {false, true, false, true, true, true, false};

VOLLEY_DEVICE_TEST(Bool, HasLogicAndEquality) {
    check_exact<bool>({{"a && b", [](B a, B b) { return a && b; }, [](bool a, bool b) { return a && b; }},
                       {"a || b", [](B a, B b) { return a || b; }, [](bool a, bool b) { return a || b; }},
                       {"a & b", [](B a, B b) { return a & b; }, [](bool a, bool b) { return a && b; }},
                       {"a | b", [](B a, B b) { return a | b; }, [](bool a, bool b) { return a || b; }},
                       {"a ^ b", [](B a, B b) { return a ^ b; }, [](bool a, bool b) { return a != b; }},
                       {"a == b", [](B a, B b) { return a == b; }, [](bool a, bool b) { return a == b; }},
                       {"a != b", [](B a, B b) { return a != b; }, [](bool a, bool b) { return a != b; }},
                       {"!a", [](B a, B) { return !a; }, [](bool a, bool) { return !a; }},
                       {"a && true", [](B a, B) { return a && true; }, [](bool a, bool) { return a; }},
                       {"false || b", [](B, B b) { return false || b; }, [](bool, bool b) { return b; }}},
                      first_operands, second_operands);
}

VOLLEY_DEVICE_TEST(Bool, SelectsValuesOfEveryKind) {
    const std::vector<i32> numbers = {1, -2, 3, -4, 5, -6, 7};
    check_exact<i32>(
        {{"select", [](B c, I x) { return select(c, x, 100); }, [](bool c, i32 x) { return c ? x : 100; }},
         {"of numbers", [](B c, I) { return select(c, 8, 9); }, [](bool c, i32) { return c ? 8 : 9; }}},
        first_operands, numbers);
    check_exact<bool>(
        {{"of bool", [](B c, B b) { return select(c, b, !b); }, [](bool c, bool b) { return c ? b : !b; }}},
        first_operands, second_operands);
    check_exact<vec3>(
        {{"of vectors", [](B c, I x) { return select(c, Value<vec3>(cast<float>(x)), vec3(1, 2, 3)); },
          [](bool c, i32 x) { return c ? vec3(static_cast<float>(x)) : vec3(1, 2, 3); }}},
        first_operands, numbers);
    check_exact<ivec3>(
        {{"by a vector",
          [](B c, B d, I x) { return select(make_vec(c, d, true), Value<ivec3>(x), ivec3(0)); },
          [](bool c, bool d, i32 x) { return ivec3(c ? x : 0, d ? x : 0, x); }}},
        first_operands, second_operands, numbers);
    check_exact<c64>({{"of complex numbers",
                       [](B c, I x) {
                           const auto z = make_complex(cast<float>(x), 1);
                           return select(c, z, conj(z));
                       },
                       [](bool c, i32 x) { return c64(static_cast<float>(x), c ? 1.0f : -1.0f); }}},
                     first_operands, numbers);
}

VOLLEY_DEVICE_TEST(Bool, AnyAndAllJoinComponents) {
    check_exact<bool>(
        {{"any", [](B a, B b) { return any(make_vec(a, b, false)); }, [](bool a, bool b) { return a || b; }},
         {"all", [](B a, B b) { return all(make_vec(a, b, true, a)); },
          [](bool a, bool b) { return a && b; }},
         {"any of one", [](B a, B) { return any(a); }, [](bool a, bool) { return a; }},
         {"!v", [](B a, B b) { return all(!make_vec(a, b)); }, [](bool a, bool b) { return !a && !b; }}},
        first_operands, second_operands);
}

struct Flags {
    bool a;
    bool b;
};
VOLLEY_STRUCT(Flags, a, b)

VOLLEY_DEVICE_TEST(Bool, AnyOtherByteReadsAsTrueAndOneIsStored) {
    std::vector<u16> bytes = {0x0000, 0x0001, 0x0200, 0xff80, 0x0100, 0x8000, 0x0402, 0x0000, 0xffff};
    Buffer<Flags> in(bytes.size());
    in.write_bytes(std::as_bytes(std::span(bytes)));
    Buffer<u32> out(bytes.size());
    Buffer<Flags> copy(bytes.size());
    kernel("flags", [](Buff<const Flags> x, Buff<u32> y, Buff<Flags> z) {
        const auto i = global_id().x;
        y[i] = select(x[i].a, 1u, 0u) + select(x[i].b, 2u, 0u) + cast<u32>(x[i].a == x[i].b) * 4u;
        z[i] = x[i];
        z[i].b = !x[i].b;
    })(in, out, copy);
    std::vector<u32> want;
    std::vector<u16> copied;
    for (const u16 pair : bytes) {
        const bool a = (pair & 0xff) != 0;
        const bool b = (pair >> 8) != 0;
        want.push_back((a ? 1u : 0u) + (b ? 2u : 0u) + (a == b ? 4u : 0u));
        copied.push_back(static_cast<u16>((a ? 1u : 0u) + (b ? 0u : 0x100u)));
    }
    EXPECT_EQ(out.read(0), want);
    std::vector<u16> got(bytes.size());
    copy.read_bytes(std::as_writable_bytes(std::span(got)), 0);
    EXPECT_EQ(got, copied);
}

}  // namespace
}  // namespace volley
