// Steps of the heat equation on a square grid, between two buffers in turn: as launches, as a graph, and in
// plain C++ with a fixed part of the rows per thread.
//
// The large grid moves between the cores' caches if a thread does not keep its part from step to step. That
// may depend on how the process started, so every figure of it comes from several processes.
#include "child.hpp"
#include "harness.hpp"
#include "huge_array.hpp"
#include "peers.hpp"
#include "worker_pool.hpp"

#include <volley/volley.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace volley::bench {
namespace {

constexpr std::uint32_t large_side = 1024;
constexpr int large_steps = 200;
constexpr std::uint32_t small_side = 34;  // 32 x 32 points and their border
constexpr int small_steps = 1000;
constexpr int processes = 6;
constexpr double child_seconds = 1;
constexpr double seconds = 4;
constexpr double launches_goal = 0.95;  // equal, except for the noise between two processes
constexpr double plain_goal = 0.95;
constexpr double most_step_us = 0.1;

/// Returns a warm grid with a hot row. Without zeros: heat that spreads into them is subnormal at its front,
/// and the processor computes with such numbers many times slower.
std::vector<float> warm_grid(std::size_t side) {
    std::vector<float> grid(side * side, 1.0F);
    std::fill_n(grid.begin() + static_cast<std::ptrdiff_t>(side / 2 * side), side, 1000.0F);
    return grid;
}

auto make_step() {
    return kernel("heat", [](Buff<float> to, Buff<const float> from, Const<std::uint32_t> side) {
        const auto p = global_id();
        const auto i = (p.y + 1u) * side + p.x + 1u;
        const auto around = (from[i - 1u] + from[i + 1u]) + (from[i - side] + from[i + side]);
        to[i] = from[i] + 0.2f * (around - 4.0f * from[i]);
    });
}

/// Two buffers and a kernel that steps from one to the other.
class Grid {
public:
    Grid(std::uint32_t side, int steps)
        : side_(side), steps_(steps), a_(as_buffer(warm_grid(side))), b_(as_buffer(warm_grid(side))) {}

    void launch_all() const {
        for (int k = 0; k < steps_; k += 2) {
            step_.over({side_ - 2, side_ - 2})(b_, a_, side_);
            step_.over({side_ - 2, side_ - 2})(a_, b_, side_);
        }
    }
    [[nodiscard]] CommandGraph make_graph() const {
        return record([&] { launch_all(); });
    }
    [[nodiscard]] std::vector<float> result() const { return a_.read(0); }

private:
    std::uint32_t side_;
    int steps_;
    decltype(make_step()) step_ = make_step();
    Buffer<float> a_, b_;
};

/// Plain C++: each thread has the same rows in every step.
class PlainGrid {
public:
    PlainGrid(std::size_t side, int steps)
        : side_(side), steps_(steps), a_(side * side, 0.0F), b_(side * side, 0.0F) {
        const std::vector<float> start = warm_grid(side);
        std::copy(start.begin(), start.end(), a_.data());
        std::copy(start.begin(), start.end(), b_.data());
    }
    void run() {
        for (int k = 0; k < steps_; k += 2) {
            step(b_.data(), a_.data());
            step(a_.data(), b_.data());
        }
    }
    /// The calling thread computes all rows.
    void run_alone() {
        for (int k = 0; k < steps_; k += 2) {
            peer::heat_rows(b_.data(), a_.data(), side_, 1, side_ - 1);
            peer::heat_rows(a_.data(), b_.data(), side_, 1, side_ - 1);
        }
    }
    [[nodiscard]] std::vector<float> result() const { return {a_.data(), a_.data() + side_ * side_}; }

private:
    void step(float* to, const float* from) const {
        workers().split_fixed(side_ - 2, [&](std::size_t begin, std::size_t end) {
            peer::heat_rows(to, from, side_, begin + 1, end + 1);
        });
    }
    std::size_t side_;
    int steps_;
    HugeArray<float> a_, b_;
};

void check_equal(const std::vector<float>& a, const std::vector<float>& b) {
    check(a.size() == b.size(), "the grid's size");
    for (std::size_t i = 0; i < a.size(); ++i)
        check(std::abs(a[i] - b[i]) <= 1e-5F * (1 + std::abs(b[i])), "a step of the heat equation");
}

double step_us(double whole, int steps) { return whole / steps * 1e6; }

/// Runs a child in several processes; returns the figure chosen by `choose`, as std::min or std::max.
template <class Choose>
double of_processes(const std::string& child, double start, Choose&& choose) {
    double chosen = start;
    for (int k = 0; k < processes; ++k) chosen = choose(chosen, run_child(child, {"VOLLEY_DEVICES=cpu:0"}));
    return chosen;
}
double best_of_processes(const std::string& child) {
    return of_processes(child, std::numeric_limits<double>::infinity(),
                        [](double a, double b) { return std::min(a, b); });
}
double worst_of_processes(const std::string& child) {
    return of_processes(child, 0, [](double a, double b) { return std::max(a, b); });
}

}  // namespace

VOLLEY_CHILD(stencil_plain) {
    PlainGrid grid(large_side, large_steps);
    return step_us(race({{"plain-c++", [&] { grid.run(); }}}, child_seconds).front(), large_steps);
}

VOLLEY_CHILD(stencil_launches) {
    const Grid grid(large_side, large_steps);
    const auto run = [&] {
        grid.launch_all();
        wait();
    };
    return step_us(race({{"launches", run}}, child_seconds).front(), large_steps);
}

// The slower of two races: from the first submission on, and after launches on the same queue.
VOLLEY_CHILD(stencil_graph) {
    const Grid grid(large_side, large_steps);
    PlainGrid plain(large_side, large_steps);
    CommandGraph graph = grid.make_graph();
    const auto run = [&] { graph.submit().wait(); };
    run();
    plain.run();
    check_equal(grid.result(), plain.result());
    const double first = race({{"graph", run}}, child_seconds).front();
    grid.launch_all();
    wait();
    const double then = race({{"graph", run}}, child_seconds).front();
    return step_us(std::max(first, then), large_steps);
}

VOLLEY_BENCH(stencil_large, "graphs/stencil_1024") {
    const double graph = worst_of_processes("stencil_graph");
    report.add(microseconds, graph, "launches", best_of_processes("stencil_launches"), launches_goal);
    report.add(microseconds, graph, "plain-c++", best_of_processes("stencil_plain"), plain_goal);
}

VOLLEY_BENCH(stencil_small, "graphs/grid_step_32") {
    const Grid grid(small_side, small_steps);
    PlainGrid plain(small_side, small_steps);
    CommandGraph graph = grid.make_graph();
    graph.submit().wait();
    plain.run();
    check_equal(grid.result(), plain.result());
    const std::vector<double> best = race(
        {{"volley", [&] { graph.submit().wait(); }}, {"plain-c++", [&] { plain.run_alone(); }}}, seconds);
    const double step = step_us(best[0], small_steps);
    report.add(microseconds, step, "100-ns", most_step_us, 1);
    report.add(microseconds, step, "plain-c++", step_us(best[1], small_steps), 0);
}

}  // namespace volley::bench
