// A kernel for the reference device: its IR, as it is.
#pragma once

#include "backends/api/program.hpp"

namespace volley::backends::reference {

class ReferenceProgram final : public backends::Program {
public:
    explicit ReferenceProgram(ir::Function fn) : Program(std::move(fn)) {}
    /// The printed IR: what is interpreted, whatever the local size.
    [[nodiscard]] std::string code(ir::Dim3 local) const override;
};

}  // namespace volley::backends::reference
