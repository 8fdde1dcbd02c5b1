// The cost of graphs and launches: recording once, dynamic values, the tracking of bytes, and launches after
// a profile.
#include "backends/api/queue.hpp"
#include "harness.hpp"
#include "raw_vulkan.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/context_core.hpp"
#include "runtime/kernel_core.hpp"
#include "runtime/storage.hpp"
#include "software_devices.hpp"

#include <volley/volley.hpp>

#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace volley::bench {
namespace {

constexpr std::size_t small_count = 1024;
constexpr int chain_length = 1000;
constexpr double seconds = 4;
constexpr double raw_goal = 0.8;
constexpr double vkdispatch_us =
    305;                       // its immediate dispatch on lavapipe, measured on a machine of this class
constexpr double most_us = 2;  // limit for a launch in a graph, and for tracking
constexpr double dynamic_goal = 1 / 1.1;
constexpr double profile_goal = 0.95;  // equal, except for the noise between two runs

constexpr std::string_view scale_glsl =
    "#version 450\nlayout(local_size_x = 64) in;\nlayout(binding = 0) buffer B { float c[]; };\n"
    "layout(push_constant) uniform P { float s; };\nvoid main() { c[gl_GlobalInvocationID.x] *= s; }\n";

auto make_scale() {
    return kernel("scale", [](Buff<float> data, Const<float> alpha) {
        const auto i = global_id().x;
        data[i] = data[i] * alpha;
    });
}

Buffer<float> ones() { return as_buffer(std::vector<float>(small_count, 1.0F)); }

CommandGraph make_chain(const Buffer<float>& data) {
    const auto scale = make_scale();
    CommandGraph graph = record([&] {
        for (int k = 0; k < chain_length; ++k) scale(data, -1.0F);
    });
    graph.submit().wait();
    check(data.read(0).back() == 1.0F, "a chain of launches");
    return graph;
}

/// A chain of small dependent launches, submitted as one graph and waited for.
void compare_chain(Report& report) {
    const auto each = [](double whole) { return whole / chain_length * 1e6; };
    {
        CommandGraph graph = make_chain(ones());
        const double best = race({{"volley", [&] { graph.submit().wait(); }}}, seconds).front();
        report.add(microseconds, each(best), "2-us", most_us, 1);
    }
    if (!go_to_lavapipe(report, microseconds, "raw-vulkan", raw_goal)) return;
    const OnDevice lavapipe(lavapipe_name);
    CommandGraph graph = make_chain(ones());
    RawVulkan& raw = *raw_vulkan();
    const RawBuffer memory(raw, small_count * sizeof(float));
    std::fill_n(memory.data(), small_count, 1.0F);
    const RawKernel peer(raw, scale_glsl, {&memory});
    const VkCommandBuffer commands = raw.make_commands();
    raw.record(commands, peer, -1.0F, small_count / 64, chain_length);
    raw.wait(raw.submit(commands));
    check(memory.data()[small_count - 1] == 1.0F, "a chain by hand");
    const std::vector<double> best = race(
        {{"volley", [&] { graph.submit().wait(); }}, {"raw-vulkan", [&] { raw.wait(raw.submit(commands)); }}},
        seconds);
    report.add(microseconds, each(best[0]), "raw-vulkan", each(best[1]), raw_goal);
}

/// Launches outside graphs, and one wait.
void compare_immediate(Report& report) {
    if (!go_to_lavapipe(report, microseconds, "raw-vulkan", raw_goal)) return;
    const OnDevice lavapipe(lavapipe_name);
    const auto scale = make_scale();
    const Buffer<float> data = ones();
    RawVulkan& raw = *raw_vulkan();
    const RawBuffer memory(raw, small_count * sizeof(float));
    std::fill_n(memory.data(), small_count, 1.0F);
    const RawKernel peer(raw, scale_glsl, {&memory});
    std::vector<VkCommandBuffer> ring(1024);
    for (VkCommandBuffer& commands : ring) commands = raw.make_commands();
    std::size_t next = 0;
    const auto ours = [&] {
        for (int k = 1; k < chain_length; ++k) scale(data, -1.0F);
        scale(data, -1.0F).wait();
    };
    const auto by_hand = [&] {
        std::uint64_t point = 0;
        for (int k = 0; k < chain_length; ++k) {
            VkCommandBuffer commands = ring[next++ % ring.size()];
            raw.record(commands, peer, -1.0F, small_count / 64);
            point = raw.submit(commands);
        }
        raw.wait(point);
    };
    ours();
    check(data.read(0).back() == 1.0F, "launches on lavapipe");
    const std::vector<double> best = race({{"volley", ours}, {"raw-vulkan", by_hand}}, seconds);
    const double us = best[0] / chain_length * 1e6;
    report.add(microseconds, us, "raw-vulkan", best[1] / chain_length * 1e6, raw_goal);
    report.add(microseconds, us, "vkdispatch", vkdispatch_us, 4);
}

/// Returns the best time of each contender over several constructions. On PoCL equal commands of some
/// constructions take 1.5 times as long as those of others, for seconds.
template <class Race>
std::vector<double> best_of_makings(Race&& race_once) {
    constexpr int makings = 4;
    std::vector<double> best = race_once();
    for (int k = 1; k < makings; ++k) {
        const std::vector<double> now = race_once();
        for (std::size_t i = 0; i < best.size(); ++i) best[i] = std::min(best[i], now[i]);
    }
    return best;
}

/// Compares a thousand instances with a dynamic value each and without.
std::vector<double> race_dynamic(const char* device) {
    const OnDevice on(device);
    const auto scale = make_scale();
    const Buffer<float> data = ones();  // shared, because the address matters on some devices
    CommandGraph with = record([&] { scale(data, dyn<float>("alpha")); });
    CommandGraph without = record([&] { scale(data, -1.0F); });
    std::vector<float> values(chain_length);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = k % 2 == 0 ? 2.0F : 0.5F;
    with.bind("alpha", values);
    const SubmitOptions options{.instances = chain_length};
    with.submit(options).wait();
    without.submit(options).wait();
    check(data.read(0).back() == 1.0F, "instances");
    return race({{"volley", [&] { with.submit(options).wait(); }},
                 {"fixed", [&] { without.submit(options).wait(); }}},
                seconds);
}

void compare_dynamic(Report& report, const char* device) {
    const std::vector<double> best = best_of_makings([&] { return race_dynamic(device); });
    report.add(microseconds, best[0] / chain_length * 1e6, "fixed", best[1] / chain_length * 1e6,
               dynamic_goal);
}

void compare_dynamic_everywhere(Report& report) {
    compare_dynamic(report, "cpu:0");
    if (go_to_lavapipe(report, microseconds, "fixed", dynamic_goal)) compare_dynamic(report, lavapipe_name);
    if (go_to_pocl(report, microseconds, "fixed", dynamic_goal)) compare_dynamic(report, pocl_name);
}

template <std::size_t, class T>
using Always = T;

/// Returns a kernel that writes to each of its buffers.
template <std::size_t... I>
auto make_touch(std::index_sequence<I...>) {
    return kernel("touch", [](Always<I, Buff<float>>... data) {
        const auto i = global_id().x;
        ((data[i] = data[i] + 1.0F), ...);
    });
}

/// Returns the processor time of the calling thread.
double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Measures the cost of a launch with many views beyond the same command submitted directly to the device's
/// queue, as processor time of the submitting thread. By the clock, the difference of two times would be lost
/// in the time of the commands, which on some drivers is ten times as long.
void compare_tracking(Report& report) {
    constexpr std::size_t buffers = 8, views = 4, size = 16;
    constexpr int launches = 100;
    const auto touch = make_touch(std::make_index_sequence<buffers * views>());
    std::array<Buffer<float>, buffers> data;
    std::array<Buffer<float>, buffers * views> parts;
    for (std::size_t b = 0; b < buffers; ++b) {
        data[b] = as_buffer(std::vector<float>(size * views, 0.0F));
        for (std::size_t v = 0; v < views; ++v) parts[b * views + v] = data[b].view(v * size, size);
    }
    const auto launch = [&] { return std::apply(touch, parts); };
    launch().wait();
    for (const Buffer<float>& one : data) check(one.read(0).back() == 1.0F, "a launch with many views");

    runtime::ContextCore& core = runtime::storage_of(parts[0]).core();
    const runtime::KernelUse use = core.programs().find(touch.trace().function());
    runtime::CachedKernel& cached = *use.get();
    backends::Launch bare;
    bare.program = &cached.program(0, core.device(0));
    bare.global = {size, 1, 1};
    bare.local = {size, 1, 1};
    std::array<backends::Argument, buffers * views> arguments;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        arguments[i].memory = &runtime::storage_of(parts[i]).allocate(0);
        arguments[i].offset = parts[i].offset();
        arguments[i].elements = size;
    }
    bare.args = arguments;
    backends::Queue& queue = core.queue(0);
    std::array<double, 2> best{1, 1};  // of rounds in turns: with the runtime, and without it
    const auto measure = [&](std::size_t side, const auto& submit) {
        const double begin = thread_seconds();
        for (int k = 0; k < launches; ++k) submit();
        best[side] = std::min(best[side], thread_seconds() - begin);
        wait();
        queue.timeline().wait(queue.last());
    };
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end) {
        measure(0, launch);
        measure(1, [&] { queue.launch(bare); });
    }
    constexpr double visible_us = 0.01;
    report.add(microseconds, std::max((best[0] - best[1]) / launches * 1e6, visible_us), "2-us", most_us, 1);
}

void compare_tracking_everywhere(Report& report) {
    compare_tracking(report);
    if (go_to_lavapipe(report, microseconds, "2-us", 1)) {
        const OnDevice lavapipe(lavapipe_name);
        compare_tracking(report);
    }
    if (go_to_pocl(report, microseconds, "2-us", 1)) {
        const OnDevice on_pocl(pocl_name);
        compare_tracking(report);
    }
}

/// Small launches and graph submissions in a separate context, whose cost is mostly that of submitting them.
class SmallWork {
public:
    explicit SmallWork(const char* device) : context_(make_context({.devices = {device}})) {
        const auto use = context_.use();
        data_ = as_buffer(std::vector<float>(16, 1.0F));
        graph_ = record([&] { scale_(data_, -1.0F); });
        run();
    }
    void run() {
        const auto use = context_.use();
        for (int k = 0; k < launches / 2; ++k) {
            scale_(data_, -1.0F);
            graph_.submit();
        }
        wait();
    }
    void run_profiled() {
        const auto use = context_.use();
        const Profile profiled = profile([&] { run(); });
        check(profiled.commands().size() >= launches, "a profile of launches and submissions");
    }
    [[nodiscard]] bool is_right() const { return data_.read(0).back() == 1.0F; }

    static constexpr int launches = 100;

private:
    Context context_;
    decltype(make_scale()) scale_ = make_scale();
    Buffer<float> data_;
    CommandGraph graph_;
};

/// Compares a context after a profile with one that was never profiled.
std::vector<double> race_profile_off(const char* device) {
    SmallWork profiled(device), never(device);
    profiled.run_profiled();
    std::vector<double> best =
        race({{"volley", [&] { profiled.run(); }}, {"never-profiled", [&] { never.run(); }}}, seconds);
    check(profiled.is_right() && never.is_right(), "launches after a profile");
    return best;
}

void compare_profile_off(Report& report, const char* device) {
    const std::vector<double> best = best_of_makings([&] { return race_profile_off(device); });
    report.add(microseconds, best[0] / SmallWork::launches * 1e6, "never-profiled",
               best[1] / SmallWork::launches * 1e6, profile_goal);
}

void compare_profile_off_everywhere(Report& report) {
    compare_profile_off(report, "cpu:0");
    if (go_to_lavapipe(report, microseconds, "never-profiled", profile_goal))
        compare_profile_off(report, lavapipe_name);
    if (go_to_pocl(report, microseconds, "never-profiled", profile_goal))
        compare_profile_off(report, pocl_name);
}

}  // namespace

VOLLEY_BENCH(graph_chain, "graphs/chain_1000") { compare_chain(report); }
VOLLEY_BENCH(graph_immediate, "graphs/immediate_1000") { compare_immediate(report); }
VOLLEY_BENCH(graph_dynamic, "graphs/instances_1000_dynamic") { compare_dynamic_everywhere(report); }
VOLLEY_BENCH(graph_profile_off, "graphs/profile_off") { compare_profile_off_everywhere(report); }
VOLLEY_BENCH(graph_tracking, "graphs/tracking_8x4") { compare_tracking_everywhere(report); }

}  // namespace volley::bench
