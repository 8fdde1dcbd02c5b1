// volley_soak [--minutes N] [--seed S] [--threads T] [--devices LIST] [--no-faults] [--no-storms]: threads
// create, use and drop contexts, buffers, kernels, graphs and events on all devices at random, with injected
// failures, and compare every result with a model on the host. Memory, threads and file descriptors must stay
// flat.
#include "soak/life.hpp"
#include "soak/resources.hpp"
#include "soak/storm.hpp"
#include "support/random.hpp"

#include <volley/volley.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace volley;
using namespace volley::soak;
using Clock = std::chrono::steady_clock;

struct Arguments {
    double minutes = 1;
    std::uint64_t seed = std::random_device{}();
    unsigned threads = 3;
    bool storms = true;
    LifeOptions life;
};

int usage() {
    std::fputs(
        "usage: volley_soak [--minutes N] [--seed S] [--threads T] [--devices cpu:0,vulkan:llvmpipe,...]\n"
        "                   [--no-faults] [--no-storms]\n",
        stderr);
    return 2;
}

bool parse(int argc, char** argv, Arguments& arguments) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--no-faults") {
            arguments.life.faults = false;
        } else if (name == "--no-storms") {
            arguments.storms = false;
        } else if (i + 1 == argc) {
            return false;
        } else if (name == "--minutes") {
            arguments.minutes = std::strtod(argv[++i], nullptr);
        } else if (name == "--seed") {
            arguments.seed = std::strtoull(argv[++i], nullptr, 0);
        } else if (name == "--threads") {
            arguments.threads = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
        } else if (name == "--devices") {
            std::istringstream list(argv[++i]);
            for (std::string device; std::getline(list, device, ',');)
                arguments.life.devices.push_back(device);
        } else {
            return false;
        }
    }
    return arguments.threads > 0 && arguments.minutes > 0;
}

std::vector<std::string> all_devices() {
    std::vector<std::string> names;
    for (const DeviceInfo& device : devices()) names.push_back(device.id());
    return names;
}

/// Runs lives on several threads until `end`. The first failure stops all of them.
class Round {
public:
    Round(const Arguments& arguments, const Kernels& kernels, std::uint64_t number, Clock::time_point end)
        : arguments_(arguments), kernels_(kernels), number_(number), end_(end) {}

    Tally run() {
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < arguments_.threads; ++t) threads.emplace_back([this, t] { work(t); });
        for (std::thread& thread : threads) thread.join();
        return total_;
    }
    [[nodiscard]] bool failed() const { return failed_; }

private:
    void work(unsigned thread) {
        Tally tally;
        volley::testing::Random seeds(arguments_.seed + 1000 * number_ + thread);
        while (!failed_ && Clock::now() < end_) {
            const std::uint64_t seed = seeds.bits();
            try {
                if (arguments_.storms && seed % 8 == 0) {
                    storm(seed, arguments_.life.devices, kernels_);
                } else {
                    live(seed, arguments_.life, kernels_, tally);
                }
            } catch (const std::exception& error) {
                const std::scoped_lock lock(mutex_);
                failed_ = true;
                std::printf("FAILED (seed of the life: %llu)\n%s\n", static_cast<unsigned long long>(seed),
                            error.what());
            }
        }
        const std::scoped_lock lock(mutex_);
        total_.add(tally);
    }

    const Arguments& arguments_;
    const Kernels& kernels_;
    std::uint64_t number_;
    Clock::time_point end_;
    std::atomic<bool> failed_{false};
    std::mutex mutex_;
    Tally total_;
};

#ifdef VOLLEY_SANITIZED
constexpr bool memory_is_comparable = false;  // sanitizers keep freed memory
#else
constexpr bool memory_is_comparable = true;
#endif

/// Returns whether nothing has grown since `before`, and prints what has.
bool is_flat(const Resources& before, const Resources& after) {
    constexpr std::uint64_t tolerance = std::uint64_t{48} << 20;
    bool flat = true;
    const auto compare = [&](const char* what, std::uint64_t was, std::uint64_t is, std::uint64_t most) {
        if (is <= most) return;
        std::printf("FAILED: %s grew from %llu to %llu\n", what, static_cast<unsigned long long>(was),
                    static_cast<unsigned long long>(is));
        flat = false;
    };
    // Drivers start some threads late, once per process.
    compare("the number of threads", before.threads, after.threads, before.threads + 4);
    compare("the number of file descriptors", before.descriptors, after.descriptors, before.descriptors);
    if (memory_is_comparable)
        compare("resident memory", before.resident, after.resident,
                before.resident + before.resident / 4 + tolerance);
    return flat;
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    if (!parse(argc, argv, arguments)) return usage();
    if (arguments.life.devices.empty()) arguments.life.devices = all_devices();
    std::printf("seed %llu, %u threads, devices:", static_cast<unsigned long long>(arguments.seed),
                arguments.threads);
    for (const std::string& device : arguments.life.devices) std::printf(" %s", device.c_str());
    std::printf("\n");

    const auto start = Clock::now();
    const auto end = start + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(60 * arguments.minutes));
    // Several rounds, after each of which no context exists and the process is measured. The first quarter
    // warms up: drivers and the C library keep what they have allocated once.
    const auto length = std::max<Clock::duration>((end - start) / 12, std::chrono::seconds(3));
    const Kernels kernels;
    Resources baseline;
    bool measured = false;
    Tally total;
    for (std::uint64_t number = 0; Clock::now() < end; ++number) {
        Round round(arguments, kernels, number, std::min(end, Clock::now() + length));
        total.add(round.run());
        if (round.failed()) return 1;
        const Resources now = measure_resources();
        std::printf(
            "%6.1f s: %llu lives, %llu actions, %llu checks, %llu failures reported; %.1f MiB, %u threads, "
            "%u descriptors\n",
            std::chrono::duration<double>(Clock::now() - start).count(),
            static_cast<unsigned long long>(total.lives), static_cast<unsigned long long>(total.actions),
            static_cast<unsigned long long>(total.checks), static_cast<unsigned long long>(total.failures),
            static_cast<double>(now.resident) / (1 << 20), now.threads, now.descriptors);
        std::fflush(stdout);
        if (!measured && Clock::now() - start >= (end - start) / 4) {
            baseline = now;
            measured = true;
        } else if (measured && !is_flat(baseline, now)) {
            return 1;
        }
    }
    std::printf("no failure\n");
    return 0;
}
