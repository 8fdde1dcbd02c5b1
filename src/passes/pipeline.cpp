// The cleaning passes create work for each other: folding creates equal operations, merging creates dead
// ones, and forwarded stores create constants. Two or three rounds reach a fixpoint. Contraction runs once,
// at the end, when use counts are final.
#include "passes/pipeline.hpp"

#include "ir/verifier.hpp"
#include "passes/contract_fma.hpp"
#include "passes/eliminate_common.hpp"
#include "passes/eliminate_dead.hpp"
#include "passes/fold_constants.hpp"
#include "passes/guard_loads.hpp"
#include "passes/hoist_invariants.hpp"
#include "passes/narrow_loads.hpp"
#include "passes/split_composites.hpp"

namespace volley::passes {
namespace {

constexpr int most_rounds = 4;

// A measure that every effective cleaning pass reduces.
struct Size {
    std::size_t nodes = 0;
    std::size_t operands = 0;
    friend bool operator==(const Size&, const Size&) = default;
};

Size size_of(const ir::Function& fn) {
    Size size;
    ir::for_each_node(fn, fn.body, [&](ir::NodeId id) {
        ++size.nodes;
        size.operands += fn[id].count;
    });
    return size;
}

class Runner {
public:
    Runner(ir::Function& fn, const OptimiseOptions& options) : fn_(fn), options_(options) {}

    void run(std::string_view name, void (*pass)(ir::Function&)) {
        pass(fn_);
        if (options_.dump) options_.dump(name, fn_);
        if (options_.verify) ir::verify(fn_);
    }

    void settle() {
        Size before = size_of(fn_);
        for (int round = 0; round < most_rounds; ++round) {
            run("fold_constants", fold_constants);
            run("eliminate_common", eliminate_common);
            run("eliminate_dead", eliminate_dead);
            const Size after = size_of(fn_);
            if (after == before) break;
            before = after;
        }
    }

private:
    ir::Function& fn_;
    const OptimiseOptions& options_;
};

}  // namespace

void clean(ir::Function& fn, const OptimiseOptions& options) {
    Runner runner(fn, options);
    runner.run("guard_loads", guard_loads);
    runner.settle();
    runner.run("split_composites", split_composites);
    runner.run("narrow_loads", narrow_loads);
    runner.run("hoist_invariants", hoist_invariants);
    runner.settle();
}

void contract(ir::Function& fn, const OptimiseOptions& options) {
    Runner runner(fn, options);
    runner.run("contract_fma", contract_fma);
    runner.run("fold_constants", fold_constants);
    runner.run("eliminate_dead", eliminate_dead);
}

void optimise(ir::Function& fn, const OptimiseOptions& options) {
    clean(fn, options);
    contract(fn, options);
}

}  // namespace volley::passes
