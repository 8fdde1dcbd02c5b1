// Kernels on the CPU below the runtime: variants, and the division of launches into pieces that cover the
// grid.
#include "backends/cpu/cpu_program.hpp"

#include "backends/cpu/cpu_launch.hpp"
#include "backends/cpu_support.hpp"
#include "backends/held_kernel.hpp"
#include "support/random.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace volley::backends::cpu {
namespace {

/// Returns a kernel that uses its workgroup, with a loop whose length is known only at launch.
ir::Function grouped_loop() {
    ir::Function fn;
    fn.name = "grouped_loop";
    ir::Builder b(fn);
    const ir::NodeId data = b.buffer(ScalarType::U32, "data");
    const ir::NodeId count = b.param(ScalarType::U32, "count");
    const ir::NodeId i = b.extract(b.emit(ir::Op::GlobalId, {}), 0);
    const ir::NodeId local = b.extract(b.emit(ir::Op::LocalId, {}), 0);
    const ir::NodeId sum = b.var(ScalarType::U32);
    b.begin_for(b.constant_u32(0), count, b.constant_u32(1));
    b.store(sum, b.emit(ir::Op::Add, {b.load(sum, {}), local}), {});
    b.end_for();
    b.store(data, b.load(sum, {}), std::span(&i, 1));
    return fn;
}

codegen::llvm::Target host() { return codegen::llvm::host_target(); }

TEST(CpuProgram, CompilesAVariantOnceAndKeepsIt) {
    const CpuProgram program(multiply_add_kernel(), host());
    const auto& first = program.variant({{1, 1, 1}, true});
    EXPECT_EQ(&program.variant({{64, 1, 1}, true}), &first)
        << "a flat kernel has one variant for all local sizes";
    EXPECT_NE(&program.variant({{1, 1, 1}, false}), &first);
    EXPECT_EQ(&program.variant({{1, 1, 1}, true}), &first);
}

TEST(CpuProgram, SeveralThreadsGetTheSameVariant) {
    const CpuProgram program(multiply_add_kernel(), host());
    std::vector<const codegen::llvm::CompiledKernel*> seen(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < seen.size(); ++t) {
        threads.emplace_back([&, t] { seen[t] = &program.variant({{1, 1, 1}, true}); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto* kernel : seen) EXPECT_EQ(kernel, seen[0]);
}

TEST(CpuProgram, EstimatesTheCostOfAKernel) {
    const CostEstimate simple = estimate_cost(multiply_add_kernel(), 8);
    EXPECT_TRUE(simple.certain);
    EXPECT_GT(simple.ns, 0.01);
    EXPECT_LT(simple.ns, 10);
    const CostEstimate loop = estimate_cost(grouped_loop(), 8);
    EXPECT_FALSE(loop.certain);
    EXPECT_GT(loop.ns, 10 * simple.ns);
}

TEST(CpuProgram, LearnsTheCostOfLoopsOfUnknownLength) {
    const auto device = open_cpu({.cpu_threads = 2});
    const auto queue = device->make_queue();
    const auto program = device->compile(grouped_loop());
    const auto& cpu_program = static_cast<const CpuProgram&>(*program);
    const double guess = cpu_program.cost();
    const auto memory = device->allocate(4096 * 4);
    const std::uint32_t count = 1;
    backends::Argument args[2];
    args[0].memory = memory.get();
    args[0].elements = 4096;
    args[1].value = &count;
    for (int i = 0; i < 50; ++i) queue->launch({program.get(), {4096, 1, 1}, {64, 1, 1}, args});
    queue->timeline().wait(queue->last());
    EXPECT_LT(cpu_program.cost(), guess);
    EXPECT_EQ(contents<std::uint32_t>(*memory)[4095], 63u);
}

TEST(CpuProgram, SmallAndLargeLaunchesComputeTheSame) {
    const auto device = open_cpu({.cpu_threads = 3});
    const auto queue = device->make_queue();
    const auto program = device->compile(multiply_add_kernel());
    for (const std::uint32_t count : {1u, 5u, 64u, 1000u, 500'000u, 2'000'001u}) {
        const auto memory = device->allocate(std::size_t{count} * 4);
        const int one = 1;
        fill_at(*queue, *memory, 0, memory->size(), std::as_bytes(std::span(&one, 1)));
        for (int i = 0; i < 3; ++i) launch_multiply_add(*queue, *program, *memory, 2, count);
        queue->timeline().wait(queue->last());
        const auto result = contents<int>(*memory);
        for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(result[i], 8 + 7 * static_cast<int>(i)) << count;
    }
}

// ---- division of launches ----

struct Seen {
    std::vector<int> cells;
    std::uint64_t width = 0;
};
thread_local Seen* seen_now = nullptr;

void mark(const codegen::llvm::Work* work) {
    for (std::uint64_t row = work->row_begin; row < work->row_end; ++row) {
        for (std::uint64_t x = work->begin; x < work->end; ++x)
            ++seen_now->cells.at(row * seen_now->width + x);
    }
}

/// Runs all pieces of a launch and checks that each invocation, or workgroup, is in exactly one.
void expect_exact_cover(const CpuProgram& program, ir::Dim3 global, ir::Dim3 local, unsigned threads) {
    KernelRun run;
    run.program = &program;
    run.entry = mark;
    run.pieces = cut(program, global, local, threads);
    Seen all;
    if (program.flat()) {
        run.work.end = global[0];
        run.work.row_end = std::uint64_t{global[1]} * global[2];
    } else {
        run.work.end = 1;
        for (std::size_t d = 0; d < 3; ++d) run.work.end *= (global[d] + local[d] - 1) / local[d];
    }
    all.width = run.work.end;
    all.cells.assign(run.work.end * run.work.row_end, 0);
    seen_now = &all;
    for (std::uint32_t i = 0; i < run.pieces.count; ++i) run_kernel(run, i);
    for (const int times : all.cells)
        ASSERT_EQ(times, 1) << global[0] << " " << global[1] << " " << global[2];
    EXPECT_EQ(run.pieces.segment % program.width(), 0u);
}

TEST(CpuPieces, CoverEveryGridExactlyOnce) {
    const CpuProgram flat(multiply_add_kernel(), host());
    const CpuProgram grouped(grouped_loop(), host());
    ASSERT_TRUE(flat.flat());
    ASSERT_FALSE(grouped.flat());
    const std::uint64_t seed = 7;
    testing::Random random(seed);
    for (int i = 0; i < 100; ++i) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed << ", round " << i);
        const auto size = [&](std::int64_t high) {
            return static_cast<std::uint32_t>(random.between(1, high));
        };
        const ir::Dim3 global = {size(5'000), size(i % 2 == 0 ? 1 : 20), size(i % 3 == 0 ? 4 : 1)};
        const ir::Dim3 local = {size(300), size(3), 1};
        const unsigned threads = size(8);
        expect_exact_cover(flat, global, local, threads);
        expect_exact_cover(grouped, global, local, threads);
    }
}

TEST(CpuPieces, SmallGridsAreOnePieceAndLargeOnesMany) {
    const CpuProgram program(multiply_add_kernel(), host());
    EXPECT_EQ(cut(program, {1024, 1, 1}, {64, 1, 1}, 8).count, 1u);
    EXPECT_GE(cut(program, {1 << 24, 1, 1}, {64, 1, 1}, 8).count, 64u);
    EXPECT_GE(cut(program, {1 << 22, 2, 1}, {64, 1, 1}, 8).count, 64u) << "few long rows are divided too";
    EXPECT_EQ(cut(program, {1 << 18, 1, 1}, {64, 1, 1}, 1).count, 1u) << "one thread";
}

TEST(CpuPieces, AreShortEnoughToWaitFor) {
    const CpuProgram program(multiply_add_kernel(), host());
    for (const unsigned threads : {1u, 2u, 8u}) {
        const ir::Dim3 global = {1u << 30, 1, 1};
        const Pieces pieces = cut(program, global, {64, 1, 1}, threads);
        EXPECT_TRUE(pieces.brief);
        EXPECT_LE(estimated_ns(program, global) / pieces.count, 1.1 * slice_ns) << threads;
    }
}

TEST(CpuPieces, AreAsManyForEachThread) {
    const CpuProgram program(multiply_add_kernel(), host());
    for (const std::uint32_t rows : {1000u, 1022u, 1024u, 3000u})
        EXPECT_EQ(cut(program, {1024, rows, 1}, {16, 16, 1}, 2).count % 2, 0u) << rows;
}

TEST(CpuPieces, OfFewCostlyInvocationsAreSingleVectors) {
    const CpuProgram loop(grouped_loop(), host());
    EXPECT_FALSE(cut(loop, {1, 1, 1}, {1, 1, 1}, 2).small) << "the length of its loop is unknown";
    const CpuProgram held(testing::held_kernel(), host());
    held.measured(1e6);  // nanoseconds an invocation
    const Pieces pieces = cut(held, {64, 1, 1}, {64, 1, 1}, 8);
    EXPECT_EQ(pieces.count, (64 + held.width() - 1) / held.width());
    EXPECT_FALSE(pieces.brief);
    EXPECT_FALSE(pieces.small);
}

}  // namespace
}  // namespace volley::backends::cpu
