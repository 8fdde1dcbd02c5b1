// Maps C++ types to run-time types (dtype_of<T>()), and the type traits of the language.
#pragma once

#include <volley/dtype.hpp>
#include <volley/mat.hpp>
#include <volley/types.hpp>
#include <volley/vec.hpp>

#include <array>
#include <concepts>
#include <type_traits>

namespace volley {
namespace lang {

template <class...>
inline constexpr bool never = false;

template <class T>
concept Scalar =
    std::integral<T> || std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, half>;

/// Host numbers, which adopt the type of the Value that they are combined with; bool only that of
/// Value<bool>.
template <class T>
concept HostNumber = std::is_arithmetic_v<T> || std::same_as<T, half>;

/// Structs with VOLLEY_STRUCT, which declares volley_reflect in the namespace of the struct.
template <class T>
concept Reflected = std::is_class_v<T> && requires(const T* p) {
    volley_reflect(p);
};

template <class T>
using ReflectionOf = decltype(volley_reflect(static_cast<const T*>(nullptr)));

template <Scalar T>
[[nodiscard]] constexpr ScalarType scalar_type() noexcept {
    if constexpr (std::same_as<T, bool>) return ScalarType::Bool;
    if constexpr (std::same_as<T, half>) return ScalarType::F16;
    if constexpr (std::same_as<T, float>) return ScalarType::F32;
    if constexpr (std::same_as<T, double>) return ScalarType::F64;
    constexpr bool s = std::is_signed_v<T>;
    switch (sizeof(T)) {
        case 1: return s ? ScalarType::I8 : ScalarType::U8;
        case 2: return s ? ScalarType::I16 : ScalarType::U16;
        case 4: return s ? ScalarType::I32 : ScalarType::U32;
        default: return s ? ScalarType::I64 : ScalarType::U64;
    }
}

/// The traits of a type. `rank` orders types by width: scalars (0) widen to complex numbers and vectors (1).
template <class T>
struct Type {
    static_assert(
        Reflected<T>,
        "volley: this type cannot be used in kernels: use scalars, complex, vec, mat, std::array, or a "
        "struct whose members are declared with VOLLEY_STRUCT(Name, members...) in its own namespace");
    using scalar = void;
    static constexpr int rank = 3;
    static DType make() { return ReflectionOf<T>::volley_dtype(); }
};

template <Scalar T>
struct Type<T> {
    using scalar = T;
    using boolean = bool;
    template <class U>
    using with = U;
    static constexpr int rank = 0;
    static DType make() { return scalar_type<T>(); }
};

template <class F>
struct Type<std::complex<F>> {
    static_assert(std::same_as<F, half> || std::same_as<F, float> || std::same_as<F, double>,
                  "volley: the parts of a complex number in kernels must be half, float or double");
    using scalar = F;
    using boolean = bool;
    template <class U>
    using with = std::complex<U>;
    static constexpr int rank = 1;
    static DType make() { return DType::complex(scalar_type<F>()); }
};

template <class U, int N>
struct Type<vec<U, N>> {
    using scalar = U;
    using boolean = vec<bool, N>;
    template <class V>
    using with = vec<V, N>;
    using part = U;
    static constexpr int rank = 1;
    static DType make() { return DType::vector(scalar_type<U>(), N); }
};

template <class U, int C, int R>
struct Type<mat<U, C, R>> {
    static_assert(std::same_as<U, half> || std::same_as<U, float> || std::same_as<U, double>,
                  "volley: the components of a matrix in kernels must be half, float or double");
    using scalar = U;
    template <class V>
    using with = mat<V, C, R>;
    using part = vec<U, R>;
    static constexpr int rank = 2;
    static DType make() { return DType::matrix(scalar_type<U>(), C, R); }
};

template <class U, std::size_t N>
struct Type<std::array<U, N>> {
    using scalar = void;
    using part = U;
    static constexpr int rank = 3;
    static DType make() { return DType::array(Type<U>::make(), N); }
};

template <class T>
using scalar_t = typename Type<T>::scalar;
template <class T>
using boolean_t = typename Type<T>::boolean;
template <class T>
using part_t = typename Type<T>::part;

template <class T>
inline constexpr bool is_vector = false;
template <class U, int N>
inline constexpr bool is_vector<vec<U, N>> = true;
template <class T>
inline constexpr bool is_complex = false;
template <class F>
inline constexpr bool is_complex<std::complex<F>> = true;
template <class T>
inline constexpr bool is_matrix = false;
template <class U, int C, int R>
inline constexpr bool is_matrix<mat<U, C, R>> = true;

/// The types that have operators: scalars, complex numbers, vectors and matrices.
template <class T>
concept Numeric = Scalar<T> || is_vector<T> || is_complex<T> || is_matrix<T>;
/// The types that functions process elementwise: scalars and vectors.
template <class T>
concept Elementwise = Scalar<T> || is_vector<T>;
template <class T>
concept Indexable = requires {
    typename Type<T>::part;
};

template <class T>
inline constexpr bool is_bool = std::same_as<scalar_t<T>, bool>;
template <class T>
inline constexpr bool is_float = !std::is_integral_v<scalar_t<T>> && !std::is_void_v<scalar_t<T>>;
template <class T>
inline constexpr bool is_whole = std::is_integral_v<scalar_t<T>> && !is_bool<T>;

}  // namespace lang

/// Returns the run-time type of a scalar, half, complex, vec, mat, std::array or reflected struct. The first
/// call for each type interns it; later calls cost one load.
template <class T>
[[nodiscard]] DType dtype_of() {
    if constexpr (lang::Scalar<T>) {
        return lang::scalar_type<T>();
    } else {
        static const DType type = lang::Type<T>::make();
        return type;
    }
}

}  // namespace volley
