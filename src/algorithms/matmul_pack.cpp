// Copies an operand of a product to panels: for each matrix, panel of `width` rows (of a) or columns (of b)
// and real part, `width` numbers for each k. The last panel of a matrix is filled up with zeros.
//
// Where k is the contiguous axis, lanes run along k and store `width` consecutive numbers each, which is a
// transpose in registers; elsewhere lanes run along the panel.
#include "algorithms/matmul_panels.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/math.hpp>
#include <volley/lang/operators.hpp>

#include <functional>

namespace volley::algorithms {
namespace {

struct PackParameters {
    const MatmulProblem& problem;
    const PanelSide& side;
    AnyArray to;
    LoadMatrix load;
    Value<u32> lines, panels, size, begin, depth;

    PackParameters(const MatmulProblem& the_problem, const PanelSide& the_side, ParameterList& parameters)
        : problem(the_problem),
          side(the_side),
          to(parameters.buffer(problem.real())),
          load(side.operand.declare(parameters)),
          lines(parameters.value<u32>()),
          panels(parameters.value<u32>()),
          size(parameters.value<u32>()),
          begin(parameters.value<u32>()),
          depth(parameters.value<u32>()) {}

    /// Returns the real parts of element i of the panels' axis; zeros where `guarded` and i >= size.
    [[nodiscard]] std::vector<AnyValue> element(const Value<u32>& batch, const Value<u32>& i,
                                                const Value<u32>& k, bool guarded) const {
        const AnyValue loaded = side.of_a ? load(batch, i, k) : load(batch, k, i);
        return matmul_parts(guarded ? select(i < size, loaded, zero_of(loaded.dtype())) : loaded,
                            problem.accumulated);
    }
};

// Lanes along k: a line is a panel.
template <class I>
void pack_along_k(const PackParameters& pack) {
    LineGrid::each(pack.lines, [&](const Value<u32>& line) {
        const Value<u32> k = global_id().x;
        const Value<u32> batch = line / pack.panels;
        const Value<u32> first = (line - batch * pack.panels) * pack.side.width;
        const unsigned parts = pack.problem.parts();
        const auto copy = [&](bool guarded) {
            std::vector<std::vector<AnyValue>> elements;
            for (unsigned c = 0; c < pack.side.width; ++c)
                elements.push_back(pack.element(batch, first + c, pack.begin + k, guarded));
            for (unsigned p = 0; p < parts; ++p) {
                const Value<I> at =
                    ((cast<I>(line) * parts + p) * cast<I>(pack.depth) + cast<I>(k)) * pack.side.width;
                for (unsigned c = 0; c < pack.side.width; ++c) pack.to.store(at + c, elements[c][p]);
            }
        };
        $if (first + pack.side.width <= pack.size) {
            copy(false);
        }
        $else { copy(true); }
    });
}

// Lanes along the panel: a line is a part of k of a panel.
template <class I>
void pack_along_panel(const PackParameters& pack, const Value<u32>& chunks, const Value<u32>& chunk) {
    LineGrid::each(pack.lines, [&](const Value<u32>& line) {
        const Value<u32> c = global_id().x;
        const Value<u32> panel = line / chunks;  // of all matrices
        const Value<u32> batch = panel / pack.panels;
        const Value<u32> first = (panel - batch * pack.panels) * pack.side.width;
        const unsigned parts = pack.problem.parts();
        const Value<u32> from = (line - panel * chunks) * chunk;
        const auto copy = [&](bool guarded) {
            $for (k, from, min(from + chunk, pack.depth)) {
                const auto element = pack.element(batch, first + c, pack.begin + k, guarded);
                for (unsigned p = 0; p < parts; ++p) {
                    const Value<I> at =
                        ((cast<I>(panel) * parts + p) * cast<I>(pack.depth) + cast<I>(k)) * pack.side.width +
                        cast<I>(c);
                    pack.to.store(at, element[p]);
                }
            }
        };
        const auto both = [&] {
            $if (first + pack.side.width <= pack.size) {
                copy(false);
            }
            $else { copy(true); }
        };
        if (pack.side.width % pack.side.lanes == 0) {
            both();
        } else {
            $if (c < pack.side.width) {
                both();
            }
        }
    });
}

}  // namespace

void launch_pack(const MatmulCall& call, const PanelSide& side, std::int64_t begin, std::int64_t depth,
                 const AnyBuffer& to) {
    const MatmulProblem& problem = call.problem;
    const bool along_k = side.operand.row_major() == side.of_a;
    constexpr std::int64_t chunk = 64;
    const std::int64_t chunks = divide_up(depth, chunk);
    const std::int64_t lines = side.operand.batches() * side.panels * (along_k ? 1 : chunks);

    KernelKey key("matmul pack");
    key.add(along_k).add(side.of_a).add(side.width).add(side.wide_index).add(problem.accumulated);
    if (!along_k) key.add(side.lanes);
    side.operand.identify(key);
    const AnyKernel kernel = find_kernel(key, [&] {
        return any_kernel("matmul_pack", {}, [&](ParameterList& parameters) {
            const PackParameters pack(problem, side, parameters);
            if (along_k) {
                side.wide_index ? pack_along_k<u64>(pack) : pack_along_k<u32>(pack);
            } else {
                const auto chunks_of = parameters.value<u32>();
                const auto chunk_of = parameters.value<u32>();
                side.wide_index ? pack_along_panel<u64>(pack, chunks_of, chunk_of)
                                : pack_along_panel<u32>(pack, chunks_of, chunk_of);
            }
        });
    });

    std::vector<AnyArgument> arguments{to};
    side.operand.add_arguments(arguments);
    for (const std::int64_t number : {lines, side.panels, side.of_a ? problem.m : problem.n, begin, depth})
        arguments.emplace_back(static_cast<u32>(number));
    if (!along_k) {
        arguments.emplace_back(static_cast<u32>(chunks));
        arguments.emplace_back(static_cast<u32>(chunk));
    }
    const std::int64_t columns = along_k ? depth : round_up(side.width, side.lanes);
    launch(kernel.over(LineGrid::over(columns, lines)), call.target, arguments);
}

}  // namespace volley::algorithms
