// What the language's templates call: the out-of-line functions that record operations in the kernel being
// traced by this thread. Programs use value.hpp and its kin instead.
//
// A Ref names something of one trace. All functions check that it belongs to the current one and throw
// TraceError, with the latest known line of the user's source, where they cannot go on.
#pragma once

#include <volley/api.hpp>
#include <volley/dtype.hpp>
#include <volley/ir/op.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

// One name of two, after their own macros are expanded.
#define VOLLEY_JOIN(a, b) VOLLEY_JOIN_(a, b)
#define VOLLEY_JOIN_(a, b) a##b

namespace volley::lang {

/// A place in the user's source. As a default argument, `Site at = Site::here()` is the caller's line. An
/// empty one means "as before".
struct Site {
    const char* file = nullptr;
    unsigned line = 0;

    static constexpr Site here(const char* file = __builtin_FILE(),
                               unsigned line = static_cast<unsigned>(__builtin_LINE())) noexcept {
        return {file, line};
    }
};

/// Names a value, a variable or a place in memory of one trace, and a path of parts inside of it that is
/// followed only when the part is used: `p.position.x` costs nothing by itself.
class Ref {
public:
    enum class Kind : std::uint8_t {
        Value,    // an SSA node
        Var,      // a variable's declaration; reading loads
        Place,    // a load of an element; reading gives what was loaded, storing goes to where it came from
        Partial,  // a shared array with indices missing; cannot be read
    };
    static constexpr unsigned max_steps = 9;

    constexpr Ref() noexcept = default;
    constexpr Ref(Kind kind, std::uint32_t node, std::uint32_t trace) noexcept
        : node_(node), trace_(trace), path_(static_cast<std::uint64_t>(kind)) {}

    /// Part `index` (below 64) of what this names. Beyond max_steps the Ref is too deep, and using it an
    /// error.
    [[nodiscard]] constexpr Ref part(unsigned index) const noexcept {
        Ref result = *this;
        const unsigned count = steps();
        if (count < max_steps) result.path_ |= std::uint64_t{index} << (6 + 6 * count);
        if (count < 15) result.path_ += 4;
        return result;
    }

    [[nodiscard]] constexpr Kind kind() const noexcept { return static_cast<Kind>(path_ & 3); }
    [[nodiscard]] constexpr std::uint32_t node() const noexcept { return node_; }
    [[nodiscard]] constexpr std::uint32_t trace() const noexcept { return trace_; }
    [[nodiscard]] constexpr unsigned steps() const noexcept { return (path_ >> 2) & 15; }
    [[nodiscard]] constexpr unsigned step(unsigned k) const noexcept { return (path_ >> (6 + 6 * k)) & 63; }

private:
    std::uint32_t node_ = 0;
    std::uint32_t trace_ = 0;
    std::uint64_t path_ = 0;  // 2 bits of kind, 4 of step count, 6 for each step
};

/// The functions that are made of several operations of the IR.
// clang-format off
enum class Fn : std::uint8_t {
    // real numbers, elementwise
    Fract, Mod, ModfFraction, Clamp, Mix, Step, Smoothstep, IsFinite, Radians, Degrees,
    // vectors
    Dot, Length, Distance, Cross, Normalize, Reflect, Any, All,
    // complex numbers; real operands are taken where they make sense
    Real, Imag, Conj, Abs, Arg, Norm, Polar, Cis, Exp, Log, Sqrt, Pow,
    // matrices
    MatrixProduct, Transpose, Determinant, Inverse, OuterProduct, MatrixCompMult,
};
// clang-format on

/// The value behind a Ref, as a plain SSA Ref: extracts parts, loads variables.
[[nodiscard]] VOLLEY_API Ref read(Ref ref, Site at = {});

/// A host number in a scalar type. One that does not fit is a TraceError.
[[nodiscard]] VOLLEY_API Ref number(ScalarType type, std::int64_t value, Site at);
[[nodiscard]] VOLLEY_API Ref number(ScalarType type, std::uint64_t value, Site at);
[[nodiscard]] VOLLEY_API Ref number(ScalarType type, double value, Site at);
/// A host index: u32, or u64 where it needs to be. Negative ones are a TraceError.
[[nodiscard]] VOLLEY_API Ref index_number(std::int64_t value, Site at);
[[nodiscard]] VOLLEY_API Ref index_number(std::uint64_t value, Site at);
/// The host object of that type at `bytes`.
[[nodiscard]] VOLLEY_API Ref constant(DType type, const void* bytes, Site at);
[[nodiscard]] VOLLEY_API Ref zero(DType type, Site at);

/// One operation of the IR. Scalars are widened to the shape of the widest operand; Mul, Div, Eq, Ne also
/// take complex numbers, Mul and Div matrices with scalars.
VOLLEY_API Ref emit(ir::Op op, std::initializer_list<Ref> operands, Site at = {});
VOLLEY_API Ref emit(Fn fn, std::initializer_list<Ref> operands, Site at = {});

/// The value in the wider type: a scalar as a vector with equal components or as a complex number.
[[nodiscard]] VOLLEY_API Ref promote(Ref value, DType type);
/// By value: to another component type, and from real to complex.
[[nodiscard]] VOLLEY_API Ref convert(Ref value, DType type, Site at);
[[nodiscard]] VOLLEY_API Ref bitcast(Ref value, DType type, Site at);
/// A composite of its parts. A vector is made of scalars and vectors, in order.
[[nodiscard]] VOLLEY_API Ref construct(DType type, const Ref* parts, std::size_t count, Site at);
/// Component picks[k] of a vector for each k.
[[nodiscard]] VOLLEY_API Ref swizzle(Ref vector, std::initializer_list<unsigned> picks, Site at);
/// A part by a computed index.
[[nodiscard]] VOLLEY_API Ref extract(Ref composite, Ref index);

// Memory
[[nodiscard]] VOLLEY_API Ref declare_var(DType type, Site at);
[[nodiscard]] VOLLEY_API Ref declare_var(DType type, Ref initial, Site at);
/// An array for the workgroup; extents of 0 end the list.
[[nodiscard]] VOLLEY_API Ref declare_shared(DType element, const std::uint64_t* extents, unsigned rank,
                                            Site at);
/// Loads an element of a buffer, shared array, variable or place: gives a Place, or for a Value its part.
[[nodiscard]] VOLLEY_API Ref element(Ref parent, const Ref* indices, unsigned count);
/// The same place without a load: for atomics.
[[nodiscard]] VOLLEY_API Ref locate(Ref parent, const Ref* indices, unsigned count);
/// Stores to a variable or place, and gives the value stored.
VOLLEY_API Ref store(Ref place, Ref value);
VOLLEY_API Ref atomic(ir::Op op, Ref place, std::initializer_list<Ref> values, Site at);
[[nodiscard]] VOLLEY_API Ref buffer_size(Ref buffer, ScalarType type, Site at);
/// Returns the element index of a position in a buffer, computed from the strides of the bound buffer: in
/// 64 bits if an index has 64 bits, else in 32. Throws TraceError if the buffer was accessed with another
/// number of indices before.
[[nodiscard]] VOLLEY_API Ref buffer_position(Ref buffer, const Ref* indices, std::size_t count);
/// Returns the extent of an axis of the bound buffer.
[[nodiscard]] VOLLEY_API Ref buffer_extent(Ref buffer, int axis, ScalarType type, Site at);
[[noreturn]] VOLLEY_API void fail_partial(unsigned given, unsigned rank);

// Order and output
VOLLEY_API void sync(ir::Op op, ir::FenceScope scope, Site at);
VOLLEY_API void print(const char* format, const Ref* values, std::size_t count, Site at);
VOLLEY_API void comment(std::string_view text, Site at);

// Control flow; the guards of control.hpp call these.
VOLLEY_API void jump(ir::Op op, Site at);

// Parameters, in the order of the kernel's signature
[[nodiscard]] VOLLEY_API Ref declare_buffer(DType element, bool read_only);
[[nodiscard]] VOLLEY_API Ref declare_parameter(DType type);

}  // namespace volley::lang
