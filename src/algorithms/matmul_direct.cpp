// One invocation per element of the result, which reads the operands where they are: for small matrices and
// vectors. Lanes run along the longer axis of the result.
#include "algorithms/matmul_kernels.hpp"

#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/operators.hpp>

#include <algorithm>

namespace volley::algorithms {
namespace {

AnyKernel direct_kernel(const MatmulProblem& problem, bool along_rows, bool deep) {
    KernelKey key("matmul direct");
    key.add(along_rows).add(deep);
    problem.a.identify(key);
    problem.b.identify(key);
    problem.batches.identify(key);
    MatmulFinish::identify(problem, key);
    return find_kernel(key, [&] {
        return any_kernel(matmul_name, {}, [&](ParameterList& parameters) {
            const LoadMatrix load_a = problem.a.declare(parameters);
            const LoadMatrix load_b = problem.b.declare(parameters);
            const auto pair_of = problem.batches.declare(parameters);
            const MatmulFinish finish(problem, parameters);
            const auto lines = parameters.value<u32>();
            const auto across = parameters.value<u32>();  // lines of a matrix
            const auto begin = parameters.value<u32>();
            const auto end = parameters.value<u32>();
            std::optional<AnyArray> partial;
            if (deep) partial = parameters.buffer(problem.real());
            const auto last = deep ? parameters.value<u32>() : end;

            LineGrid::each(lines, [&](const Value<u32>& line) {
                const Value<u32> batch = line / across;
                const Value<u32> other = line - batch * across;
                const Value<u32> x = global_id().x;
                const Value<u32>& row = along_rows ? x : other;
                const Value<u32>& column = along_rows ? other : x;
                const auto [batch_a, batch_b] = pair_of(batch);
                const unsigned parts = problem.parts();
                const MatmulSums sum(1, problem.real(), parts);
                const Value<u32> at = (line * global_size().x + x) * parts;
                if (deep) {
                    $if (begin > 0U) {
                        for (unsigned p = 0; p < parts; ++p) sum.part(0, p) = partial->load(at + p);
                    }
                }
                $for (k, begin, end) {
                    const auto a = matmul_parts(load_a(batch_a, row, k), problem.accumulated);
                    const auto b = matmul_parts(load_b(batch_b, k, column), problem.accumulated);
                    sum.store(0, matmul_add(sum.load(0), a, b));
                }
                if (!deep) {
                    finish.store(batch, row, column, sum.load(0));
                    return;
                }
                $if (end == last) {
                    finish.store(batch, row, column, sum.load(0));
                }
                $else {
                    for (unsigned p = 0; p < parts; ++p) partial->store(at + p, sum.part(0, p).load());
                }
            });
        });
    });
}

}  // namespace

Event matmul_direct(const MatmulCall& call) {
    const MatmulProblem& problem = call.problem;
    const bool along_rows = problem.n < problem.m && problem.n < 8;
    const std::int64_t across = along_rows ? problem.n : problem.m;
    const std::int64_t along = along_rows ? problem.m : problem.n;
    const std::int64_t lines = problem.batch_count() * across;
    const std::int64_t range = matmul_range(*call.target.device, problem.k);
    const bool deep = range < problem.k;
    const AnyKernel kernel = direct_kernel(problem, along_rows, deep).over(LineGrid::over(along, lines));

    std::vector<AnyArgument> arguments;
    problem.a.add_arguments(arguments);
    problem.b.add_arguments(arguments);
    problem.batches.add_arguments(arguments);
    MatmulFinish::add_arguments(problem, arguments);
    arguments.emplace_back(static_cast<u32>(lines));
    arguments.emplace_back(static_cast<u32>(across));
    const std::size_t first = arguments.size();
    arguments.emplace_back(0U);
    arguments.emplace_back(static_cast<u32>(problem.k));
    if (deep) {
        arguments.emplace_back(
            call.execution.scratch(problem.real(), {lines * along * std::int64_t{problem.parts()}}));
        arguments.emplace_back(static_cast<u32>(problem.k));
    }
    Event done;
    std::int64_t begin = 0;
    do {
        const std::int64_t end = std::min(begin + range, problem.k);
        arguments[first] = static_cast<u32>(begin);
        arguments[first + 1] = static_cast<u32>(end);
        done = launch(kernel, call.target, arguments);
        begin = end;
    } while (begin < problem.k);
    return done;
}

}  // namespace volley::algorithms
