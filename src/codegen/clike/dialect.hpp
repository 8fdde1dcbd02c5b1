// The differences between C-like languages: names of types, qualifiers and built-in functions. A compilation
// uses one Dialect; it returns pieces of text and holds no state.
#pragma once

#include "codegen/clike/source.hpp"
#include "ir/combine.hpp"
#include "ir/function.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace volley::codegen::clike {

enum class Space : std::uint8_t { Global, Shared, Private };

class Dialect {
public:
    Dialect() = default;
    Dialect(const Dialect&) = delete;
    Dialect& operator=(const Dialect&) = delete;
    virtual ~Dialect() = default;

    [[nodiscard]] virtual std::string_view name() const = 0;  // "OpenCL C 1.2"
    /// Returns the type that stores a scalar: the scalar itself, except that f16 is stored as its bits in a
    /// 16-bit integer.
    [[nodiscard]] virtual std::string_view type(ScalarType s) const = 0;
    /// Returns the suffix of 64-bit literals.
    [[nodiscard]] virtual std::string_view suffix64(bool is_unsigned) const = 0;
    [[nodiscard]] virtual std::string_view infinity(ScalarType s) const = 0;
    /// Returns the bits of `x` as another type of the same size (32 or 64 bits); exactly one of the two is a
    /// float.
    [[nodiscard]] virtual std::string reinterpret(ScalarType to, ScalarType from,
                                                  std::string_view x) const = 0;

    // Functions. An empty name selects the C operator; "exact" selects a helper function.
    /// For Add, Sub, Mul, Div, Fma, Sqrt, Abs, Neg and the rounding operations on f32 and f64.
    [[nodiscard]] virtual std::string_view function(ir::Op op, ScalarType s) const = 0;
    [[nodiscard]] virtual std::string_view popcount(bool wide) const = 0;  // for u32 and u64
    [[nodiscard]] virtual std::string_view clz(bool wide) const = 0;       // undefined for 0
    /// Bodies of `float (u16 x)` and `u16 (float x)`; if empty, the helper uses integer arithmetic.
    [[nodiscard]] virtual std::string_view half_to_float() const = 0;
    [[nodiscard]] virtual std::string_view float_to_half() const = 0;

    // Memory
    [[nodiscard]] virtual std::string_view space(Space s) const = 0;  // "__global ", in pointer types
    [[nodiscard]] virtual std::string_view shared_array() const = 0;  // "__local ", in declarations
    [[nodiscard]] virtual std::string_view aligned_array()
        const = 0;  // follows the declarator; aligns to 8 bytes
    [[nodiscard]] virtual std::string_view device_function() const = 0;  // "static"
    [[nodiscard]] virtual std::string_view barrier() const = 0;
    [[nodiscard]] virtual std::string_view subgroup_barrier() const = 0;
    [[nodiscard]] virtual std::string fence(ir::FenceScope scope) const = 0;
    /// An atomic operation on an integer, or an exchange or compare-exchange. `pointer` points to type `s`.
    /// The result may be unsigned.
    [[nodiscard]] virtual std::string atomic(ir::Op op, ScalarType s, std::string_view pointer,
                                             std::string_view operand, std::string_view desired) const = 0;
    /// True if atomic() supports floats of type `s` for this operation.
    [[nodiscard]] virtual bool has_float_atomic(ir::Op op, ScalarType s) const = 0;

    // Ids, of type u32; d is 0, 1 or 2
    [[nodiscard]] virtual std::string global_id(unsigned d, std::uint32_t local) const = 0;
    [[nodiscard]] virtual std::string local_id(unsigned d) const = 0;
    [[nodiscard]] virtual std::string group_id(unsigned d) const = 0;
    [[nodiscard]] virtual std::string_view subgroup_id() const = 0;
    [[nodiscard]] virtual std::string_view subgroup_lane() const = 0;

    // Subgroups of more than one lane. f16 and bool operands are converted to f32 and u32 first.
    /// Formats the combination of two operands for fold_body(), which returns the body of a function `T (T
    /// x)`.
    class Combine {
    public:
        virtual ~Combine() = default;
        [[nodiscard]] virtual std::string operator()(std::string_view a, std::string_view b) const = 0;
    };
    [[nodiscard]] virtual std::string fold_body(const ir::Fold& fold, ScalarType s, std::string_view identity,
                                                const Combine& combined) const = 0;
    /// Returns the value of `x` in another lane; `s` is neither f16 nor bool nor narrower than 32 bits.
    [[nodiscard]] virtual std::string shuffle(ScalarType s, std::string_view x,
                                              std::string_view lane) const = 0;
    /// Returns the body of a function that returns word `word` (0 to 3) of a ballot over `bool vote`.
    [[nodiscard]] virtual std::string ballot_body(unsigned word) const = 0;
    [[nodiscard]] virtual std::string_view elect() const = 0;

    // Source file
    [[nodiscard]] virtual std::string prelude() const = 0;
    /// Returns the text before the kernel function's name.
    [[nodiscard]] virtual std::string kernel_head(const Variant& variant) const = 0;
};

}  // namespace volley::codegen::clike
