// Bookkeeping only: nothing is copied or computed, and programs are just their IR.
#include "support/null/null_device.hpp"

#include "support/null/null_memory.hpp"
#include "support/null/null_program.hpp"
#include "support/null/null_queue.hpp"

namespace volley::backends::null {

DeviceInfo describe_null(unsigned index) {
    DeviceInfo info;
    info.backend = "null";
    info.index = index;
    info.name = index == 0 ? "Nothing" : "Nothing at all";
    info.driver = "volley";
    info.software = true;
    info.max_local_size = 256;
    info.max_local_dims = {256, 256, 64};
    info.max_shared_bytes = 32 << 10;
    info.memory_bytes = std::uint64_t{1} << 40;
    info.subgroup_size = 32;
    info.compute_units = 1;
    info.max_queues = 16;
    info.f16 = info.f64 = info.i8 = info.i16 = info.i64 = true;
    info.float_atomics = info.int64_atomics = info.subgroups = info.keeps_subnormals = info.fused_fma = true;
    info.host_memory = index == 1;
    return info;
}

namespace {

std::shared_ptr<backends::MemoryBudget> make_budget(const DeviceInfo& info, std::uint64_t of_context) {
    const std::uint64_t limit = backends::memory_limit_of_user(of_context);
    return std::make_shared<backends::MemoryBudget>(info.id(), limit != 0 ? limit : info.memory_bytes,
                                                    limit != 0);
}

}  // namespace

NullDevice::NullDevice(unsigned index, std::shared_ptr<NullLog> log, std::uint64_t memory_limit,
                       bool overlaps)
    : info_(describe_null(index)),
      overlaps_(overlaps),
      log_(std::move(log)),
      budget_(make_budget(info_, memory_limit)) {}

std::unique_ptr<backends::Memory> NullDevice::allocate(std::size_t bytes) {
    return make_memory(bytes, info_.host_memory);
}

std::unique_ptr<backends::Memory> NullDevice::allocate_host(std::size_t bytes) {
    return make_memory(bytes, true);
}

std::unique_ptr<backends::Memory> NullDevice::make_memory(std::size_t bytes, bool on_host) {
    return std::make_unique<NullMemory>(bytes, log_, budget_, on_host);
}

std::unique_ptr<backends::Program> NullDevice::compile(ir::Function fn) {
    ++log_->programs_made;
    return std::make_unique<NullProgram>(std::move(fn));
}

std::unique_ptr<backends::Queue> NullDevice::make_queue() {
    return std::make_unique<NullQueue>(log_, log_->queues_made++, overlaps_);
}

ir::Dim3 NullDevice::default_local(const ir::Function& fn, ir::Dim3 /*global*/) const {
    return fn.local_size.value_or(ir::Dim3{64, 1, 1});
}

}  // namespace volley::backends::null
