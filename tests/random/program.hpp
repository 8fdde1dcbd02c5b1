// A random kernel with everything needed to run it: the launch shape and the arguments.
#pragma once

#include "ir/function.hpp"
#include "support/random.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace volley::testing {

/// One argument, in parameter order: the initial content of a buffer, or the bytes of a value.
struct ProgramArg {
    DType type;
    std::uint64_t elements = 0;  // 0: a value
    std::vector<std::byte> bytes;
    bool written = false;
    /// Set if every leaf is the result of this function, compared within its error bound. Everything else is
    /// compared bit by bit, with all NaNs equal.
    std::optional<ir::Op> function;
};

struct Program {
    std::uint64_t seed = 0;
    ir::Function fn;
    ir::Dim3 global = {1, 1, 1};
    ir::Dim3 local = {1, 1, 1};
    std::vector<ProgramArg> args;
    bool subgroups = false;  // results depend on the subgroup size
    bool floats = false;     // contraction of multiply and add may change results
};

/// Returns the kernel as text, with its launch, for failure messages.
[[nodiscard]] std::string describe(const Program& program);

/// Fills `bytes` (a whole number of elements of the type) with edge values and random values of each leaf's
/// type.
void fill_random(Random& random, DType type, std::vector<std::byte>& bytes);

/// Returns the bits of an interesting scalar: edge cases, small numbers, arbitrary ones.
[[nodiscard]] std::uint64_t random_scalar(Random& random, ScalarType type);

}  // namespace volley::testing
