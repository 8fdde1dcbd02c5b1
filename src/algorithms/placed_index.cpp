// Indices are computed modulo 2^32 or 2^64: -k is 2^w - k there.
#include "algorithms/placed_index.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/math.hpp>
#include <volley/lang/operators.hpp>

#include <vector>

namespace volley::algorithms {
namespace {

template <class U>
PlacedIndex place_unsigned(const Value<U>& i, const Value<u32>& extent, OutOfRange policy) {
    const Value<U> n = cast<U>(extent);
    switch (policy) {
        case OutOfRange::Clamp: return {cast<u32>(min(i, n - U{1})), {}};
        case OutOfRange::Wrap: return {cast<u32>(i % n), {}};
        case OutOfRange::Skip: break;
    }
    return {cast<u32>(i), i < n};
}

template <class U, class S>
PlacedIndex place_signed(const Value<S>& i, const Value<u32>& extent, OutOfRange policy) {
    const Value<U> n = cast<U>(extent), bits = cast<U>(i);
    const Value<U> distance = U{0} - bits;  // from the end, if i is negative
    const Value<bool> negative = i < S{0};
    switch (policy) {
        case OutOfRange::Clamp:
            return {cast<u32>(select(negative, n - min(distance, n), min(bits, n - U{1}))), {}};
        case OutOfRange::Wrap:
            return {cast<u32>(select(negative, n - U{1} - (distance - U{1}) % n, bits % n)), {}};
        case OutOfRange::Skip: break;
    }
    const Value<U> place = select(negative, bits + n, bits);
    return {cast<u32>(place), place < n};
}

}  // namespace

PlacedIndex place_index(const AnyValue& given, const Value<u32>& extent, OutOfRange policy) {
    const DType type = given.dtype();
    const bool wide = type.size() == sizeof(u64);
    if (type.is_signed()) {
        if (wide) return place_signed<u64>(given.as<i64>(), extent, policy);
        return place_signed<u32>(convert(given, dtype_of<i32>()).as<i32>(), extent, policy);
    }
    if (wide) return place_unsigned(given.as<u64>(), extent, policy);
    return place_unsigned(convert(given, dtype_of<u32>()).as<u32>(), extent, policy);
}

void check_indices(const AnySource& indices, std::int64_t extent, OutOfRange policy,
                   std::string_view algorithm) {
    const DType type = indices.dtype();
    if (!type.is_scalar() || !type.is_integer()) {
        fail(ErrorCode::TypeMismatch, cat("the indices are of type ", type.name()), algorithm,
             "use integers; for a condition, use where()");
    }
    if (extent == 0 && policy != OutOfRange::Skip && indices.size() > 0) {
        fail(ErrorCode::InvalidShape, "the axis has no elements that indices could name", algorithm,
             "use an axis with elements, or OutOfRange::Skip");
    }
}

Shape shape_of_indexed(const Shape& shape, int axis, const Shape& indices) {
    std::vector<std::int64_t> extents(shape.begin(), shape.begin() + axis);
    extents.insert(extents.end(), indices.begin(), indices.end());
    extents.insert(extents.end(), shape.begin() + axis + 1, shape.end());
    return Shape(std::span<const std::int64_t>(extents));
}

}  // namespace volley::algorithms
