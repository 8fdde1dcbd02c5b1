// Steps across devices: a grid is split between the CPU and lavapipe, which exchange one row each way after
// each step. The peer is the same loop over plain C++ and raw Vulkan.
#include "harness.hpp"
#include "peers.hpp"
#include "raw_vulkan.hpp"
#include "software_devices.hpp"

#include <volley/volley.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace volley::bench {
namespace {

constexpr double seconds = 4;
constexpr double goal = 0.7;
// The loop by hand has one thread, which copies at once. Volley's queues run apart, and hand over to each
// other.
constexpr double exchange_goal = 0.45;
constexpr int steps = 200;  // even: the result is in the grids that the loop began with
constexpr std::uint32_t width = 512;
constexpr std::uint32_t group = 64;

/// The rows of the CPU and of lavapipe, with the halos.
using Rows = std::array<std::uint32_t, 2>;

constexpr std::string_view heat_glsl =
    "#version 450\nlayout(local_size_x = 64) in;\nlayout(binding = 0) readonly buffer A { float a[]; };\n"
    "layout(binding = 1) buffer B { float b[]; };\nlayout(push_constant) uniform P { float s; };\n"
    "void main() { uint x = gl_WorkGroupID.x % 8u * 64u + gl_LocalInvocationID.x + 1u;\n"
    "uint i = (gl_WorkGroupID.x / 8u + 1u) * 512u + x;\n"
    "if (x < 511u) b[i] = a[i] * s + (a[i - 512u] + a[i + 512u] + a[i - 1u] + a[i + 1u]) * 0.125; }\n";

std::vector<float> first_grid(std::size_t rows) {
    std::vector<float> grid(rows * width);
    for (std::size_t i = 0; i < grid.size(); ++i) grid[i] = static_cast<float>(i % 7);
    return grid;
}

auto make_heat() {
    return kernel("heat", [](Buff<const float> from, Buff<float> to) {
        const auto i = (global_id().y + 1u) * width + global_id().x + 1u;
        to[i] = from[i] * 0.5F + (from[i - width] + from[i + width] + from[i - 1u] + from[i + 1u]) * 0.125F;
    });
}

/// The grid on two queues, each part twice. The last row of the first part and the first row of the second
/// are halos.
class Halo {
public:
    explicit Halo(const Rows& rows) : rows_(rows) {
        const auto use = context_.use();
        for (unsigned part = 0; part < 2; ++part) {
            for (Buffer<float>& grid : grids_[part]) {
                grid = Buffer<float>({rows[part], width}, {.placement = Placement::on(context_.queue(part))});
                grid.write(first_grid(rows[part]), part);
            }
        }
        graph_ = record([&] { step(0), step(1); });
    }
    void run() {
        const auto use = context_.use();
        for (int k = 0; k < steps; ++k) step(k % 2);
        wait();
    }
    void run_graph() {
        const auto use = context_.use();
        for (int k = 0; k < steps; k += 2) graph_.submit();
        wait();
    }
    [[nodiscard]] std::vector<float> result(unsigned part) const { return grids_[part][0].read(part); }

private:
    void step(std::size_t from) {
        const std::size_t to = 1 - from;
        for (unsigned part = 0; part < 2; ++part)
            heat_.over({width - 2, rows_[part] - 2})(flat(part, from), flat(part, to));
        row(0, to, rows_[0] - 1).copy_from(row(1, to, 1));
        row(1, to, 0).copy_from(row(0, to, rows_[0] - 2));
    }
    [[nodiscard]] Buffer<float> flat(unsigned part, std::size_t which) const {
        return grids_[part][which].view(0, std::size_t{rows_[part]} * width);
    }
    [[nodiscard]] Buffer<float> row(unsigned part, std::size_t which, std::size_t y) const {
        return grids_[part][which].view(y * width, width);
    }

    Rows rows_;
    Context context_ = make_context({.devices = {"cpu:0", lavapipe_name}});
    decltype(make_heat()) heat_ = make_heat();
    std::array<std::array<Buffer<float>, 2>, 2> grids_;
    CommandGraph graph_;
};

/// The same by hand: while lavapipe computes its part, the calling thread computes the other one.
class HaloByHand {
public:
    HaloByHand(RawVulkan& raw, const Rows& rows) : raw_(raw), rows_(rows) {
        for (std::size_t k = 0; k < 2; ++k) {
            here_[k] = first_grid(rows[0]);
            const std::vector<float> grid = first_grid(rows[1]);
            there_[k].emplace(raw, grid.size() * sizeof(float));
            std::memcpy(there_[k]->data(), grid.data(), grid.size() * sizeof(float));
        }
        for (std::size_t k = 0; k < 2; ++k) {
            const std::vector<const RawBuffer*> buffers{&*there_[k], &*there_[1 - k]};
            kernels_[k].emplace(raw, heat_glsl, buffers);
            commands_[k] = raw.make_commands();
            raw.record(commands_[k], *kernels_[k], 0.5F, (rows[1] - 2) * (width / group));
        }
    }
    void run() {
        for (std::size_t k = 0; k < steps; ++k) {
            const std::size_t from = k % 2, to = 1 - from;
            const std::uint64_t point = raw_.submit(commands_[from]);
            peer::heat(here_[to].data(), here_[from].data(), width, 1, rows_[0] - 1);
            raw_.wait(point);
            constexpr std::size_t bytes = width * sizeof(float);
            std::memcpy(here_[to].data() + (rows_[0] - 1) * width, there_[to]->data() + width, bytes);
            std::memcpy(there_[to]->data(), here_[to].data() + (rows_[0] - 2) * width, bytes);
        }
    }
    [[nodiscard]] std::vector<float> result(unsigned part) const {
        if (part == 0) return here_[0];
        return {there_[0]->data(), there_[0]->data() + std::size_t{rows_[1]} * width};
    }

private:
    RawVulkan& raw_;
    Rows rows_;
    std::array<std::vector<float>, 2> here_;
    std::array<std::optional<RawBuffer>, 2> there_;
    std::array<std::optional<RawKernel>, 2> kernels_;  // by the grid that they read
    std::array<VkCommandBuffer, 2> commands_{};
};

void compare_halo(Report& report, const Rows& rows, double ratio) {
    Halo halo(rows);
    HaloByHand by_hand(*raw_vulkan(), rows);
    halo.run();
    halo.run_graph();
    by_hand.run();
    by_hand.run();
    for (const unsigned part : {0u, 1u}) {
        const std::vector<float> ours = halo.result(part), theirs = by_hand.result(part);
        for (std::size_t i = 0; i < ours.size(); ++i)
            check(std::abs(ours[i] - theirs[i]) < 1e-4F, "a grid on two devices");
    }
    const std::vector<double> best = race({{"volley", [&] { halo.run(); }},
                                           {"volley-graph", [&] { halo.run_graph(); }},
                                           {"by-hand", [&] { by_hand.run(); }}},
                                          seconds);
    const auto each = [](double whole) { return whole / steps * 1e6; };
    const std::string size = std::to_string(rows[1]) + " rows on lavapipe, ";
    report.add(microseconds, each(best[0]), "by-hand", each(best[2]), ratio, size + "launches");
    report.add(microseconds, each(best[1]), "by-hand", each(best[2]), ratio, size + "a graph");
}

void compare_halos(Report& report) {
    if (!go_to_lavapipe(report, microseconds, "by-hand", goal)) return;
    compare_halo(report, {113, 17}, goal);
    compare_halo(report, {113, 3}, exchange_goal);
}

}  // namespace

VOLLEY_BENCH(graph_halo, "graphs/halo_2_devices") { compare_halos(report); }

}  // namespace volley::bench
