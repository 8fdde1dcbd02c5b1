// The Vulkan backend on lavapipe against hand-written Vulkan and GLSL compiled by shaderc.
#include "codegen/glsl/glsl_compiler.hpp"
#include "codegen/spirv/compiler.hpp"
#include "harness.hpp"
#include "ir/parser.hpp"
#include "passes/pipeline.hpp"
#include "raw_vulkan.hpp"
#include "software_devices.hpp"
#include "stream_kernels.hpp"

#include <volley/volley.hpp>

#include <deque>
#include <sstream>

namespace volley::bench {
namespace {

constexpr std::size_t small_count = 1024;
constexpr double seconds = 4;
constexpr double dispatch_goal = 0.8;
constexpr double stream_goal = 0.9;
constexpr double spirv_goal = 10;
constexpr std::uint32_t local = 64;  // workgroup size of the peers

/// Returns the GLSL of a stream kernel, one element per invocation.
std::string stream_glsl(std::string_view statement, int arrays) {
    std::ostringstream text;
    text << "#version 450\nlayout(local_size_x = " << local << ") in;\n";
    const char* const names[] = {"c", "a", "b"};
    for (int k = 0; k < arrays; ++k) {
        text << "layout(binding = " << k << ") " << (k > 0 ? "readonly " : "") << "buffer B" << k
             << " { float " << names[k] << "[]; };\n";
    }
    // Large grids are two-dimensional here, so the index needs one more multiplication.
    text << "layout(push_constant) uniform P { float s; };\n"
            "void main() { uint i = gl_GlobalInvocationID.y * (gl_NumWorkGroups.x * gl_WorkGroupSize.x) + "
            "gl_GlobalInvocationID.x; "
         << statement << " }\n";
    return text.str();
}

void compare_dispatch(Report& report, int launches, bool recorded_each) {
    if (!go_to_lavapipe(report, microseconds, "raw-vulkan", dispatch_goal)) return;
    const OnDevice lavapipe(lavapipe_name);
    const auto scale = kernel("scale", [](Buff<float> data, Const<float> alpha) {
        auto i = global_id().x;
        data[i] = data[i] * alpha;
    });
    const Buffer<float> data = as_buffer(std::vector<float>(small_count, 1.0F));
    scale(data, -1.0F).wait();
    check(data.read(0).back() == -1.0F, "a launch on lavapipe");

    RawVulkan& raw = *raw_vulkan();
    const RawBuffer memory(raw, small_count * sizeof(float));
    std::fill_n(memory.data(), small_count, 1.0F);
    const RawKernel peer(raw, stream_glsl("c[i] *= s;", 1), {&memory});
    const std::uint32_t groups = small_count / local;
    const VkCommandBuffer once = raw.make_commands();
    raw.record(once, peer, -1.0F, groups);
    raw.wait(raw.submit(once));
    check(memory.data()[small_count - 1] == -1.0F, "a launch by hand");

    // Each launch records one command buffer of a ring.
    constexpr std::size_t ring_size = 1024;
    std::vector<VkCommandBuffer> ring(recorded_each ? ring_size : 0);
    for (VkCommandBuffer& commands : ring) commands = raw.make_commands();
    std::size_t next = 0;
    const auto by_hand = [&] {
        std::uint64_t point = 0;
        for (int k = 0; k < launches; ++k) {
            VkCommandBuffer commands = once;
            if (recorded_each) {
                commands = ring[next++ % ring_size];
                raw.record(commands, peer, -1.0F, groups);
            }
            point = raw.submit(commands);
        }
        raw.wait(point);
    };
    const std::vector<double> best = race({{"volley",
                                            [&] {
                                                for (int k = 1; k < launches; ++k) scale(data, -1.0F);
                                                scale(data, -1.0F).wait();
                                            }},
                                           {"raw-vulkan", by_hand}},
                                          seconds);
    report.add(microseconds, best[0] / launches * 1e6, "raw-vulkan", best[1] / launches * 1e6, dispatch_goal);
}

void compare_stream(Report& report, const Stream& stream) {
    if (!go_to_lavapipe(report, gigabytes, "glsl", stream_goal)) return;
    const OnDevice lavapipe(lavapipe_name);
    const StreamBuffers ours;
    stream.check_on(ours);

    RawVulkan& raw = *raw_vulkan();
    std::deque<RawBuffer> memory;
    std::vector<const RawBuffer*> bound;
    for (int k = 0; k < stream.arrays; ++k) {
        memory.emplace_back(raw, stream_count * sizeof(float));
        std::fill_n(memory.back().data(), stream_count, k == 0 ? 3.0F : static_cast<float>(k));
        bound.push_back(&memory.back());
    }
    const RawKernel peer(raw, stream_glsl(stream.statement, stream.arrays), bound);
    const VkCommandBuffer commands = raw.make_commands();
    raw.record(commands, peer, stream.s, static_cast<std::uint32_t>(stream_count / local));
    raw.wait(raw.submit(commands));
    check(memory.front().data()[stream_count - 1] == stream.result, "a stream kernel by hand");

    const std::vector<double> best = race(
        {{"volley", [&] { stream.launch(ours).wait(); }}, {"glsl", [&] { raw.wait(raw.submit(commands)); }}},
        seconds);
    const auto speed = [&](std::size_t k) { return stream.bytes() / best[k] * 1e-9; };
    report.add(gigabytes, speed(0), "glsl", speed(1), stream_goal);
}

/// The same kernel in C++ and GLSL: a chain of statements over a few variables.
struct Twin {
    std::string glsl;
    lang::TracedKernel traced;
};

Twin make_twin(int statements) {
    std::ostringstream glsl;
    glsl << "#version 450\nlayout(local_size_x = 64) in;\n"
            "layout(binding = 0) buffer Y { float y[]; };\nlayout(binding = 1) readonly buffer X { float "
            "x[]; };\n"
            "layout(push_constant) uniform P { float a; uint n; };\n"
            "void main() {\n  uint i = gl_GlobalInvocationID.x;\n  if (i >= n) return;\n"
            "  float v0 = x[i], v1 = y[i], v2 = a, v3 = 1.0;\n";
    for (int k = 0; k < statements; ++k) {
        const int to = k % 4, from = (k + 1) % 4, other = (k + 2) % 4;
        glsl << "  v" << to << " = v" << from << " * v" << other << " + " << k << ".5;\n";
    }
    glsl << "  y[i] = v0 + v1 + v2 + v3;\n}\n";
    return {glsl.str(),
            lang::trace_kernel("twin", [statements](Buff<float> y, Buff<const float> x, Const<float> a) {
                auto i = global_id().x;
                Var<float> v[4] = {x[i], y[i], a, 1.0F};
                for (int k = 0; k < statements; ++k) {
                    const auto to = static_cast<std::size_t>(k % 4), from = (to + 1) % 4,
                               other = (to + 2) % 4;
                    v[to] = v[from] * v[other] + (static_cast<float>(k) + 0.5F);
                }
                y[i] = v[0] + v[1] + v[2] + v[3];
            })};
}

codegen::spirv::Target plain_target() {
    codegen::spirv::Target target;
    target.device = "a device";
    target.f16 = target.f64 = target.i8 = target.i16 = target.i64 = target.storage8 = target.storage16 = true;
    target.fused_fma = true;
    target.subgroup_size = 8;
    return target;
}

/// Compares the time from optimised IR to SPIR-V with shaderc. With `all_passes`, starts from the traced IR
/// and compares with shaderc's optimiser enabled.
void compare_compilers(Report& report, int statements, bool all_passes) {
    report.on("vulkan", "no device");
    if (!codegen::glsl::available()) {
        report.add(microseconds, 0, "shaderc", std::nullopt, spirv_goal, missing_vulkan());
        return;
    }
    const Twin twin = make_twin(statements);
    const codegen::spirv::Target target = plain_target();
    ir::Function optimised = twin.traced.function();
    passes::optimise(optimised);
    std::size_t words = 0;
    const auto write = [&](const ir::Function& fn) {
        words += codegen::spirv::compile(fn, {.local = {64, 1, 1}}, target).words.size();
    };
    const auto run = [&] {
        if (!all_passes) return write(optimised);
        ir::Function fn = twin.traced.function();
        passes::optimise(fn);
        write(fn);
    };
    const auto peer = [&] { words += codegen::glsl::compile("twin", twin.glsl, all_passes).size(); };
    const std::vector<double> best = race({{"volley", run}, {"shaderc", peer}}, seconds);
    check(words > 0, "a module");
    report.add(microseconds, best[0] * 1e6, "shaderc", best[1] * 1e6, spirv_goal);
}

}  // namespace

VOLLEY_BENCH(vulkan_dispatch, "vulkan/dispatch_and_wait") { compare_dispatch(report, 1, false); }
VOLLEY_BENCH(vulkan_launches, "vulkan/launches_1000") { compare_dispatch(report, 1000, true); }

VOLLEY_BENCH(vulkan_copy, "vulkan/stream_copy") { compare_stream(report, copy_stream()); }
VOLLEY_BENCH(vulkan_scale, "vulkan/stream_scale") { compare_stream(report, scale_stream()); }
VOLLEY_BENCH(vulkan_saxpy, "vulkan/stream_saxpy") { compare_stream(report, saxpy_stream()); }
VOLLEY_BENCH(vulkan_triad, "vulkan/stream_triad") { compare_stream(report, triad_stream()); }

VOLLEY_BENCH(vulkan_spirv_small, "vulkan/spirv_small") { compare_compilers(report, 2, false); }
VOLLEY_BENCH(vulkan_spirv_large, "vulkan/spirv_300") { compare_compilers(report, 300, false); }
VOLLEY_BENCH(vulkan_optimised_small, "vulkan/spirv_small_optimised") { compare_compilers(report, 2, true); }
VOLLEY_BENCH(vulkan_optimised_large, "vulkan/spirv_300_optimised") { compare_compilers(report, 300, true); }

}  // namespace volley::bench
