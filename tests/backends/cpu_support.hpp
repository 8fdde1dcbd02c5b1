// For tests of the CPU backend below the runtime: devices, blocks of memory and a small kernel made by hand.
#pragma once

#include "backends/cpu/cpu_driver.hpp"
#include "ir/builder.hpp"

#include <cstring>
#include <memory>
#include <vector>

namespace volley::backends::cpu {

inline std::unique_ptr<backend::Device> open_cpu(const backend::DeviceOptions& options = {}) {
    return make_driver()->open(0, options);
}

template <class T>
std::span<T> contents(backend::Memory& memory) {
    return {reinterpret_cast<T*>(memory.host()), memory.size() / sizeof(T)};
}

inline std::span<const std::byte> bytes_of(const std::vector<int>& data) {
    return std::as_bytes(std::span(data));
}

/// data[i] = data[i] * factor + i
inline ir::Function multiply_add() {
    ir::Function fn;
    fn.name = "multiply_add";
    ir::Builder b(fn);
    const ir::NodeId data = b.buffer(ScalarType::I32, "data");
    const ir::NodeId factor = b.param(ScalarType::I32, "factor");
    const ir::NodeId i = b.extract(b.emit(ir::Op::GlobalId, {}), 0);
    const ir::NodeId product = b.emit(ir::Op::Mul, {b.load(data, std::span(&i, 1)), factor});
    b.store(data, b.emit(ir::Op::Add, {product, b.convert(i, ScalarType::I32)}), std::span(&i, 1));
    return fn;
}

inline backend::Point launch_multiply_add(backend::Queue& queue, backend::Program& program,
                                          backend::Memory& memory, int factor, std::uint32_t count) {
    backend::Argument args[2];
    args[0].memory = &memory;
    args[0].elements = count;
    args[1].value = &factor;
    return queue.launch({&program, {count, 1, 1}, {64, 1, 1}, args});
}

}  // namespace volley::backends::cpu
