// The scheme of Goto: both operands are copied to panels; a line of invocations computes a block of the
// result, for parts of k for which its panels fit in the second-level cache. Each invocation has `rows` x
// `columns` sums in registers, its lanes along a row of the result. Per k it loads `columns` vectors of b and
// broadcasts `rows` numbers of a.
//
// If k is computed in several parts, sums are kept between them in a scratch buffer in the order of the
// blocks.
#include "algorithms/matmul_panels.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/math.hpp>
#include <volley/lang/operators.hpp>

#include <algorithm>

namespace volley::algorithms {
namespace {

struct PanelKernel {
    const MatmulProblem& problem;
    const MatmulTuning& tuning;
    bool wide_index, deep;

    void identify(KernelKey& key) const {
        key.add(tuning.rows).add(tuning.columns).add(tuning.lanes).add(wide_index).add(deep);
        problem.batches.identify(key);
        MatmulFinish::identify(problem, key);
    }

    template <class I>
    void record(ParameterList& parameters) const {
        const DType real = problem.real();
        const AnyArray a = parameters.const_buffer(real), b = parameters.const_buffer(real);
        const auto pair_of = problem.batches.declare(parameters);
        const MatmulFinish finish(problem, parameters);
        const auto lines = parameters.value<u32>();
        const auto m = parameters.value<u32>(), n = parameters.value<u32>();
        const auto panels_a = parameters.value<u32>(), panels_b = parameters.value<u32>();
        const auto blocks_a = parameters.value<u32>(), blocks_b = parameters.value<u32>();
        const auto block_rows = parameters.value<u32>(), block_columns = parameters.value<u32>();
        const auto depth = parameters.value<u32>();  // of the panels
        const auto step = parameters.value<u32>();
        std::optional<AnyArray> partial;
        if (deep) partial = parameters.buffer(real);
        const auto is_first = parameters.value<u32>(), is_last = parameters.value<u32>();

        const unsigned rows = tuning.rows, columns = tuning.columns, lanes = tuning.lanes;
        const unsigned parts = problem.parts();
        const std::size_t sums = std::size_t{rows} * columns;
        LineGrid::each(lines, [&](const Value<u32>& line) {
            const Value<u32> lane = global_id().x;
            const Value<u32> per_batch = blocks_a * blocks_b;
            const Value<u32> batch = line / per_batch;
            const Value<u32> block = line - batch * per_batch;
            const Value<u32> block_row = block / blocks_b;
            const Value<u32> first_a = block_row * block_rows;
            const Value<u32> first_b = (block - block_row * blocks_b) * block_columns;
            const Value<u32> end_a = min(first_a + block_rows, panels_a);
            const Value<u32> end_b = min(first_b + block_columns, panels_b);
            const auto batches = pair_of(batch);
            const Value<u32>&batch_a = batches.a, &batch_b = batches.b;

            const auto tile = [&](const Value<u32>& k0, const Value<u32>& k1, const Value<u32>& of_a,
                                  const Value<u32>& of_b) {
                const MatmulSums sum(sums, real, parts);
                const Value<I> partial_at =
                    (((cast<I>(batch) * cast<I>(panels_a) + cast<I>(of_a)) * cast<I>(panels_b) +
                      cast<I>(of_b)) *
                     static_cast<unsigned>(sums * parts * lanes)) +
                    cast<I>(lane);
                const auto each_partial = [&](const auto& f) {
                    for (std::size_t i = 0; i < sums; ++i) {
                        for (unsigned p = 0; p < parts; ++p)
                            f(i, p, partial_at + static_cast<unsigned>((i * parts + p) * lanes));
                    }
                };
                if (deep) {
                    $if (k0 > 0U || is_first == 0U) {
                        each_partial([&](std::size_t i, unsigned p, const Value<I>& at) {
                            sum.part(i, p) = partial->load(at);
                        });
                    }
                }
                add_products<I>(sum, a, b, {batch_a, panels_a, of_a}, {batch_b, panels_b, of_b}, depth, k0,
                                k1, lane);
                const auto finished = [&] {
                    store_tile(finish, sum, batch, of_a * rows, of_b * (columns * lanes) + lane, m, n);
                };
                if (!deep) {
                    finished();
                    return;
                }
                $if (k1 == depth && is_last != 0U) {
                    finished();
                }
                $else {
                    each_partial([&](std::size_t i, unsigned p, const Value<I>& at) {
                        partial->store(at, sum.part(i, p).load());
                    });
                }
            };
            const auto tiles = [&](const Value<u32>& k0, const Value<u32>& k1) {
                $for (of_a, first_a, end_a) {
                    $for (of_b, first_b, end_b) {
                        tile(k0, k1, of_a, of_b);
                    }
                }
            };
            if (deep) {
                $for (k0, 0U, depth, step) {
                    tiles(k0, min(k0 + step, depth));
                }
            } else {
                tiles(Value<u32>(0U), depth);
            }
        });
    }

private:
    struct Place {
        const Value<u32>& batch;
        const Value<u32>& panels;
        const Value<u32>& panel;
    };

    template <class I>
    void add_products(const MatmulSums& sum, const AnyArray& a, const AnyArray& b, const Place& in_a,
                      const Place& in_b, const Value<u32>& depth, const Value<u32>& k0, const Value<u32>& k1,
                      const Value<u32>& lane) const {
        const unsigned parts = problem.parts();
        const Value<I> deep_by = cast<I>(depth);
        // The panels of a tile's columns follow each other.
        const Value<I> panel_a = (cast<I>(in_a.batch) * cast<I>(in_a.panels) + cast<I>(in_a.panel)) * parts;
        const Value<I> panel_b =
            (cast<I>(in_b.batch) * cast<I>(in_b.panels) + cast<I>(in_b.panel)) * (parts * tuning.columns);
        std::vector<Value<I>> from_a, from_b;
        for (unsigned p = 0; p < parts; ++p)
            from_a.push_back(((panel_a + p) * deep_by + cast<I>(k0)) * tuning.rows);
        for (unsigned p = 0; p < parts * tuning.columns; ++p)
            from_b.push_back(((panel_b + p) * deep_by + cast<I>(k0)) * tuning.lanes + cast<I>(lane));
        $for (k, cast<I>(0), cast<I>(k1 - k0)) {
            std::vector<std::vector<AnyValue>> columns_of_b(tuning.columns);
            for (unsigned c = 0; c < tuning.columns; ++c) {
                for (unsigned p = 0; p < parts; ++p)
                    columns_of_b[c].push_back(b.load(from_b[c * parts + p] + k * tuning.lanes));
            }
            for (unsigned r = 0; r < tuning.rows; ++r) {
                std::vector<AnyValue> row_of_a;
                for (unsigned p = 0; p < parts; ++p)
                    row_of_a.push_back(a.load(from_a[p] + k * tuning.rows + r));
                for (unsigned c = 0; c < tuning.columns; ++c) {
                    const std::size_t i = std::size_t{r} * tuning.columns + c;
                    sum.store(i, matmul_add(sum.load(i), row_of_a, columns_of_b[c]));
                }
            }
        }
    }

    void store_tile(const MatmulFinish& finish, const MatmulSums& sum, const Value<u32>& batch,
                    const Value<u32>& row, const Value<u32>& column, const Value<u32>& m,
                    const Value<u32>& n) const {
        const unsigned parts = problem.parts(), columns = tuning.columns, lanes = tuning.lanes;
        // The code of a store map, and that of the edges, is not repeated for each sum: a loop stores them
        // from an array.
        const auto in_loop = [&] {
            const AnyArray all =
                AnyArray::local(problem.real(), std::uint64_t{tuning.rows} * columns * parts);
            for (unsigned i = 0; i < tuning.rows * columns; ++i) {
                for (unsigned p = 0; p < parts; ++p) all.store(i * parts + p, sum.part(i, p).load());
            }
            $for (r, 0U, min(Value<u32>(tuning.rows), m - row)) {
                for (unsigned c = 0; c < columns; ++c) {
                    const Value<u32> j = column + c * lanes;
                    $if (j < n) {
                        std::vector<AnyValue> value;
                        for (unsigned p = 0; p < parts; ++p)
                            value.push_back(all.load((r * columns + c) * parts + p));
                        finish.store(batch, row + r, j, value);
                    }
                }
            }
        };
        if (!problem.c.is_buffer() || problem.beta) {
            in_loop();
            return;
        }
        const Value<u32> last = column - global_id().x + (columns * lanes);
        $if (row + tuning.rows <= m && last <= n) {
            for (unsigned r = 0; r < tuning.rows; ++r) {
                for (unsigned c = 0; c < columns; ++c)
                    finish.store(batch, row + r, column + c * lanes, sum.load(std::size_t{r} * columns + c));
            }
        }
        $else { in_loop(); }
    }
};

}  // namespace

Event matmul_panels(const MatmulCall& call) {
    const MatmulProblem& problem = call.problem;
    const MatmulTuning& tuning = call.tuning;
    const unsigned parts = problem.parts();
    const std::int64_t width = std::int64_t{tuning.columns} * tuning.lanes;
    const std::int64_t panels_a = divide_up(problem.m, tuning.rows), panels_b = divide_up(problem.n, width);
    const std::int64_t block_rows = std::max<std::int64_t>(tuning.block_rows / tuning.rows, 1);
    const std::int64_t block_columns = std::max<std::int64_t>(tuning.block_columns / width, 1);
    const std::int64_t blocks_a = divide_up(panels_a, block_rows),
                       blocks_b = divide_up(panels_b, block_columns);
    const std::int64_t batches = problem.batch_count();
    const std::int64_t lines = batches * blocks_a * blocks_b;
    const std::int64_t range = matmul_range(*call.target.device, problem.k);
    const bool deep = std::min<std::int64_t>(range, tuning.block_depth) < problem.k;
    const bool wide = device_class(*call.target.device) == DeviceClass::Cpu;

    const PanelSide side_a{problem.a, true, tuning.rows, tuning.lanes, panels_a, wide};
    const PanelSide side_b{problem.b, false, tuning.lanes, tuning.lanes, panels_b * tuning.columns, wide};
    const AnyBuffer packed_a = call.execution.scratch(
        problem.real(), {problem.a.batches() * panels_a * parts, range, std::int64_t{tuning.rows}});
    const AnyBuffer packed_b = call.execution.scratch(
        problem.real(),
        {problem.b.batches() * panels_b * parts * tuning.columns, range, std::int64_t{tuning.lanes}});

    const PanelKernel recipe{problem, tuning, wide, deep};
    KernelKey key("matmul panels");
    recipe.identify(key);
    const AnyKernel kernel =
        find_kernel(key, [&] {
            return any_kernel(matmul_name, {.local = {tuning.lanes}}, [&](ParameterList& parameters) {
                wide ? recipe.record<u64>(parameters) : recipe.record<u32>(parameters);
            });
        }).over(LineGrid::over(tuning.lanes, lines));

    std::vector<AnyArgument> arguments{packed_a, packed_b};
    problem.batches.add_arguments(arguments);
    MatmulFinish::add_arguments(problem, arguments);
    for (const std::int64_t number :
         {lines, problem.m, problem.n, panels_a, panels_b, blocks_a, blocks_b, block_rows, block_columns})
        arguments.emplace_back(static_cast<u32>(number));
    const std::size_t depth_at = arguments.size();
    arguments.emplace_back(0U);
    arguments.emplace_back(tuning.block_depth);
    if (deep) {
        arguments.emplace_back(call.execution.scratch(
            problem.real(), {batches * panels_a, panels_b, std::int64_t{tuning.rows} * width * parts}));
    }
    const std::size_t first_at = arguments.size();
    arguments.emplace_back(0U);
    arguments.emplace_back(0U);

    Event done;
    for (std::int64_t begin = 0; begin < problem.k; begin += range) {
        const std::int64_t depth = std::min(range, problem.k - begin);
        launch_pack(call, side_a, begin, depth, packed_a);
        launch_pack(call, side_b, begin, depth, packed_b);
        arguments[depth_at] = static_cast<u32>(depth);
        arguments[first_at] = static_cast<u32>(begin == 0 ? 1 : 0);
        arguments[first_at + 1] = static_cast<u32>(begin + depth == problem.k ? 1 : 0);
        done = launch(kernel, call.target, arguments);
    }
    return done;
}

}  // namespace volley::algorithms
