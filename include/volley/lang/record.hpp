// The out-of-line functions that the templates of the language call to record operations in the kernel that
// this thread is tracing. Programs use value.hpp and the other headers of the language instead.
//
// A Ref belongs to one trace. All functions check that it belongs to the current one. On errors they throw
// TraceError with the most recent line of the user's source.
#pragma once

#include <volley/api.hpp>
#include <volley/dtype.hpp>
#include <volley/ir/op.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

// Concatenates two tokens after macro expansion.
#define VOLLEY_JOIN(a, b) VOLLEY_JOIN_(a, b)
#define VOLLEY_JOIN_(a, b) a##b

namespace volley::lang {

/// A line of the user's source. The default argument `Site at = Site::here()` is the caller's line. An empty
/// Site means the most recent line.
struct Site {
    const char* file = nullptr;
    unsigned line = 0;

    static constexpr Site here(const char* file = __builtin_FILE(),
                               unsigned line = static_cast<unsigned>(__builtin_LINE())) noexcept {
        return {file, line};
    }
};

/// Refers to a value, a variable or a location in memory of one trace, and to a part of it by a path. The
/// path is resolved only when the part is used, so `p.position.x` by itself records nothing.
class Ref {
public:
    enum class Kind : std::uint8_t {
        Value,    // an SSA value
        Var,      // the declaration of a variable; reading it loads
        Place,    // a load of an element; reading returns the loaded value, storing writes to its location
        Partial,  // a shared array with too few indices; cannot be read
    };
    static constexpr unsigned max_steps = 9;

    constexpr Ref() noexcept = default;
    constexpr Ref(Kind kind, std::uint32_t node, std::uint32_t trace) noexcept
        : node_(node), trace_(trace), path_(static_cast<std::uint64_t>(kind)) {}

    /// Returns the Ref of part `index`, which must be below 64. A Ref with more than max_steps steps is an
    /// error when it is used.
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
    std::uint64_t path_ = 0;  // 2 bits for the kind, 4 for the number of steps, 6 for each step
};

/// The functions that are composed of several IR operations.
// clang-format off
enum class Fn : std::uint8_t {
    // real numbers, elementwise
    Fract, Mod, ModfFraction, Clamp, Mix, Step, Smoothstep, IsFinite, Radians, Degrees,
    // vectors
    Dot, Length, Distance, Cross, Normalize, Reflect, Any, All,
    // complex numbers; some take real operands too
    Real, Imag, Conj, Abs, Arg, Norm, Polar, Cis, Exp, Log, Sqrt, Pow,
    // matrices
    MatrixProduct, Transpose, Determinant, Inverse, OuterProduct, MatrixCompMult,
};
// clang-format on

/// Returns the SSA value of a Ref. Loads variables and extracts parts.
[[nodiscard]] VOLLEY_API Ref read(Ref ref, Site at = {});

/// Record a host number as a constant of a scalar type. Throw TraceError if it does not fit.
[[nodiscard]] VOLLEY_API Ref number(ScalarType type, std::int64_t value, Site at);
[[nodiscard]] VOLLEY_API Ref number(ScalarType type, std::uint64_t value, Site at);
[[nodiscard]] VOLLEY_API Ref number(ScalarType type, double value, Site at);
/// Record a host index as a u32, or as a u64 if it does not fit. Throw TraceError if it is negative.
[[nodiscard]] VOLLEY_API Ref index_number(std::int64_t value, Site at);
[[nodiscard]] VOLLEY_API Ref index_number(std::uint64_t value, Site at);
/// Records the host object of this type at `bytes` as a constant.
[[nodiscard]] VOLLEY_API Ref constant(DType type, const void* bytes, Site at);
[[nodiscard]] VOLLEY_API Ref zero(DType type, Site at);

/// Record an IR operation or a composed function. Scalars are widened to the shape of the widest operand.
/// Mul, Div, Eq and Ne also take complex numbers; Mul and Div also take a matrix and a scalar.
VOLLEY_API Ref emit(ir::Op op, std::initializer_list<Ref> operands, Site at = {});
VOLLEY_API Ref emit(Fn fn, std::initializer_list<Ref> operands, Site at = {});

/// Widens a scalar to a vector with equal components or to a complex number.
[[nodiscard]] VOLLEY_API Ref promote(Ref value, DType type);
/// Converts a value to another component type, or from real to complex.
[[nodiscard]] VOLLEY_API Ref convert(Ref value, DType type, Site at);
[[nodiscard]] VOLLEY_API Ref bitcast(Ref value, DType type, Site at);
/// Constructs a composite from its parts. The parts of a vector are scalars and vectors, in order.
[[nodiscard]] VOLLEY_API Ref construct(DType type, const Ref* parts, std::size_t count, Site at);
/// Returns the vector of the components picks[0], picks[1], ...
[[nodiscard]] VOLLEY_API Ref swizzle(Ref vector, std::initializer_list<unsigned> picks, Site at);
/// Extracts a part by an index that is computed in the kernel.
[[nodiscard]] VOLLEY_API Ref extract(Ref composite, Ref index);

// Memory
[[nodiscard]] VOLLEY_API Ref declare_var(DType type, Site at);
[[nodiscard]] VOLLEY_API Ref declare_var(DType type, Ref initial, Site at);
/// Declares a shared array with `rank` extents.
[[nodiscard]] VOLLEY_API Ref declare_shared(DType element, const std::uint64_t* extents, unsigned rank,
                                            Site at);
/// Loads an element of a buffer, shared array, variable or Place and returns a Place. For a Value, returns
/// the part.
[[nodiscard]] VOLLEY_API Ref element(Ref parent, const Ref* indices, unsigned count);
/// Returns the Place without loading it, for atomics.
[[nodiscard]] VOLLEY_API Ref locate(Ref parent, const Ref* indices, unsigned count);
/// Stores to a variable or Place and returns the stored value.
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

// Synchronisation and output
VOLLEY_API void sync(ir::Op op, ir::FenceScope scope, Site at);
VOLLEY_API void print(const char* format, const Ref* values, std::size_t count, Site at);
VOLLEY_API void comment(std::string_view text, Site at);

// Control flow; see control.hpp for the guards.
VOLLEY_API void jump(ir::Op op, Site at);

// Parameters, in the order of the kernel's signature
[[nodiscard]] VOLLEY_API Ref declare_buffer(DType element, bool read_only);
[[nodiscard]] VOLLEY_API Ref declare_parameter(DType type);

}  // namespace volley::lang
