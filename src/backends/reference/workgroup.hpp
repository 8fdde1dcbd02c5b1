// Executes one workgroup of a kernel. Each operation runs for all active invocations before the next one
// runs; control flow splits the list of active invocations and merges it again. Barriers therefore need no
// work, and subgroup operations see exactly the lanes that reach them.
#pragma once

#include "backends/reference/interpreter.hpp"
#include "ir/leaves.hpp"

#include <optional>
#include <unordered_map>
#include <variant>
#include <vector>

namespace volley::backends::reference {

/// Indices (local_index) of invocations, in ascending order.
using Lanes = std::vector<std::uint32_t>;

/// State shared by all workgroups of a launch.
struct GridState {
    GridState(const ir::Function& fn, const LaunchShape& shape, std::span<const Arg> args,
              const PrintSink& print);

    const ir::Function& fn;
    const LaunchShape& shape;
    std::span<const Arg> args;
    const PrintSink& print;
    ir::Dim3 group_count;
    std::uint32_t group_size;               // invocations in a full workgroup
    std::vector<const ir::Leaves*> leaves;  // of each live node's type; null for dead nodes
    std::vector<std::size_t> value_slot;    // first leaf of each live node in Workgroup::values_
    std::vector<std::size_t> memory_slot;   // first byte of each Shared, and of each Var per invocation
    std::size_t value_leaves = 0;
    std::size_t shared_bytes = 0;
    std::size_t var_bytes = 0;
    bool has_barrier = false;

    [[nodiscard]] const ir::Leaves& leaves_of_type(DType type) const;

private:
    mutable std::unordered_map<const TypeInfo*, ir::Leaves> leaf_table_;
};

class Workgroup {
public:
    explicit Workgroup(const GridState& grid);
    void run(ir::Dim3 group);

private:
    using NodeId = ir::NodeId;
    using Bits = std::uint64_t;

    // Lanes that left a loop's body early.
    struct LoopExits {
        Lanes broke;
        Lanes continued;
    };
    // The target of an access: bytes in memory, or leaves of a value.
    struct AccessTarget {
        std::byte* memory = nullptr;
        std::uint64_t leaf = 0;
        DType type;
    };

    // Control flow (workgroup.cpp). Each function leaves in `active` the lanes that continue after it.
    void run_region(ir::RegionId region, Lanes& active, LoopExits* exits);
    void run_node(NodeId id, Lanes& active, LoopExits* exits);
    void run_if(NodeId id, Lanes& active, LoopExits* exits);
    void run_for(NodeId id, Lanes& active);
    void run_loop(NodeId id, Lanes& active);
    void run_barrier(NodeId id, const Lanes& active);
    void count_step();

    // Loads out of bounds (workgroup_faults.cpp). Such a load is an error only if its value is needed. Until
    // then the fault travels with the values that are computed from it, which are zero.
    struct Fault {
        NodeId access = 0;
        std::int64_t index = 0;
        std::uint64_t count = 0;
        DType of;
    };
    [[nodiscard]] const Fault* fault(NodeId id, std::uint32_t lane) const;
    [[nodiscard]] const Fault* fault_of_operands(NodeId id, std::uint32_t lane) const;
    [[nodiscard]] const Fault* fault_of_choice(NodeId id, std::uint32_t lane) const;
    Lanes pass_faults_on(NodeId id, const Lanes& active);
    void set_fault(NodeId id, std::uint32_t lane, const Fault& fault);
    [[noreturn]] void report(const Fault& fault, std::uint32_t lane) const;

    // Values (workgroup_values.cpp)
    void run_value(NodeId id, const Lanes& active);
    void run_builtin(NodeId id, const Lanes& active);
    void run_elementwise(NodeId id, const Lanes& active);
    void run_select(NodeId id, const Lanes& active);
    void run_convert(NodeId id, const Lanes& active);
    void run_bitcast(NodeId id, const Lanes& active);
    void run_construct(NodeId id, const Lanes& active);
    void run_extract(NodeId id, const Lanes& active);

    // Memory and output (workgroup_memory.cpp)
    void declare_var(NodeId id, const Lanes& active);
    void run_param(NodeId id, const Lanes& active);
    void run_load(NodeId id, const Lanes& active);
    void run_store(NodeId id, const Lanes& active);
    void run_atomic(NodeId id, const Lanes& active);
    void run_print(NodeId id, const Lanes& active);
    /// Returns the target of an access, or the fault if it is out of bounds.
    [[nodiscard]] std::variant<AccessTarget, Fault> reach(NodeId id, std::uint32_t lane);
    [[nodiscard]] AccessTarget reach_or_report(NodeId id, std::uint32_t lane);
    [[nodiscard]] std::optional<Fault> follow(NodeId id, std::uint32_t lane, AccessTarget& place,
                                              std::span<const NodeId> path) const;

    // Subgroups (workgroup_subgroups.cpp)
    void run_subgroup(NodeId id, const Lanes& active);
    void run_fold(NodeId id, std::span<const std::uint32_t> lanes);
    void run_lane(NodeId id, std::span<const std::uint32_t> lanes);
    void run_vote(NodeId id, std::span<const std::uint32_t> lanes);

    [[nodiscard]] Bits& value(NodeId id, std::size_t leaf, std::uint32_t lane) {
        return values_[(grid_.value_slot[id] + leaf) * grid_.group_size + lane];
    }
    [[nodiscard]] const Bits& value(NodeId id, std::size_t leaf, std::uint32_t lane) const {
        return values_[(grid_.value_slot[id] + leaf) * grid_.group_size + lane];
    }
    [[nodiscard]] ir::Dim3 local_id(std::uint32_t lane) const;
    [[nodiscard]] std::string where(NodeId id, std::uint32_t lane) const;

    const GridState& grid_;
    const ir::Function& fn_;
    ir::Dim3 group_{};
    std::size_t running_ = 0;  // invocations of this workgroup inside the grid
    std::uint64_t steps_ = 0;
    std::vector<Bits> values_;  // [slot][lane]
    std::vector<std::byte> shared_;
    std::vector<std::byte> vars_;                      // [lane][bytes]
    std::unordered_map<std::uint64_t, Fault> faults_;  // by node and lane
};

}  // namespace volley::backends::reference
