// comment("what follows") inside a kernel: a remark for those who read what the kernel becomes.
#pragma once

#include <volley/lang/record.hpp>

#include <string_view>

namespace volley {

/// Stands before the code of what is recorded after it, up to the next comment, wherever Volley shows a
/// kernel as text: the IR, OpenCL C, CUDA C++ (VOLLEY_DUMP). Costs nothing and changes nothing: kernels that
/// differ in comments alone are compiled once, with the remarks of the first.
///
///     comment("the tile's border");
inline void comment(std::string_view text, lang::Site at = lang::Site::here()) { lang::comment(text, at); }

}  // namespace volley
