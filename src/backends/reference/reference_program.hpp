// A kernel for the reference device: its unmodified IR.
#pragma once

#include "backends/api/program.hpp"

namespace volley::backends::reference {

class ReferenceProgram final : public backends::Program {
public:
    explicit ReferenceProgram(ir::Function fn) : Program(std::move(fn)) {}
    /// Returns the printed IR, which does not depend on the local size.
    [[nodiscard]] std::string code(ir::Dim3 local) const override;
};

}  // namespace volley::backends::reference
