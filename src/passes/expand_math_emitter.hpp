// The notation for the functions of expand_math: values with operators, each of which appends a node. Scalars
// and vectors use the same notation; numbers take the type of the other operand.
//
// Each constant is created once per kernel, at the start of its body.
#pragma once

#include "ir/function.hpp"
#include "passes/expand_math.hpp"
#include "passes/math_coefficients.hpp"

#include <array>
#include <initializer_list>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace volley::passes::math {

/// The parameters of one of the two float formats.
struct Format {
    ScalarType real;      // f32, f64
    ScalarType whole;     // i32, i64
    ScalarType word;      // u32, u64
    int width;            // bits
    int fraction;         // bits of the stored fraction
    int bias;             // of the exponent
    double least;         // smallest normal number
    double rounding;      // 1.5 * 2^fraction: adding it rounds to a whole number in the low bits
    std::uint64_t one;    // bits of 1
    std::uint64_t inf;    // bits of infinity
    std::uint64_t sign;   // the sign bit
    std::uint64_t upper;  // mask of the upper half of a fraction, whose square is exact
    bool wide;            // f64
};

class Emitter;

struct Value {
    Emitter* emitter = nullptr;
    ir::NodeId id = ir::none;

    [[nodiscard]] DType type() const;
    [[nodiscard]] const Format& format() const;
};

/// A number as an unevaluated sum of two; the second is below the rounding error of the first.
struct Pair {
    Value hi;
    Value lo;
};

class Emitter {
public:
    Emitter(ir::Function& fn, const MathTarget& target) : fn_(fn), target_(target) {}

    [[nodiscard]] const MathTarget& target() const noexcept { return target_; }
    [[nodiscard]] ir::Function& function() noexcept { return fn_; }

    /// Appends subsequent nodes to this list; returns the previous list.
    std::vector<ir::NodeId>* into(std::vector<ir::NodeId>* list) noexcept {
        return std::exchange(list_, list);
    }
    void set_loc(ir::Loc loc) noexcept { loc_ = loc; }

    Value value(ir::NodeId id) noexcept { return {this, id}; }
    Value emit(ir::Op op, DType type, std::initializer_list<Value> operands);
    Value number(DType type, double v);
    Value bits(DType type, std::uint64_t bits);
    Value part(Value vector, unsigned k);
    Value construct(DType type, std::span<const Value> parts);

    /// Variables, for the results of branches.
    Value variable(Value start);
    void assign(Value variable, Value v);
    Value read(Value variable);
    /// Emits an If on a scalar condition around the nodes of body().
    template <class Body>
    void when(Value condition, Body&& body) {
        std::vector<ir::NodeId> nodes;
        std::vector<ir::NodeId>* const outer = into(&nodes);
        body();
        into(outer);
        add_region(ir::Op::If, {condition}, std::move(nodes));
    }
    /// Emits a For around the nodes of body(i), with i from 0 to count (exclusive).
    template <class Body>
    void repeat(Value count, Body&& body) {
        std::vector<ir::NodeId> nodes;
        const Value zero = number(count.type(), 0);
        const Value one = number(count.type(), 1);
        const Value loop = open(ir::Op::For, count.type(), {zero, count, one});
        std::vector<ir::NodeId>* const outer = into(&nodes);
        body(loop);
        into(outer);
        close(loop, std::move(nodes));
    }

    /// Values computed from x that are reused for the same x: `sin` and `cos` share them. They are valid in
    /// the region that is being expanded and its nested regions.
    using Known = std::array<Value, 3>;
    [[nodiscard]] const Known* recall(Value x) const noexcept;
    void remember(Value x, const Known& values) { remembered_.emplace_back(x.id, values); }
    [[nodiscard]] std::size_t remembered() const noexcept { return remembered_.size(); }
    void forget_beyond(std::size_t count) { remembered_.resize(count); }

    /// Returns all constants so far, in the order of their first use; the caller inserts them at the start of
    /// the kernel.
    [[nodiscard]] const std::vector<ir::NodeId>& constants() const noexcept { return constants_; }

private:
    void add_region(ir::Op op, std::initializer_list<Value> operands, std::vector<ir::NodeId> nodes);
    Value open(ir::Op op, DType type, std::initializer_list<Value> operands);
    void close(Value owner, std::vector<ir::NodeId> nodes);

    ir::Function& fn_;
    const MathTarget& target_;
    std::vector<ir::NodeId>* list_ = nullptr;
    ir::Loc loc_;
    std::map<std::pair<const TypeInfo*, std::uint64_t>, ir::NodeId> known_;
    std::vector<ir::NodeId> constants_;
    std::vector<std::pair<ir::NodeId, Known>> remembered_;
};

[[nodiscard]] const Format& format_of(ScalarType real) noexcept;

// Arithmetic. A number operand takes the type of the value.
Value operator+(Value a, Value b);
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
Value operator/(Value a, Value b);
Value operator-(Value a);
Value operator+(Value a, double b);
Value operator-(Value a, double b);
Value operator*(Value a, double b);
Value operator+(double a, Value b);
Value operator-(double a, Value b);
Value operator/(double a, Value b);

// Bit operations. Shift amounts and masks take the type of the value.
Value operator&(Value a, Value b);
Value operator|(Value a, Value b);
Value operator^(Value a, Value b);
Value operator&(Value a, std::uint64_t b);
Value operator|(Value a, std::uint64_t b);
Value operator^(Value a, std::uint64_t b);
Value operator<<(Value a, Value b);
Value operator>>(Value a, Value b);
Value operator<<(Value a, int b);
Value operator>>(Value a, int b);
Value operator!(Value a);

// Comparisons return bools of the same shape; false for NaN.
Value operator<(Value a, Value b);
Value operator>(Value a, Value b);
Value operator>=(Value a, Value b);
Value operator<(Value a, double b);
Value operator>(Value a, double b);
Value equal(Value a, Value b);
Value equal(Value a, double b);
Value differ(Value a, Value b);

Value select(Value condition, Value yes, Value no);
Value select(Value condition, double yes, Value no);
Value select(Value condition, Value yes, double no);
Value unary(ir::Op op, Value a);
Value abs(Value a);
Value sqrt(Value a);
Value trunc(Value a);
Value clz(Value a);
Value min(Value a, Value b);
Value max(Value a, Value b);
Value min(Value a, double b);
Value max(Value a, double b);
Value convert(Value a, ScalarType to);
Value bitcast(Value a, ScalarType to);
/// Returns whether a condition holds in any component.
Value any(Value condition);

constexpr double infinity = std::numeric_limits<double>::infinity();

// Constants of the type of a value.
Value like(Value a, double v);
Value like(Value a, Number v);
Value infinity_like(Value a);
Value nan_like(Value a);
[[nodiscard]] double pick(Value a, Number v);

/// Reinterpret the bits as unsigned integers, and back.
Value word(Value real);
Value real(Value word);
/// Returns a non-negative value with the sign of another.
Value with_sign_of(Value magnitude, Value sign);
/// Returns 2^n for integers n (of the format's `whole` type) if the result is normal.
Value power_of_two(Value n);

/// Returns a * b + c; fused if that is fast, so the rounding is unspecified.
Value mad(Value a, Value b, Value c);
Value mad(Value a, Value b, double c);
Value mad(Value a, double b, Value c);
/// Returns c0 + c1 u + c2 u^2 + ..., by Horner's rule.
Value polynomial(Value u, const Table& table);

// Exact arithmetic: hi is the rounded sum or product, lo is the rounding error.
/// Requires |a| >= |b| or a = 0.
Pair quick_two_sum(Value a, Value b);
/// Exact unless it underflows: products above 2^-100 (2^-960 for f64) are safe.
Pair two_product(Value a, Value b);
/// Multiplies with nearly twice the precision; lo may be a few ulps of hi.
Pair operator*(const Pair& a, const Pair& b);
Pair like(Value a, const SplitNumber& parts);

}  // namespace volley::passes::math
