// Arithmetic on lane shapes: given how the operands differ over the lanes of a vector, how the result does.
//
// The invariant: an integer of kind Affine is base + lane * stride modulo 2^bits in every lane, where base is
// what lane 0 computes; base is a multiple of align and lies in the range [lo, hi]. All rules keep that for
// every input, wrapping included.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

struct LaneShape {
    enum Kind : std::uint8_t { Uniform, Affine, Varying };
    Kind kind = Varying;
    std::int64_t stride = 0;
    std::uint64_t align = 1;  // a factor of lane 0's value; 0 where that value is 0
    friend bool operator==(const LaneShape&, const LaneShape&) = default;
};

/// A shape and the range of lane 0's value. 64-bit integers may have no known range.
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
/// Uniform or varying, with nothing else known but the range of its type.
[[nodiscard]] LaneValue plain_value(ScalarType type, bool uniform);
[[nodiscard]] LaneValue constant_value(std::int64_t value);
/// An id: a shape whose lane 0 lies in [0, max].
[[nodiscard]] LaneValue id_value(LaneShape shape, std::uint64_t max);
/// What is known when the value is one or the other.
[[nodiscard]] LaneValue join(const LaneValue& a, const LaneValue& b);

/// Shapes of results for vectors of `width` lanes.
class LaneArithmetic {
public:
    explicit LaneArithmetic(unsigned width) : width_(width) {}

    /// A unary or binary operation on integers of `type`, for one component; comparisons give bool. For a
    /// mask `x & (n - 1)` whose n is not constant, `mask_plus_one` says what is known of n.
    [[nodiscard]] LaneValue apply(ir::Op op, ScalarType type, const LaneValue& a, const LaneValue& b,
                                  const LaneValue* mask_plus_one = nullptr) const;
    [[nodiscard]] LaneValue convert(ScalarType from, ScalarType to, const LaneValue& a) const;
    /// The index of a loop from begin to end.
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
