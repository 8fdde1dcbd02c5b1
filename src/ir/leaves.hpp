// A type as the flat list of its scalars, and paths into it. Backends keep values as such lists and memory in
// the host's layout; a leaf says where one scalar lies in both.
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

/// In the order of the parts, nested parts in place; an index into this list is a leaf's index in a value.
using Leaves = std::vector<Leaf>;

[[nodiscard]] Leaves leaves_of(DType type);
/// Their scalar types alone.
[[nodiscard]] std::vector<ScalarType> leaf_scalars(DType type);

/// How many leaves lie before part i.
[[nodiscard]] std::uint64_t leaves_before(DType type, std::uint64_t i);

/// One scalar in memory as zero-extended bits; a bool reads as 0 or 1 whatever its byte.
[[nodiscard]] std::uint64_t load_scalar(ScalarType scalar, const std::byte* from);
void store_scalar(ScalarType scalar, std::byte* to, std::uint64_t bits);

}  // namespace volley::ir
