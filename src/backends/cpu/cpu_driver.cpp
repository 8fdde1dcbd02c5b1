// Describes the processor. Devices with the same thread count share one thread pool, so that several contexts
// do not oversubscribe the machine.
#include "backends/cpu/cpu_driver.hpp"

#include "backends/cpu/cpu_device.hpp"
#include "core/fail.hpp"
#include "core/settings.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include <sched.h>
#include <unistd.h>

namespace volley::backends::cpu {
namespace {

std::string processor_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line_text; std::getline(info, line_text);) {
        for (const std::string_view key : {"model name", "Processor", "cpu model"}) {
            if (!line_text.starts_with(key)) continue;
            const auto colon = line_text.find(':');
            if (colon != std::string::npos)
                return std::string(trimmed(std::string_view(line_text).substr(colon + 1)));
        }
    }
#if defined(__x86_64__)
    return "x86-64 processor";
#elif defined(__aarch64__)
    return "ARM64 processor";
#else
    return "processor";
#endif
}

/// Returns the number of cores that this process may run on.
unsigned core_count() {
#if defined(__linux__)
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) == 0)
        return static_cast<unsigned>(std::max(CPU_COUNT(&set), 1));
#endif
    return std::max(std::thread::hardware_concurrency(), 1u);
}

/// Returns the memory of the machine, or the limit of the process's control group if that is smaller.
std::uint64_t memory_size() {
    auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                 static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    std::ifstream group("/sys/fs/cgroup/memory.max");
    if (std::string text; group >> text) {
        std::uint64_t limit = 0;
        const auto end = text.data() + text.size();
        const auto [read, error] = std::from_chars(text.data(), end, limit);
        if (error == std::errc{} && read == end && limit > 0) bytes = std::min(bytes, limit);
    }
    return bytes;
}

DeviceInfo describe_processor(unsigned threads, const codegen::llvm::Target& target) {
    DeviceInfo info;
    info.backend = "cpu";
    info.name = processor_name();
    info.driver = "volley";
    info.type = DeviceType::Cpu;
    info.max_local_size = 1024;
    info.max_local_dims = {1024, 1024, 1024};
    // There is no hardware limit. Half of a typical L2 cache keeps a workgroup's memory close to its core.
    info.max_shared_bytes = std::uint64_t{256} << 10;
    info.memory_bytes = memory_size();
    info.subgroup_size = target.width;
    info.compute_units = threads;
    info.max_queues = 64;
    info.f16 = info.f64 = info.i8 = info.i16 = info.i64 = true;
    info.float_atomics = info.int64_atomics = info.subgroups = true;
    info.keeps_subnormals = true;
    info.fused_fma = codegen::llvm::has_fma(target);
    info.host_memory = true;
    return info;
}

class CpuDriver final : public backends::Driver {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "cpu"; }

    [[nodiscard]] std::vector<DeviceInfo> devices() override {
        return {describe_processor(threads({}), target({}))};
    }

    [[nodiscard]] std::unique_ptr<backends::Device> open(unsigned index,
                                                         const backends::DeviceOptions& options) override {
        if (index != 0)
            fail(ErrorCode::UnknownDevice, "there is no such device", cat("cpu:", index), "use cpu:0");
        const codegen::llvm::Target requested = target(options);
        const unsigned count = threads(options);
        DeviceInfo info = describe_processor(count, requested);
        const std::uint64_t limit = backends::memory_limit_of_user(options.memory_limit);
        const bool by_user = limit != 0 && limit < info.memory_bytes;
        auto budget =
            std::make_shared<backends::MemoryBudget>(info.id(), by_user ? limit : info.memory_bytes, by_user);
        return std::make_unique<CpuDevice>(std::move(info), requested, pool(count), std::move(budget));
    }

private:
    static codegen::llvm::Target target(const backends::DeviceOptions& options) {
        unsigned width = options.cpu_width;
        if (width == 0) width = static_cast<unsigned>(settings().cpu_width.value_or(0));
        if (const auto& level = settings().cpu_level) return codegen::llvm::level_target(*level, width);
        return codegen::llvm::host_target(width);
    }

    static unsigned threads(const backends::DeviceOptions& options) {
        if (options.cpu_threads != 0) return options.cpu_threads;
        if (const auto set = settings().cpu_threads) return static_cast<unsigned>(*set);
        return core_count();
    }

    std::shared_ptr<CpuPool> pool(unsigned count) {
        const std::scoped_lock lock(mutex_);
        std::weak_ptr<CpuPool>& known = pools_[count];
        std::shared_ptr<CpuPool> result = known.lock();
        if (!result) known = result = std::make_shared<CpuPool>(count);
        return result;
    }

    std::mutex mutex_;
    std::map<unsigned, std::weak_ptr<CpuPool>> pools_;  // by thread count; owned by devices
};

}  // namespace

std::unique_ptr<backends::Driver> make_driver() { return std::make_unique<CpuDriver>(); }

}  // namespace volley::backends::cpu
