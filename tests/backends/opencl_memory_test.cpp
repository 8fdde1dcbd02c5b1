// Buffers of an OpenCL device: shared with the host or not, limits, and drivers that are out of memory.
#include "backends/opencl_support.hpp"

#include <volley/error.hpp>

#include <thread>
#include <utility>

namespace volley::backends::opencl {
namespace {

using OpenClMemoryTest = OpenClTest;

TEST_F(OpenClMemoryTest, IsAddressableIfSharedWithTheHost) {
    const auto device = open_first();
    if (!device->info().host_memory) GTEST_SKIP() << "the device does not share its memory";
    const auto memory = device->allocate(1000);
    ASSERT_NE(memory->host(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->host()) % 64, 0u);
    // Kernels see what the host writes, and vice versa.
    const auto queue = device->make_queue();
    const auto program = device->compile(multiply_add_kernel());
    auto* values = reinterpret_cast<int*>(memory->host());
    for (int round = 1; round < 4; ++round) {
        values[100] = round;
        queue->timeline().wait(launch_multiply_add(*queue, *program, *memory, 10, 250));
        EXPECT_EQ(values[100], 10 * round + 100);
    }
}

TEST_F(OpenClMemoryTest, IsNotAddressableIfNotShared) {
    OpenClOptions options;
    options.heap.share = false;
    const auto device = open_first(options);
    EXPECT_FALSE(device->info().host_memory);
    EXPECT_EQ(device->allocate(100)->host(), nullptr);
}

TEST_F(OpenClMemoryTest, MayBeEmpty) {
    const auto device = open_first();
    const auto memory = device->allocate(0);
    EXPECT_EQ(memory->size(), 0u);
    EXPECT_EQ(device->heap().live(), 0u);
}

TEST_F(OpenClMemoryTest, EnforcesTheLimit) {
    OpenClOptions options;
    options.memory_limit = 10'000;
    const auto device = open_first(options);
    auto first = device->allocate(6000);
    try {
        (void)device->allocate(6000);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const MemoryError& error) {
        EXPECT_NE(error.what_failed().find("6000"), std::string_view::npos) << error.what();
        EXPECT_NE(error.subject().find("6000 bytes in use"), std::string_view::npos) << error.what();
        EXPECT_NE(error.advice().find("VOLLEY_MEMORY_LIMIT"), std::string_view::npos) << error.what();
    }
    first.reset();
    EXPECT_TRUE(device->allocate(6000));
    EXPECT_EQ(device->heap().live(), 0u);
}

TEST_F(OpenClMemoryTest, RejectsABufferBeyondTheDevicesLimit) {
    const auto device = open_first();
    const std::uint64_t most = device->logical().physical().max_allocation;
    EXPECT_THROW((void)device->allocate(most + 1), MemoryError);
    EXPECT_THROW((void)device->allocate(~std::size_t{0}), MemoryError);
    EXPECT_TRUE(device->allocate(100));
}

void* CL_API_CALL refuse_shared(cl_context /*context*/, cl_svm_mem_flags /*flags*/, std::size_t /*size*/,
                                cl_uint /*alignment*/) {
    return nullptr;
}

TEST_F(OpenClMemoryTest, ReportsADeviceWithoutMemoryAndRecovers) {
    const auto device = open_first();
    Api& cl = device->logical().cl;
    const Api real = cl;
    cl.CreateBuffer = refuse_buffer;
    EXPECT_THROW((void)device->allocate(100), MemoryError);
    cl = real;
    cl.SVMAlloc = refuse_shared;
    if (device->heap().shared()) {
        EXPECT_THROW((void)device->allocate(100), MemoryError);
    }
    cl = real;
    EXPECT_EQ(device->heap().live(), 0u);
    EXPECT_TRUE(device->allocate(100));
}

TEST_F(OpenClMemoryTest, HasSubBuffersOnlyAtAlignedOffsets) {
    OpenClOptions options;
    options.heap.share = false;
    const auto device = open_first(options);
    const auto memory = device->allocate(10'000);
    const auto& own = static_cast<const OpenClMemory&>(*memory);
    const std::uint64_t alignment = device->logical().physical().base_alignment;
    ASSERT_GT(alignment, 1u);
    EXPECT_EQ(own.part(0), own.buffer());
    cl_mem part = own.part(alignment);
    EXPECT_NE(part, nullptr);
    EXPECT_EQ(own.part(alignment), part) << "it is created once";
    EXPECT_EQ(own.part(alignment + 1), nullptr);
}

TEST_F(OpenClMemoryTest, IsAllocatedAndFreedByManyThreads) {
    const auto device = open_first();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (std::size_t k = 0; k < 200; ++k) (void)device->allocate(k * 100);
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(device->heap().live(), 0u);
}

TEST_F(OpenClMemoryTest, OutlivesItsDevice) {
    auto device = open_first();
    const auto memory = device->allocate(100);
    device.reset();
    EXPECT_EQ(memory->size(), 100u);
}

}  // namespace
}  // namespace volley::backends::opencl
