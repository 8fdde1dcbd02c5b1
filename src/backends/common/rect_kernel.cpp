// Builds the kernel and its launches.
#include "backends/common/rect_kernel.hpp"

#include "ir/builder.hpp"
#include "passes/pipeline.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace volley::backends {
namespace {

constexpr std::uint64_t most_words = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t group_size = 128;  // invocations per workgroup; every device supports this

DType word_type(std::uint32_t bytes) {
    switch (bytes) {
        case 1: return ScalarType::U8;
        case 2: return ScalarType::U16;
        case 4: return ScalarType::U32;
        case 8: return ScalarType::U64;
        default: return DType::vector(ScalarType::U32, 4);
    }
}

/// Returns one of few workgroup shapes, because the driver compiles a variant for each.
ir::Dim3 local_for(std::uint64_t words, std::uint64_t rows) {
    const std::uint32_t x = words == 1 ? 1 : words <= 4 ? 4 : words <= 16 ? 16 : 64;
    const std::uint32_t y = rows <= 4 ? std::min(4u, group_size / x) : group_size / x;
    return {x, y, group_size / (x * y)};
}

}  // namespace

std::uint32_t word_of(const RectMove& move, std::uint64_t to_address, std::uint64_t from_address) noexcept {
    const std::uint64_t bits = move.rect.row | move.to.stride[0] | move.to.stride[1] | move.from.stride[0] |
                               move.from.stride[1] | (to_address + move.to.offset) |
                               (from_address + move.from.offset) | 16u;
    return 1u << static_cast<unsigned>(std::countr_zero(bits));
}

ir::Function rect_kernel(std::uint32_t word_bytes) {
    ir::Function fn;
    fn.name = "volley_rows";
    ir::Builder b(fn);
    const DType word = word_type(word_bytes);
    const ir::NodeId to = b.buffer(word, "to");
    const ir::NodeId from = b.buffer(word, "from", true);
    const ir::NodeId to_row = b.param(ScalarType::U32, "to_row");
    const ir::NodeId to_plane = b.param(ScalarType::U32, "to_plane");
    const ir::NodeId from_row = b.param(ScalarType::U32, "from_row");
    const ir::NodeId from_plane = b.param(ScalarType::U32, "from_plane");
    const ir::NodeId place = b.emit(ir::Op::GlobalId, {});
    const ir::NodeId x = b.extract(place, 0);
    const ir::NodeId y = b.extract(place, 1);
    const ir::NodeId z = b.extract(place, 2);
    const auto index = [&](ir::NodeId row, ir::NodeId plane) {
        const ir::NodeId rows = b.emit(ir::Op::Mul, {y, row});
        const ir::NodeId planes = b.emit(ir::Op::Mul, {z, plane});
        return b.emit(ir::Op::Add, {x, b.emit(ir::Op::Add, {rows, planes})});
    };
    const ir::NodeId source = index(from_row, from_plane);
    const ir::NodeId target = index(to_row, to_plane);
    b.store(to, b.load(from, std::span(&source, 1)), std::span(&target, 1));
    passes::clean(fn);
    return fn;
}

Rect rect_launch_limit(const RectMove& move, std::uint32_t word_bytes) noexcept {
    const std::uint64_t most = most_words * word_bytes;
    const Rect& rect = move.rect;
    const std::uint64_t row_stride = std::max({move.to.stride[0], move.from.stride[0], std::uint64_t{1}});
    const std::uint64_t plane_stride = std::max({move.to.stride[1], move.from.stride[1], std::uint64_t{1}});
    if (rect.row >= most) return {most, {1, 1}};
    const std::uint64_t rows = std::min({rect.count[0], (most - rect.row) / row_stride + 1, most_words});
    if (rows < rect.count[0]) return {rect.row, {rows, 1}};
    const std::uint64_t plane = (rows - 1) * row_stride + rect.row;
    return {rect.row, {rows, std::min({rect.count[1], (most - plane) / plane_stride + 1, most_words})}};
}

RectLaunch::RectLaunch(Program& program, std::uint32_t word_bytes, Memory& to, const Memory& from,
                       const RectMove& move) noexcept {
    const auto words = [&](std::uint64_t bytes) { return static_cast<std::uint32_t>(bytes / word_bytes); };
    const Rect& rect = move.rect;
    strides_ = {words(move.to.stride[0]), words(move.to.stride[1]), words(move.from.stride[0]),
                words(move.from.stride[1])};
    const auto buffer = [&](Memory& memory, const RectPlace& at) {
        const std::uint64_t end =
            at.offset + (rect.count[0] - 1) * at.stride[0] + (rect.count[1] - 1) * at.stride[1] + rect.row;
        return Argument{&memory, at.offset, (end - at.offset) / word_bytes, nullptr};
    };
    args_[0] = buffer(to, move.to);
    args_[1] = buffer(const_cast<Memory&>(from), move.from);  // the kernel only reads it
    for (std::size_t k = 0; k < strides_.size(); ++k) args_[2 + k].value = &strides_[k];
    launch_ = {&program,
               {words(rect.row), static_cast<std::uint32_t>(rect.count[0]),
                static_cast<std::uint32_t>(rect.count[1])},
               local_for(words(rect.row), rect.count[0]),
               args_};
}

Program& RectPrograms::of(std::uint32_t word_bytes) {
    const std::scoped_lock lock(mutex_);
    std::unique_ptr<Program>& program = programs_[static_cast<std::size_t>(std::countr_zero(word_bytes))];
    if (!program) program = compile_(rect_kernel(word_bytes));
    return *program;
}

}  // namespace volley::backends
