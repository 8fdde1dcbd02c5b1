// Compares each execution with a more trusted one.
#include "random/differential.hpp"

#include "core/text.hpp"
#include "ir/hash.hpp"
#include "ir/parser.hpp"
#include "ir/printer.hpp"
#include "ir/verifier.hpp"
#include "passes/pipeline.hpp"
#include "passes/uniformity.hpp"
#include "random/execution.hpp"

#include <utility>

namespace volley::testing {
namespace {

constexpr unsigned default_subgroup = 8;

std::optional<Failure> labelled(std::string where, std::optional<std::string> what, unsigned width = 0) {
    if (!what) return std::nullopt;
    return Failure{std::move(where), std::move(*what), width};
}

std::optional<Failure> check_text(const Program& program) {
    const ir::Function again = ir::parse(ir::print(program.fn));
    if (ir::hash(again) != ir::hash(program.fn)) return Failure{"printed and parsed", "the hash is another"};
    return std::nullopt;
}

// Compares after each pass that changes the program. Contraction legitimately rounds differently and is left
// out.
std::optional<Failure> check_passes(const Program& program, const Execution& expected) {
    ir::Function fn = program.fn;
    std::optional<Failure> failure;
    bool exact = true;
    Hash128 seen = ir::hash(fn);
    passes::OptimiseOptions options;
    options.verify = true;
    options.dump = [&](std::string_view pass, const ir::Function& now) {
        exact = exact && (pass != "contract_fma" || !program.floats);
        const Hash128 hash = ir::hash(now);
        if (failure || !exact || hash == seen) return;
        seen = hash;
        failure = labelled(cat("after ", pass),
                           difference(program, expected, run_reference(program, now, default_subgroup)));
    };
    passes::optimise(fn, options);
    return failure;
}

std::optional<Failure> check_cpu(const Program& program, const DifferentialOptions& options) {
    ir::Function fn = program.fn;
    passes::optimise(fn);
    ir::verify(fn);
    Execution expected = run_reference(program, fn, default_subgroup);
    for (const unsigned width : options.widths) {
        if (program.subgroups) expected = run_reference(program, fn, width);
        std::vector<bool> variants = {false};
        // Also runs the masked form, at one width per program; other seeds cover the other widths.
        const bool chosen =
            program.seed % options.both_forms == 0 &&
            options.widths[program.seed / options.both_forms % options.widths.size()] == width;
        if (can_be_full(program, fn, width)) variants = chosen ? std::vector{false, true} : std::vector{true};
        for (const bool full : variants) {
            const std::string where = cat("CPU, width ", width, full ? ", full grid" : "");
            try {
                const Execution actual = run_cpu(program, fn, width, full, options.processor);
                if (auto failure = labelled(where, difference(program, expected, actual), width))
                    return failure;
            } catch (const std::exception& e) {
                return Failure{where, e.what(), width};
            }
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<Failure> check(const Program& program, const DifferentialOptions& options) {
    try {
        passes::check_barriers(program.fn, passes::analyse_uniformity(program.fn));
        const Execution expected = run_reference(program, program.fn, default_subgroup);
        if (auto failure = check_text(program)) return failure;
        if (options.passes) {
            if (auto failure = check_passes(program, expected)) return failure;
        }
        if (options.cpu) return check_cpu(program, options);
    } catch (const std::exception& e) {
        return Failure{"exception", e.what()};
    }
    return std::nullopt;
}

}  // namespace volley::testing
