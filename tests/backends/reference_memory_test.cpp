// Memory, composites, atomics, print and subgroups in the interpreter.
#include "backends/reference_support.hpp"

#include <volley/error.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace volley::backends::reference {
namespace {

using ir::Op;
using S = ScalarType;

struct Odd {
    char tag;
    double weight;
    float at[3];
    bool flag;
};

DType odd_type() {
    const StructField fields[] = {{"tag", S::I8, offsetof(Odd, tag)},
                                  {"weight", S::F64, offsetof(Odd, weight)},
                                  {"at", DType::vector(S::F32, 3), offsetof(Odd, at)},
                                  {"flag", S::Bool, offsetof(Odd, flag)}};
    return DType::structure("Odd", fields, sizeof(Odd), alignof(Odd));
}

TEST(ReferenceMemory, StructsAreLoadedWholeAndStoredByField) {
    const auto fn = make_kernel([](ir::Builder& b) {
        const auto in = b.buffer(odd_type(), "in", true);
        const auto out = b.buffer(odd_type(), "out");
        const auto i = global_x(b);
        const auto whole = load(b, in, {i});
        store(b, out, whole, {i});
        const auto y = b.emit(Op::Extract, {whole, b.constant_u32(2), i});  // dynamic component
        store(b, out, b.emit(Op::Add, {y, b.constant_f32(1)}), {i, b.constant_u32(2), i});
        store(b, out, b.emit(Op::Not, {load(b, in, {i, b.constant_u32(3)})}), {i, b.constant_u32(3)});
    });
    std::vector<Odd> in(2);
    in[0] = {'a', 1.5, {1, 2, 3}, true};
    in[1] = {'b', 2.5, {4, 5, 6}, false};
    std::vector<Odd> out(2);
    run(fn, {.global = {2, 1, 1}, .local = {2, 1, 1}}, in, out);
    EXPECT_EQ(out[0].tag, 'a');
    EXPECT_EQ(out[1].weight, 2.5);
    EXPECT_EQ(out[0].at[0], 2);
    EXPECT_EQ(out[0].at[1], 2);
    EXPECT_EQ(out[1].at[1], 6);
    EXPECT_FALSE(out[0].flag);
    EXPECT_TRUE(out[1].flag);
}

TEST(ReferenceMemory, AnOutOfBoundsAccessNamesTheSourceLine) {
    const auto fn = make_kernel([](ir::Builder& b) {
        const auto out = b.buffer(S::F32, "out");
        b.set_loc({b.function().add_file("kernel.cpp"), 12});
        store(b, out, b.constant_f32(1), {global_x(b)});
    });
    std::vector<float> out(3);
    try {
        run(fn, {.global = {4, 1, 1}, .local = {4, 1, 1}}, out);
        FAIL() << "no error";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::IndexError);
        EXPECT_NE(std::string(e.what()).find("kernel.cpp:12"), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find("index 3 of 3"), std::string::npos) << e.what();
    }
}

TEST(ReferenceMemory, NegativeIndicesAreSignExtended) {
    const auto fn = make_kernel([](ir::Builder& b) {
        const auto out = b.buffer(S::F32, "out");
        store(b, out, b.constant_f32(1), {b.constant(S::I8, 0xff)});
    });
    std::vector<float> out(300);
    EXPECT_THROW(run(fn, {}, out), Error);
}

TEST(ReferenceMemory, VariablesStartAtZeroAtEachDeclaration) {
    const auto fn = make_kernel([](ir::Builder& b) {
        const auto out = b.buffer(S::I32, "out");
        const auto k = b.begin_for(b.constant_i32(0), b.constant_i32(3), b.constant_i32(1));
        const auto v = b.var(S::I32);
        store(b, v, b.emit(Op::Add, {load(b, v, {}), b.constant_i32(1)}), {});
        store(b, out, load(b, v, {}), {k});
        b.end_for();
    });
    std::vector<std::int32_t> out(3);
    run(fn, {}, out);
    EXPECT_EQ(out, (std::vector<std::int32_t>{1, 1, 1}));
}

TEST(ReferenceMemory, AnyNonZeroByteReadsAsTrue) {
    const auto fn = make_kernel([](ir::Builder& b) {
        const auto data = b.buffer(S::Bool, "data");
        const auto i = global_x(b);
        store(b, data, b.emit(Op::And, {load(b, data, {i}), b.constant_bool(true)}), {i});
    });
    std::vector<unsigned char> data = {0, 1, 2, 255};
    run(fn, {.global = {4, 1, 1}, .local = {4, 1, 1}}, data);
    EXPECT_EQ(data, (std::vector<unsigned char>{0, 1, 1, 1}));
}

TEST(ReferenceMemory, AtomicsReturnTheOldValue) {
    const auto fn = make_kernel([](ir::Builder& b) {
        const auto counter = b.buffer(S::U32, "counter");
        const auto out = b.buffer(S::U32, "out");
        const auto zero = b.constant_u32(0);
        const auto old = b.emit(Op::AtomicAdd, {counter, b.constant_u32(2), zero});
        store(b, out, old, {global_x(b)});
        b.emit(Op::AtomicCas, {counter, b.constant_u32(8), b.constant_u32(100), zero});
    });
    std::vector<std::uint32_t> counter(1);
    std::vector<std::uint32_t> out(4);
    run(fn, {.global = {4, 1, 1}, .local = {4, 1, 1}}, counter, out);
    EXPECT_EQ(out, (std::vector<std::uint32_t>{0, 2, 4, 6}));
    EXPECT_EQ(counter[0], 100u);
}

TEST(ReferenceMemory, ReadsParametersAndBufferSizes) {
    const auto fn = make_kernel([](ir::Builder& b) {
        const auto out = b.buffer(S::U64, "out");
        const auto n = b.param(S::I16, "n");
        store(b, out, b.convert(n, S::U64), {b.constant_u32(0)});
        store(b, out, b.emit(Op::BufferSize, {out}, S::U64), {b.constant_u32(1)});
    });
    std::vector<std::uint64_t> out(7);
    std::int16_t n = -2;
    const Arg args[] = {{out.data(), out.size()}, {&n, 0}};
    interpret(fn, {}, args);
    EXPECT_EQ(out[0], ~std::uint64_t{1});
    EXPECT_EQ(out[1], 7u);
}

TEST(ReferenceMemory, PrintPassesTheOperandsToTheSink) {
    const auto fn = make_kernel([](ir::Builder& b) {
        const auto i = global_x(b);
        const ir::NodeId values[] = {b.convert(i, S::F64), i};
        b.print("{} {}", values);
    });
    std::vector<std::pair<double, std::uint32_t>> seen;
    interpret(fn, {.global = {2, 1, 1}, .local = {2, 1, 1}}, {}, [&](ir::NodeId, const std::byte* values) {
        std::pair<double, std::uint32_t> row;
        std::memcpy(&row.first, values, 8);
        std::memcpy(&row.second, values + 16, 4);
        seen.push_back(row);
    });
    EXPECT_EQ(seen, (std::vector<std::pair<double, std::uint32_t>>{{0.0, 0}, {1.0, 1}}));
}

TEST(ReferenceMemory, BitcastsUseTheMemoryLayout) {
    const auto fn = make_kernel([](ir::Builder& b) {
        const auto out = b.buffer(S::U64, "out");
        const ir::NodeId parts[] = {b.constant_f32(1), b.constant_f32(-2)};
        const auto v = b.construct(DType::vector(S::F32, 2), parts);
        store(b, out, b.emit(Op::Bitcast, {v}, S::U64), {b.constant_u32(0)});
    });
    std::vector<std::uint64_t> out(1);
    run(fn, {}, out);
    EXPECT_EQ(out[0], 0xc0000000'3f800000u);
}

// ---- subgroups ----

std::vector<std::uint32_t> fold(Op op, unsigned subgroup_size, bool odd_only) {
    const auto fn = make_kernel([&](ir::Builder& b) {
        const auto out = b.buffer(S::U32, "out");
        const auto i = global_x(b);
        const auto odd = b.emit(Op::Eq, {b.emit(Op::And, {i, b.constant_u32(1)}), b.constant_u32(1)});
        b.begin_if(odd_only ? odd : b.constant_bool(true));
        store(b, out, b.emit(op, {i}), {i});
        b.end_if();
    });
    std::vector<std::uint32_t> out(6, 99);
    run(fn, {.global = {6, 1, 1}, .local = {6, 1, 1}, .subgroup_size = subgroup_size}, out);
    return out;
}

TEST(ReferenceSubgroups, FoldsAndScansCombineActiveLanesOfASubgroup) {
    using V = std::vector<std::uint32_t>;
    EXPECT_EQ(fold(Op::SubgroupAdd, 4, false), (V{6, 6, 6, 6, 9, 9}));
    EXPECT_EQ(fold(Op::SubgroupAdd, 4, true), (V{99, 4, 99, 4, 99, 5}));
    EXPECT_EQ(fold(Op::SubgroupInclusiveAdd, 8, false), (V{0, 1, 3, 6, 10, 15}));
    EXPECT_EQ(fold(Op::SubgroupExclusiveAdd, 8, true), (V{99, 0, 99, 1, 99, 4}));
    EXPECT_EQ(fold(Op::SubgroupExclusiveMin, 3, false), (V{~0u, 0, 0, ~0u, 3, 3}));
    EXPECT_EQ(fold(Op::SubgroupMax, 1, false), (V{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(fold(Op::SubgroupInclusiveMul, 2, false), (V{0, 0, 2, 6, 4, 20}));
}

TEST(ReferenceSubgroups, ComputesShufflesVotesAndBallots) {
    const auto fn = make_kernel([](ir::Builder& b) {
        const auto out = b.buffer(DType::vector(S::U32, 4), "out");
        const auto i = global_x(b);
        const auto even = b.emit(Op::Eq, {b.emit(Op::And, {i, b.constant_u32(1)}), b.constant_u32(0)});
        const auto ballot = b.emit(Op::SubgroupBallot, {even});
        const ir::NodeId parts[] = {b.extract(ballot, 0),
                                    b.emit(Op::SubgroupShuffleXor, {i, b.constant_u32(1)}),
                                    b.emit(Op::SubgroupBroadcast, {i, b.constant_u32(2)}),
                                    b.convert(b.emit(Op::SubgroupElect, {}), S::U32)};
        store(b, out, b.construct(DType::vector(S::U32, 4), parts), {i});
    });
    struct Row {
        std::uint32_t ballot, neighbour, second, elected;
    };
    std::vector<Row> out(8);
    run(fn, {.global = {8, 1, 1}, .local = {8, 1, 1}, .subgroup_size = 4}, out);
    for (std::uint32_t i = 0; i < 8; ++i) {
        EXPECT_EQ(out[i].ballot, 0b0101u);
        EXPECT_EQ(out[i].neighbour, i ^ 1);
        EXPECT_EQ(out[i].second, i / 4 * 4 + 2);
        EXPECT_EQ(out[i].elected, i % 4 == 0 ? 1u : 0u);
    }
}

}  // namespace
}  // namespace volley::backends::reference
