// A type as the flat list of its scalars, and paths into it. The interpreter keeps every value as such a list
// and every memory in the host's layout; a leaf says where one scalar lies in both.
#pragma once

#include <volley/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace volley::backends::reference {

struct Leaf {
    ScalarType scalar;
    std::size_t offset;  // bytes from the start of the value in memory
};

/// In the order of the parts, nested parts in place; an index into this list is a leaf's index in a value.
using Leaves = std::vector<Leaf>;

[[nodiscard]] Leaves leaves_of(DType type);

/// How many leaves lie before part i.
[[nodiscard]] std::uint64_t leaves_before(DType type, std::uint64_t i);

/// One scalar in memory as zero-extended bits; a bool reads as 0 or 1 whatever its byte.
[[nodiscard]] std::uint64_t load_scalar(ScalarType scalar, const std::byte* from);
void store_scalar(ScalarType scalar, std::byte* to, std::uint64_t bits);

}  // namespace volley::backends::reference
