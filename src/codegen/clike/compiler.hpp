// Compiles IR to text for every C-like dialect: expands math functions into arithmetic, flattens nesting that
// compilers reject, then runs the emitter.
#pragma once

#include "codegen/clike/dialect.hpp"
#include "codegen/clike/source.hpp"

namespace volley::codegen::clike {

/// Requires a verified and optimised `fn`. The caller fills Source::options.
[[nodiscard]] Source compile(const ir::Function& fn, const Variant& variant, const Features& features,
                             const Dialect& dialect);

}  // namespace volley::codegen::clike
