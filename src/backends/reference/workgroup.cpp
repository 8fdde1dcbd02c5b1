// Launches a grid, and runs the control flow of a workgroup.
#include "backends/reference/workgroup.hpp"

#include "backends/reference/scalar.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace volley::backends::reference {

using ir::Op;

namespace {

constexpr std::size_t memory_align = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + memory_align - 1) / memory_align * memory_align; }

Lanes merged(const Lanes& a, const Lanes& b) {
    Lanes all(a.size() + b.size());
    std::merge(a.begin(), a.end(), b.begin(), b.end(), all.begin());
    return all;
}

}  // namespace

GridState::GridState(const ir::Function& function, const LaunchShape& launch, std::span<const Arg> arguments,
                     const PrintSink& sink)
    : fn(function), shape(launch), args(arguments), print(sink) {
    std::uint64_t size = 1;
    for (unsigned d = 0; d < 3; ++d) {
        if (shape.local[d] == 0)
            fail(ErrorCode::InvalidLaunch, "the local size is 0", fn.name, "use at least 1");
        group_count[d] = static_cast<std::uint32_t>((std::uint64_t{shape.global[d]} + shape.local[d] - 1) /
                                                    shape.local[d]);
        size *= shape.local[d];
        if (size > (1u << 20)) {
            fail(ErrorCode::InvalidLaunch, "the workgroup has more than 2^20 invocations", fn.name,
                 "use a smaller local size");
        }
    }
    group_size = static_cast<std::uint32_t>(size);
    if (shape.subgroup_size < 1 || shape.subgroup_size > 128) {
        fail(ErrorCode::InvalidLaunch, cat("the subgroup size is ", shape.subgroup_size), fn.name,
             "use 1 to 128");
    }
    if (args.size() != fn.params.size()) {
        fail(ErrorCode::InvalidLaunch,
             cat(args.size(), " arguments were passed for ", fn.params.size(), " parameters"), fn.name,
             "pass one argument for each parameter");
    }
    leaves.assign(fn.nodes.size(), nullptr);
    value_slot.assign(fn.nodes.size(), 0);
    memory_slot.assign(fn.nodes.size(), 0);
    ir::for_each_node(fn, fn.body, [&](ir::NodeId id) {
        const ir::Node& node = fn[id];
        leaves[id] = &leaves_of_type(node.type);
        if (node.op == Op::Shared) {
            memory_slot[id] = shared_bytes;
            shared_bytes += aligned(node.type.size());
        } else if (node.op == Op::Var) {
            memory_slot[id] = var_bytes;
            var_bytes += aligned(node.type.size());
        } else if (node.op != Op::Buffer) {
            value_slot[id] = value_leaves;
            value_leaves += leaves[id]->size();
        }
        has_barrier = has_barrier || node.op == Op::Barrier;
    });
}

const ir::Leaves& GridState::leaves_of_type(DType type) const {
    const auto [entry, is_new] = leaf_table_.try_emplace(type.info());
    if (is_new && !type.is_void()) entry->second = ir::leaves_of(type);
    return entry->second;
}

Workgroup::Workgroup(const GridState& grid)
    : grid_(grid),
      fn_(grid.fn),
      values_(grid.value_leaves * grid.group_size),
      shared_(grid.shared_bytes),
      vars_(grid.var_bytes * grid.group_size) {}

ir::Dim3 Workgroup::local_id(std::uint32_t lane) const {
    const ir::Dim3& local = grid_.shape.local;
    return {lane % local[0], lane / local[0] % local[1], lane / local[0] / local[1]};
}

std::string Workgroup::where(NodeId id, std::uint32_t lane) const {
    const ir::Dim3 at = local_id(lane);
    std::string text = cat("kernel '", fn_.name, "', invocation (");
    for (unsigned d = 0; d < 3; ++d) {
        text += cat(d == 0 ? "" : ", ", group_[d] * grid_.shape.local[d] + at[d]);
    }
    text += ")";
    const std::string source = fn_.where(fn_[id].loc);
    if (!source.empty()) text += cat(", ", source);
    return text;
}

void Workgroup::run(ir::Dim3 group) {
    group_ = group;
    // Shared memory is undefined at the start; the pattern is unlikely to match a correct result.
    std::fill(shared_.begin(), shared_.end(), std::byte{0xa5});
    Lanes active;
    for (std::uint32_t lane = 0; lane < grid_.group_size; ++lane) {
        const ir::Dim3 at = local_id(lane);
        bool exists = true;
        for (unsigned d = 0; d < 3; ++d) {
            exists = exists && std::uint64_t{group[d]} * grid_.shape.local[d] + at[d] < grid_.shape.global[d];
        }
        if (exists) active.push_back(lane);
    }
    running_ = active.size();
    faults_.clear();
    if (grid_.has_barrier && running_ != grid_.group_size) {
        fail(ErrorCode::InvalidLaunch, "a kernel with a barrier was launched with a partial workgroup",
             fn_.name, "make the global size a multiple of the local size");
    }
    run_region(fn_.body, active, nullptr);
}

void Workgroup::run_region(ir::RegionId region, Lanes& active, LoopExits* exits) {
    for (const NodeId id : fn_.nodes_of(region)) {
        if (active.empty()) return;
        run_node(id, active, exits);
    }
}

void Workgroup::count_step() {
    if (grid_.shape.max_steps != 0 && ++steps_ > grid_.shape.max_steps) {
        fail(ErrorCode::Timeout, cat("a workgroup ran more than ", grid_.shape.max_steps, " operations"),
             fn_.name, "check that its loops terminate");
    }
}

void Workgroup::run_node(NodeId id, Lanes& active, LoopExits* exits) {
    count_step();
    if (!faults_.empty()) {
        const Lanes sound = pass_faults_on(id, active);
        if (sound.size() != active.size()) {
            run_value(id, sound);
            return;
        }
    }
    switch (fn_[id].op) {
        case Op::If: run_if(id, active, exits); return;
        case Op::For: run_for(id, active); return;
        case Op::Loop: run_loop(id, active); return;
        case Op::Break:
            exits->broke = merged(exits->broke, active);
            active.clear();
            return;
        case Op::Continue:
            exits->continued = merged(exits->continued, active);
            active.clear();
            return;
        case Op::Return: active.clear(); return;
        case Op::Barrier: run_barrier(id, active); return;
        case Op::SubgroupBarrier:
        case Op::Fence: return;  // operations already run in lockstep
        default: run_value(id, active); return;
    }
}

void Workgroup::run_if(NodeId id, Lanes& active, LoopExits* exits) {
    const ir::Node& node = fn_[id];
    const NodeId condition = fn_.arg(id, 0);
    Lanes taken;
    Lanes other;
    for (const std::uint32_t lane : active) (value(condition, 0, lane) != 0 ? taken : other).push_back(lane);
    run_region(node.regions[0], taken, exits);
    if (node.regions[1] != ir::none) run_region(node.regions[1], other, exits);
    active = merged(taken, other);
}

void Workgroup::run_for(NodeId id, Lanes& active) {
    __extension__ typedef __int128 Wide;  // holds begin + trips * step for all 64-bit operands
    struct LaneLoop {
        Wide next = 0;
        Wide step = 0;
        Wide trips = 0;
    };
    const ScalarType type = fn_.type(id).scalar();
    const bool is_signed = is_signed_integer(type);
    const auto wide = [&](Bits raw) { return is_signed ? Wide{as_int64(type, raw)} : Wide{raw}; };
    std::unordered_map<std::uint32_t, LaneLoop> loops;
    for (const std::uint32_t lane : active) {
        const Wide begin = wide(value(fn_.arg(id, 0), 0, lane));
        const Wide end = wide(value(fn_.arg(id, 1), 0, lane));
        const Wide step = wide(value(fn_.arg(id, 2), 0, lane));
        Wide trips = 0;
        if (step > 0 && begin < end) trips = (end - begin + step - 1) / step;
        if (step < 0 && begin > end) trips = (begin - end - step - 1) / -step;
        loops[lane] = {begin, step, trips};
    }
    const Bits mask = bits_of(type) == 64 ? ~Bits{0} : (Bits{1} << bits_of(type)) - 1;
    Lanes done;
    while (!active.empty()) {
        count_step();
        Lanes inside;
        for (const std::uint32_t lane : active) {
            LaneLoop& loop = loops[lane];
            if (loop.trips == 0) {
                done.push_back(lane);
                continue;
            }
            value(id, 0, lane) = static_cast<Bits>(loop.next) & mask;
            loop.next += loop.step;
            --loop.trips;
            inside.push_back(lane);
        }
        LoopExits exits;
        run_region(fn_[id].regions[0], inside, &exits);
        done.insert(done.end(), exits.broke.begin(), exits.broke.end());
        active = merged(inside, exits.continued);
    }
    std::sort(done.begin(), done.end());
    active = std::move(done);
}

void Workgroup::run_loop(NodeId id, Lanes& active) {
    Lanes done;
    while (!active.empty()) {
        count_step();
        LoopExits exits;
        run_region(fn_[id].regions[0], active, &exits);
        done.insert(done.end(), exits.broke.begin(), exits.broke.end());
        active = merged(active, exits.continued);
    }
    std::sort(done.begin(), done.end());
    active = std::move(done);
}

void Workgroup::run_barrier(NodeId id, const Lanes& active) {
    if (active.size() == running_) return;
    fail(ErrorCode::InvalidLaunch,
         cat("only ", active.size(), " of ", running_, " invocations of a workgroup reached a barrier"),
         where(id, active.front()), "move the barrier out of divergent control flow");
}

void interpret(const ir::Function& fn, const LaunchShape& shape, std::span<const Arg> args,
               const PrintSink& print) {
    const GridState grid(fn, shape, args, print);
    Workgroup workgroup(grid);
    for (std::uint32_t z = 0; z < grid.group_count[2]; ++z) {
        for (std::uint32_t y = 0; y < grid.group_count[1]; ++y) {
            for (std::uint32_t x = 0; x < grid.group_count[0]; ++x) workgroup.run({x, y, z});
        }
    }
}

}  // namespace volley::backends::reference
