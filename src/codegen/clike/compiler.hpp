// From a function to text: functions become arithmetic, what is nested too deeply for compilers is laid flat,
// then the emitter writes. What the compilers of all dialects share.
#pragma once

#include "codegen/clike/dialect.hpp"
#include "codegen/clike/source.hpp"

namespace volley::codegen::clike {

/// `fn` is verified and optimised. Source::options is left to the caller.
[[nodiscard]] Source compile(const ir::Function& fn, const Variant& variant, const Features& features,
                             const Dialect& dialect);

}  // namespace volley::codegen::clike
