// Programs that create kernels for as long as they run: resident memory stays flat.
#include "runtime/runtime_support.hpp"
#include "support/device_fixture.hpp"
#include "support/sanitized.hpp"

#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

namespace volley {
namespace {

std::int64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::int64_t total = 0;
    std::int64_t resident = 0;
    file >> total >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

/// Creates, launches and drops `count` different kernels.
void use_kernels(int first, int count, Buffer<int>& data, std::int64_t& sum) {
    for (int k = first; k < first + count; ++k) {
        kernel("add", [k](Buff<int> cells) {
            auto i = global_id().x;
            cells[i] = cells[i] + k % 1000 + cast<int>(i) * k;
        })(data);
        sum += k % 1000;
        if (k % 64 == 0) wait();
    }
    wait();
}

/// Measures after `warm` kernels, which fill the caches of the library and the drivers, and after `count`
/// more. The bound is a part of what leaked without a limit: 11 KB of each kernel on the CPU, 100 KB with
/// drivers.
void expect_flat_memory(const char* device, int warm, int count, std::int64_t bound) {
    ContextOptions options{.devices = {device}};
    options.program_cache_bytes = std::uint64_t{4} << 20;
    std::optional<Context> context;
    try {
        context = make_context(options);
    } catch (const DeviceError&) {
        GTEST_SKIP() << "this machine has no device " << device;
    }
    const auto use = context->use();
    Buffer<int> data(64);
    data.zero();
    std::int64_t sum = 0;
    use_kernels(0, warm, data, sum);
    const std::int64_t before = resident_bytes();
    use_kernels(warm, count, data, sum);
    const std::int64_t growth = resident_bytes() - before;
    EXPECT_EQ(data.read()[0][0], static_cast<int>(sum));
    EXPECT_LT(growth, bound) << count << " kernels";
    const ProgramStats stats = memory_stats().programs;
    EXPECT_LE(stats.cached, stats.limit);
    EXPECT_GT(stats.evictions, 0u);
    ::testing::Test::RecordProperty("growth", std::to_string(growth));
    std::printf("%s: %lld KB more after %d kernels\n", device, static_cast<long long>(growth / 1024), count);
}

constexpr std::int64_t mebi = std::int64_t{1} << 20;
constexpr int share = testing::unless_sanitized(1, 10);

TEST(ProgramMemory, StaysFlatOnTheCpu) {
    expect_flat_memory("cpu:0", 5000 / share, 20'000 / share, 64 * mebi / share);
}
TEST(ProgramMemory, StaysFlatOnTheReference) {
    expect_flat_memory("reference:0", 5000 / share, 20'000 / share, 16 * mebi);
}
TEST(ProgramMemory, StaysFlatOnLavapipe) {
    expect_flat_memory("vulkan:llvmpipe", 300 / share, 700 / share, 48 * mebi);
}
TEST(ProgramMemory, StaysFlatOnPoCl) { expect_flat_memory("opencl:0", 50, 100 / share, 32 * mebi); }

}  // namespace
}  // namespace volley
