// A random kernel with all that a run of it needs: the launch's shape and the arguments.
#pragma once

#include "ir/function.hpp"
#include "support/random.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace volley::testing {

/// One argument, in the order of the parameters: a buffer's first content, or a value's bytes.
struct ProgramArg {
    DType type;
    std::uint64_t elements = 0;  // 0: a value
    std::vector<std::byte> bytes;
    bool written = false;
    /// Set when every leaf is the result of this function, compared within its error bound; all else is
    /// compared to the bit, NaNs of any payload being equal.
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

/// The kernel as text, with its launch, for a failure's message.
[[nodiscard]] std::string describe(const Program& program);

/// Fills `bytes` (a number of elements of the type) with edge values and random ones of each leaf's type.
void fill_random(Random& random, DType type, std::vector<std::byte>& bytes);

/// The bits of a scalar worth testing: edges, small numbers, anything.
[[nodiscard]] std::uint64_t random_scalar(Random& random, ScalarType type);

}  // namespace volley::testing
