// For tests of queues below the runtime, of any backend.
#pragma once

#include "backends/api/queue.hpp"
#include "ir/builder.hpp"

#include <atomic>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace volley::testing {

/// Blocks until it is opened; also when the test ends early.
class Gate {
public:
    ~Gate() { open(); }
    void open() {
        opened_ = true;
        opened_.notify_all();
    }
    void pass() { opened_.wait(false); }

private:
    std::atomic<bool> opened_{false};
};

inline std::span<const std::byte> bytes_of(const std::vector<int>& data) {
    return std::as_bytes(std::span(data));
}

inline std::vector<int> counting(std::size_t count, int start = 0) {
    std::vector<int> data(count);
    std::iota(data.begin(), data.end(), start);
    return data;
}

// Contiguous transfers.
inline backends::Point write_at(backends::Queue& queue, backends::Memory& to, std::uint64_t offset,
                                std::span<const std::byte> data) {
    return queue.write(to, data.data(), backends::RectMove::contiguous(offset, 0, data.size()));
}
inline backends::Point read_at(backends::Queue& queue, const backends::Memory& from, std::uint64_t offset,
                               std::span<std::byte> data) {
    return queue.read(data.data(), from, backends::RectMove::contiguous(0, offset, data.size()));
}
inline backends::Point copy_at(backends::Queue& queue, backends::Memory& to, std::uint64_t to_offset,
                               const backends::Memory& from, std::uint64_t from_offset, std::uint64_t bytes) {
    return queue.copy(to, from, backends::RectMove::contiguous(to_offset, from_offset, bytes));
}
inline backends::Point fill_at(backends::Queue& queue, backends::Memory& to, std::uint64_t offset,
                               std::uint64_t bytes, std::span<const std::byte> pattern) {
    return queue.fill(to, {offset}, {bytes}, pattern);
}

inline std::vector<int> read_back(backends::Queue& queue, const backends::Memory& memory, std::size_t count,
                                  std::uint64_t offset = 0) {
    std::vector<int> data(count);
    queue.timeline().wait(read_at(queue, memory, offset, std::as_writable_bytes(std::span(data))));
    return data;
}

/// Grids of all kinds: small, large, flat, deep, and of prime sizes.
inline std::vector<ir::Dim3> grids() {
    return {{1, 1, 1},    {100, 1, 1},  {~0u, 1, 1}, {1000, 1000, 1},
            {3, 5000, 1}, {1, 1, 4000}, {7, 7, 7},   {1, 9, 1}};
}

/// Computes out[i] = the sum of all other buffers' element i, plus the scalar.
inline ir::Function sum_many(unsigned buffers) {
    ir::Function fn;
    fn.name = "sum_many";
    ir::Builder b(fn);
    std::vector<ir::NodeId> inputs;
    const ir::NodeId out = b.buffer(ScalarType::I32, "out");
    for (unsigned k = 0; k < buffers; ++k)
        inputs.push_back(b.buffer(ScalarType::I32, "in" + std::to_string(k), true));
    ir::NodeId sum = b.param(ScalarType::I32, "scalar");
    const ir::NodeId i = b.extract(b.emit(ir::Op::GlobalId, {}), 0);
    for (const ir::NodeId input : inputs) sum = b.emit(ir::Op::Add, {sum, b.load(input, std::span(&i, 1))});
    b.store(out, sum, std::span(&i, 1));
    return fn;
}

/// data[i] = data[i] * factor + i
inline ir::Function multiply_add_signature() {
    ir::Function fn;
    fn.name = "multiply_add";
    ir::Builder b(fn);
    b.buffer(ScalarType::I32, "data");
    b.param(ScalarType::I32, "factor");
    return fn;
}

inline ir::Function multiply_add_kernel() {
    ir::Function fn;
    fn.name = "multiply_add";
    ir::Builder b(fn);
    const ir::NodeId data = b.buffer(ScalarType::I32, "data");
    const ir::NodeId factor = b.param(ScalarType::I32, "factor");
    const ir::NodeId index = b.extract(b.emit(ir::Op::GlobalId, {}), 0);
    const ir::NodeId old = b.load(data, std::span(&index, 1));
    const ir::NodeId scaled = b.emit(ir::Op::Mul, {old, factor});
    b.store(data, b.emit(ir::Op::Add, {scaled, b.convert(index, ScalarType::I32)}), std::span(&index, 1));
    return fn;
}

inline backends::Point launch_multiply_add(backends::Queue& queue, backends::Program& program,
                                           backends::Memory& memory, int factor, std::uint32_t count,
                                           std::uint64_t offset = 0) {
    backends::Argument args[2];
    args[0].memory = &memory;
    args[0].offset = offset;
    args[0].elements = count;
    args[1].value = &factor;
    return queue.launch({&program, {count, 1, 1}, {64, 1, 1}, args});
}

}  // namespace volley::testing
