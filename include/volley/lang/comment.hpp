// comment("text") in a kernel: a comment in the code that is generated from the kernel.
#pragma once

#include <volley/lang/record.hpp>

#include <string_view>

namespace volley {

/// Adds a comment before the code that the following operations generate, in every textual form of the
/// kernel (VOLLEY_DUMP): IR, OpenCL C and CUDA C++. It has no effect on the compiled kernel and no cost.
/// Kernels that differ only in comments are compiled once, with the comments of the first.
///
///     comment("the tile's border");
inline void comment(std::string_view text, lang::Site at = lang::Site::here()) { lang::comment(text, at); }

}  // namespace volley
