// Flattens types; reads and writes single scalars.
#include "ir/leaves.hpp"

#include <cstring>

namespace volley::ir {
namespace {

void append(Leaves& leaves, DType type, std::size_t offset) {
    if (type.is_scalar()) {
        leaves.push_back({type.scalar(), offset});
        return;
    }
    for (std::uint64_t i = 0; i < type.count(); ++i)
        append(leaves, type.part(i), offset + type.part_offset(i));
}

template <class T>
std::uint64_t load_as(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

}  // namespace

Leaves leaves_of(DType type) {
    Leaves leaves;
    leaves.reserve(type.leaf_count());
    append(leaves, type, 0);
    return leaves;
}

std::vector<ScalarType> leaf_scalars(DType type) {
    std::vector<ScalarType> scalars;
    scalars.reserve(type.leaf_count());
    for (const Leaf& leaf : leaves_of(type)) scalars.push_back(leaf.scalar);
    return scalars;
}

std::uint64_t leaves_before(DType type, std::uint64_t i) {
    if (!type.is_struct()) return i * type.part(0).leaf_count();
    std::uint64_t before = 0;
    for (std::uint64_t k = 0; k < i; ++k) before += type.part(k).leaf_count();
    return before;
}

std::uint64_t load_scalar(ScalarType scalar, const std::byte* from) {
    if (scalar == ScalarType::Bool) return *from != std::byte{0} ? 1 : 0;
    switch (size_of(scalar)) {
        case 1: return load_as<std::uint8_t>(from);
        case 2: return load_as<std::uint16_t>(from);
        case 4: return load_as<std::uint32_t>(from);
        default: return load_as<std::uint64_t>(from);
    }
}

void store_scalar(ScalarType scalar, std::byte* to, std::uint64_t bits) {
    // Copies the low bytes: every host that Volley supports is little-endian.
    std::memcpy(to, &bits, size_of(scalar));
}

}  // namespace volley::ir
