// Reducer: what a reduction computes, apart from where its elements are and how invocations share them.
//
// An element is lifted to an item. Items of neighbouring elements are absorbed into a state, a few values of
// each invocation; states are merged, and the last one is finished. Invariant: merging the states of parts in
// order gives the state of the whole, and the identity is a state of nothing.
#pragma once

#include <volley/algorithms/kernel_key.hpp>
#include <volley/algorithms/reduce.hpp>
#include <volley/any_kernel.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace volley::algorithms {

/// The values of a state, and of an item.
using Values = std::vector<AnyValue>;

class Reducer {
public:
    Reducer() = default;
    Reducer(const Reducer&) = delete;
    Reducer& operator=(const Reducer&) = delete;
    virtual ~Reducer() = default;

    /// Adds what determines the code.
    virtual void identify(KernelKey& key) const = 0;
    /// Whether states may be merged in another order.
    [[nodiscard]] virtual bool commutative() const noexcept { return true; }
    /// Whether lift() uses the number of the element.
    [[nodiscard]] virtual bool needs_number() const noexcept { return false; }
    [[nodiscard]] virtual std::vector<DType> state_types() const = 0;

    /// Declares the parameters of the kernel that identity() and finish() need; add_arguments() adds their
    /// values for `count` elements per result.
    virtual void declare(ParameterList&) {}
    virtual void add_arguments(std::vector<AnyArgument>&, std::int64_t /*count*/) const {}

    // The following record operations.
    [[nodiscard]] virtual Values identity() const = 0;
    [[nodiscard]] virtual Values lift(const AnyValue& element, const Value<u32>& number) const = 0;
    /// Combines the items of consecutive elements of this invocation with its state.
    [[nodiscard]] virtual Values absorb(const Values& state, std::span<const Values> items) const = 0;
    [[nodiscard]] virtual Values merge(const Values& a, const Values& b) const = 0;
    [[nodiscard]] virtual AnyValue finish(const Values& state) const = 0;
};

/// Returns the reducer of a call for elements of a type.
[[nodiscard]] std::unique_ptr<Reducer> make_reducer(const detail::ReduceCall& call, DType element);

/// Combines values pairwise, in order: ((a b) (c d)) ((e f) g).
template <class F>
[[nodiscard]] Values combine_pairwise(std::span<const Values> values, const F& combine) {
    if (values.size() == 1) return values.front();
    const std::size_t half = (values.size() + 1) / 2;
    return combine(combine_pairwise(values.first(half), combine),
                   combine_pairwise(values.subspan(half), combine));
}

}  // namespace volley::algorithms
