// AxisRule: where an element of a rearranged array is along one axis of the array that it rearranges.
// Invariant: the kind is part of the keys of kernels, the numbers are parameters of the kernels.
#pragma once

#include <volley/algorithms/kernel_key.hpp>
#include <volley/any_kernel.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace volley::algorithms {

struct AxisRule {
    // The index i of the result gives the index of the source, of `count` elements:
    enum class Kind : std::uint8_t {
        Whole,         // i
        Fixed,         // first
        Shifted,       // first + i
        Reversed,      // first - i
        Stepped,       // first + i * step
        Rolled,        // (i - first) mod count, with 0 < first < count
        Tiled,         // i mod count
        Repeated,      // i / count
        Constant,      // i - first, if that is inside
        Edge,          // i - first, or the nearest
        Wrapped,       // (i - first) mod count; borders of at most one period
        WrappedFar,    // borders of any width
        Symmetric,     // mirrored between -1 and 0; borders of at most one period
        SymmetricFar,  //
        Reflected,     // mirrored at 0; borders of less than one period
        ReflectedFar,  //
    };

    Kind kind = Kind::Whole;
    int from = -1;  ///< the axis of the result; -1: none, for Fixed
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t step = 1;

    void identify(KernelKey& key) const;
    void add_arguments(std::vector<AnyArgument>& arguments) const;

    /// Returns the parts of an axis with `length` elements, each with a rule without tests; nothing if there
    /// is no such division.
    [[nodiscard]] std::vector<struct RulePart> parts(std::int64_t length) const;
    /// Returns the rule for the elements from `begin` on, for kinds of which that is one; else nothing.
    [[nodiscard]] std::optional<AxisRule> from_place(std::int64_t begin) const;
};

/// Neighbouring elements of the result, and a simpler rule for them, whose index i starts at 0 here.
struct RulePart {
    std::int64_t begin;
    std::int64_t length;
    std::optional<AxisRule> rule;  ///< unset: outside of the source
};

/// An AxisRule while a kernel is traced.
class DeclaredRule {
public:
    DeclaredRule(ParameterList& parameters, const AxisRule& rule);

    [[nodiscard]] int from() const noexcept { return from_; }
    /// Returns the index along the axis of the source.
    [[nodiscard]] Value<u32> index(const Value<u32>& i) const;
    /// Returns whether that is an element of the source; nothing if it always is.
    [[nodiscard]] std::optional<Value<bool>> inside(const Value<u32>& i) const;

private:
    AxisRule::Kind kind_;
    int from_;
    std::vector<Value<u32>> numbers_;  // those that the kind has, in the order first, count or step
};

}  // namespace volley::algorithms
