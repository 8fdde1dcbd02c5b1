// A kernel compiled for one device.
#pragma once

#include "ir/function.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

namespace volley::backends {

/// A kernel compiled for one device, usable with every local size: variants for a local size, or for a grid
/// with partial workgroups, are compiled internally on first launch. Thread-safe. Must outlive the launches
/// that use it.
class Program {
public:
    virtual ~Program() = default;
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    [[nodiscard]] const ir::Function& function() const noexcept { return function_; }
    /// Returns the memory of its IR and of the variants compiled so far. An estimate where drivers report
    /// none.
    [[nodiscard]] std::uint64_t bytes() const noexcept {
        return ir::memory_bytes(function_) + variant_bytes_.load(std::memory_order_relaxed);
    }
    /// Returns the code passed to the device in readable form: assembly, SPIR-V text, OpenCL C.
    [[nodiscard]] virtual std::string code(ir::Dim3 local) const = 0;

protected:
    explicit Program(ir::Function function) : function_(std::move(function)) {}
    /// Adds the memory of a new variant.
    void add_bytes(std::uint64_t bytes) const noexcept {
        variant_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    }
    ir::Function function_;  // verified and optimised

private:
    mutable std::atomic<std::uint64_t> variant_bytes_{0};
};

}  // namespace volley::backends
