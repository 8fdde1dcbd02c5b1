// Describes the reference device and creates its memory, programs and queues.
#include "backends/reference/reference_device.hpp"

#include "backends/reference/reference_program.hpp"
#include "backends/reference/reference_queue.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <algorithm>

#include <unistd.h>

namespace volley::backends::reference {
namespace {

std::uint64_t host_memory_bytes() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : 0;
}

}  // namespace

DeviceInfo describe_reference(unsigned subgroup_size) {
    DeviceInfo info;
    info.backend = "reference";
    info.name = "interpreter of the kernel IR";
    info.driver = "volley";
    info.type = DeviceType::Other;
    info.software = true;
    info.max_local_size = 1024;
    info.max_local_dims = {1024, 1024, 1024};
    info.max_shared_bytes = 64 * 1024;
    info.memory_bytes = host_memory_bytes();
    info.subgroup_size = subgroup_size;
    info.compute_units = 1;
    info.max_queues = 16;
    info.f16 = info.f64 = info.i8 = info.i16 = info.i64 = true;
    info.float_atomics = info.int64_atomics = info.subgroups = true;
    info.keeps_subnormals = info.fused_fma = true;
    info.host_memory = true;
    return info;
}

ReferenceDevice::ReferenceDevice(unsigned subgroup_size, std::uint64_t memory_limit)
    : info_(describe_reference(subgroup_size)),
      budget_(std::make_shared<backends::MemoryBudget>(info_.id(),
                                                       backends::memory_limit_of_user(memory_limit), true)) {
    if (subgroup_size < 1 || subgroup_size > 128) {
        fail(ErrorCode::InvalidArgument, cat("the subgroup size is ", subgroup_size), "reference:0",
             "use 1 to 128");
    }
}

std::unique_ptr<backends::Memory> ReferenceDevice::allocate(std::size_t bytes) {
    return std::make_unique<ReferenceMemory>(bytes, budget_);
}

std::unique_ptr<backends::Memory> ReferenceDevice::import_host(std::span<std::byte> bytes) {
    check_import(bytes);
    return std::make_unique<backends::CallerMemory>(bytes);
}

std::unique_ptr<backends::Program> ReferenceDevice::compile(ir::Function fn) {
    return std::make_unique<ReferenceProgram>(std::move(fn));
}

std::unique_ptr<backends::Queue> ReferenceDevice::make_queue() {
    return std::make_unique<ReferenceQueue>(info_.subgroup_size);
}

ir::Dim3 ReferenceDevice::default_local(const ir::Function& fn, ir::Dim3 global) const {
    if (fn.local_size) return *fn.local_size;
    // Small enough that most grids have several workgroups.
    return {std::min(global[0], 64u), 1, 1};
}

}  // namespace volley::backends::reference
