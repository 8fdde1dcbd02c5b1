// The compilers that the process uses: LLVM, and those inside drivers. They make static objects when they are
// first used, which are destroyed early at exit. From then on nothing can be compiled.
#pragma once

#include <string_view>

namespace volley {

/// Called before each use of a compiler. Throws LaunchError (WrongContext), naming the kernel, if the process
/// is ending and a compiler was used before.
void about_to_compile(std::string_view kernel);

/// Returns a number that has changed if compilers may have made static objects since. It seldom changes after
/// the first few uses, in which they make most of them.
[[nodiscard]] unsigned compiler_uses() noexcept;

/// Called when the process ends, before static objects are destroyed.
void end_compilers() noexcept;

}  // namespace volley
