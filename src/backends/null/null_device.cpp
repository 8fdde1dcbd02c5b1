// Bookkeeping only. Nothing is moved or computed; programs are their IR.
#include "backends/null/null_device.hpp"

#include "backends/api/caller_memory.hpp"
#include "backends/null/null_queue.hpp"
#include "ir/printer.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace volley::backends::null {

namespace {

class NullMemory final : public backend::Memory {
public:
    NullMemory(std::size_t bytes, std::shared_ptr<NullLog> log, std::shared_ptr<backend::MemoryBudget> budget,
               bool on_host)
        : Memory(bytes, nullptr), log_(std::move(log)), budget_(std::move(budget)) {
        budget_->take(bytes);
        if (on_host) {
            void* memory = ::operator new(std::max<std::size_t>(bytes, 1), alignment, std::nothrow);
            if (memory == nullptr) {
                budget_->give_back(bytes);
                budget_->refuse(bytes, "the system has no more", "free buffers or use smaller ones");
            }
            bytes_.reset(static_cast<std::byte*>(memory));
            host_ = bytes_.get();
            std::memset(host_, 0, bytes);
        }
        log_->live_bytes += bytes;
        ++log_->live_blocks;
        ++log_->blocks_made;
    }
    ~NullMemory() override {
        log_->live_bytes -= size_;
        --log_->live_blocks;
        budget_->give_back(size_);
    }

private:
    static constexpr std::align_val_t alignment{backend::host_page};
    struct Free {
        void operator()(std::byte* bytes) const noexcept { ::operator delete(bytes, alignment); }
    };
    std::shared_ptr<NullLog> log_;
    std::shared_ptr<backend::MemoryBudget> budget_;
    std::unique_ptr<std::byte, Free> bytes_;
};

class NullProgram final : public backend::Program {
public:
    explicit NullProgram(ir::Function fn) : Program(std::move(fn)) {}
    [[nodiscard]] std::string code(ir::Dim3 /*local*/) const override { return ir::print(function_); }
};

}  // namespace

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

std::shared_ptr<backend::MemoryBudget> make_budget(const DeviceInfo& info, std::uint64_t of_context) {
    const std::uint64_t limit = backend::memory_limit_of_user(of_context);
    return std::make_shared<backend::MemoryBudget>(info.id(), limit != 0 ? limit : info.memory_bytes,
                                                   limit != 0);
}

}  // namespace

NullDevice::NullDevice(unsigned index, std::shared_ptr<NullLog> log, std::uint64_t memory_limit)
    : info_(describe_null(index)), log_(std::move(log)), budget_(make_budget(info_, memory_limit)) {}

std::unique_ptr<backend::Memory> NullDevice::allocate(std::size_t bytes) {
    return make_memory(bytes, info_.host_memory);
}

std::unique_ptr<backend::Memory> NullDevice::allocate_host(std::size_t bytes) {
    return make_memory(bytes, true);
}

std::unique_ptr<backend::Memory> NullDevice::make_memory(std::size_t bytes, bool on_host) {
    return std::make_unique<NullMemory>(bytes, log_, budget_, on_host);
}

std::unique_ptr<backend::Program> NullDevice::compile(ir::Function fn) {
    ++log_->programs_made;
    return std::make_unique<NullProgram>(std::move(fn));
}

std::unique_ptr<backend::Queue> NullDevice::make_queue() {
    return std::make_unique<NullQueue>(log_, log_->queues_made++);
}

ir::Dim3 NullDevice::default_local(const ir::Function& fn, ir::Dim3 /*global*/) const {
    return fn.local_size.value_or(ir::Dim3{64, 1, 1});
}

}  // namespace volley::backends::null
