// Control flow, ids, barriers and launch shapes in the interpreter.
#include "backends/reference_support.hpp"

#include <volley/error.hpp>

#include <gtest/gtest.h>

#include <numeric>

namespace volley::backends::reference {
namespace {

using ir::Op;
using S = ScalarType;

TEST(ReferenceControl, BothSidesOfADivergentIfRun) {
    const auto fn = make_kernel([](ir::Builder& b) {
        const auto out = b.buffer(S::I32, "out");
        const auto i = global_x(b);
        const auto odd = b.emit(Op::Eq, {b.emit(Op::And, {i, b.constant_u32(1)}), b.constant_u32(1)});
        b.begin_if(odd);
        store(b, out, b.constant_i32(1), {i});
        b.begin_else();
        store(b, out, b.constant_i32(2), {i});
        b.end_if();
    });
    std::vector<std::int32_t> out(5);
    run(fn, {.global = {5, 1, 1}, .local = {2, 1, 1}}, out);
    EXPECT_EQ(out, (std::vector<std::int32_t>{2, 1, 2, 1, 2}));
}

TEST(ReferenceControl, ForCountsMathematically) {
    struct Case {
        S type;
        std::uint64_t begin, end, step;
        std::vector<std::int32_t> indices;
    };
    const Case cases[] = {
        {S::I32, 0, 3, 1, {0, 1, 2}},
        {S::U8, 250, 255, 3, {250, 253}},  // the index would wrap
        {S::I8, 5, 0xfe, 0xfd, {5, 2, -1}},
        {S::I8, 0, 5, 0xff, {}},
        {S::U32, 5, 3, 1, {}},
        {S::I32, 0, 5, 0, {}},
        {S::I8, 0x80, 0x7f, 100, {-128, -28, 72}},
    };
    for (const Case& c : cases) {
        const auto fn = make_kernel([&](ir::Builder& b) {
            const auto out = b.buffer(S::I32, "out");
            const auto count = b.var(S::I32);
            const auto index = b.begin_for(b.constant(c.type, c.begin), b.constant(c.type, c.end),
                                           b.constant(c.type, c.step));
            const auto at = load(b, count, {});
            store(b, out, b.convert(index, S::I32), {at});
            store(b, count, b.emit(Op::Add, {at, b.constant_i32(1)}), {});
            b.end_for();
            store(b, out, load(b, count, {}), {b.constant_i32(9)});
        });
        std::vector<std::int32_t> out(10);
        run(fn, {}, out);
        ASSERT_EQ(static_cast<std::size_t>(out[9]), c.indices.size());
        out.resize(c.indices.size());
        EXPECT_EQ(out, c.indices);
    }
}

TEST(ReferenceControl, BreakContinueAndReturnActPerLane) {
    // Each invocation i sums the even k below i. Those with i >= 6 return inside the loop, before the store.
    const auto fn = make_kernel([](ir::Builder& b) {
        const auto out = b.buffer(S::U32, "out");
        const auto i = global_x(b);
        const auto sum = b.var(S::U32);
        const auto k = b.begin_for(b.constant_u32(0), b.constant_u32(100), b.constant_u32(1));
        b.begin_if(b.emit(Op::Ge, {k, i}));
        b.jump(Op::Break);
        b.end_if();
        b.begin_if(b.emit(Op::Ge, {k, b.constant_u32(5)}));
        b.jump(Op::Return);
        b.end_if();
        b.begin_if(b.emit(Op::Eq, {b.emit(Op::And, {k, b.constant_u32(1)}), b.constant_u32(1)}));
        b.jump(Op::Continue);
        b.end_if();
        store(b, sum, b.emit(Op::Add, {load(b, sum, {}), k}), {});
        b.end_for();
        store(b, out, load(b, sum, {}), {i});
    });
    std::vector<std::uint32_t> out(8, 77);
    run(fn, {.global = {8, 1, 1}, .local = {8, 1, 1}}, out);
    EXPECT_EQ(out, (std::vector<std::uint32_t>{0, 0, 0, 2, 2, 6, 77, 77}));
}

TEST(ReferenceControl, LoopRepeatsUntilBreak) {
    const auto fn = make_kernel([](ir::Builder& b) {
        const auto out = b.buffer(S::U32, "out");
        const auto i = global_x(b);
        const auto n = b.var(S::U32);
        b.begin_loop();
        b.begin_if(b.emit(Op::Eq, {load(b, n, {}), i}));
        b.jump(Op::Break);
        b.end_if();
        store(b, n, b.emit(Op::Add, {load(b, n, {}), b.constant_u32(1)}), {});
        b.end_loop();
        store(b, out, load(b, n, {}), {i});
    });
    std::vector<std::uint32_t> out(10);
    run(fn, {.global = {10, 1, 1}, .local = {4, 1, 1}}, out);
    std::vector<std::uint32_t> expected(10);
    std::iota(expected.begin(), expected.end(), 0u);
    EXPECT_EQ(out, expected);
}

TEST(ReferenceControl, ComputesIdsOfAThreeDimensionalGrid) {
    const auto fn = make_kernel([](ir::Builder& b) {
        const auto out = b.buffer(DType::vector(S::U32, 4), "out");
        const auto g = b.emit(Op::GlobalId, {});
        const auto size = b.emit(Op::GlobalSize, {});
        const auto at = b.emit(
            Op::Add,
            {b.extract(g, 0),
             b.emit(Op::Mul, {b.extract(size, 0),
                              b.emit(Op::Add, {b.extract(g, 1),
                                               b.emit(Op::Mul, {b.extract(g, 2), b.extract(size, 1)})})})});
        const ir::NodeId parts[] = {b.emit(Op::LocalIndex, {}), b.emit(Op::SubgroupId, {}),
                                    b.emit(Op::SubgroupLane, {}), b.extract(b.emit(Op::GroupId, {}), 1)};
        store(b, out, b.construct(DType::vector(S::U32, 4), parts), {at});
    });
    struct Row {
        std::uint32_t index, subgroup, lane, group_y;
    };
    std::vector<Row> out(5 * 3 * 2);
    run(fn, {.global = {5, 3, 2}, .local = {2, 2, 2}, .subgroup_size = 3}, out);
    for (std::uint32_t z = 0; z < 2; ++z) {
        for (std::uint32_t y = 0; y < 3; ++y) {
            for (std::uint32_t x = 0; x < 5; ++x) {
                const Row& row = out[x + 5 * (y + 3 * z)];
                EXPECT_EQ(row.index, (z % 2 * 2 + y % 2) * 2 + x % 2);
                EXPECT_EQ(row.subgroup, row.index / 3);
                EXPECT_EQ(row.lane, row.index % 3);
                EXPECT_EQ(row.group_y, y / 2);
            }
        }
    }
}

ir::Function reversing_kernel(std::uint32_t n) {
    return make_kernel([n](ir::Builder& b) {
        const auto out = b.buffer(S::U32, "out");
        const auto tile = b.shared(DType::array(S::U32, n));
        const auto i = b.emit(Op::LocalIndex, {});
        store(b, tile, load(b, out, {global_x(b)}), {i});
        b.emit(Op::Barrier, {});
        store(b, out, load(b, tile, {b.emit(Op::Sub, {b.constant_u32(n - 1), i})}), {global_x(b)});
    });
}

TEST(ReferenceControl, BarriersOrderSharedMemory) {
    std::vector<std::uint32_t> out = {1, 2, 3, 4, 5, 6};
    run(reversing_kernel(3), {.global = {6, 1, 1}, .local = {3, 1, 1}}, out);
    EXPECT_EQ(out, (std::vector<std::uint32_t>{3, 2, 1, 6, 5, 4}));
}

TEST(ReferenceControl, ABarrierInAPartialWorkgroupIsAnError) {
    std::vector<std::uint32_t> out(5);
    EXPECT_THROW(run(reversing_kernel(3), {.global = {5, 1, 1}, .local = {3, 1, 1}}, out), LaunchError);
}

TEST(ReferenceControl, ABarrierNotReachedByAllIsAnError) {
    const auto fn = make_kernel([](ir::Builder& b) {
        b.buffer(S::U32, "out");
        b.begin_if(b.emit(Op::Eq, {global_x(b), b.constant_u32(0)}));
        b.emit(Op::Barrier, {});
        b.end_if();
    });
    std::vector<std::uint32_t> out(2);
    EXPECT_THROW(run(fn, {.global = {2, 1, 1}, .local = {2, 1, 1}}, out), LaunchError);
}

TEST(ReferenceControl, AnEndlessLoopIsCaughtByTheStepLimit) {
    const auto fn = make_kernel([](ir::Builder& b) {
        b.begin_loop();
        b.end_loop();
    });
    EXPECT_THROW(interpret(fn, {.max_steps = 1000}, {}), Error);
}

}  // namespace
}  // namespace volley::backends::reference
