// Sharing of memory between Volley and an application that uses plain Vulkan on the handles that the device
// exposes.
#include "backends/vulkan_support.hpp"

#include <volley/error.hpp>
#include <volley/native.hpp>

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <utility>

namespace volley::backends::vulkan {
namespace {

/// The application's Vulkan objects.
class RawVulkan {
public:
    explicit RawVulkan(const NativeDevice& native) : own_(std::get<VulkanDeviceHandles>(native)) {
        device_ = static_cast<VkDevice>(own_.device);
        volkLoadDeviceTable(&vk_, device_);
        vk_.vkGetDeviceQueue(device_, own_.queue_family, 0, &queue_);
        auto pool = structure<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
        pool.queueFamilyIndex = own_.queue_family;
        EXPECT_EQ(vk_.vkCreateCommandPool(device_, &pool, nullptr, &pool_), VK_SUCCESS);
    }
    ~RawVulkan() {
        for (const Buffer& buffer : buffers_) {
            vk_.vkDestroyBuffer(device_, buffer.buffer, nullptr);
            vk_.vkFreeMemory(device_, buffer.memory, nullptr);
        }
        vk_.vkDestroyCommandPool(device_, pool_, nullptr);
    }
    RawVulkan(const RawVulkan&) = delete;
    RawVulkan& operator=(const RawVulkan&) = delete;

    struct Buffer {
        VkBuffer buffer = VK_NULL_HANDLE;
        VkDeviceMemory memory = VK_NULL_HANDLE;
        int* mapped = nullptr;
        [[nodiscard]] VulkanBuffer part(std::uint64_t offset, std::uint64_t bytes) const {
            return {native_handle(buffer), native_handle(memory), offset, bytes};
        }
    };

    Buffer make(std::uint64_t bytes) {
        Buffer made;
        auto info = structure<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
        info.size = bytes;
        info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                     VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
        EXPECT_EQ(vk_.vkCreateBuffer(device_, &info, nullptr, &made.buffer), VK_SUCCESS);
        VkMemoryRequirements needs{};
        vk_.vkGetBufferMemoryRequirements(device_, made.buffer, &needs);
        auto flags = structure<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
        flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
        auto allocate = structure<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
        allocate.pNext = &flags;
        allocate.allocationSize = needs.size;
        allocate.memoryTypeIndex = visible_type(needs.memoryTypeBits);
        EXPECT_EQ(vk_.vkAllocateMemory(device_, &allocate, nullptr, &made.memory), VK_SUCCESS);
        EXPECT_EQ(vk_.vkBindBufferMemory(device_, made.buffer, made.memory, 0), VK_SUCCESS);
        void* mapped = nullptr;
        EXPECT_EQ(vk_.vkMapMemory(device_, made.memory, 0, VK_WHOLE_SIZE, 0, &mapped), VK_SUCCESS);
        made.mapped = static_cast<int*>(mapped);
        buffers_.push_back(made);
        return made;
    }

    /// Copies with a command of the application, and waits for it.
    void copy(VkBuffer to, std::uint64_t to_offset, VkBuffer from, std::uint64_t from_offset,
              std::uint64_t bytes) {
        auto allocate =
            structure<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
        allocate.commandPool = pool_;
        allocate.commandBufferCount = 1;
        VkCommandBuffer command = VK_NULL_HANDLE;
        EXPECT_EQ(vk_.vkAllocateCommandBuffers(device_, &allocate, &command), VK_SUCCESS);
        const auto begin = structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
        EXPECT_EQ(vk_.vkBeginCommandBuffer(command, &begin), VK_SUCCESS);
        const VkBufferCopy region{from_offset, to_offset, bytes};
        vk_.vkCmdCopyBuffer(command, from, to, 1, &region);
        EXPECT_EQ(vk_.vkEndCommandBuffer(command), VK_SUCCESS);
        auto submit = structure<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
        submit.commandBufferCount = 1;
        submit.pCommandBuffers = &command;
        EXPECT_EQ(vk_.vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
        EXPECT_EQ(vk_.vkQueueWaitIdle(queue_), VK_SUCCESS);
    }

private:
    std::uint32_t visible_type(std::uint32_t allowed) const {
        VkPhysicalDeviceMemoryProperties memory{};
        vkGetPhysicalDeviceMemoryProperties(static_cast<VkPhysicalDevice>(own_.physical_device), &memory);
        constexpr VkMemoryPropertyFlags wanted =
            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
        for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
            if ((allowed >> i & 1u) != 0 && (memory.memoryTypes[i].propertyFlags & wanted) == wanted)
                return i;
        }
        ADD_FAILURE() << "there is no host-visible memory";
        return 0;
    }

    VulkanDeviceHandles own_;
    VkDevice device_ = VK_NULL_HANDLE;
    VolkDeviceTable vk_{};
    VkQueue queue_ = VK_NULL_HANDLE;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    std::vector<Buffer> buffers_;
};

/// Page-aligned system memory.
class Pages {
public:
    explicit Pages(std::size_t bytes) : bytes_(bytes) {
        first_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT_NE(first_, MAP_FAILED);
    }
    ~Pages() { ::munmap(first_, bytes_); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    [[nodiscard]] std::span<std::byte> bytes() const { return {static_cast<std::byte*>(first_), bytes_}; }
    [[nodiscard]] std::span<int> ints() const { return {static_cast<int*>(first_), bytes_ / sizeof(int)}; }

private:
    void* first_ = nullptr;
    std::size_t bytes_;
};

template <class E, class F>
std::string error_of(ErrorCode code, F&& f) {
    try {
        f();
    } catch (const E& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        EXPECT_FALSE(error.subject().empty()) << error.what();
        EXPECT_FALSE(error.advice().empty()) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

class VulkanImportTest : public VulkanTest {
protected:
    void SetUp() override {
        VulkanTest::SetUp();
        if (IsSkipped()) return;
        device = open();
        queue = device->make_queue();
    }
    std::unique_ptr<VulkanDevice> device;
    std::unique_ptr<backends::Queue> queue;
};
VOLLEY_VULKAN_SUITE(VulkanImportTest);

// ---- native buffers ----

TEST_P(VulkanImportTest, AKernelRunsOnAnImportedBuffer) {
    RawVulkan raw(device->native());
    const RawVulkan::Buffer buffer = raw.make(64 << 10);
    for (int i = 0; i < 16 << 10; ++i) buffer.mapped[i] = i;
    const auto memory = device->import_native(buffer.part(256, 4000));
    EXPECT_EQ(memory->size(), 4000u);
    EXPECT_EQ(memory->host(), nullptr) << "whether it is mapped is up to the application";
    const auto program = multiply_add(*device);
    queue->timeline().wait(launch_multiply_add(*queue, *program, *memory, 2, 1000));
    EXPECT_EQ(buffer.mapped[63], 63);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(buffer.mapped[64 + i], 2 * (64 + i) + i);
    EXPECT_EQ(buffer.mapped[1064], 1064);
    EXPECT_EQ(std::get<VulkanBuffer>(memory->native()).buffer, native_handle(buffer.buffer));
    EXPECT_EQ(std::get<VulkanBuffer>(memory->native()).offset, 256u);
}

TEST_P(VulkanImportTest, TransfersUseAnImportedBuffer) {
    RawVulkan raw(device->native());
    const RawVulkan::Buffer buffer = raw.make(8000);
    const RawVulkan::Buffer result = raw.make(8000);
    for (int i = 0; i < 2000; ++i) buffer.mapped[i] = -1;
    const auto memory = device->import_native(buffer.part(16, 4000));
    write_at(*queue, *memory, 0, bytes_of(counting(500)));
    copy_at(*queue, *memory, 2000, *memory, 0, 2000);
    fill_at(*queue, *memory, 40, 40, std::vector<std::byte>(4, std::byte{1}));
    EXPECT_EQ(read_back(*queue, *memory, 1000)[999], 499);
    raw.copy(result.buffer, 0, buffer.buffer, 0, 8000);
    EXPECT_EQ(result.mapped[3], -1);
    EXPECT_EQ(result.mapped[4 + 9], 9);
    EXPECT_EQ(result.mapped[4 + 10], 0x01010101);
    EXPECT_EQ(result.mapped[4 + 999], 499);
    EXPECT_EQ(result.mapped[4 + 1000], -1);
}

TEST_P(VulkanImportTest, TheApplicationReadsAndWritesVolleysMemory) {
    RawVulkan raw(device->native());
    const RawVulkan::Buffer own = raw.make(4000);
    const auto unused = device->allocate(1000);  // so that the next one is not at the start of its block
    const auto memory = device->allocate(4000);
    const auto native = std::get<VulkanBuffer>(memory->native());
    EXPECT_EQ(native.bytes, 4000u);
    EXPECT_EQ(native.offset % 16, 0u);
    EXPECT_NE(native.memory, 0u);
    write_at(*queue, *memory, 0, bytes_of(counting(1000)));
    queue->timeline().wait(queue->last());
    raw.copy(own.buffer, 0, from_native<VkBuffer>(native.buffer), native.offset, 4000);
    EXPECT_EQ(own.mapped[999], 999);
    own.mapped[7] = 77;
    raw.copy(from_native<VkBuffer>(native.buffer), native.offset, own.buffer, 0, 4000);
    EXPECT_EQ(read_back(*queue, *memory, 1000)[7], 77);
}

TEST_P(VulkanImportTest, TheDeviceExposesItsHandles) {
    const auto native = std::get<VulkanDeviceHandles>(device->native());
    EXPECT_EQ(native.instance, instance->handle());
    EXPECT_EQ(native.device, device->logical().handle());
    EXPECT_EQ(native.physical_device, device->logical().physical().handle);
    EXPECT_EQ(native.queue_family, device->logical().physical().queue_family);
}

VKAPI_ATTR VkDeviceAddress VKAPI_CALL no_address(VkDevice /*device*/,
                                                 const VkBufferDeviceAddressInfo* /*info*/) {
    return 0;
}
VKAPI_ATTR VkDeviceAddress VKAPI_CALL odd_address(VkDevice /*device*/,
                                                  const VkBufferDeviceAddressInfo* /*info*/) {
    return 4;
}

TEST_P(VulkanImportTest, AnUnsuitableBufferIsRejected) {
    RawVulkan raw(device->native());
    const RawVulkan::Buffer buffer = raw.make(4096);
    const auto refuse = [&](const NativeBuffer& what) {
        return error_of<ArgumentError>(ErrorCode::InvalidArgument,
                                       [&] { (void)device->import_native(what); });
    };
    EXPECT_NE(refuse(buffer.part(8, 16)).find("multiple of 16"), std::string::npos);
    EXPECT_NE(refuse(buffer.part(0, 1 << 20)).find("1048576 bytes at 0"), std::string::npos);
    EXPECT_NE(refuse(buffer.part(~std::uint64_t{15}, 32)).find("at most"), std::string::npos);
    EXPECT_NE(refuse(buffer.part(0, 0)).find("empty"), std::string::npos);
    EXPECT_NE(refuse(VulkanBuffer{0, 0, 0, 16}).find("null"), std::string::npos);
    VolkDeviceTable& vk = device->logical().vk;
    const auto real = std::exchange(vk.vkGetBufferDeviceAddress, no_address);
    EXPECT_NE(refuse(buffer.part(0, 16)).find("SHADER_DEVICE_ADDRESS"), std::string::npos);
    vk.vkGetBufferDeviceAddress = odd_address;
    EXPECT_NE(refuse(buffer.part(0, 16)).find("aligned"), std::string::npos);
    vk.vkGetBufferDeviceAddress = real;
    error_of<DeviceError>(ErrorCode::Unsupported, [&] {
        (void)device->import_native(OpenClBuffer{&raw, 0, 16});
    });
    error_of<DeviceError>(ErrorCode::Unsupported, [&] { (void)device->import_native({}); });
    EXPECT_TRUE(device->import_native(buffer.part(0, 4096))) << "the device still works";
}

// ---- host memory ----

TEST_P(VulkanImportTest, AKernelRunsOnImportedHostMemory) {
    if (device->import_alignment() == 0) GTEST_SKIP() << "VK_EXT_external_memory_host is missing";
    const Pages pages(1 << 20);
    for (std::size_t i = 0; i < pages.ints().size(); ++i) pages.ints()[i] = static_cast<int>(i);
    const auto memory = device->import_host(pages.bytes());
    EXPECT_EQ(memory->host(), pages.bytes().data()) << "a driver on host cores is coherent";
    EXPECT_EQ(device->heap().live(), 0u) << "it does not count as device memory";
    const auto program = multiply_add(*device);
    queue->timeline().wait(
        launch_multiply_add(*queue, *program, *memory, 3, static_cast<std::uint32_t>(pages.ints().size())));
    for (std::size_t i = 0; i < pages.ints().size(); ++i)
        ASSERT_EQ(pages.ints()[i], 4 * static_cast<int>(i)) << i;
}

TEST_P(VulkanImportTest, AnImportOutlivesItsDevice) {
    if (device->import_alignment() == 0) GTEST_SKIP() << "VK_EXT_external_memory_host is missing";
    const Pages pages(8192);
    auto memory = device->import_host(pages.bytes());
    queue.reset();
    device.reset();
    memory->host()[8191] = std::byte{1};
    memory.reset();
    EXPECT_EQ(pages.bytes()[8191], std::byte{1});
}

TEST_P(VulkanImportTest, TheErrorNamesAMissingExtension) {
    if (device->import_alignment() != 0) GTEST_SKIP() << "the driver has it";
    const Pages pages(8192);
    const std::string text =
        error_of<DeviceError>(ErrorCode::Unsupported, [&] { (void)device->import_host(pages.bytes()); });
    EXPECT_NE(text.find("VK_EXT_external_memory_host"), std::string::npos) << text;
}

TEST_P(VulkanImportTest, TheErrorNamesTheRequiredAlignment) {
    const std::size_t alignment = device->import_alignment();
    if (alignment == 0) GTEST_SKIP() << "VK_EXT_external_memory_host is missing";
    const Pages pages(4 * alignment);
    for (const std::span<std::byte> bad : {pages.bytes().subspan(64, alignment),
                                           pages.bytes().first(alignment + 64), pages.bytes().first(0)}) {
        const std::string text =
            error_of<ArgumentError>(ErrorCode::InvalidArgument, [&] { (void)device->import_host(bad); });
        EXPECT_NE(text.find("multiples of " + std::to_string(alignment)), std::string::npos) << text;
    }
}

std::atomic<VkResult> pointer_result{VK_SUCCESS}, allocate_result{VK_SUCCESS}, bind_result{VK_SUCCESS};
std::atomic<bool> no_types{false};
PFN_vkGetMemoryHostPointerPropertiesEXT real_pointer = nullptr;
PFN_vkAllocateMemory real_import_allocate = nullptr;
PFN_vkBindBufferMemory real_bind = nullptr;

VKAPI_ATTR VkResult VKAPI_CALL fake_pointer(VkDevice device, VkExternalMemoryHandleTypeFlagBits type,
                                            const void* pointer, VkMemoryHostPointerPropertiesEXT* to) {
    if (pointer_result != VK_SUCCESS) return pointer_result;
    const VkResult result = real_pointer(device, type, pointer, to);
    if (no_types) to->memoryTypeBits = 0;
    return result;
}
VKAPI_ATTR VkResult VKAPI_CALL fake_import_allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                                    const VkAllocationCallbacks* callbacks,
                                                    VkDeviceMemory* memory) {
    return allocate_result != VK_SUCCESS ? allocate_result.load()
                                         : real_import_allocate(device, info, callbacks, memory);
}
VKAPI_ATTR VkResult VKAPI_CALL fake_bind(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                                         VkDeviceSize offset) {
    return bind_result != VK_SUCCESS ? bind_result.load() : real_bind(device, buffer, memory, offset);
}

TEST_P(VulkanImportTest, AFailingDriverIsAnErrorWithoutLeaks) {
    if (device->import_alignment() == 0) GTEST_SKIP() << "VK_EXT_external_memory_host is missing";
    pointer_result = allocate_result = bind_result = VK_SUCCESS;
    no_types = false;
    VolkDeviceTable& vk = device->logical().vk;
    real_pointer = std::exchange(vk.vkGetMemoryHostPointerPropertiesEXT, fake_pointer);
    real_import_allocate = std::exchange(vk.vkAllocateMemory, fake_import_allocate);
    real_bind = std::exchange(vk.vkBindBufferMemory, fake_bind);
    const Pages pages(8192);
    const auto import = [&] { (void)device->import_host(pages.bytes()); };

    pointer_result = VK_ERROR_INVALID_EXTERNAL_HANDLE;
    const std::string text = error_of<DeviceError>(ErrorCode::Unsupported, import);
    EXPECT_NE(text.find("VK_ERROR_INVALID_EXTERNAL_HANDLE"), std::string::npos) << text;
    pointer_result = VK_SUCCESS;
    no_types = true;
    error_of<DeviceError>(ErrorCode::Unsupported, import);
    no_types = false;
    allocate_result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    error_of<MemoryError>(ErrorCode::OutOfMemory, import);
    allocate_result = VK_SUCCESS;
    bind_result = VK_ERROR_OUT_OF_HOST_MEMORY;
    error_of<MemoryError>(ErrorCode::OutOfMemory, import);
    bind_result = VK_SUCCESS;
    EXPECT_NO_THROW(import()) << "the device still works";
    // The validation layer reports leaks when the device is destroyed.
    device->logical().mark_lost();
    error_of<DeviceError>(ErrorCode::DeviceLost, import);
    queue.reset();
    device.reset();
}

}  // namespace
}  // namespace volley::backends::vulkan
