// Arithmetic on lane shapes: derives how a result differs between the lanes of a vector from how its operands
// do.
//
// Invariant: an integer of kind Affine is base + lane * stride modulo 2^bits in every lane, where base is the
// value of lane 0; base is a multiple of align and in the range [lo, hi]. All rules preserve this for every
// input, including wrapping.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

struct LaneShape {
    enum Kind : std::uint8_t { Uniform, Affine, Varying };
    Kind kind = Varying;
    std::int64_t stride = 0;
    std::uint64_t align = 1;  // a factor of the value of lane 0; 0 if that value is 0
    friend bool operator==(const LaneShape&, const LaneShape&) = default;
};

/// A shape and the range of the value of lane 0. The range of 64-bit integers may be unknown.
struct LaneValue {
    LaneShape shape;
    bool bounded = false;
    std::int64_t lo = 0;
    std::int64_t hi = 0;
    friend bool operator==(const LaneValue&, const LaneValue&) = default;

    [[nodiscard]] bool uniform() const noexcept { return shape.kind == LaneShape::Uniform; }
    [[nodiscard]] bool affine() const noexcept { return shape.kind == LaneShape::Affine; }
    [[nodiscard]] bool varying() const noexcept { return shape.kind == LaneShape::Varying; }
};

[[nodiscard]] LaneValue varying_value();
/// Returns a uniform or varying value with the range of its type.
[[nodiscard]] LaneValue plain_value(ScalarType type, bool uniform);
[[nodiscard]] LaneValue constant_value(std::int64_t value);
/// Returns an id with this shape, whose lane 0 is in [0, max].
[[nodiscard]] LaneValue id_value(LaneShape shape, std::uint64_t max);
/// Returns the facts that hold for both values.
[[nodiscard]] LaneValue join(const LaneValue& a, const LaneValue& b);

/// Computes the shapes of results for vectors of `width` lanes.
class LaneArithmetic {
public:
    explicit LaneArithmetic(unsigned width) : width_(width) {}

    /// Applies a unary or binary operation to integers of `type`, for one component; comparisons return bool.
    /// For a mask `x & (n - 1)` whose n is not constant, `mask_plus_one` is the lane value of n.
    [[nodiscard]] LaneValue apply(ir::Op op, ScalarType type, const LaneValue& a, const LaneValue& b,
                                  const LaneValue* mask_plus_one = nullptr) const;
    [[nodiscard]] LaneValue convert(ScalarType from, ScalarType to, const LaneValue& a) const;
    /// Returns the index of a loop from begin to end.
    [[nodiscard]] LaneValue index(ScalarType type, const LaneValue& begin, const LaneValue& end,
                                  const LaneValue& step) const;
    [[nodiscard]] bool may_wrap(ScalarType type, const LaneValue& a) const;

private:
    [[nodiscard]] LaneValue add(ScalarType type, const LaneValue& a, const LaneValue& b) const;
    [[nodiscard]] LaneValue subtract(ScalarType type, const LaneValue& a, const LaneValue& b) const;
    [[nodiscard]] LaneValue multiply(ScalarType type, const LaneValue& a, const LaneValue& b) const;
    [[nodiscard]] LaneValue divide(ScalarType type, const LaneValue& a, std::int64_t by, bool floor) const;
    [[nodiscard]] LaneValue remainder(ScalarType type, const LaneValue& a, std::int64_t by) const;
    [[nodiscard]] LaneValue mask(ScalarType type, const LaneValue& a, const LaneValue& b,
                                 const LaneValue* mask_plus_one) const;
    [[nodiscard]] LaneValue set_bits(ScalarType type, const LaneValue& a, const LaneValue& b) const;
    [[nodiscard]] LaneValue compare(ir::Op op, ScalarType type, const LaneValue& a, const LaneValue& b) const;
    [[nodiscard]] bool is_aligned(ScalarType type, const LaneValue& a) const;
    [[nodiscard]] std::int64_t span(const LaneValue& a) const {
        return a.shape.stride * static_cast<std::int64_t>(width_);
    }

    unsigned width_;
};

}  // namespace volley::passes
