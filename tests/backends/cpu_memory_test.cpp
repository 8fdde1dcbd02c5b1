// Memory of the CPU device: alignment, budget, failure.
#include "backends/cpu_support.hpp"

#include <volley/error.hpp>

#include <gtest/gtest.h>

#include <array>

namespace volley::backends::cpu {
namespace {

TEST(CpuMemory, IsAlignedAndWritableToItsEnd) {
    const auto device = open_cpu();
    for (const std::size_t bytes : {0u, 1u, 63u, 4096u, (2u << 20) - 1, 2u << 20, (5u << 20) + 3}) {
        const auto memory = device->allocate(bytes);
        ASSERT_NE(memory->host(), nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->host()) % 64, 0u);
        EXPECT_EQ(memory->size(), bytes);
        if (bytes > 0) {
            memory->host()[0] = std::byte{1};
            memory->host()[bytes - 1] = std::byte{2};
        }
    }
}

TEST(CpuMemory, EnforcesTheLimitAndReturnsFreedBytes) {
    const auto device = open_cpu({.memory_limit = 10'000});
    const auto first = device->allocate(6000);
    try {
        const auto second = device->allocate(6000);
        FAIL() << "the limit was exceeded";
    } catch (const MemoryError& error) {
        EXPECT_EQ(error.code(), ErrorCode::OutOfMemory);
        EXPECT_NE(error.what_failed().find("6000"), std::string_view::npos) << error.what();
        EXPECT_NE(error.subject().find("cpu:0"), std::string_view::npos) << error.what();
        EXPECT_NE(error.advice().find("VOLLEY_MEMORY_LIMIT"), std::string_view::npos) << error.what();
    }
    EXPECT_NO_THROW((void)device->allocate(4000));
}

TEST(CpuMemory, RefusesMoreThanTheMachineHas) {
    const auto device = open_cpu();
    EXPECT_THROW((void)device->allocate(std::size_t{1} << 50), MemoryError);
    EXPECT_THROW((void)device->allocate(~std::size_t{0}), MemoryError);
    EXPECT_NO_THROW((void)device->allocate(64));
}

TEST(CpuMemory, ImportedMemoryDoesNotCountAgainstTheLimit) {
    const auto device = open_cpu({.memory_limit = 1000});
    alignas(64) std::array<std::byte, 5000> mine{};
    const auto memory = device->import_host(mine);
    EXPECT_EQ(memory->host(), mine.data());
    EXPECT_EQ(memory->size(), 5000u);
    EXPECT_TRUE(device->allocate(1000));
}

TEST(CpuMemory, HostMemoryCountsAgainstTheLimit) {
    const auto device = open_cpu({.memory_limit = 1000});
    EXPECT_THROW((void)device->allocate_host(1001), MemoryError);
    EXPECT_TRUE(device->allocate_host(1000));
}

TEST(CpuDevice, DescribesTheProcessor) {
    const auto device = open_cpu({.cpu_width = 4});
    const DeviceInfo& info = device->info();
    EXPECT_EQ(info.id(), "cpu:0");
    EXPECT_FALSE(info.name.empty());
    EXPECT_EQ(info.type, DeviceType::Cpu);
    EXPECT_EQ(info.subgroup_size, 4u);
    EXPECT_EQ(info.max_local_size, 1024u);
    EXPECT_TRUE(info.host_memory && info.f16 && info.f64 && info.int64_atomics);
    EXPECT_NE(info.describe().find("subgroup          4 lanes"), std::string::npos) << info.describe();
}

TEST(CpuDevice, RejectsASecondIndex) { EXPECT_THROW((void)make_driver()->open(1, {}), DeviceError); }

}  // namespace
}  // namespace volley::backends::cpu
