// Functions shared by several tests of the IR.
#pragma once

#include "ir/function.hpp"

namespace volley::ir {

/// data[i] = data[i] * alpha, with source lines.
[[nodiscard]] Function scale_function();

/// Uses every operation, every kind of type and every kind of constant. Verifies.
[[nodiscard]] Function every_op_function();

/// { vec3<f32> position @ 0, f32 mass @ 12, array<u8, 4> tags @ 16 }, size 20, align 4.
[[nodiscard]] DType particle_type();

/// Returns a seed for random tests: that of --gtest_random_seed, else a new one. Prints it, so that a failure
/// can be reproduced.
[[nodiscard]] unsigned test_seed();

}  // namespace volley::ir
