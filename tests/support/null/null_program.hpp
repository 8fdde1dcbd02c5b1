// A program of the null backend: its IR, and the buffer uses derived from it.
#pragma once

#include "backends/api/program.hpp"
#include "ir/printer.hpp"
#include "passes/effects.hpp"

#include <string>
#include <utility>

namespace volley::backends::null {

class NullProgram final : public backends::Program {
public:
    explicit NullProgram(ir::Function fn) : Program(std::move(fn)), uses_(passes::buffer_uses(function_)) {}
    [[nodiscard]] std::string code(ir::Dim3 /*local*/) const override { return ir::print(function_); }
    [[nodiscard]] const passes::BufferUses& uses() const noexcept { return uses_; }

private:
    passes::BufferUses uses_;
};

}  // namespace volley::backends::null
