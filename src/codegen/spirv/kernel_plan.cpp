// One pass over the kernel, and one over its loops if the target limits iterations.
#include "codegen/spirv/kernel_plan.hpp"

#include "passes/rewrite.hpp"

#include <algorithm>

namespace volley::codegen::spirv {

using ir::Form;
using ir::NodeId;
using ir::Op;

namespace {

constexpr std::uint64_t most_free_iterations = 256;
constexpr std::uint64_t exchange_iterations = 64;  // estimated retries of a compare-exchange loop
constexpr std::uint64_t spare_iterations = 64;

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
    return a > unbounded - b ? unbounded : a + b;
}

std::uint64_t saturating_mul(std::uint64_t a, std::uint64_t b) {
    if (a == 0 || b == 0) return 0;
    return a > unbounded / b ? unbounded : a * b;
}

bool leaves_loop(const ir::Function& fn, ir::RegionId region) {
    bool leaves = false;
    ir::for_each_node(
        fn, region, [&](NodeId id) { leaves = leaves || fn[id].op == Op::Break || fn[id].op == Op::Return; });
    return leaves;
}

}  // namespace

const ir::Leaves& LeafTable::of(DType type) {
    const auto [entry, fresh] = table_.try_emplace(type.info());
    if (fresh && !type.is_void()) entry->second = ir::leaves_of(type);
    return entry->second;
}

bool computes(Op op) noexcept {
    switch (ir::form(op)) {
        case Form::Unary: return op != Op::Neg && op != Op::Abs;
        case Form::Binary:
        case Form::Ternary:
        case Form::Compare:
        case Form::Classify:
        case Form::Convert: return true;
        default: return false;
    }
}

bool is_exchange_loop(const Target& target, Op op, ScalarType type, bool shared) {
    if (!is_float(type) || op == Op::AtomicExchange || op == Op::AtomicCas) return false;
    const bool adds = shared ? target.shared_f32_add : target.f32_add;
    return !(type == ScalarType::F32 && adds && (op == Op::AtomicAdd || op == Op::AtomicSub));
}

std::uint64_t constant_trips(const ir::Function& fn, NodeId loop) {
    const auto begin = fn.constant_int(fn.arg(loop, 0));
    const auto end = fn.constant_int(fn.arg(loop, 1));
    const auto step = fn.constant_int(fn.arg(loop, 2));
    if (!begin || !end || !step) return unbounded;
    const auto b = static_cast<std::uint64_t>(*begin);
    const auto e = static_cast<std::uint64_t>(*end);
    const auto s = static_cast<std::uint64_t>(*step);
    if (!fn.type(loop).is_signed()) return s != 0 && b < e ? (e - b - 1) / s + 1 : 0;
    if (*step > 0 && *begin < *end) return (e - b - 1) / s + 1;
    if (*step < 0 && *begin > *end) return (b - e - 1) / (0 - s) + 1;
    return 0;
}

KernelPlan::KernelPlan(const ir::Function& fn, const Variant& variant, const Target& target)
    : uses(fn.params.size()), marks(fn.nodes.size()), fn_(fn), target_(target) {
    ir::for_each_node(fn, fn.body, [&](NodeId id) { look_at(id); });
    look_at_variables(fn.body);
    if (!variant.full && !barrier) {
        guarded = variant.local[0] * variant.local[1] * variant.local[2] > 1;
        global_size = global_size || guarded;
    }
    if (target.max_iterations == 0) return;
    std::uint64_t uncounted = 0;
    const std::uint64_t most = bound(fn.body, uncounted);
    const std::uint64_t spare = saturating_add(uncounted, spare_iterations);
    if (saturating_add(most, spare_iterations) < target.max_iterations) return;
    counted = true;
    // Iterations added in advance must fit between two checks of the counter.
    if (spare > target.max_iterations / 2) {
        for (Mark& mark : marks) mark.free = 0;
        most_iterations = target.max_iterations - static_cast<std::uint32_t>(spare_iterations);
    } else {
        most_iterations = target.max_iterations - static_cast<std::uint32_t>(spare);
    }
    const std::vector<NodeId> owners = passes::owners_of_regions(fn);
    const std::vector<ir::RegionId> regions = passes::regions_of_nodes(fn);
    ir::for_each_node(fn, fn.body, [&](NodeId id) {
        const Op op = fn[id].op;
        const bool counts = op == Op::For || op == Op::Loop || ir::form(op) == Form::Atomic;
        if (!counts) return;
        ++sites;
        for (NodeId owner = owners[regions[id]]; owner != ir::none; owner = owners[regions[owner]]) {
            marks[owner].outer = true;
            ++marks[owner].sites;
        }
    });
}

void KernelPlan::look_at_path(NodeId id) {
    const Op op = fn_[id].op;
    const NodeId root = fn_.arg(id, 0);
    const auto path = fn_.args(id).subspan(ir::path_start(op));
    const auto computed = [&](NodeId step) { return !fn_.is_constant(step); };
    switch (fn_[root].op) {
        case Op::Buffer: uses[fn_[root].imm].address = true; break;
        case Op::Var:
            if (std::any_of(path.begin(), path.end(), computed)) marks[root].indexed = true;
            break;
        default:
            if (op == Op::Extract) {
                // Few parts are selected by comparisons; many are worth a spill to memory.
                DType type = fn_.type(root);
                for (const NodeId step : path) {
                    if (computed(step) && type.count() > 8) marks[root].spilled = true;
                    type =
                        type.part(type.is_struct() ? static_cast<std::uint64_t>(*fn_.constant_int(step)) : 0);
                }
            }
            break;
    }
}

// A variable that is stored as a whole right after its declaration need not be zeroed.
void KernelPlan::look_at_variables(ir::RegionId region) {
    const std::vector<NodeId>& nodes = fn_.nodes_of(region);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const ir::Node& node = fn_[nodes[i]];
        for (const ir::RegionId inner : node.regions) {
            if (inner != ir::none) look_at_variables(inner);
        }
        if (node.op != Op::Var) continue;
        constexpr std::size_t far = 16;
        for (std::size_t k = i + 1; k < std::min(nodes.size(), i + far); ++k) {
            const ir::Node& later = fn_[nodes[k]];
            if (ir::traits(later.op).control) break;
            if (later.count == 0 || fn_.arg(nodes[k], 0) != nodes[i]) continue;
            marks[nodes[i]].initialised = later.op == Op::Store && later.count == 2;
            break;
        }
    }
}

void KernelPlan::look_at(NodeId id) {
    const ir::Node& node = fn_[id];
    const bool bits = !computes(node.op);
    for (const NodeId used : fn_.args(id)) {
        if (bits) marks[used].payload = true;
        if (fn_[used].op == Op::Param) uses[fn_[used].imm].value = true;
    }
    switch (ir::form(node.op)) {
        case Form::BufferSize: uses[fn_[fn_.arg(id, 0)].imm].elements = true; break;
        case Form::Builtin:
            global_size = global_size || node.op == Op::GlobalSize || node.op == Op::GroupCount;
            subgroups = subgroups || node.op == Op::SubgroupId || node.op == Op::SubgroupCount ||
                        node.op == Op::SubgroupSize || node.op == Op::SubgroupLane;
            break;
        case Form::Atomic:
        case Form::AtomicCas: {
            ordered = true;
            const NodeId root = fn_.arg(id, 0);
            if (fn_[root].op == Op::Shared && node.type.is_float() &&
                (is_exchange_loop(target_, node.op, node.type.scalar(), true) || node.op == Op::AtomicCas ||
                 node.op == Op::AtomicExchange)) {
                marks[root].exchanged = true;
            }
            look_at_path(id);
            break;
        }
        case Form::Load:
        case Form::Store:
        case Form::Extract: look_at_path(id); break;
        case Form::Sync:
            ordered = true;
            barrier = barrier || node.op == Op::Barrier;
            break;
        case Form::SubgroupFold:
        case Form::SubgroupLane:
        case Form::SubgroupVote:
        case Form::Ballot:
        case Form::Elect: subgroups = true; break;
        case Form::Print: prints = true; break;
        default: break;
    }
}

std::uint64_t KernelPlan::bound(ir::RegionId region, std::uint64_t& uncounted) {
    std::uint64_t sum = 0;
    if (region == ir::none) return sum;
    for (const NodeId id : fn_.nodes_of(region)) sum = saturating_add(sum, bound_node(id, uncounted));
    return sum;
}

std::uint64_t KernelPlan::bound_node(NodeId id, std::uint64_t& uncounted) {
    const ir::Node& node = fn_[id];
    switch (node.op) {
        case Op::If:
            // Adds both sides: a subgroup may run one after the other.
            return saturating_add(bound(node.regions[0], uncounted), bound(node.regions[1], uncounted));
        case Op::For: {
            std::uint64_t trips = constant_trips(fn_, id);
            const bool constant = trips != unbounded;
            if (!constant && node.type.size() < 4) trips = std::uint64_t{1} << (8 * node.type.size());
            std::uint64_t inside_uncounted = 0;
            const std::uint64_t inside = bound(node.regions[0], inside_uncounted);
            const std::uint64_t all = saturating_add(saturating_mul(trips, saturating_add(inside, 1)), 1);
            if (constant && all <= most_free_iterations && inside == inside_uncounted &&
                !leaves_loop(fn_, node.regions[0])) {
                marks[id].free = static_cast<std::uint32_t>(all);
                uncounted += all;
            } else {
                uncounted += inside_uncounted;
            }
            return all;
        }
        case Op::Loop: bound(node.regions[0], uncounted); return unbounded;
        default: break;
    }
    if (ir::form(node.op) != Form::Atomic) return 0;
    const bool shared = fn_[fn_.arg(id, 0)].op == Op::Shared;
    return is_exchange_loop(target_, node.op, node.type.scalar(), shared) ? exchange_iterations : 0;
}

}  // namespace volley::codegen::spirv
