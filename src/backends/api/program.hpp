// A kernel compiled for one device.
#pragma once

#include "ir/function.hpp"

#include <string>

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
    /// Returns the code passed to the device in readable form: assembly, SPIR-V text, OpenCL C.
    [[nodiscard]] virtual std::string code(ir::Dim3 local) const = 0;

protected:
    explicit Program(ir::Function function) : function_(std::move(function)) {}
    ir::Function function_;  // verified and optimised
};

}  // namespace volley::backends
