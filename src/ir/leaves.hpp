// A type as the flat list of its scalars. Backends store values as such lists and memory in the host's
// layout; a leaf maps one scalar between the two.
#pragma once

#include <volley/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace volley::ir {

struct Leaf {
    ScalarType scalar;
    std::size_t offset;  // bytes from the start of the value in memory
};

/// The scalars in the order of the parts, with nested parts expanded in place. The index in this list is the
/// leaf's index in a value.
using Leaves = std::vector<Leaf>;

[[nodiscard]] Leaves leaves_of(DType type);
/// Returns only the scalar types of the leaves.
[[nodiscard]] std::vector<ScalarType> leaf_scalars(DType type);

/// Returns the number of leaves before part i.
[[nodiscard]] std::uint64_t leaves_before(DType type, std::uint64_t i);

/// Reads one scalar from memory as zero-extended bits; any non-zero byte of a bool reads as 1.
[[nodiscard]] std::uint64_t load_scalar(ScalarType scalar, const std::byte* from);
void store_scalar(ScalarType scalar, std::byte* to, std::uint64_t bits);

}  // namespace volley::ir
