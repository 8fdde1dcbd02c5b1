// Expressions for operations on scalars (docs/ir.md sections 3 to 5). No operand is written twice, so that
// any text may be one.
//
// How a scalar is represented: bool as bool; integers as themselves, where narrow ones may stand as wider
// expressions of the same value; f16 as its 16 bits; f64 as its 64 bits where the device has no f64, to be
// carried but not computed with. Signed arithmetic is done without sign: C leaves its overflow undefined.
#pragma once

#include "codegen/clike/expression.hpp"
#include "codegen/clike/helpers.hpp"
#include "codegen/clike/source.hpp"

#include <string_view>

namespace volley::codegen::clike {

/// Where code is being written, for refusals.
struct Site {
    const ir::Function& fn;
    const Features& features;
    ir::NodeId node = ir::none;
    [[noreturn]] void refuse(std::string_view lacks, std::string_view advice) const;
};

class ScalarCode {
public:
    ScalarCode(const Dialect& dialect, const Features& features, Helpers& helpers, const Site& site)
        : d_(dialect), features_(features), helpers_(helpers), site_(site) {}

    /// The type that a scalar has in text, and in memory but for bool.
    [[nodiscard]] std::string_view type(ScalarType s) const { return d_.type(kept_as(s)); }
    [[nodiscard]] ScalarType kept_as(ScalarType s) const;
    [[nodiscard]] ScalarType memory_type(ScalarType s) const {
        return s == ScalarType::Bool ? ScalarType::U8 : kept_as(s);
    }

    [[nodiscard]] Expr literal(ScalarType s, std::uint64_t bits) const;
    [[nodiscard]] Expr number(std::uint32_t v) const { return literal(ScalarType::U32, v); }

    /// An elementwise operation on operands of type s; comparisons give bools. `loose` lets fma round twice.
    Expr apply(ir::Op op, ScalarType s, const Expr& x, const Expr& y = {}, const Expr& z = {},
               bool loose = false);
    Expr convert(ScalarType from, ScalarType to, const Expr& x);

    /// The bits as an unsigned integer of the scalar's size, and back; bool is a byte.
    [[nodiscard]] Expr to_bits(ScalarType s, const Expr& x) const;
    [[nodiscard]] Expr from_bits(ScalarType s, const Expr& x) const;
    /// An integer as an unsigned one of the same width.
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
    const Site& site_;
};

}  // namespace volley::codegen::clike
