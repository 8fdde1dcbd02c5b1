// The methods of matrix products. Invariant: each adds the terms of an element in the order of k.
#pragma once

#include "algorithms/execution.hpp"
#include "algorithms/matmul_operand.hpp"

#include <volley/algorithms/matmul.hpp>
#include <volley/any_kernel.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace volley::algorithms {

inline constexpr std::string_view matmul_name = "matmul";

/// A product, as all methods see it.
struct MatmulProblem {
    MatmulOperand a, b;
    MatmulResult c;
    std::optional<MatmulOperand> old_c;      // read if beta is set
    std::optional<AnyArgument> alpha, beta;  // real or of the accumulated type; unset: 1, and 0
    MatmulBatches batches;
    DType accumulated;  // the type of the accumulators
    std::int64_t m, n, k;

    [[nodiscard]] DType real() const { return {accumulated.scalar()}; }
    /// Returns the number of real parts of an element.
    [[nodiscard]] unsigned parts() const { return accumulated.is_complex() ? 2 : 1; }
    [[nodiscard]] std::int64_t batch_count() const { return batches.shape().elements(); }
};

/// One call on one target, with all tuning parameters set.
struct MatmulCall {
    const MatmulProblem& problem;
    const Execution& execution;
    const Target& target;
    MatmulTuning tuning;
};
Event matmul_direct(const MatmulCall& call);
Event matmul_panels(const MatmulCall& call);
Event matmul_tiles(const MatmulCall& call);

/// Scales sums and stores them to the result.
class MatmulFinish {
public:
    static void identify(const MatmulProblem& problem, KernelKey& key);
    MatmulFinish(const MatmulProblem& problem, ParameterList& parameters);
    static void add_arguments(const MatmulProblem& problem, std::vector<AnyArgument>& arguments);

    /// Takes the sum as its real parts.
    void store(const Value<u32>& batch, const Value<u32>& row, const Value<u32>& column,
               const std::vector<AnyValue>& sum) const;

private:
    DType accumulated_, result_;
    std::optional<AnyValue> alpha_, beta_;
    LoadMatrix old_;
    StoreMatrix store_;
};

/// Returns the real parts of an element, converted to the accumulated type.
[[nodiscard]] std::vector<AnyValue> matmul_parts(const AnyValue& element, DType accumulated);
/// Returns the sum of the real parts of `sum` and of those of the product a * b.
[[nodiscard]] std::vector<AnyValue> matmul_add(const std::vector<AnyValue>& sum,
                                               const std::vector<AnyValue>& a,
                                               const std::vector<AnyValue>& b);

/// Sums in variables, as their real parts.
class MatmulSums {
public:
    /// Declares `count` sums, initially zero.
    MatmulSums(std::size_t count, DType real, unsigned parts);
    [[nodiscard]] std::vector<AnyValue> load(std::size_t i) const;
    void store(std::size_t i, const std::vector<AnyValue>& sum) const;
    [[nodiscard]] AnyVar& part(std::size_t i, unsigned p) const { return *variables_[i * parts_ + p]; }

private:
    unsigned parts_;
    std::vector<std::unique_ptr<AnyVar>> variables_;
};

/// A grid of `lines` rows of invocations. Rows are spread over two dimensions, whose limits they may exceed;
/// surplus rows are skipped.
struct LineGrid {
    [[nodiscard]] static GridSize over(std::int64_t columns, std::int64_t lines);
    /// Records `body` for the line of this invocation.
    static void each(const Value<u32>& lines, const std::function<void(const Value<u32>&)>& body);
};

/// The largest part of k that one launch adds: some drivers end loops after 65,535 iterations.
[[nodiscard]] std::int64_t matmul_range(const DeviceInfo& device, std::int64_t k);

}  // namespace volley::algorithms
