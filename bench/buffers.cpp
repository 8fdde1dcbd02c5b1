// Buffers and the host: transfers of 64 MiB, access without a copy, allocation. Speeds count each moved byte
// once.
#include "harness.hpp"
#include "huge_array.hpp"
#include "peers.hpp"
#include "raw_opencl.hpp"
#include "raw_vulkan.hpp"
#include "runtime/allocator.hpp"
#include "runtime/context_core.hpp"
#include "software_devices.hpp"
#include "worker_pool.hpp"

#include <volley/volley.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace volley::bench {
namespace {

constexpr std::size_t count = std::size_t{16} << 20;
constexpr std::size_t bytes = count * sizeof(float);
constexpr double seconds = 4;
constexpr double transfer_goal = 0.9;
constexpr double span_goal = 0.9;
constexpr double allocation_goal = 50;

using Ways = std::vector<std::function<void()>>;

// ---- transfers ----

struct Direction {
    bool write = true;    // host to device
    bool locked = false;  // the host side is page-locked memory
};

float element(std::size_t i) { return static_cast<float>(i % 4099); }

void fill(float* data) {
    for (std::size_t i = 0; i < count; ++i) data[i] = element(i);
}

void check_all(const float* data, const char* what) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) wrong += data[i] != element(i) ? 1 : 0;
    check(wrong == 0, what);
}

/// Volley's side, on the device of the current context. The constructor checks the result.
class Ours {
public:
    explicit Ours(Direction direction) : direction_(direction) {
        float* const host = direction.locked ? locked_.data() : plain_.data();
        if (direction.write) {
            fill(host);
            run();
            std::vector<float> there(count);
            device_.read_into(std::span<float>(there));
            check_all(there.data(), "a write");
        } else {
            std::vector<float> there(count);
            fill(there.data());
            device_.write(there);
            run();
            check_all(host, "a read");
        }
    }

    void run() {
        if (direction_.write && direction_.locked) {
            device_.write_async(locked_).wait();
        } else if (direction_.write) {
            device_.write(plain_.span());
            wait();
        } else if (direction_.locked) {
            device_.read_async(locked_, 0).wait();
        } else {
            device_.read_into(plain_.span());
        }
    }

private:
    Direction direction_;
    Buffer<float> device_{count};
    HugeArray<float> plain_{count, 0.0F};
    HostArray<float> locked_ = device_.empty_like();
};

void compare(Report& report, Direction direction, const char* peer, const Ways& ways) {
    Ours ours(direction);
    const Duel best = duel([&] { ours.run(); }, ways, seconds);
    report.add(gigabytes, bytes / best.volley * 1e-9, peer, bytes / best.peer * 1e-9, transfer_goal);
}

/// Both directions are the same for the processor: a copy from memory to memory.
void compare_with_memcpy(Report& report, Direction direction) {
    const HugeArray<float> from(count, 1.0F);
    const HugeArray<float> to(count, 0.0F);
    const auto by = [&](void (*copy)(void*, const void*, std::size_t)) {
        return [&to, &from, copy] {
            // Four pieces per thread balance other load of the cores.
            workers().for_each(
                count, count / (4 * workers().threads()), [&](std::size_t begin, std::size_t end) {
                    copy(to.data() + begin, from.data() + begin, (end - begin) * sizeof(float));
                });
        };
    };
    compare(report, direction, "memcpy", {by(peer::copy_bytes), by(peer::stream_bytes)});
    check(to[0] == 1.0F && to[count - 1] == 1.0F, "memcpy");
}

/// The peer copies by the host in mapped memory, or by the device through a staging buffer, which page-locked
/// memory does not need.
void compare_with_vulkan(Report& report, Direction direction) {
    if (!go_to_lavapipe(report, gigabytes, "raw-vulkan", transfer_goal)) return;
    const OnDevice lavapipe(lavapipe_name);
    RawVulkan& raw = *raw_vulkan();
    const RawBuffer device(raw, bytes);
    const RawBuffer staging(raw, bytes);
    const HugeArray<float> plain(count, 1.0F);
    float* const host = direction.locked ? staging.data() : plain.data();
    float* const first = direction.write ? host : device.data();
    float* const second = direction.write ? device.data() : host;
    std::fill_n(second, count, 0.0F);
    std::fill_n(first, count, 1.0F);
    const VkCommandBuffer commands = raw.make_commands();
    const VkBufferCopy region{0, 0, bytes};
    raw.record_copy(commands, direction.write ? device : staging, direction.write ? staging : device,
                    {&region, 1});
    const auto mapped = [&] { std::memcpy(second, first, bytes); };
    const auto staged = [&] {
        if (direction.write && !direction.locked) std::memcpy(staging.data(), plain.data(), bytes);
        raw.wait(raw.submit(commands));
        if (!direction.write && !direction.locked) std::memcpy(plain.data(), staging.data(), bytes);
    };
    staged();
    check(second[0] == 1.0F && second[count - 1] == 1.0F, "a transfer by hand");
    compare(report, direction, "raw-vulkan", {mapped, staged});
}

/// The peer uses plain memory and page-locked memory of the driver, whichever Volley uses.
void compare_with_opencl(Report& report, Direction direction) {
    if (!go_to_pocl(report, gigabytes, "raw-opencl", transfer_goal)) return;
    const OnDevice on_pocl(pocl_name);
    ClDevice& raw = *pocl();
    const HugeArray<float> memory(count, 1.0F);
    const ClBuffer device = raw.wrap(memory.data(), memory.bytes());
    const HugeArray<float> plain(count, 2.0F);
    void* locked = nullptr;
    const ClBuffer pinned = raw.pinned(bytes, &locked);
    std::fill_n(static_cast<float*>(locked), count, 2.0F);
    const auto by = [&](void* host) {
        return [&raw, &device, host, direction] {
            if (direction.write) {
                raw.write(device, host, bytes);
            } else {
                raw.read(host, device, bytes);
            }
        };
    };
    const Ways ways{by(plain.data()), by(locked)};
    ways[0]();
    check(memory[count - 1] == plain[count - 1], "a transfer by hand");
    compare(report, direction, "raw-opencl", ways);
}

void compare_transfers(Report& report, Direction direction) {
    compare_with_memcpy(report, direction);
    compare_with_vulkan(report, direction);
    compare_with_opencl(report, direction);
}

// ---- access without a copy ----

/// Compares a large buffer with a small one.
void compare_spans(Report& report) {
    constexpr int calls = 1000;
    const auto run = [](const Buffer<float>& buffer) {
        const float* sum = nullptr;
        for (int k = 0; k < calls; ++k) sum = std::max(sum, buffer.as_span().data());
        check(sum != nullptr, "as_span");
    };
    Buffer<float> large(count);
    Buffer<float> small(16);
    large.fill(1.0F);
    small.fill(1.0F);
    wait();
    const std::vector<double> best =
        race({{"64 MiB", [&] { run(large); }}, {"64 bytes", [&] { run(small); }}}, 2);
    report.add(nanoseconds, best[0] / calls * 1e9, "64-bytes", best[1] / calls * 1e9, span_goal);
}

// ---- allocation ----

// As large as in the other rows, so that lavapipe allocates from the system: smaller blocks come from the
// malloc heap, whose state would determine the figure.
constexpr std::size_t allocated = bytes;
constexpr int allocations = 100;

/// Compares with one microsecond and, on Vulkan, with the driver, on the device of the current context.
/// `allocate` allocates and frees memory once.
void compare_allocations(Report& report, const std::function<void()>& allocate, double wanted) {
    const auto run = [&] {
        for (int k = 0; k < allocations; ++k) allocate();
    };
    const auto time = [](double all_of_them) { return all_of_them / allocations * 1e6; };
    const DeviceMemoryStats before = memory_stats().total;
    report.add(microseconds, time(race({{"volley", run}}, 1).front()), "1-us", 1.0, 1.0);
    const DeviceMemoryStats after = memory_stats().total;
    // All allocations except the first come from the cache.
    check(after.allocations - before.allocations <= after.cache_hits - before.cache_hits + 1,
          "an allocation from the cache");
    if (current_context().devices().front().backend != "vulkan") return;
    RawVulkan& raw = *raw_vulkan();
    const auto by_hand = [&] {
        for (int k = 0; k < allocations; ++k) const RawBuffer made(raw, allocated);
    };
    const Duel best = duel(run, {by_hand}, 2);
    report.add(microseconds, time(best.volley), "raw-vulkan", time(best.peer), wanted);
}

void compare_allocations_everywhere(Report& report, const std::function<void()>& allocate, double wanted) {
    compare_allocations(report, allocate, wanted);
    if (go_to_lavapipe(report, microseconds, "raw-vulkan", wanted)) {
        const OnDevice lavapipe(lavapipe_name);
        compare_allocations(report, allocate, wanted);
    }
    if (go_to_pocl(report, microseconds, "1-us", 1.0)) {
        const OnDevice on_pocl(pocl_name);
        compare_allocations(report, allocate, wanted);
    }
}

}  // namespace

VOLLEY_BENCH(write_64m, "buffers/write_64m") { compare_transfers(report, {.write = true}); }
VOLLEY_BENCH(read_64m, "buffers/read_64m") { compare_transfers(report, {.write = false}); }
VOLLEY_BENCH(write_64m_locked, "buffers/write_64m_locked") {
    compare_transfers(report, {.write = true, .locked = true});
}
VOLLEY_BENCH(read_64m_locked, "buffers/read_64m_locked") {
    compare_transfers(report, {.write = false, .locked = true});
}

VOLLEY_BENCH(as_span, "buffers/as_span") {
    compare_spans(report);
    if (go_to_lavapipe(report, nanoseconds, "64-bytes", span_goal)) {
        const OnDevice lavapipe(lavapipe_name);
        compare_spans(report);
    }
    if (go_to_pocl(report, nanoseconds, "64-bytes", span_goal)) {
        const OnDevice on_pocl(pocl_name);
        compare_spans(report);
    }
}

VOLLEY_BENCH(allocate_cached, "buffers/allocate_cached") {
    const auto allocate = [] {
        runtime::Allocator& allocator = runtime::current_core()->allocator(0);
        allocator.recycle(allocator.take(allocated, 0));
    };
    compare_allocations_everywhere(report, allocate, allocation_goal);
}
VOLLEY_BENCH(make_buffer, "buffers/make_buffer") {
    const auto allocate = [] { Buffer<float>(count).ensure_allocated(); };
    compare_allocations_everywhere(report, allocate, 0);
}

}  // namespace volley::bench
