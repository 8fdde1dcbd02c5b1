// Runs a random program and returns the final content of its buffers.
#pragma once

#include "random/program.hpp"

#include <optional>
#include <stdexcept>

namespace volley::backends {
class Device;
}

namespace volley::testing {

/// The bytes of each argument after the run; empty for values.
using Execution = std::vector<std::vector<std::byte>>;

/// A write outside a buffer, detected by the guards around it.
struct GuardError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// `fn` is the program's kernel, or a transformed version with the same parameters.
[[nodiscard]] Execution run_reference(const Program& program, const ir::Function& fn, unsigned subgroup_size);

/// Runs code compiled for `width` lanes; `full` guarantees a grid without partial edges (see can_be_full).
/// `processor` must be a subset of the host's; empty: the host's own.
[[nodiscard]] Execution run_cpu(const Program& program, const ir::Function& fn, unsigned width, bool full,
                                const std::string& processor = {});
[[nodiscard]] bool can_be_full(const Program& program, const ir::Function& fn, unsigned width);

/// Runs the program on any device.
[[nodiscard]] Execution run_on(backends::Device& device, const Program& program, const ir::Function& fn);

/// Describes the first difference between two executions; nullopt if they agree.
[[nodiscard]] std::optional<std::string> difference(const Program& program, const Execution& expected,
                                                    const Execution& actual);

/// Memory for a program's arguments, with guards around each buffer.
class ProgramMemory {
public:
    explicit ProgramMemory(const Program& program);
    [[nodiscard]] std::byte* data(std::size_t arg) { return blocks_[arg].data() + offset_; }
    /// Checks the guards and returns the buffers' bytes.
    [[nodiscard]] Execution finish() const;

private:
    static constexpr std::size_t guard = 128;
    const Program& program_;
    std::size_t offset_ = guard;
    std::vector<std::vector<std::byte>> blocks_;
};

}  // namespace volley::testing
