// What the kernels of matrix products share: arithmetic in real parts, scaling, and grids.
#include "algorithms/matmul_kernels.hpp"

#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/operators.hpp>

#include <algorithm>
#include <utility>

namespace volley::algorithms {
namespace {

enum class ScaleKind : std::uint8_t { None, Real, Full };

ScaleKind scale_kind(const std::optional<AnyArgument>& scale) {
    if (!scale) return ScaleKind::None;
    return scale->dtype().is_complex() ? ScaleKind::Full : ScaleKind::Real;
}

std::vector<AnyValue> zero_parts(DType real, unsigned parts) {
    std::vector<AnyValue> zeros;
    for (unsigned p = 0; p < parts; ++p) zeros.push_back(zero_of(real));
    return zeros;
}

std::vector<AnyValue> scaled(const std::vector<AnyValue>& x, const AnyValue& by) {
    if (by.dtype().is_complex()) return matmul_add(zero_parts(x[0].dtype(), 2), x, {by.part(0), by.part(1)});
    std::vector<AnyValue> result;
    result.reserve(x.size());
    for (const AnyValue& part : x) result.push_back(part * by);
    return result;
}

Value<bool> is_zero(const AnyValue& x) {
    if (!x.dtype().is_complex()) return compare(ir::Op::Eq, x, zero_of(x.dtype()));
    return is_zero(x.part(0)) && is_zero(x.part(1));
}

}  // namespace

std::vector<AnyValue> matmul_parts(const AnyValue& element, DType accumulated) {
    const AnyValue value = convert(element, accumulated);
    if (!accumulated.is_complex()) return {value};
    return {value.part(0), value.part(1)};
}

std::vector<AnyValue> matmul_add(const std::vector<AnyValue>& sum, const std::vector<AnyValue>& a,
                                 const std::vector<AnyValue>& b) {
    if (sum.size() == 1) return {sum[0] + a[0] * b[0]};
    // -b rather than -a, which may be the same in all lanes: vectors are negated by the multiply-add.
    const AnyValue minus = apply(ir::Op::Neg, b[1]);
    return {sum[0] + a[0] * b[0] + a[1] * minus, sum[1] + a[0] * b[1] + a[1] * b[0]};
}

void MatmulFinish::identify(const MatmulProblem& problem, KernelKey& key) {
    key.add(problem.accumulated).add(scale_kind(problem.alpha)).add(scale_kind(problem.beta));
    problem.c.identify(key);
    if (problem.old_c) problem.old_c->identify(key);
}

MatmulFinish::MatmulFinish(const MatmulProblem& problem, ParameterList& parameters)
    : accumulated_(problem.accumulated), result_(problem.c.dtype()), store_(problem.c.declare(parameters)) {
    if (problem.alpha) alpha_ = parameters.value(problem.alpha->dtype());
    if (!problem.beta) return;
    beta_ = parameters.value(problem.beta->dtype());
    old_ = problem.old_c->declare(parameters);
}

void MatmulFinish::add_arguments(const MatmulProblem& problem, std::vector<AnyArgument>& arguments) {
    problem.c.add_arguments(arguments);
    if (problem.alpha) arguments.push_back(*problem.alpha);
    if (!problem.beta) return;
    arguments.push_back(*problem.beta);
    problem.old_c->add_arguments(arguments);
}

void MatmulFinish::store(const Value<u32>& batch, const Value<u32>& row, const Value<u32>& column,
                         const std::vector<AnyValue>& sum) const {
    std::vector<AnyValue> value = alpha_ ? scaled(sum, *alpha_) : sum;
    if (beta_) {
        // A dynamic beta may be 0, and then the old value does not count, even if it is not a number.
        const std::vector<AnyValue> old =
            scaled(matmul_parts(old_(batch, row, column), accumulated_), *beta_);
        const Value<bool> ignored = is_zero(*beta_);
        for (std::size_t p = 0; p < value.size(); ++p)
            value[p] = select(ignored, value[p], value[p] + old[p]);
    }
    const AnyValue whole = value.size() == 1 ? value[0] : make_of(accumulated_, {value[0], value[1]});
    store_(batch, row, column, convert(whole, result_));
}

MatmulSums::MatmulSums(std::size_t count, DType real, unsigned parts) : parts_(parts) {
    for (std::size_t i = 0; i < count * parts; ++i)
        variables_.push_back(std::make_unique<AnyVar>(zero_of(real)));
}

std::vector<AnyValue> MatmulSums::load(std::size_t i) const {
    std::vector<AnyValue> sum;
    for (unsigned p = 0; p < parts_; ++p) sum.push_back(part(i, p).load());
    return sum;
}

void MatmulSums::store(std::size_t i, const std::vector<AnyValue>& sum) const {
    for (unsigned p = 0; p < parts_; ++p) part(i, p) = sum[p];
}

GridSize LineGrid::over(std::int64_t columns, std::int64_t lines) {
    constexpr std::int64_t most = 32768;
    const std::int64_t y = std::min(lines, most);
    return {columns, y, divide_up(lines, std::max<std::int64_t>(y, 1))};
}

void LineGrid::each(const Value<u32>& lines, const std::function<void(const Value<u32>&)>& body) {
    const Value<u32> line = global_id().z * global_size().y + global_id().y;
    $if (line < lines) {
        body(line);
    }
}

std::int64_t matmul_range(const DeviceInfo& device, std::int64_t k) {
    constexpr std::int64_t most = 32768;
    return device_class(device) == DeviceClass::Software ? std::min(k, most) : k;
}

}  // namespace volley::algorithms
