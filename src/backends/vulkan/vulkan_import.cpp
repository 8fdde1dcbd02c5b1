// Each import is a separate VkBuffer. Only those created for host memory are ours to destroy.
#include "backends/vulkan/vulkan_import.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <cstdint>
#include <utility>
#include <variant>

namespace volley::backends::vulkan {
namespace {

constexpr VkExternalMemoryHandleTypeFlagBits handle_type =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
constexpr std::uint64_t native_alignment = 16;  // the largest alignment that a kernel's accesses require

/// Owns the objects created for imported host memory.
struct HostImport {
    explicit HostImport(std::shared_ptr<LogicalDevice> on) : device(std::move(on)) {}
    ~HostImport() {
        device->vk.vkDestroyBuffer(device->handle(), buffer, nullptr);
        device->vk.vkFreeMemory(device->handle(), memory, nullptr);
    }
    HostImport(const HostImport&) = delete;
    HostImport& operator=(const HostImport&) = delete;

    std::shared_ptr<LogicalDevice> device;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
};

/// Returns the best of the offered memory types, or -1 if none fits.
int pick_type(const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t offered) {
    constexpr VkMemoryPropertyFlags coherent =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (const VkMemoryPropertyFlags requested :
         {coherent | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, coherent, VkMemoryPropertyFlags{0}}) {
        for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
            if ((offered >> i & 1u) != 0 && (memory.memoryTypes[i].propertyFlags & requested) == requested)
                return static_cast<int>(i);
        }
    }
    return -1;
}

[[noreturn]] void refuse_host(const LogicalDevice& device, std::string_view why) {
    fail(ErrorCode::Unsupported, cat("host memory cannot be imported: ", why), device.name(),
         "copy it into a buffer with write()");
}

[[noreturn]] void refuse_native(const LogicalDevice& device, std::string_view why, std::string_view advice) {
    fail(ErrorCode::InvalidArgument, cat("the VkBuffer cannot be imported: ", why), device.name(), advice);
}

}  // namespace

std::unique_ptr<VulkanMemory> import_host(const std::shared_ptr<LogicalDevice>& device,
                                          std::span<std::byte> bytes) {
    device->check_lost();
    const PhysicalDevice& physical = device->physical();
    const std::uint64_t alignment = physical.import_alignment;
    if (alignment == 0) refuse_host(*device, "the driver lacks VK_EXT_external_memory_host");
    const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
    if (bytes.empty() || address % alignment != 0 || bytes.size() % alignment != 0) {
        fail(ErrorCode::InvalidArgument,
             cat("host memory cannot be imported: it has ", bytes.size(), " bytes at an address ",
                 address % alignment, " bytes past a multiple of ", alignment),
             device->name(), cat("use an address and a non-zero size that are multiples of ", alignment));
    }
    if (bytes.size() > physical.max_allocation)
        refuse_host(*device, cat("the limit for one buffer is ", physical.max_allocation, " bytes"));

    VolkDeviceTable& vk = device->vk;
    auto pointer =
        structure<VkMemoryHostPointerPropertiesEXT>(VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT);
    device->check(
        vk.vkGetMemoryHostPointerPropertiesEXT(device->handle(), handle_type, bytes.data(), &pointer),
        "vkGetMemoryHostPointerPropertiesEXT");

    auto made = std::make_shared<HostImport>(device);
    auto external =
        structure<VkExternalMemoryBufferCreateInfo>(VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
    external.handleTypes = handle_type;
    VkBufferCreateInfo info = buffer_info(bytes.size());
    info.pNext = &external;
    device->check(vk.vkCreateBuffer(device->handle(), &info, nullptr, &made->buffer), "vkCreateBuffer");
    VkMemoryRequirements needs{};
    vk.vkGetBufferMemoryRequirements(device->handle(), made->buffer, &needs);
    const int type = pick_type(physical.memory, pointer.memoryTypeBits & needs.memoryTypeBits);
    if (type < 0) refuse_host(*device, "the driver has no suitable memory type");
    if (needs.size > bytes.size())
        refuse_host(*device, cat("the driver needs ", needs.size, " bytes for ", bytes.size()));

    auto import =
        structure<VkImportMemoryHostPointerInfoEXT>(VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT);
    import.handleType = handle_type;
    import.pHostPointer = bytes.data();
    auto flags = structure<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
    flags.pNext = &import;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    auto allocate = structure<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    allocate.pNext = &flags;
    allocate.allocationSize = bytes.size();
    allocate.memoryTypeIndex = static_cast<std::uint32_t>(type);
    device->check(vk.vkAllocateMemory(device->handle(), &allocate, nullptr, &made->memory),
                  "vkAllocateMemory");
    device->check(vk.vkBindBufferMemory(device->handle(), made->buffer, made->memory, 0),
                  "vkBindBufferMemory");

    const VkMemoryPropertyFlags has = physical.memory.memoryTypes[type].propertyFlags;
    BufferPlace place;
    place.buffer = made->buffer;
    place.memory = made->memory;
    place.address = address_of(*device, made->buffer);
    if ((has & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0) {
        place.mapped = bytes.data();
        place.cached = (has & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
    }
    return std::make_unique<VulkanMemory>(std::move(made), place, bytes.size());
}

std::unique_ptr<VulkanMemory> import_native(std::shared_ptr<LogicalDevice> device,
                                            const NativeBuffer& buffer) {
    device->check_lost();
    const auto* given = std::get_if<VulkanBuffer>(&buffer);
    if (given == nullptr)
        fail(ErrorCode::Unsupported, "buffers of another driver cannot be imported", device->name(),
             "import a VkBuffer of this device's VkDevice");
    if (given->buffer == 0) refuse_native(*device, "it is null", "create the buffer first");
    if (given->bytes == 0)
        refuse_native(*device, "the requested range is empty", "request at least one byte");
    if (given->offset % native_alignment != 0)
        refuse_native(*device, cat("its offset is ", given->offset),
                      cat("use a multiple of ", native_alignment));
    BufferPlace place;
    place.buffer = from_native<VkBuffer>(given->buffer);
    place.memory = from_native<VkDeviceMemory>(given->memory);
    place.offset = given->offset;
    // Vulkan has no query for a buffer's size; its memory requirements are an upper bound.
    VkMemoryRequirements needs{};
    device->vk.vkGetBufferMemoryRequirements(device->handle(), place.buffer, &needs);
    if (given->offset > needs.size || given->bytes > needs.size - given->offset)
        refuse_native(*device,
                      cat("the range of ", given->bytes, " bytes at ", given->offset,
                          " exceeds its size of at most ", needs.size),
                      "request a range inside it");
    const std::uint64_t start = address_of(*device, place.buffer);
    if (start == 0)
        refuse_native(
            *device, "it has no device address",
            "create it with VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT and bind memory allocated with "
            "VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT");
    place.address = start + given->offset;
    if (place.address % native_alignment != 0)
        refuse_native(*device, cat("its device address is not a multiple of ", native_alignment),
                      "bind it at an aligned offset");
    // Pass the device as the owner: it outlives all uses of the buffer.
    const std::uint64_t bytes = given->bytes;
    return std::make_unique<VulkanMemory>(std::move(device), place, bytes);
}

}  // namespace volley::backends::vulkan
