// The run-time description of an element or value type: scalars, complex numbers, vectors, matrices,
// fixed arrays and structs, each in the host's memory layout.
//
// A DType is a pointer to an interned, immutable descriptor: copying and comparing cost one word, and two
// equal types always compare equal. Descriptors live until the process ends. The default DType is "void".
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

/// A handle to an interned type. Cheap to copy; compare with ==. Thread-safe.
class VOLLEY_API DType {
public:
    constexpr DType() = default;
    /// The scalar type itself; `DType t = ScalarType::F32;`
    DType(ScalarType scalar);  // NOLINT(google-explicit-constructor): a scalar is a type

    /// complex<f16|f32|f64>, stored as (re, im).
    [[nodiscard]] static DType complex(ScalarType part);
    /// 2 to 4 components, tightly packed: a vec3 of f32 has 12 bytes.
    [[nodiscard]] static DType vector(ScalarType component, unsigned count);
    /// Column-major: `columns` vectors of `rows` components, tightly packed.
    [[nodiscard]] static DType matrix(ScalarType component, unsigned columns, unsigned rows);
    /// `count` elements at multiples of the element's size.
    [[nodiscard]] static DType array(DType element, std::uint64_t count);
    /// A struct with the offsets, size and alignment that the host compiler gave it. Field types may nest.
    /// Throws ArgumentError when fields overlap or lie outside of `size`.
    [[nodiscard]] static DType structure(std::string_view name, std::span<const StructField> fields,
                                         std::size_t size, std::size_t align);

    [[nodiscard]] TypeKind kind() const noexcept;
    [[nodiscard]] std::size_t size() const noexcept;   ///< sizeof on the host; 0 for void
    [[nodiscard]] std::size_t align() const noexcept;  ///< alignof on the host; 1 for void
    /// The component type of a scalar, complex, vector or matrix; Bool for others (ask kind() first).
    [[nodiscard]] ScalarType scalar() const noexcept;
    /// Components of a vector, columns of a matrix, 2 for complex, elements of an array, fields of a struct,
    /// 1 for a scalar, 0 for void: how many parts `part(i)` selects from.
    [[nodiscard]] std::uint64_t count() const noexcept;
    [[nodiscard]] unsigned columns() const noexcept;  ///< matrices only, else 0
    [[nodiscard]] unsigned rows() const noexcept;     ///< matrices only, else 0
    /// The type of part i: component, column (a vector), element or field. A scalar has no parts.
    [[nodiscard]] DType part(std::uint64_t i) const;
    [[nodiscard]] std::size_t part_offset(std::uint64_t i) const;  ///< its byte offset
    [[nodiscard]] std::span<const StructField> fields() const noexcept;
    [[nodiscard]] std::string_view struct_name() const noexcept;
    /// How many scalar leaves the type has, counted through all nesting.
    [[nodiscard]] std::uint64_t leaf_count() const noexcept;

    [[nodiscard]] bool is_void() const noexcept { return info_ == nullptr; }
    [[nodiscard]] bool is_scalar() const noexcept { return kind() == TypeKind::Scalar; }
    [[nodiscard]] bool is_vector() const noexcept { return kind() == TypeKind::Vector; }
    [[nodiscard]] bool is_complex() const noexcept { return kind() == TypeKind::Complex; }
    [[nodiscard]] bool is_matrix() const noexcept { return kind() == TypeKind::Matrix; }
    [[nodiscard]] bool is_struct() const noexcept { return kind() == TypeKind::Struct; }
    [[nodiscard]] bool is_array() const noexcept { return kind() == TypeKind::Array; }
    /// Scalar, or vector/matrix/complex of such: what elementwise operations take.
    [[nodiscard]] bool is_numeric() const noexcept;
    [[nodiscard]] bool is_bool() const noexcept;      ///< bool, or a vector of bool
    [[nodiscard]] bool is_float() const noexcept;     ///< leaves are f16, f32 or f64 (numeric kinds only)
    [[nodiscard]] bool is_integer() const noexcept;   ///< leaves are integers, bool excluded
    [[nodiscard]] bool is_signed() const noexcept;    ///< leaves are signed integers or floats
    [[nodiscard]] bool is_unsigned() const noexcept;  ///< leaves are unsigned integers
    /// The same shape (scalar, vector, matrix, complex) with another component type.
    [[nodiscard]] DType with_scalar(ScalarType scalar) const;

    /// "f32", "vec3<f32>", "complex<f64>", "mat4x3<f32>" (columns x rows), "array<u8, 16>", "Particle",
    /// "void".
    [[nodiscard]] const std::string& name() const noexcept;

    friend bool operator==(DType a, DType b) noexcept { return a.info_ == b.info_; }
    [[nodiscard]] const TypeInfo* info() const noexcept { return info_; }

private:
    explicit constexpr DType(const TypeInfo* info) : info_(info) {}
    friend struct TypeTable;
    const TypeInfo* info_ = nullptr;
};

/// One member of a struct: its name, type and byte offset on the host.
struct StructField {
    std::string name;
    DType type;
    std::size_t offset = 0;
};

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
[[nodiscard]] constexpr unsigned bits_of(ScalarType s) noexcept {
    return s == ScalarType::Bool ? 1u : static_cast<unsigned>(size_of(s)) * 8u;
}
[[nodiscard]] VOLLEY_API std::string_view name_of(ScalarType s) noexcept;

}  // namespace volley
