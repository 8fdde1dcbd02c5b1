// Values whose type is known only when the kernel is traced, for kernels that are built for element types
// chosen at run time. AnyValue is to Value<T> what AnyBuffer is to Buffer<T>.
//
//     AnyValue sum = data.load(i) + data.load(j);
//     Value<float> x = sum.as<float>();
#pragma once

#include <volley/dtype.hpp>
#include <volley/lang/value.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>

namespace volley {

/// A value of the type dtype(). Arithmetic needs operands of one type, else it throws TraceError. A handle of
/// a few words that belongs to the kernel that this thread is tracing.
class VOLLEY_API AnyValue {
public:
    AnyValue(lang::Ref ref, DType type) noexcept : ref_(ref), type_(type) {}
    template <class T>
    AnyValue(const Value<T>& value)  // NOLINT(google-explicit-constructor): a Value is an AnyValue
        : ref_(lang::read(lang::ref_of(value))), type_(dtype_of<T>()) {}

    [[nodiscard]] DType dtype() const noexcept { return type_; }
    /// Returns the value with its static type. Throws TraceError if it has another type.
    template <class T>
    [[nodiscard]] Value<T> as() const {
        need(dtype_of<T>());
        return Value<T>(ref_);
    }
    /// Returns part i: a component, a column, an element or a field.
    [[nodiscard]] AnyValue part(unsigned i) const;

    friend lang::Ref ref_of(const AnyValue& value) noexcept { return value.ref_; }

    // Arithmetic of two values of one type.
    [[nodiscard]] friend AnyValue operator+(const AnyValue& a, const AnyValue& b) {
        return a.binary(ir::Op::Add, b);
    }
    [[nodiscard]] friend AnyValue operator-(const AnyValue& a, const AnyValue& b) {
        return a.binary(ir::Op::Sub, b);
    }
    [[nodiscard]] friend AnyValue operator*(const AnyValue& a, const AnyValue& b) {
        return a.binary(ir::Op::Mul, b);
    }
    [[nodiscard]] friend AnyValue operator/(const AnyValue& a, const AnyValue& b) {
        return a.binary(ir::Op::Div, b);
    }

private:
    [[nodiscard]] AnyValue binary(ir::Op op, const AnyValue& other) const;
    void need(DType expected) const;

    lang::Ref ref_;
    DType type_;
};

/// Records an operation on values of one type.
[[nodiscard]] VOLLEY_API AnyValue apply(ir::Op op, const AnyValue& a);
[[nodiscard]] VOLLEY_API AnyValue apply(ir::Op op, const AnyValue& a, const AnyValue& b);
/// Records a comparison of two values of one scalar type.
[[nodiscard]] VOLLEY_API Value<bool> compare(ir::Op op, const AnyValue& a, const AnyValue& b);

/// Returns `c ? a : b` for two values of one type.
[[nodiscard]] VOLLEY_API AnyValue select(const Value<bool>& c, const AnyValue& a, const AnyValue& b);
/// Converts as cast<T>() does; from a real to a complex type too.
[[nodiscard]] VOLLEY_API AnyValue convert(const AnyValue& value, DType type,
                                          lang::Site at = lang::Site::here());
/// Returns the value with the given bytes, as on the host.
[[nodiscard]] VOLLEY_API AnyValue constant_of(DType type, const void* bytes,
                                              lang::Site at = lang::Site::here());
/// Returns the value whose bytes are all zero.
[[nodiscard]] VOLLEY_API AnyValue zero_of(DType type, lang::Site at = lang::Site::here());
/// Constructs a composite from one value per part.
[[nodiscard]] VOLLEY_API AnyValue make_of(DType type, std::initializer_list<AnyValue> parts,
                                          lang::Site at = lang::Site::here());

/// A mutable variable of each invocation.
class VOLLEY_API AnyVar {
public:
    explicit AnyVar(const AnyValue& initial, lang::Site at = lang::Site::here());
    AnyVar(const AnyVar&) = delete;
    AnyVar& operator=(const AnyVar&) = delete;

    AnyVar& operator=(const AnyValue& value);
    [[nodiscard]] AnyValue load() const;
    [[nodiscard]] DType dtype() const noexcept { return type_; }

private:
    lang::Ref ref_;
    DType type_;
};

/// An array in memory: a buffer parameter, a shared array, or a local array of each invocation.
class VOLLEY_API AnyArray {
public:
    AnyArray(lang::Ref root, DType element) noexcept : root_(root), element_(element) {}

    /// Declares an array that the invocations of a workgroup share.
    [[nodiscard]] static AnyArray shared(DType element, std::uint64_t count,
                                         lang::Site at = lang::Site::here());
    /// Declares an array of each invocation, initially zero.
    [[nodiscard]] static AnyArray local(DType element, std::uint64_t count,
                                        lang::Site at = lang::Site::here());

    [[nodiscard]] DType dtype() const noexcept { return element_; }
    [[nodiscard]] AnyValue load(lang::ElementIndex i) const;
    /// Stores a value of the element type.
    void store(lang::ElementIndex i, const AnyValue& value) const;
    /// Load and store at a position of the bound buffer, with one index per dimension, as buf(y, x) does.
    [[nodiscard]] AnyValue load_at(std::span<const Value<std::uint32_t>> position) const;
    void store_at(std::span<const Value<std::uint32_t>> position, const AnyValue& value) const;

    friend lang::Ref ref_of(const AnyArray& array) noexcept { return array.root_; }

private:
    lang::Ref root_;
    DType element_;
};

}  // namespace volley
