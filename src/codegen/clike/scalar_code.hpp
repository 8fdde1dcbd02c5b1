// Expressions for operations on scalars (docs/ir.md sections 3 to 5). Each operand appears once in the
// result, so operands may be arbitrary expressions.
//
// Representation: bool as bool; integers as themselves, narrow ones possibly as wider expressions of the same
// value; f16 as its 16 bits; f64 as its 64 bits if the device has no f64 (it can be copied, not computed
// with). Signed arithmetic is done unsigned, because C leaves signed overflow undefined.
#pragma once

#include "codegen/api/refusal.hpp"
#include "codegen/clike/expression.hpp"
#include "codegen/clike/helpers.hpp"
#include "codegen/clike/source.hpp"

#include <string_view>

namespace volley::codegen::clike {

class ScalarCode {
public:
    ScalarCode(const Dialect& dialect, const Features& features, Helpers& helpers, const EmittedNode& site)
        : d_(dialect), features_(features), helpers_(helpers), site_(site) {}

    /// Returns the type of a scalar in the text, and in memory except for bool.
    [[nodiscard]] std::string_view type(ScalarType s) const { return d_.type(kept_as(s)); }
    [[nodiscard]] ScalarType kept_as(ScalarType s) const;
    [[nodiscard]] ScalarType memory_type(ScalarType s) const {
        return s == ScalarType::Bool ? ScalarType::U8 : kept_as(s);
    }

    [[nodiscard]] Expr literal(ScalarType s, std::uint64_t bits) const;
    [[nodiscard]] Expr number(std::uint32_t v) const { return literal(ScalarType::U32, v); }

    /// Applies an elementwise operation to operands of type `s`; comparisons return bools. `loose` lets fma
    /// round twice.
    Expr apply(ir::Op op, ScalarType s, const Expr& x, const Expr& y = {}, const Expr& z = {},
               bool loose = false);
    Expr convert(ScalarType from, ScalarType to, const Expr& x);

    /// Converts to the bits as an unsigned integer of the scalar's size, and back; a bool is a byte.
    [[nodiscard]] Expr to_bits(ScalarType s, const Expr& x) const;
    [[nodiscard]] Expr from_bits(ScalarType s, const Expr& x) const;
    /// Converts an integer to the unsigned type of the same width.
    [[nodiscard]] Expr without_sign(ScalarType s, const Expr& x) const;
    [[nodiscard]] static ScalarType unsigned_of(ScalarType s);

private:
    Expr boolean(ir::Op op, const Expr& x, const Expr& y) const;
    Expr integer(ir::Op op, ScalarType s, const Expr& x, const Expr& y, const Expr& z);
    Expr wrapping(std::string_view op, ScalarType s, const Expr& x, const Expr& y) const;
    Expr shift(ir::Op op, ScalarType s, const Expr& x, const Expr& y) const;
    Expr floating(ir::Op op, ScalarType s, const Expr& x, const Expr& y, const Expr& z, bool loose);
    Expr half(ir::Op op, const Expr& x, const Expr& y, const Expr& z, bool loose);
    Expr from_unsigned(ScalarType s, const Expr& x) const;
    Expr compared(std::string_view op, const Expr& x, const Expr& y) const { return binary(x, op, y); }
    void require_f64();

    const Dialect& d_;
    const Features& features_;
    Helpers& helpers_;
    const EmittedNode& site_;
};

}  // namespace volley::codegen::clike
