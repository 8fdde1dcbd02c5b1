// Small programs of the public API, run on the null backend: commands that use common bytes must be ordered,
// and queues must not wait for anything else (support/null_order.hpp).
#pragma once

#include "runtime/drivers.hpp"
#include "support/null/null_driver.hpp"
#include "support/null_order.hpp"

#include <volley/volley.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace volley::testing {

/// The data of a program's steps: created and filled for each program, with no work pending.
struct ProgramArrays {
    static constexpr std::size_t elements = 16;

    Buffer<int> shared{elements, {.placement = Placement::per_device}};
    Buffer<int> replicated{elements};
    Buffer<int> second{elements, {.placement = Placement::on(queue(1))}};
    HostArray<int> host{Shape{elements}};
    std::vector<Buffer<int>> results;  // one per reading kernel, so that they do not conflict

    [[nodiscard]] Buffer<int> result();
};

struct ProgramStep {
    std::string name;
    std::function<void(ProgramArrays&)> run;
};

/// Kernels on both queues that read, write, or do both, with views [0, 8), [4, 12) and [8, 16) of a buffer
/// shared by the queues; also fills and copies of these.
[[nodiscard]] std::vector<ProgramStep> steps_on_views();
/// Kernels, fills and copies on whole buffers of all placements.
[[nodiscard]] std::vector<ProgramStep> steps_on_placements();
/// Transfers between the device and a page-locked host array.
[[nodiscard]] std::vector<ProgramStep> steps_with_the_host();
/// Transfers that the host waits for, and buffers destroyed immediately, whose memory is reused. They cannot
/// be recorded.
[[nodiscard]] std::vector<ProgramStep> steps_at_once();
/// Temporaries, only for recordings; they share memory if their uses do not overlap.
[[nodiscard]] std::vector<ProgramStep> steps_with_temporaries();
/// Callbacks.
[[nodiscard]] std::vector<ProgramStep> steps_that_stop();

/// A context of the null backend that runs programs.
class OrderProgram {
public:
    struct Options {
        std::vector<std::string> devices = {"null:0"};
        bool overlaps = false;
        bool minimal = true;  // unneeded waits are failures too
    };
    explicit OrderProgram(Options options);

    enum class How : std::uint8_t {
        AtOnce,
        Recorded,        // the program is a graph, submitted with two instances, twice
        Spread,          // a graph whose instances are divided among the queues
        PartlyRecorded,  // the last step runs directly, after a graph of the others
    };
    /// Runs a program; returns a description of what is wrong, or an empty string.
    [[nodiscard]] std::string run(const std::vector<const ProgramStep*>& steps, How how = How::AtOnce);
    /// Runs all programs of that many steps; returns what is wrong with the first failing one.
    [[nodiscard]] std::string run_all(const std::vector<ProgramStep>& steps, unsigned length,
                                      How how = How::AtOnce);
    /// Runs random programs of that many steps.
    [[nodiscard]] std::string run_random(const std::vector<ProgramStep>& steps, unsigned length,
                                         unsigned programs, std::uint64_t seed, How how = How::AtOnce);

    /// Returns the number of commands of all programs so far.
    [[nodiscard]] std::size_t commands() const noexcept { return commands_; }

private:
    Options options_;
    std::size_t commands_ = 0;
    std::shared_ptr<backends::null::NullLog> log_ = std::make_shared<backends::null::NullLog>();
    Context context_;
};

}  // namespace volley::testing
