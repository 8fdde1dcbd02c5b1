// Conversions between the interpreter's 64-bit scalars and C++ values, for scalar*.cpp.
#pragma once

#include "backends/reference/scalar.hpp"

#include <volley/half.hpp>

#include <bit>
#include <cstring>
#include <limits>

namespace volley::backends::reference {

template <class T>
[[nodiscard]] T value(std::uint64_t raw) {
    if constexpr (std::is_same_v<T, bool>) {
        return raw != 0;
    } else if constexpr (std::is_same_v<T, half>) {
        return half::from_bits(static_cast<std::uint16_t>(raw));
    } else if constexpr (std::is_same_v<T, float>) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(raw));
    } else if constexpr (std::is_same_v<T, double>) {
        return std::bit_cast<double>(raw);
    } else {
        return static_cast<T>(raw);
    }
}

template <class T>
[[nodiscard]] std::uint64_t bits(T v) {
    if constexpr (std::is_same_v<T, bool>) {
        return v ? 1 : 0;
    } else if constexpr (std::is_same_v<T, half>) {
        return v.bits();
    } else if constexpr (std::is_same_v<T, float>) {
        return std::bit_cast<std::uint32_t>(v);
    } else if constexpr (std::is_same_v<T, double>) {
        return std::bit_cast<std::uint64_t>(v);
    } else {
        return static_cast<std::make_unsigned_t<T>>(v);
    }
}

template <class T>
struct TypeTag {
    using type = T;
};

/// Calls f(TypeTag<T>{}) with the C++ type of a scalar type.
template <class F>
decltype(auto) with_type(ScalarType type, F&& f) {
    switch (type) {
        case ScalarType::Bool: return f(TypeTag<bool>{});
        case ScalarType::I8: return f(TypeTag<std::int8_t>{});
        case ScalarType::U8: return f(TypeTag<std::uint8_t>{});
        case ScalarType::I16: return f(TypeTag<std::int16_t>{});
        case ScalarType::U16: return f(TypeTag<std::uint16_t>{});
        case ScalarType::I32: return f(TypeTag<std::int32_t>{});
        case ScalarType::U32: return f(TypeTag<std::uint32_t>{});
        case ScalarType::I64: return f(TypeTag<std::int64_t>{});
        case ScalarType::U64: return f(TypeTag<std::uint64_t>{});
        case ScalarType::F16: return f(TypeTag<half>{});
        case ScalarType::F32: return f(TypeTag<float>{});
        case ScalarType::F64: break;
    }
    return f(TypeTag<double>{});
}

template <class T>
inline constexpr ScalarType scalar_type_of = std::is_same_v<T, half>    ? ScalarType::F16
                                             : std::is_same_v<T, float> ? ScalarType::F32
                                                                        : ScalarType::F64;

/// Returns a function that has an error bound instead of an exact result, computed in a wider type and
/// rounded. Float types only. Returns nullptr for other operations.
[[nodiscard]] ScalarFn inexact_function(ir::Op op, ScalarType type);

}  // namespace volley::backends::reference
