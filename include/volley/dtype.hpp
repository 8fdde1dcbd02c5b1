// Run-time types of elements and values: scalars, complex numbers, vectors, matrices, fixed-size arrays and
// structs, in the memory layout of the host.
//
// A DType is a pointer to an interned, immutable descriptor, so it is copied and compared like a pointer.
// Descriptors live until the process exits. The default DType is "void".
#pragma once

#include <volley/api.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace volley {

enum class ScalarType : std::uint8_t { Bool, I8, U8, I16, U16, I32, U32, I64, U64, F16, F32, F64 };

enum class TypeKind : std::uint8_t { Void, Scalar, Complex, Vector, Matrix, Array, Struct };

struct StructField;
struct TypeInfo;

/// A handle to an interned type. Cheap to copy and compare. Thread-safe. The factory functions throw
/// ArgumentError if their arguments do not describe a type.
class VOLLEY_API DType {
public:
    constexpr DType() = default;
    /// Converts a scalar type: `DType t = ScalarType::F32;`
    DType(ScalarType scalar);  // NOLINT(google-explicit-constructor): a scalar is a type

    /// Returns the complex type with f16, f32 or f64 parts, stored as (re, im).
    [[nodiscard]] static DType complex(ScalarType part);
    /// Returns the vector type with 2 to 4 components, tightly packed: a vec3 of f32 has 12 bytes.
    [[nodiscard]] static DType vector(ScalarType component, unsigned count);
    /// Returns the column-major matrix type: `columns` vectors of `rows` components, tightly packed.
    [[nodiscard]] static DType matrix(ScalarType component, unsigned columns, unsigned rows);
    /// Returns the type of an array of `count` elements, with the element size as its stride.
    [[nodiscard]] static DType array(DType element, std::uint64_t count);
    /// Returns the type of a struct with the offsets, size and alignment of the host compiler. Fields may be
    /// structs. Throws ArgumentError if fields overlap or extend past `size`.
    [[nodiscard]] static DType structure(std::string_view name, std::span<const StructField> fields,
                                         std::size_t size, std::size_t align);

    [[nodiscard]] TypeKind kind() const noexcept;
    [[nodiscard]] std::size_t size() const noexcept;   ///< sizeof on the host; 0 for void
    [[nodiscard]] std::size_t align() const noexcept;  ///< alignof on the host; 1 for void
    /// Returns the component type of a scalar, complex, vector or matrix, and Bool for other kinds.
    [[nodiscard]] ScalarType scalar() const noexcept;
    /// Returns the number of parts: components of a vector, columns of a matrix, elements of an array, fields
    /// of a struct, 2 for complex. Returns 1 for a scalar and 0 for void.
    [[nodiscard]] std::uint64_t count() const noexcept;
    [[nodiscard]] unsigned columns() const noexcept;  ///< matrices only, else 0
    [[nodiscard]] unsigned rows() const noexcept;     ///< matrices only, else 0
    /// Returns the type of part i: a component, column (a vector), element or field. A scalar has no parts.
    [[nodiscard]] DType part(std::uint64_t i) const;
    [[nodiscard]] std::size_t part_offset(std::uint64_t i) const;  ///< byte offset of part i
    [[nodiscard]] std::span<const StructField> fields() const noexcept;
    [[nodiscard]] std::string_view struct_name() const noexcept;
    /// Returns the number of scalars in the type, at all levels of nesting.
    [[nodiscard]] std::uint64_t leaf_count() const noexcept;

    [[nodiscard]] bool is_void() const noexcept { return info_ == nullptr; }
    [[nodiscard]] bool is_scalar() const noexcept { return kind() == TypeKind::Scalar; }
    [[nodiscard]] bool is_vector() const noexcept { return kind() == TypeKind::Vector; }
    [[nodiscard]] bool is_complex() const noexcept { return kind() == TypeKind::Complex; }
    [[nodiscard]] bool is_matrix() const noexcept { return kind() == TypeKind::Matrix; }
    [[nodiscard]] bool is_struct() const noexcept { return kind() == TypeKind::Struct; }
    [[nodiscard]] bool is_array() const noexcept { return kind() == TypeKind::Array; }
    /// Returns whether the type is a scalar, vector, matrix or complex type.
    [[nodiscard]] bool is_numeric() const noexcept;
    [[nodiscard]] bool is_bool() const noexcept;      ///< bool, or a vector of bool
    [[nodiscard]] bool is_float() const noexcept;     ///< numeric, with f16, f32 or f64 components
    [[nodiscard]] bool is_integer() const noexcept;   ///< numeric, with integer components; false for bool
    [[nodiscard]] bool is_signed() const noexcept;    ///< numeric, with signed integer or float components
    [[nodiscard]] bool is_unsigned() const noexcept;  ///< numeric, with unsigned integer components
    /// Returns the type of the same shape (scalar, vector, matrix, complex) with another component type.
    [[nodiscard]] DType with_scalar(ScalarType scalar) const;

    /// Returns the name: "f32", "vec3<f32>", "complex<f64>", "mat4x3<f32>" (columns x rows), "array<u8, 16>",
    /// "Particle" or "void".
    [[nodiscard]] const std::string& name() const noexcept;

    friend bool operator==(DType a, DType b) noexcept { return a.info_ == b.info_; }
    /// Returns the descriptor, for use by the library; null for void.
    [[nodiscard]] const TypeInfo* info() const noexcept { return info_; }

private:
    explicit constexpr DType(const TypeInfo* info) : info_(info) {}
    friend struct TypeTable;
    const TypeInfo* info_ = nullptr;
};

/// A member of a struct, with its byte offset on the host.
struct StructField {
    std::string name;
    DType type;
    std::size_t offset = 0;
};

/// Returns the size in bytes.
[[nodiscard]] constexpr std::size_t size_of(ScalarType s) noexcept {
    constexpr unsigned char sizes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};
    return sizes[static_cast<unsigned>(s)];
}
[[nodiscard]] constexpr bool is_float(ScalarType s) noexcept { return s >= ScalarType::F16; }
[[nodiscard]] constexpr bool is_integer(ScalarType s) noexcept {
    return s >= ScalarType::I8 && s <= ScalarType::U64;
}
[[nodiscard]] constexpr bool is_signed_integer(ScalarType s) noexcept {
    return s == ScalarType::I8 || s == ScalarType::I16 || s == ScalarType::I32 || s == ScalarType::I64;
}
[[nodiscard]] constexpr bool is_unsigned_integer(ScalarType s) noexcept {
    return is_integer(s) && !is_signed_integer(s);
}
/// Returns the width in bits; 1 for Bool.
[[nodiscard]] constexpr unsigned bits_of(ScalarType s) noexcept {
    return s == ScalarType::Bool ? 1u : static_cast<unsigned>(size_of(s)) * 8u;
}
/// Returns "bool", "i8", "f32" and so on.
[[nodiscard]] VOLLEY_API std::string_view name_of(ScalarType s) noexcept;

}  // namespace volley
