// Selects a memory type, allocates blocks, and divides them into ranges.
#include "backends/vulkan/vulkan_memory.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace volley::backends::vulkan {
namespace {

// Satisfies every alignment that a kernel can require, and keeps buffers on separate cache lines.
constexpr std::uint64_t unit = 256;
constexpr std::uint64_t smallest_block = std::uint64_t{1} << 20;

constexpr std::uint64_t round_up(std::uint64_t bytes) {
    return bytes > ~std::uint64_t{0} - unit ? bytes
                                            : (std::max<std::uint64_t>(bytes, 1) + unit - 1) / unit * unit;
}

constexpr VkMemoryPropertyFlags device_local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags host_visible =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags host_cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
// Memory types that are costly or need features that are not enabled.
constexpr VkMemoryPropertyFlags unwanted =
    VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT |
    VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD |
    VK_MEMORY_PROPERTY_RDMA_CAPABLE_BIT_NV;

}  // namespace

VkBufferCreateInfo buffer_info(std::uint64_t bytes) noexcept {
    auto info = structure<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    info.size = bytes;
    info.usage = buffer_usage;
    info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    return info;
}

std::uint64_t address_of(LogicalDevice& device, VkBuffer buffer) noexcept {
    auto info = structure<VkBufferDeviceAddressInfo>(VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
    info.buffer = buffer;
    return device.vk.vkGetBufferDeviceAddress(device.handle(), &info);
}

Heap::Heap(std::shared_ptr<LogicalDevice> device, HeapUse use, const HeapOptions& options)
    : device_(std::move(device)),
      block_bytes_(options.block_bytes),
      budget_(device_->name(), options.limit, options.limit_by_user) {
    pick_type(use, options);
}

void Heap::pick_type(HeapUse use, const HeapOptions& options) {
    const VkPhysicalDeviceMemoryProperties& memory = device_->physical().memory;
    // The driver reports supported memory types only for an existing buffer.
    const VkBufferCreateInfo info = buffer_info(unit);
    VkBuffer probe = VK_NULL_HANDLE;
    device_->check(device_->vk.vkCreateBuffer(device_->handle(), &info, nullptr, &probe), "vkCreateBuffer");
    VkMemoryRequirements needs{};
    device_->vk.vkGetBufferMemoryRequirements(device_->handle(), probe, &needs);
    device_->vk.vkDestroyBuffer(device_->handle(), probe, nullptr);

    const auto size_of = [&](std::uint32_t type) {
        return memory.memoryHeaps[memory.memoryTypes[type].heapIndex].size;
    };
    std::uint64_t largest = 0;
    const auto find = [&](VkMemoryPropertyFlags requested, std::uint64_t at_least) {
        for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
            const VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
            if ((needs.memoryTypeBits >> i & 1u) == 0 || (flags & requested) != requested) continue;
            if ((flags & unwanted) != 0 || size_of(i) < at_least) continue;
            type_ = i;
            return true;
        }
        return false;
    };
    for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
        if ((memory.memoryTypes[i].propertyFlags & device_local) != 0)
            largest = std::max(largest, size_of(i));
    }
    bool found = false;
    if (use == HeapUse::Device) {
        // A small mappable part of a large memory (256 MiB without resizable BAR) is not used.
        found = (options.map && (find(device_local | host_visible | host_cached, largest / 2) ||
                                 find(device_local | host_visible, largest / 2))) ||
                find(device_local, largest / 2) || find(device_local, 0) || find(0, 0);
    } else {
        found = find(host_visible | host_cached, 0) || find(host_visible, 0);
    }
    if (!found)
        fail(ErrorCode::Unsupported, "the driver has no memory type for buffers", device_->name(),
             "use another device");
    const VkMemoryPropertyFlags flags = memory.memoryTypes[type_].propertyFlags;
    mapped_ = (flags & host_visible) == host_visible && (options.map || use == HeapUse::Host);
    cached_ = mapped_ && (flags & host_cached) != 0;
    max_bytes_ = std::min<std::uint64_t>(device_->physical().max_allocation, size_of(type_)) / unit * unit;
    block_bytes_ = std::clamp(std::min<std::uint64_t>(block_bytes_, size_of(type_) / 8), unit, max_bytes_);
}

Heap::~Heap() {
    for (Block& block : blocks_) destroy(block);
}

VkResult Heap::make_block(std::uint64_t bytes, bool dedicated, Block& to) {
    VolkDeviceTable& vk = device_->vk;
    VkDevice device = device_->handle();
    const VkBufferCreateInfo info = buffer_info(bytes);
    VkResult result = vk.vkCreateBuffer(device, &info, nullptr, &to.buffer);
    if (result < 0) {
        to.buffer = VK_NULL_HANDLE;
        return result;
    }
    VkMemoryRequirements needs{};
    vk.vkGetBufferMemoryRequirements(device, to.buffer, &needs);
    auto own = structure<VkMemoryDedicatedAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO);
    own.buffer = to.buffer;
    auto flags = structure<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
    flags.pNext = dedicated ? &own : nullptr;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    auto allocate = structure<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    allocate.pNext = &flags;
    allocate.allocationSize = needs.size;
    allocate.memoryTypeIndex = type_;
    result = vk.vkAllocateMemory(device, &allocate, nullptr, &to.memory);
    if (result < 0) to.memory = VK_NULL_HANDLE;
    if (result >= 0) result = vk.vkBindBufferMemory(device, to.buffer, to.memory, 0);
    if (result >= 0 && mapped_) {
        void* mapped = nullptr;
        result = vk.vkMapMemory(device, to.memory, 0, VK_WHOLE_SIZE, 0, &mapped);
        to.mapped = static_cast<std::byte*>(mapped);
    }
    if (result < 0) {
        vk.vkDestroyBuffer(device, to.buffer, nullptr);
        vk.vkFreeMemory(device, to.memory, nullptr);
        to = {};
        return result;
    }
    to.address = address_of(*device_, to.buffer);
    if (!dedicated) to.parts.emplace(bytes, unit);
    return result;
}

void Heap::destroy(Block& block) noexcept {
    device_->vk.vkDestroyBuffer(device_->handle(), block.buffer, nullptr);
    device_->vk.vkFreeMemory(device_->handle(), block.memory, nullptr);  // also unmaps it
}

void Heap::drop_empty_blocks() noexcept {
    for (auto block = blocks_.begin(); block != blocks_.end();) {
        if (!block->parts || !block->parts->empty()) {
            ++block;
            continue;
        }
        held_ -= block->parts->capacity();
        destroy(*block);
        block = blocks_.erase(block);
    }
}

Heap::Suballocation Heap::take(std::uint64_t requested) {
    device_->check_lost();
    const std::uint64_t bytes = round_up(requested);
    if (bytes > max_bytes_)
        budget_.refuse(requested, cat("the device limits a buffer to ", max_bytes_, " bytes"),
                       "use several smaller buffers");
    budget_.take(requested);
    const std::scoped_lock lock(mutex_);
    const bool dedicated = bytes > block_bytes_ / 2;
    if (!dedicated) {
        for (Block& block : blocks_) {
            if (!block.parts) continue;
            if (const auto part = block.parts->allocate(bytes)) return {&block, part->offset, part->handle};
        }
    }
    // If a whole block does not fit, try a smaller one.
    std::uint64_t size = dedicated ? bytes : block_bytes_;
    Block made;
    VkResult result = make_block(size, dedicated, made);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY) {
        drop_empty_blocks();
        result = make_block(size, dedicated, made);
        while (result < 0 && !dedicated && size / 2 >= std::max(bytes, smallest_block)) {
            size = size / 2 / unit * unit;
            result = make_block(size, dedicated, made);
        }
    }
    if (result < 0) {
        budget_.give_back(requested);
        if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY)
            budget_.refuse(requested, "the device is out of memory", "free buffers or use smaller ones");
        device_->check(result, "vkAllocateMemory");
    }
    Block& block = blocks_.emplace_back(std::move(made));
    held_ += size;
    if (dedicated) return {&block, 0, 0};
    const auto part = block.parts->allocate(bytes);
    return {&block, part->offset, part->handle};
}

void Heap::give_back(const Suballocation& range, std::uint64_t bytes) noexcept {
    budget_.give_back(bytes);
    const std::scoped_lock lock(mutex_);
    if (range.block->parts) {
        range.block->parts->free(range.handle);
        if (!range.block->parts->empty()) return;
        // Keep one empty block for the next allocation.
        const auto is_empty = [&](const Block& block) {
            return &block != range.block && block.parts && block.parts->empty();
        };
        if (std::none_of(blocks_.begin(), blocks_.end(), is_empty)) return;
        held_ -= range.block->parts->capacity();
    } else {
        held_ -= round_up(bytes);
    }
    destroy(*range.block);
    blocks_.remove_if([&](const Block& block) { return &block == range.block; });
}

std::uint64_t Heap::held() const {
    const std::scoped_lock lock(mutex_);
    return held_;
}

VulkanMemory::VulkanMemory(std::shared_ptr<Heap> heap, std::uint64_t bytes)
    : VulkanMemory(std::move(heap), bytes, bytes) {}

VulkanMemory::VulkanMemory(std::shared_ptr<Heap> heap, std::uint64_t bytes, std::uint64_t taken)
    : Memory(bytes, nullptr), heap_(std::move(heap)), taken_(taken), range_(heap_->take(taken)) {
    const Heap::Block& block = *range_.block;
    std::byte* mapped = block.mapped == nullptr ? nullptr : block.mapped + range_.offset;
    place_ = {block.buffer, block.memory,   range_.offset, block.address + range_.offset,
              mapped,       heap_->cached()};
    if (place_.cached) host_ = mapped;
}

std::unique_ptr<VulkanMemory> VulkanMemory::in_pages(std::shared_ptr<Heap> heap, std::uint64_t bytes) {
    // Drivers align mappings to as little as 64 bytes, so allocate one more page and skip to a page boundary.
    constexpr std::uint64_t page = 4096;
    const std::uint64_t pages = bytes > ~std::uint64_t{0} - 2 * page ? bytes : (bytes / page + 2) * page;
    std::unique_ptr<VulkanMemory> memory(new VulkanMemory(std::move(heap), bytes, pages));
    BufferPlace& place = memory->place_;
    const std::uint64_t skip = (page - reinterpret_cast<std::uintptr_t>(place.mapped) % page) % page;
    place.offset += skip;
    place.address += skip;
    place.mapped += skip;
    memory->host_ = place.mapped;  // slow for the host to read if not cached, but fastest for the device
    return memory;
}

VulkanMemory::VulkanMemory(std::shared_ptr<const void> owner, const BufferPlace& place, std::uint64_t bytes)
    : Memory(bytes, place.cached ? place.mapped : nullptr), owner_(std::move(owner)), place_(place) {}

VulkanMemory::~VulkanMemory() {
    if (heap_) heap_->give_back(range_, taken_);
}

NativeBuffer VulkanMemory::native() const {
    return VulkanBuffer{native_handle(place_.buffer), native_handle(place_.memory), place_.offset, size_};
}

}  // namespace volley::backends::vulkan
