// Words of the generated modules that software drivers ignore: the memory semantics of barriers, and the
// decorations that forbid contraction.
#include "codegen/spirv_support.hpp"

#include <spirv/unified1/spirv.hpp11>

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace volley::test {
namespace {

using Words = std::span<const std::uint32_t>;

/// Calls f(op, operands) for each instruction of a module; operands include the result's type and id.
template <class F>
void for_each_instruction(const spirv::Module& module, F&& f) {
    constexpr std::size_t header = 5;
    for (std::size_t at = header; at < module.words.size();) {
        const std::uint32_t count = module.words[at] >> 16;
        ASSERT_NE(count, 0u);
        f(static_cast<spv::Op>(module.words[at] & 0xffffu), Words(module.words).subspan(at + 1, count - 1));
        at += count;
    }
}

/// Returns the operands of all instructions with this code, with constants in the place of their ids.
std::vector<std::vector<std::uint32_t>> operands_of(const spirv::Module& module, spv::Op wanted) {
    std::map<std::uint32_t, std::uint32_t> constants;
    std::vector<std::vector<std::uint32_t>> found;
    for_each_instruction(module, [&](spv::Op op, Words operands) {
        if (op == spv::Op::OpConstant && operands.size() == 3) constants[operands[1]] = operands[2];
    });
    for_each_instruction(module, [&](spv::Op op, Words operands) {
        if (op != wanted) return;
        found.emplace_back();
        for (const std::uint32_t id : operands) {
            ASSERT_TRUE(constants.contains(id));
            found.back().push_back(constants[id]);
        }
    });
    return found;
}

// Numbers of the SPIR-V specification.
constexpr std::uint32_t workgroup = 2, subgroup = 3, queue_family = 5;
constexpr std::uint32_t acquire_release = 0x8, buffers = 0x40, shared = 0x100;
constexpr std::uint32_t available_and_visible = 0x2000 | 0x4000;
constexpr std::uint32_t order = acquire_release | available_and_visible;

TEST(SpirvWords, BarriersOrderBuffersAndSharedMemory) {
    const ir::Function fn = traced([](Buff<float> data) {
        Shared<float> cells(64);
        cells[local_index()] = data[global_id().x];
        barrier();
        data[global_id().x] = cells[63u - local_index()];
    });
    for (const spirv::Target& target : all_targets()) {
        const auto found = operands_of(valid_module(fn, target), spv::Op::OpControlBarrier);
        ASSERT_EQ(found.size(), 1u) << target.device;
        EXPECT_EQ(found[0], (std::vector<std::uint32_t>{workgroup, workgroup, order | buffers | shared}));
    }
}

TEST(SpirvWords, SubgroupBarriersOrderBuffersAndSharedMemory) {
    const ir::Function fn = traced([](Buff<float> data) {
        data[global_id().x] = 1.0f;
        subgroup_barrier();
        data[global_id().x] = 2.0f;
    });
    const auto found = operands_of(valid_module(fn, rich_target()), spv::Op::OpControlBarrier);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0], (std::vector<std::uint32_t>{subgroup, subgroup, order | buffers | shared}));
}

TEST(SpirvWords, FencesOrderTheMemoryThatTheyName) {
    const ir::Function fn = traced([](Buff<float> data) {
        const auto i = global_id().x;
        data[i] = 1.0f;
        memory_barrier();
        data[i] = 2.0f;
        memory_barrier_buffer();
        data[i] = 3.0f;
        memory_barrier_shared();
        data[i] = 4.0f;
        group_memory_barrier();
        data[i] = 5.0f;
    });
    const auto found = operands_of(valid_module(fn, rich_target()), spv::Op::OpMemoryBarrier);
    ASSERT_EQ(found.size(), 4u);
    const std::uint32_t memory[] = {buffers | shared, buffers, shared, buffers | shared};
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(found[i], (std::vector<std::uint32_t>{queue_family, order | memory[i]})) << i;
}

TEST(SpirvWords, SubgroupsInSharedMemoryOrderTheirExchange) {
    const ir::Function fn = traced([](Buff<u32> data) {
        const auto i = global_id().x;
        data[i] = subgroup_add(data[i]);
    });
    const auto found =
        operands_of(valid_module(fn, poor_target(), {{64, 1, 1}, true, false}), spv::Op::OpControlBarrier);
    ASSERT_GE(found.size(), 2u) << "before and after the words are read";
    for (const auto& operands : found)
        EXPECT_EQ(operands, (std::vector<std::uint32_t>{workgroup, workgroup, order | shared}));
}

TEST(SpirvWords, ArithmeticIsNeverContracted) {
    const ir::Function fn = traced([](Buff<float> data) {
        const auto i = global_id().x * 4u;
        const auto x = data[i], y = data[i + 1u];
        data[i] = x + y;
        data[i + 1u] = x - y;
        data[i + 2u] = x * y;
        data[i + 3u] = x / y;
    });
    const std::set<spv::Op> rounding = {spv::Op::OpFAdd, spv::Op::OpFSub, spv::Op::OpFMul, spv::Op::OpFDiv};
    for (const spirv::Target& target : all_targets()) {
        const spirv::Module module = valid_module(fn, target);
        std::set<std::uint32_t> exact;
        std::set<spv::Op> found;
        for_each_instruction(module, [&](spv::Op op, Words operands) {
            constexpr auto no_contraction = static_cast<std::uint32_t>(spv::Decoration::NoContraction);
            if (op == spv::Op::OpDecorate && operands[1] == no_contraction) exact.insert(operands[0]);
            if (!rounding.contains(op)) return;
            found.insert(op);
            EXPECT_TRUE(exact.contains(operands[1])) << "%" << operands[1] << " on " << target.device;
        });
        EXPECT_EQ(found, rounding) << target.device;
    }
}

}  // namespace
}  // namespace volley::test
