// Helpers to record operations that consist of several IR operations.
#pragma once

#include "lang/tracer.hpp"

#include <algorithm>

namespace volley::lang {

using Nodes = std::span<const ir::NodeId>;

/// Short names for emitting nodes. Every function takes and returns node ids of one trace.
class Expand {
public:
    explicit Expand(Tracer& tracer) : t_(tracer), b_(tracer.builder()) {}

    [[nodiscard]] DType type(ir::NodeId a) const { return t_.type(a); }

    ir::NodeId op(ir::Op op, std::initializer_list<ir::NodeId> operands) { return b_.emit(op, operands); }
    ir::NodeId add(ir::NodeId a, ir::NodeId b) { return op(ir::Op::Add, {a, b}); }
    ir::NodeId sub(ir::NodeId a, ir::NodeId b) { return op(ir::Op::Sub, {a, b}); }
    ir::NodeId mul(ir::NodeId a, ir::NodeId b) { return op(ir::Op::Mul, {a, b}); }
    ir::NodeId div(ir::NodeId a, ir::NodeId b) { return op(ir::Op::Div, {a, b}); }
    ir::NodeId neg(ir::NodeId a) { return op(ir::Op::Neg, {a}); }
    ir::NodeId select(ir::NodeId c, ir::NodeId a, ir::NodeId b) { return op(ir::Op::Select, {c, a, b}); }

    ir::NodeId part(ir::NodeId composite, std::uint32_t k) { return b_.extract(composite, k); }
    ir::NodeId make(DType type, Nodes parts) { return b_.construct(type, parts); }
    ir::NodeId complex(ir::NodeId re, ir::NodeId im);
    ir::NodeId re(ir::NodeId z) { return type(z).is_complex() ? part(z, 0) : z; }
    ir::NodeId im(ir::NodeId z) { return part(z, 1); }

    /// Returns a scalar or vector with the number in every component.
    ir::NodeId number(DType type, double value);
    /// Converts a scalar to a vector, complex number or column; returns other values of the same type
    /// unchanged.
    ir::NodeId widen(ir::NodeId a, DType type);
    /// Widens all operands to the type of the widest.
    void even_out(std::vector<ir::NodeId>& operands);

    // complex.cpp
    ir::NodeId complex_mul(ir::NodeId a, ir::NodeId b);
    ir::NodeId complex_div(ir::NodeId a, ir::NodeId b);
    ir::NodeId complex_equal(ir::Op op, ir::NodeId a, ir::NodeId b);
    ir::NodeId complex_equal_zero(ir::NodeId w);
    ir::NodeId complex_fn(Fn fn, Nodes args);
    ir::NodeId complex_log(ir::NodeId z);
    ir::NodeId complex_sqrt(ir::NodeId z);
    // matrix.cpp
    ir::NodeId matrix_scale(ir::Op op, ir::NodeId a, ir::NodeId b);
    ir::NodeId matrix_fn(Fn fn, Nodes args);
    // functions.cpp
    ir::NodeId real_fn(Fn fn, Nodes args);
    ir::NodeId vector_fn(Fn fn, Nodes args);
    ir::NodeId dot(ir::NodeId a, ir::NodeId b);

private:
    /// Convert real or complex values from f16 to f32, and back.
    ir::NodeId widened(ir::NodeId a);
    ir::NodeId narrowed(ir::NodeId z);
    /// Returns whether the sign bit of an f32 or f64 is set.
    ir::NodeId is_negative(ir::NodeId a);
    static std::string cat_types(DType own, DType requested);

    Tracer& t_;
    ir::Builder& b_;
};

}  // namespace volley::lang
