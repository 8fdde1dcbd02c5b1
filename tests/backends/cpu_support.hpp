// Helpers for tests of the CPU backend below the runtime: devices, allocations and data.
#pragma once

#include "backends/cpu/cpu_driver.hpp"
#include "backends/queue_support.hpp"

#include <cstring>
#include <memory>
#include <vector>

namespace volley::backends::cpu {

inline std::unique_ptr<backends::Device> open_cpu(const backends::DeviceOptions& options = {}) {
    return make_driver()->open(0, options);
}

template <class T>
std::span<T> contents(backends::Memory& memory) {
    return {reinterpret_cast<T*>(memory.host()), memory.size() / sizeof(T)};
}

using testing::bytes_of;
using testing::copy_at;
using testing::fill_at;
using testing::launch_multiply_add;
using testing::multiply_add_kernel;
using testing::read_at;
using testing::write_at;

}  // namespace volley::backends::cpu
