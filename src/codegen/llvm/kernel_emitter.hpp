// Emits vector code for a kernel's IR, W invocations at a time.
//
// A value is stored leaf by leaf (the scalars of docs/ir.md): as one scalar if all lanes agree, as lanes if
// they differ, and as both if they form an arithmetic progression over the lanes, so addresses stay scalar.
// Divergent control flow runs under the mask in live_. Invariant: wherever code runs, some lane is live.
#pragma once

#include "codegen/llvm/access_groups.hpp"
#include "codegen/llvm/code_builder.hpp"
#include "codegen/llvm/compiler.hpp"
#include "codegen/llvm/control_plan.hpp"
#include "codegen/llvm/packed_stores.hpp"
#include "ir/function.hpp"
#include "passes/access.hpp"
#include "passes/split_barriers.hpp"
#include "passes/uniformity.hpp"

#include <functional>
#include <optional>
#include <unordered_map>

namespace volley::codegen::llvm {

/// One scalar of a value over the lanes.
struct Leaf {
    Val scalar = nullptr;  // lane 0's value; every lane's value if uniform
    Val lanes = nullptr;   // <W x T>; null if uniform
    [[nodiscard]] bool uniform() const noexcept { return lanes == nullptr; }
    static Leaf of_scalar(Val v) { return {v, nullptr}; }
    static Leaf of_lanes(Val v) { return {nullptr, v}; }
};
using Leaves = std::vector<Leaf>;

/// Returns how ids differ between the W lanes of a vector for this variant.
[[nodiscard]] passes::LaneModel lane_model(const ir::Function& fn, const Variant& variant, unsigned width);

class KernelEmitter {
public:
    KernelEmitter(CodeBuilder& code, const ir::Function& fn, const Variant& variant);

    /// Emits the function `name` with the type of KernelFn.
    void emit(const char* name);
    [[nodiscard]] std::size_t spill_bytes() const noexcept { return spill_bytes_; }

private:
    // kernel_emitter.cpp: the loops around the body, ids, parameters
    void load_work();
    void place_shared();
    void emit_flat();
    void emit_grouped();
    void counted_loop(Val begin, Val end, Val step, const char* name, const std::function<void(Val)>& body);
    void for_each_row(const std::function<void()>& body);  // with global_id_ of the row
    void set_flat_ids(Val x);
    void set_group_ids(Val group);
    void set_local_ids(Val first);  // ids of the chunk that starts at local index `first`
    void emit_body(Val mask);       // the whole body for the current ids
    Val edge_mask();                // lanes of the chunk that are inside the group and the grid

    // emit_interior.cpp: vectors in which conditions on indices hold in all lanes
    void find_interior();
    bool add_to_bounds(ir::NodeId id, std::vector<bool>& needed) const;
    bool add_interior(ir::NodeId condition, std::vector<bool>& needed, std::vector<ir::NodeId>& found) const;
    Val holds_in_all_lanes(ir::NodeId comparison);
    void emit_chunk(Val mask);  // emit_body, with a version for the interior
    [[nodiscard]] bool holds(ir::NodeId condition) const { return in_interior_ && interior_[condition]; }

    // emit_group.cpp: kernels with barriers
    void emit_group_region(const passes::GroupRegion& region);
    void emit_group_control(const passes::GroupItem& item);
    void emit_group_loop(const passes::GroupItem& item);
    void emit_segment(const passes::Segment& segment);
    void emit_segment_chunk(const passes::Segment& segment, Val chunk, Val mask);
    void leave_segment(ir::Op op);
    void for_each_chunk(const std::function<void(Val chunk, Val mask)>& body);
    void place_spills();
    Val spill_address(std::uint64_t offset, std::uint64_t size, Val chunk);
    Leaves load_spilled(ir::NodeId id, Val chunk, bool first_lane_only);
    void reload(ir::NodeId id, Val chunk, bool first_lane_only);
    void save_spilled(ir::NodeId id, Val chunk);
    void load_variable(ir::NodeId id, Val chunk);
    void save_variable(ir::NodeId id, Val chunk);

    // emit_value.cpp: pure operations
    void emit_node(ir::NodeId id);
    void emit_elementwise(ir::NodeId id);
    void emit_builtin(ir::NodeId id);
    void emit_constant(ir::NodeId id);
    void emit_construct(ir::NodeId id);
    void emit_extract(ir::NodeId id);
    void emit_select(ir::NodeId id);
    void emit_bitcast(ir::NodeId id);
    Val convert(Val v, ScalarType from, ScalarType to);
    Val apply(ir::Op op, ScalarType result, ScalarType operand, Val x, Val y, Val z);
    Val apply_integer(ir::Op op, ScalarType type, Val x, Val y, Val z);
    Val apply_float(ir::Op op, ScalarType type, Val x, Val y, Val z);
    Val compare(ir::Op op, ScalarType type, Val x, Val y);
    Val divide(bool remainder, ScalarType type, Val x, Val y);

    // emit_memory.cpp
    struct Step {
        ir::NodeId index;
        std::uint64_t scale;     // bytes, or leaves for variables
        std::uint64_t last = 0;  // the largest legal index, for variables
    };
    struct LaneAddress {
        Val base = nullptr;  // pointer
        std::uint64_t offset = 0;
        std::vector<Step> steps;
        DType type;             // type of the accessed value
        bool buffer = false;    // in a buffer, not in shared memory
        bool streamed = false;  // use streaming stores where whole vectors are aligned
    };
    LaneAddress place(ir::NodeId access);
    /// The terms of a sum of u32: `large` ones, which may have any value, and others that are small together.
    struct SumTerms {
        std::vector<Val> large;  // the same in all lanes
        std::vector<Val> small;  // the values of lane 0
        std::uint64_t constant = 0;
        std::uint64_t most = 0;  // the greatest sum of the small terms and the constant in any lane
    };
    void note_sum(ir::NodeId id);
    [[nodiscard]] bool add_term(SumTerms& terms, ir::NodeId id) const;
    [[nodiscard]] const SumTerms* index_terms(ir::NodeId index) const;
    Val address_of_terms(Val base, const SumTerms& terms, std::uint64_t scale);
    Val index64(ir::NodeId index);        // lane 0; exact even if u32 indices wrap in masked lanes
    Val index64_lanes(ir::NodeId index);  // <W x i64>
    void emit_load(ir::NodeId id);
    void emit_store(ir::NodeId id);
    Leaves load_place(const LaneAddress& place);
    void store_place(const LaneAddress& place, const Leaves& value);
    /// Emits a store of find_packed_stores(); returns false if it must be scattered.
    bool store_packed(ir::NodeId id);
    [[nodiscard]] std::optional<std::int64_t> lane_stride(
        const LaneAddress& place) const;          // bytes; nullopt: varying
    Val address(const LaneAddress& place);        // lane 0
    Val address_lanes(const LaneAddress& place);  // <W x ptr>
    Leaves load_interleaved(Val address, ScalarType type, unsigned count);
    void store_interleaved(Val address, ScalarType type, const Leaves& value, unsigned stream_align = 0);
    void store_vector(Val v, Val address, ScalarType type, Val mask, unsigned stream_align);
    [[nodiscard]] unsigned stream_alignment(const LaneAddress& place) const;  // 0: no streaming
    Val load_strided(Val address, ScalarType type, std::int64_t stride);
    Leaf to_value(Val memory_value, ScalarType type);  // converts bytes to bools
    Val to_memory(Val value, ScalarType type);

    // emit_variable.cpp: local variables
    struct Variable {
        DType type;
        bool uniform = false;
        bool indexed = false;     // some access has a computed index: lives in memory, one slot per leaf
        std::vector<Val> slots;   // one per leaf (not indexed)
        Val memory = nullptr;     // indexed
        unsigned slot_size = 0;   // bytes of a leaf's slot (indexed)
        std::uint64_t spill = 0;  // offset in the spill area, if it lives across segments
        bool spilled = false;
    };
    void declare_variables();
    void reset_variable(ir::NodeId var);
    void emit_variable_load(ir::NodeId id);
    void emit_variable_store(ir::NodeId id);
    /// Returns the uniform part of an indexed access's address, and the lanes' offsets from it (null if there
    /// are none).
    std::pair<Val, Val> variable_address(const Variable& v, std::uint64_t first,
                                         const std::vector<Step>& steps);
    std::pair<std::uint64_t, std::vector<Step>> leaf_path(ir::NodeId access);
    Type slot_type(ScalarType s, bool uniform) const;
    Val slot_to_value(Val stored, ScalarType s);
    Val value_to_slot(Val v, ScalarType s);

    // emit_control.cpp
    void emit_region(ir::RegionId region, Block when_empty = nullptr);
    void emit_if(ir::NodeId id);
    [[nodiscard]] bool is_masked_load(ir::NodeId id) const;
    void emit_for(ir::NodeId id);
    void emit_loop(ir::NodeId id);
    void emit_jump(ir::NodeId id);
    void scalar_branch(Val condition, ir::NodeId node, const std::function<void(ir::RegionId)>& emit_side);
    Val mask();  // live lanes, or null for all
    void set_mask(Val mask);
    void enter_masked();  // from here on, live_ holds the mask
    struct OpenLoop {
        ir::NodeId node;
        Block next = nullptr;  // target of `continue`
        Block exit = nullptr;
        Val broken = nullptr;  // slots of masked loops
        Val continued = nullptr;
        bool masked = false;
    };
    OpenLoop open_loop(ir::NodeId id);            // creates the slots of a divergent loop
    void resume_continued(const OpenLoop& loop);  // revives lanes that executed `continue`
    void close_loop(const OpenLoop& loop, bool was_masked);
    struct Trip {
        Leaf count;  // unsigned, in the index's width
        Leaf begin;
        Leaf step;
    };
    Trip trip_count(ir::NodeId id);

    // emit_atomic.cpp, emit_subgroup.cpp, emit_print.cpp
    void emit_atomic(ir::NodeId id);
    void emit_shared_atomic(ir::NodeId id, bool used);
    Val atomic_once(ir::Op op, ScalarType type, Val address, Val value, Val desired, bool shared);
    void for_each_lane(const std::function<void(Val lane)>& body);
    void emit_fold(ir::NodeId id);
    void emit_scan(ir::NodeId id);
    void emit_shuffle(ir::NodeId id);
    void emit_vote(ir::NodeId id);
    Val fold_identity(ir::Op base, ScalarType type, Type shape);
    void emit_print(ir::NodeId id);

    // Values
    [[nodiscard]] const Leaves& value(ir::NodeId id) const { return values_[id]; }
    Leaf leaf(ir::NodeId id, unsigned k = 0) const { return values_[id][k]; }
    Val lanes(const Leaf& l) { return l.lanes != nullptr ? l.lanes : c.splat(l.scalar); }
    Val scalar(const Leaf& l) { return l.scalar != nullptr ? l.scalar : c.extract(l.lanes, 0u); }
    void set(ir::NodeId id, Leaves leaves) { values_[id] = std::move(leaves); }
    [[nodiscard]] passes::LaneShape shape(ir::NodeId id) const;
    [[nodiscard]] bool lane_uniform(ir::NodeId id) const;

    CodeBuilder& c;
    const ir::Function& fn_;
    const Variant variant_;
    const bool flat_;
    passes::LaneModel model_;
    passes::LaneAnalysis lanes_;
    AccessGroups groups_;
    std::vector<bool> streamed_;  // by parameter
    ControlPlan control_;
    std::unordered_map<ir::NodeId, ir::NodeId> packed_;  // stores, and the ranks in their indices
    std::optional<passes::SegmentPlan> segments_;        // kernels with barriers
    std::vector<Leaves> values_;
    std::unordered_map<ir::NodeId, SumTerms> sums_;  // of nodes whose values are sums of the terms
    std::unordered_map<ir::NodeId, Variable> variables_;
    std::unordered_map<ir::NodeId, std::uint64_t> shared_offsets_;
    std::unordered_map<ir::NodeId, std::uint64_t> spill_offsets_;     // offsets of values
    std::unordered_map<ir::NodeId, std::uint64_t> continue_offsets_;  // offsets of group loops' masks
    std::uint64_t alive_offset_ = 0;  // offset of the mask of lanes that have not returned
    unsigned group_size_ = 1;         // invocations per workgroup
    unsigned chunks_ = 1;             // vectors per workgroup
    std::size_t spill_bytes_ = 0;
    bool group_level_ = false;  // emitting code that runs once per workgroup

    std::vector<bool> interior_;           // by node: conditions that hold in the interior
    std::vector<ir::NodeId> bounds_;       // what the comparisons below are computed from, in order
    std::vector<ir::NodeId> comparisons_;  // hold in all lanes of interior vectors

    // State of the traversal
    bool in_interior_ = false;
    Val live_ = nullptr;  // slot of the current mask
    bool masked_ = false;
    unsigned divergence_ = 0;  // enclosing constructs that run under their own mask
    std::vector<OpenLoop> loops_;
    Block chunk_end_ = nullptr;     // target for invocations that are done
    Block segment_rest_ = nullptr;  // in a segment: the block that saves its variables

    // Work and ids
    Val work_ = nullptr, args_ = nullptr, shared_ = nullptr, spill_ = nullptr;
    Val begin_ = nullptr, end_ = nullptr, row_begin_ = nullptr, row_end_ = nullptr;
    std::vector<Leaves> parameters_;  // values of Param, Buffer and Shared nodes, the same everywhere
    Val global_size_[3] = {}, group_count_[3] = {};
    Leaf global_id_[3], local_id_[3], local_index_;
    Val group_id_[3] = {}, group_base_[3] = {};
    Val subgroup_id_ = nullptr;
};

}  // namespace volley::codegen::llvm
