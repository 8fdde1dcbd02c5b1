// Memory of a Vulkan device: blocks, ranges, limits, and exhaustion.
#include "backends/vulkan_support.hpp"

#include <volley/error.hpp>

#include <thread>

namespace volley::backends::vulkan {
namespace {

class VulkanMemoryTest : public VulkanTest {};
VOLLEY_VULKAN_SUITE(VulkanMemoryTest);

std::string refusal(VulkanDevice& device, std::size_t bytes) {
    try {
        (void)device.allocate(bytes);
    } catch (const MemoryError& error) {
        EXPECT_EQ(error.code(), ErrorCode::OutOfMemory);
        EXPECT_NE(error.subject().find(device.info().id()), std::string_view::npos) << error.what();
        EXPECT_FALSE(error.advice().empty());
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

TEST_P(VulkanMemoryTest, SharesOneBlockBetweenSmallAllocations) {
    const auto device = open();
    std::vector<std::unique_ptr<backends::Memory>> parts;
    for (std::size_t k = 0; k < 100; ++k) {
        parts.push_back(device->allocate(1000 * k));
        EXPECT_EQ(parts.back()->size(), 1000 * k);
        EXPECT_EQ(static_cast<VulkanMemory&>(*parts.back()).address() % 64, 0u);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(parts.back()->host()) % 64, 0u);
    }
    EXPECT_EQ(device->heap().held(), std::uint64_t{64} << 20);
    for (std::size_t k = 1; k < parts.size(); ++k)
        std::memset(parts[k]->host(), static_cast<int>(k), 1000 * k);
    for (std::size_t k = 1; k < parts.size(); ++k) {
        EXPECT_EQ(parts[k]->host()[0], static_cast<std::byte>(k));
        EXPECT_EQ(parts[k]->host()[1000 * k - 1], static_cast<std::byte>(k));
    }
    parts.clear();
    EXPECT_EQ(device->heap().live(), 0u);
    EXPECT_EQ(device->heap().held(), std::uint64_t{64} << 20) << "one empty block is kept";
}

TEST_P(VulkanMemoryTest, AllocatesLargeRequestsSeparately) {
    const auto device = open();
    auto large = device->allocate(std::size_t{100} << 20);
    EXPECT_EQ(device->heap().held(), std::uint64_t{100} << 20);
    large.reset();
    EXPECT_EQ(device->heap().held(), 0u);
}

TEST_P(VulkanMemoryTest, FreesBlocksThatBecomeEmpty) {
    VulkanOptions options;
    options.heap.block_bytes = 1 << 20;
    const auto device = open(options);
    std::vector<std::unique_ptr<backends::Memory>> parts;
    for (int k = 0; k < 64; ++k) parts.push_back(device->allocate(100'000));
    EXPECT_GE(device->heap().held(), 7u << 20);
    parts.clear();
    EXPECT_EQ(device->heap().held(), 1u << 20);
}

TEST_P(VulkanMemoryTest, IsNotAddressableIfNotMapped) {
    VulkanOptions options;
    options.heap.map = false;
    const auto device = open(options);
    EXPECT_EQ(device->allocate(64)->host(), nullptr);
    EXPECT_FALSE(device->info().host_memory);
    EXPECT_TRUE(open()->info().host_memory);
}

TEST_P(VulkanMemoryTest, EnforcesTheLimit) {
    VulkanOptions options;
    options.memory_limit = 10'000;
    const auto device = open(options);
    auto first = device->allocate(6'000);
    const std::string text = refusal(*device, 6'000);
    EXPECT_NE(text.find("6000 bytes"), std::string::npos) << text;
    EXPECT_NE(text.find("the limit is 10000 bytes"), std::string::npos) << text;
    EXPECT_NE(text.find("VOLLEY_MEMORY_LIMIT"), std::string::npos) << text;
    first.reset();
    EXPECT_TRUE(device->allocate(6'000)) << "the device still works";
}

TEST_P(VulkanMemoryTest, RejectsABufferBeyondTheDevicesLimit) {
    const auto device = open();
    const std::string text = refusal(*device, std::size_t{1} << 40);
    EXPECT_NE(text.find("1099511627776 bytes"), std::string::npos) << text;
    (void)refusal(*device, ~std::size_t{0});
    EXPECT_TRUE(device->allocate(64));
}

// Simulated driver functions. They are plain functions because the table holds plain pointers.
std::atomic<int> failures_left{0};
PFN_vkAllocateMemory counted_allocate = nullptr;

VKAPI_ATTR VkResult VKAPI_CALL failing_allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                                const VkAllocationCallbacks* callbacks,
                                                VkDeviceMemory* memory) {
    if (failures_left.load() > 0) {
        --failures_left;
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    return counted_allocate(device, info, callbacks, memory);
}

TEST_P(VulkanMemoryTest, TriesASmallerBlockIfAWholeOneDoesNotFit) {
    const auto device = open();
    counted_allocate = device->logical().vk.vkAllocateMemory;
    device->logical().vk.vkAllocateMemory = failing_allocate;
    failures_left = 3;
    const auto memory = device->allocate(1000);
    EXPECT_EQ(device->heap().held(), std::uint64_t{16} << 20);
}

TEST_P(VulkanMemoryTest, ReportsADeviceWithoutMemoryAndRecovers) {
    const auto device = open();
    counted_allocate = device->logical().vk.vkAllocateMemory;
    device->logical().vk.vkAllocateMemory = failing_allocate;
    for (const std::size_t bytes : {std::size_t{1000}, std::size_t{50} << 20}) {
        failures_left = 1000;
        const std::string text = refusal(*device, bytes);
        EXPECT_NE(text.find("out of memory"), std::string::npos) << text;
        failures_left = 0;
        EXPECT_TRUE(device->allocate(bytes));
    }
}

TEST_P(VulkanMemoryTest, IsAllocatedAndFreedByManyThreads) {
    const auto device = open();
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            std::vector<std::unique_ptr<backends::Memory>> parts(16);
            for (std::size_t k = 0; k < 500; ++k) {
                auto& part = parts[k * 7 % parts.size()];
                part.reset();
                part = device->allocate((k * 7919 + t) % 100'000 + 1);
                part->host()[0] = static_cast<std::byte>(k);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(device->heap().live(), 0u);
}

TEST_P(VulkanMemoryTest, OutlivesItsDevice) {
    auto device = open();
    const auto memory = device->allocate(100);
    device.reset();
    memory->host()[99] = std::byte{1};
}

}  // namespace
}  // namespace volley::backends::vulkan
