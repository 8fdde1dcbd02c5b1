// Allocates and frees buffers within the limits.
#include "backends/opencl/opencl_memory.hpp"

#include "backends/common/caller_memory.hpp"
#include "core/text.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>

namespace volley::backends::opencl {
namespace {

/// Requests huge pages for large blocks of host memory. A hint that the system may ignore.
void prefer_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::uint64_t bytes) noexcept {
#if defined(MADV_HUGEPAGE)
    constexpr std::uintptr_t page = 4096;
    constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;
    if (bytes < 2 * huge_page) return;
    auto* first = static_cast<std::byte*>(memory);
    const std::uintptr_t before = (page - reinterpret_cast<std::uintptr_t>(first) % page) % page;
    ::madvise(first + before, (bytes - before) / page * page, MADV_HUGEPAGE);
#endif
}

bool is_shortage(cl_int result) {
    return result == CL_MEM_OBJECT_ALLOCATION_FAILURE || result == CL_OUT_OF_RESOURCES ||
           result == CL_OUT_OF_HOST_MEMORY || result == CL_INVALID_BUFFER_SIZE;
}

}  // namespace

Heap::Heap(std::shared_ptr<LogicalDevice> device, HeapUse use, const HeapOptions& options)
    : device_(std::move(device)), use_(use), budget_(device_->name(), options.limit, options.limit_by_user) {
    shared_ = options.share && use_ == HeapUse::Device && device_->physical().fine_grained;
    if (use_ == HeapUse::Host) queue_ = device_->make_queue();
}

Heap::~Heap() {
    if (queue_ != nullptr) device_->cl.ReleaseCommandQueue(queue_);
}

Heap::Block Heap::make(std::uint64_t bytes, cl_int& result) {
    const Api& cl = device_->cl;
    Block block;
    if (shared_) {
        void* memory = cl.SVMAlloc(device_->context(), CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER,
                                   bytes, cl_uint{backends::host_alignment});
        if (memory == nullptr) {
            result = CL_MEM_OBJECT_ALLOCATION_FAILURE;
            return block;
        }
        if (device_->physical().info.software) prefer_huge_pages(memory, bytes);
        block.host = static_cast<std::byte*>(memory);
        block.buffer = cl.CreateBuffer(device_->context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes,
                                       memory, &result);
        if (result != CL_SUCCESS) cl.SVMFree(device_->context(), memory);
        return block;
    }
    if (use_ == HeapUse::Device) {
        block.buffer = cl.CreateBuffer(device_->context(), CL_MEM_READ_WRITE, bytes, nullptr, &result);
        return block;
    }
    // Leave room to align to a page: drivers align to less.
    const std::uint64_t room = bytes + backends::host_page;
    block.buffer = cl.CreateBuffer(device_->context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, room,
                                   nullptr, &result);
    if (result != CL_SUCCESS) return block;
    block.mapped = static_cast<std::byte*>(cl.EnqueueMapBuffer(
        queue_, block.buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, room, 0, nullptr, nullptr, &result));
    if (result != CL_SUCCESS) {
        cl.ReleaseMemObject(block.buffer);
        return block;
    }
    const auto over = reinterpret_cast<std::uintptr_t>(block.mapped) % backends::host_page;
    block.host = block.mapped + (backends::host_page - over) % backends::host_page;
    return block;
}

Heap::Block Heap::take(std::uint64_t requested) {
    device_->check_lost();
    const std::uint64_t most = device_->physical().max_allocation;
    if (requested > most) {
        budget_.refuse(requested, cat("the device limits a buffer to ", most, " bytes"),
                       "use several smaller buffers");
    }
    budget_.take(requested);
    cl_int result = CL_SUCCESS;
    const Block block = make(std::max<std::uint64_t>(requested, 1), result);
    if (result == CL_SUCCESS) return block;
    budget_.give_back(requested);
    if (is_shortage(result))
        budget_.refuse(requested, "the device is out of memory", "free buffers or use smaller ones");
    device_->fail_call(result, "clCreateBuffer");
}

void Heap::destroy(Block block) noexcept {
    const Api& cl = device_->cl;
    if (use_ == HeapUse::Host) {
        cl.EnqueueUnmapMemObject(queue_, block.buffer, block.mapped, 0, nullptr, nullptr);
        cl.Finish(queue_);
    }
    cl.ReleaseMemObject(block.buffer);
    if (shared_) cl.SVMFree(device_->context(), block.host);
}

void Heap::give_back(Block block, std::uint64_t bytes) noexcept {
    destroy(block);
    budget_.give_back(bytes);
}

namespace {

std::uint64_t next_id() {
    static std::atomic<std::uint64_t> next{1};
    return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

OpenClMemory::OpenClMemory(std::shared_ptr<Heap> heap, std::uint64_t bytes)
    : Memory(bytes, nullptr),
      device_(heap->device()),
      heap_(std::move(heap)),
      block_(heap_->take(bytes)),
      id_(next_id()) {
    host_ = block_.host;
    if (pinned()) offset_ = static_cast<std::uint64_t>(block_.host - block_.mapped);
}

OpenClMemory::OpenClMemory(std::shared_ptr<LogicalDevice> device, const ForeignBuffer& foreign,
                           std::uint64_t bytes)
    : Memory(bytes, foreign.host), device_(std::move(device)), offset_(foreign.offset), id_(next_id()) {
    block_.buffer = foreign.buffer;
}

OpenClMemory::~OpenClMemory() {
    for (const auto& [offset, part] : parts_) device_->cl.ReleaseMemObject(part);
    if (heap_) {
        heap_->give_back(block_, size_);
    } else {
        device_->cl.ReleaseMemObject(block_.buffer);
    }
}

cl_mem OpenClMemory::part(std::uint64_t offset) const {
    const std::uint64_t begin = offset_ + offset;
    if (begin == 0) return block_.buffer;
    if (begin % device_->physical().base_alignment != 0 || offset >= size_) return nullptr;
    const std::scoped_lock lock(mutex_);
    cl_mem& part = parts_[offset];
    if (part == nullptr) {
        const cl_buffer_region region{begin, size_ - offset};
        cl_int result = CL_SUCCESS;
        part = device_->cl.CreateSubBuffer(block_.buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                           &region, &result);
        device_->check(result, "clCreateSubBuffer");
    }
    return part;
}

NativeBuffer OpenClMemory::native() const { return OpenClBuffer{block_.buffer, offset_, size_}; }

}  // namespace volley::backends::opencl
