// A kernel made ready for one device.
#pragma once

#include "ir/function.hpp"

#include <string>

namespace volley::backends {

/// Compiled for one device, for every local size: variants for a local size or a grid with partial edges are
/// made when they are first launched, inside. Thread-safe. Must outlive the launches that use it.
class Program {
public:
    virtual ~Program() = default;
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    [[nodiscard]] const ir::Function& function() const noexcept { return function_; }
    /// What the device would be given, for people: assembly, SPIR-V text, OpenCL C.
    [[nodiscard]] virtual std::string code(ir::Dim3 local) const = 0;

protected:
    explicit Program(ir::Function function) : function_(std::move(function)) {}
    ir::Function function_;  // verified and optimised
};

}  // namespace volley::backends
