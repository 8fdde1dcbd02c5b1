// Workgroups of 16 x 16 invocations: they copy tiles of both operands to shared memory, and each invocation
// multiplies `rows` x `columns` elements, 16 apart, in registers. For GPUs.
#include "algorithms/matmul_kernels.hpp"

#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/operators.hpp>

#include <algorithm>

namespace volley::algorithms {
namespace {

constexpr unsigned side = 16;
constexpr unsigned invocations = side * side;

struct TileKernel {
    const MatmulProblem& problem;
    const MatmulTuning& tuning;
    bool deep;

    [[nodiscard]] unsigned depth() const { return tuning.block_depth; }

    void identify(KernelKey& key) const {
        key.add(tuning.rows).add(tuning.columns).add(depth()).add(deep);
        key.add(problem.a.row_major()).add(problem.b.row_major());
        problem.a.identify(key);
        problem.b.identify(key);
        problem.batches.identify(key);
        MatmulFinish::identify(problem, key);
    }

    void record(ParameterList& parameters) const {
        const LoadMatrix load_a = problem.a.declare(parameters), load_b = problem.b.declare(parameters);
        const auto pair_of = problem.batches.declare(parameters);
        const MatmulFinish finish(problem, parameters);
        const auto m = parameters.value<u32>(), n = parameters.value<u32>();
        const auto begin = parameters.value<u32>(), end = parameters.value<u32>();
        const auto tiles_n = parameters.value<u32>();
        const auto blocks = parameters.value<u32>();
        const auto all_blocks = parameters.value<u32>();
        std::optional<AnyArray> partial;
        if (deep) partial = parameters.buffer(problem.real());
        const auto last = deep ? parameters.value<u32>() : end;

        const unsigned parts = problem.parts(), rows = tuning.rows, columns = tuning.columns;
        // One more per row: invocations that copy along k then use different banks.
        const unsigned pitch_a = side * rows + 1, pitch_b = side * columns + 1;
        const AnyArray tile_a = AnyArray::shared(problem.real(), std::uint64_t{depth()} * parts * pitch_a);
        const AnyArray tile_b = AnyArray::shared(problem.real(), std::uint64_t{depth()} * parts * pitch_b);

        const Value<u32> id = local_index();
        const Value<u32> x = local_id().x, y = local_id().y;
        // Workgroups are numbered over two dimensions; the surplus ones do nothing that remains.
        const Value<u32> number = group_id().y * group_count().x + group_id().x;
        const Value<u32> batch = number / blocks;
        const Value<u32> block = number - batch * blocks;
        const Value<u32> block_row = block / tiles_n;
        const Value<u32> first_row = block_row * (side * rows);
        const Value<u32> first_column = (block - block_row * tiles_n) * (side * columns);
        const auto batches = pair_of(batch);
        const Value<u32>&batch_a = batches.a, &batch_b = batches.b;
        const Value<bool> exists = number < all_blocks;

        const MatmulSums sum(std::size_t{rows} * columns, problem.real(), parts);
        const Value<u32> partial_at = (number * invocations + id) * (rows * columns * parts);
        if (deep) {
            $if (begin > 0U && exists) {
                for (unsigned i = 0; i < rows * columns; ++i) {
                    for (unsigned p = 0; p < parts; ++p)
                        sum.part(i, p) = partial->load(partial_at + (i * parts + p));
                }
            }
        }
        $for (k0, begin, end, depth()) {
            copy_tile(tile_a, pitch_a, problem.a.row_major(), rows, id,
                      [&](const Value<u32>& k, const Value<u32>& i) {
                          const Value<u32> row = first_row + i, at = k0 + k;
                          const AnyValue v = load_a(batch_a, row, at);
                          return select(exists && row < m && at < end, v, zero_of(v.dtype()));
                      });
            copy_tile(tile_b, pitch_b, !problem.b.row_major(), columns, id,
                      [&](const Value<u32>& k, const Value<u32>& j) {
                          const Value<u32> column = first_column + j, at = k0 + k;
                          const AnyValue v = load_b(batch_b, at, column);
                          return select(exists && column < n && at < end, v, zero_of(v.dtype()));
                      });
            barrier();
            for (unsigned k = 0; k < depth(); ++k) {
                std::vector<std::vector<AnyValue>> of_b(columns);
                for (unsigned c = 0; c < columns; ++c) {
                    for (unsigned p = 0; p < parts; ++p)
                        of_b[c].push_back(tile_b.load(x + ((k * parts + p) * pitch_b + c * side)));
                }
                for (unsigned r = 0; r < rows; ++r) {
                    std::vector<AnyValue> of_a;
                    for (unsigned p = 0; p < parts; ++p)
                        of_a.push_back(tile_a.load(y + ((k * parts + p) * pitch_a + r * side)));
                    for (unsigned c = 0; c < columns; ++c) {
                        const std::size_t i = std::size_t{r} * columns + c;
                        sum.store(i, matmul_add(sum.load(i), of_a, of_b[c]));
                    }
                }
            }
            barrier();
        }
        const auto store = [&] {
            for (unsigned r = 0; r < rows; ++r) {
                for (unsigned c = 0; c < columns; ++c) {
                    const Value<u32> row = first_row + y + r * side, column = first_column + x + c * side;
                    $if (exists && row < m && column < n) {
                        finish.store(batch, row, column, sum.load(std::size_t{r} * columns + c));
                    }
                }
            }
        };
        if (!deep) {
            store();
            return;
        }
        $if (end == last) {
            store();
        }
        $elif (exists) {
            for (unsigned i = 0; i < rows * columns; ++i) {
                for (unsigned p = 0; p < parts; ++p)
                    partial->store(partial_at + (i * parts + p), sum.part(i, p).load());
            }
        }
    }

private:
    /// Copies `depth` x `16 * wide` elements. Consecutive invocations follow the axis that is contiguous in
    /// memory.
    void copy_tile(const AnyArray& tile, unsigned pitch, bool along_k, unsigned wide, const Value<u32>& id,
                   const std::function<AnyValue(const Value<u32>&, const Value<u32>&)>& element) const {
        const unsigned parts = problem.parts(), width = side * wide;
        for (unsigned first = 0; first < depth() * width; first += invocations) {
            const Value<u32> e = id + first;
            const Value<u32> k = along_k ? e % depth() : e / width;
            const Value<u32> i = along_k ? e / depth() : e % width;
            const auto copy = [&] {
                const auto value = matmul_parts(element(k, i), problem.accumulated);
                for (unsigned p = 0; p < parts; ++p) tile.store((k * parts + p) * pitch + i, value[p]);
            };
            if (first + invocations <= depth() * width) {
                copy();
            } else {
                $if (e < depth() * width) {
                    copy();
                }
            }
        }
    }
};

}  // namespace

Event matmul_tiles(const MatmulCall& call) {
    const MatmulProblem& problem = call.problem;
    const MatmulTuning& tuning = call.tuning;
    const std::int64_t tiles_m = divide_up(problem.m, std::int64_t{side} * tuning.rows);
    const std::int64_t tiles_n = divide_up(problem.n, std::int64_t{side} * tuning.columns);
    const std::int64_t blocks = tiles_m * tiles_n, all_blocks = blocks * problem.batch_count();
    const std::int64_t range = matmul_range(*call.target.device, problem.k);
    const bool deep = range < problem.k;

    const TileKernel recipe{problem, tuning, deep};
    KernelKey key("matmul tiles");
    recipe.identify(key);
    constexpr std::int64_t most = 32768;
    const std::int64_t groups_x = std::min(all_blocks, most);
    const AnyKernel kernel =
        find_kernel(key, [&] {
            return any_kernel(matmul_name, {.local = {side, side}},
                              [&](ParameterList& parameters) { recipe.record(parameters); });
        }).groups({groups_x, divide_up(all_blocks, std::max<std::int64_t>(groups_x, 1))});

    std::vector<AnyArgument> arguments;
    problem.a.add_arguments(arguments);
    problem.b.add_arguments(arguments);
    problem.batches.add_arguments(arguments);
    MatmulFinish::add_arguments(problem, arguments);
    arguments.emplace_back(static_cast<u32>(problem.m));
    arguments.emplace_back(static_cast<u32>(problem.n));
    const std::size_t first = arguments.size();
    for (const std::int64_t number : {std::int64_t{0}, problem.k, tiles_n, blocks, all_blocks})
        arguments.emplace_back(static_cast<u32>(number));
    if (deep) {
        arguments.emplace_back(call.execution.scratch(
            problem.real(),
            {all_blocks * invocations, std::int64_t{tuning.rows} * tuning.columns * problem.parts()}));
        arguments.emplace_back(static_cast<u32>(problem.k));
    }
    Event done;
    for (std::int64_t begin = 0; begin < problem.k; begin += range) {
        arguments[first] = static_cast<u32>(begin);
        arguments[first + 1] = static_cast<u32>(std::min(begin + range, problem.k));
        done = launch(kernel, call.target, arguments);
    }
    return done;
}

}  // namespace volley::algorithms
