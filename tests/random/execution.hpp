// Runs a random program and gives what it leaves in its buffers.
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

/// A write outside of a buffer, found by the guards around it.
struct GuardError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// `fn` is the program's kernel, or another form of it with the same parameters.
[[nodiscard]] Execution run_reference(const Program& program, const ir::Function& fn, unsigned subgroup_size);

/// Compiled for vectors of `width` lanes; `full` promises a grid without partial edges (see can_be_full).
/// `processor` is one that the host's can do as much as; empty: the host's own.
[[nodiscard]] Execution run_cpu(const Program& program, const ir::Function& fn, unsigned width, bool full,
                                const std::string& processor = {});
[[nodiscard]] bool can_be_full(const Program& program, const ir::Function& fn, unsigned width);

/// On any device.
[[nodiscard]] Execution run_on(backends::Device& device, const Program& program, const ir::Function& fn);

/// Where two executions differ, in words; nullopt when they agree.
[[nodiscard]] std::optional<std::string> difference(const Program& program, const Execution& expected,
                                                    const Execution& actual);

/// Memory for a program's arguments, with guards around each buffer.
class ProgramMemory {
public:
    explicit ProgramMemory(const Program& program);
    [[nodiscard]] std::byte* data(std::size_t arg) { return blocks_[arg].data() + offset_; }
    /// Checks the guards and takes the buffers' bytes.
    [[nodiscard]] Execution finish() const;

private:
    static constexpr std::size_t guard = 128;
    const Program& program_;
    std::size_t offset_ = guard;
    std::vector<std::vector<std::byte>> blocks_;
};

}  // namespace volley::testing
