// Emits SPIR-V for a kernel's IR, from the view of one invocation.
//
// A value is a list of scalars (ScalarCode defines their representation). Buffers are device addresses, and
// each access creates a pointer to the block layout that it needs. Shared arrays and variables with computed
// indices are flat arrays, one for each kind of cell; other variables have one Function variable per scalar.
// Values that are constant for the whole kernel are computed once, in the prologue.
#pragma once

#include "codegen/api/element_path.hpp"
#include "codegen/spirv/compiler.hpp"
#include "codegen/spirv/kernel_plan.hpp"
#include "codegen/spirv/module_builder.hpp"
#include "codegen/spirv/scalar_code.hpp"
#include "ir/function.hpp"
#include "passes/uniformity.hpp"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace volley::codegen::spirv {

class KernelEmitter {
public:
    KernelEmitter(const ir::Function& fn, const Variant& variant, const Target& target);

    /// Writes the whole kernel. Call once.
    [[nodiscard]] Module emit();

private:
    // kernel_emitter.cpp: arguments, ids, modes
    void declare_arguments();
    void declare_modes();
    Id load_argument(std::size_t field, Id type, std::uint32_t word = 0);
    Id block_at(Id block, Id address);  // a pointer to a block of that type
    [[nodiscard]] std::size_t field_of(FieldKind kind, std::uint32_t parameter = 0) const;
    Id address_of(std::uint32_t parameter);  // uvec2, in the prologue
    Id reports();                            // a pointer to the report block
    std::span<const Id, 3> global_size();
    std::span<const Id, 3> group_id();
    std::span<const Id, 3> local_id();
    std::span<const Id, 3> global_id();
    Id local_index();
    Id builtin_word(spv::BuiltIn builtin);
    std::array<Id, 3> builtin_vector(spv::BuiltIn builtin);
    Id inside_grid();

    // emit_value.cpp
    void emit_node(ir::NodeId id);
    void emit_elementwise(ir::NodeId id);
    void emit_builtin(ir::NodeId id);
    void emit_param(ir::NodeId id);
    void emit_select(ir::NodeId id);
    void emit_convert(ir::NodeId id);
    void emit_bitcast(ir::NodeId id);
    void emit_extract(ir::NodeId id);
    void emit_zero(ir::NodeId id);
    void emit_buffer_size(ir::NodeId id);
    void extract_path(std::size_t first, DType type, std::span<const ir::NodeId> path,
                      std::vector<Scalar>& out);

    // emit_memory.cpp: buffers
    [[nodiscard]] std::uint32_t parameter_of(const ElementPath& place) const {
        return static_cast<std::uint32_t>(fn_[place.root].imm);
    }
    Id chain_index(ir::NodeId index);
    Id leaf_pointer(const ElementPath& place, std::uint64_t offset, Id type);
    Id pointer_at(Scalar address, Id type);
    Scalar byte_address(const ElementPath& place, std::uint64_t offset);
    [[nodiscard]] bool in_words(ScalarType s, const ElementPath& place, std::uint64_t offset) const;
    Id memory_type(ScalarType s);
    void load_run(const ElementPath& place, std::uint64_t offset, ScalarType s, unsigned count,
                  std::vector<Scalar>& out);
    void store_run(const ElementPath& place, std::uint64_t offset, ScalarType s,
                   std::span<const Scalar> values);
    Id load_byte(Scalar address, std::uint64_t bytes);  // one or two bytes
    void store_byte(Scalar address, std::uint64_t bytes, Id v);
    void emit_load(ir::NodeId id);
    void emit_store(ir::NodeId id);
    Id load_at(Id type, Id pointer, std::uint32_t align);
    void store_at(Id pointer, Id v, std::uint32_t align);

    // emit_flat.cpp: shared arrays and variables
    struct Flat {
        spv::StorageClass storage = spv::StorageClass::Function;
        bool integers = false;  // floats are stored as integers, for compare-exchange
        std::array<Id, cell_kinds> arrays = {};
    };
    void declare_flat(Flat& flat, DType type);
    [[nodiscard]] Cell cell_of(const Flat& flat, ScalarType s) const;
    [[nodiscard]] std::uint64_t cells_in(const Flat& flat, DType type, Cell cell) const;
    Id cell_type(Cell cell);
    /// The first index of each kind of cell at the end of a path, from constant and computed steps.
    struct Position {
        std::array<Id, cell_kinds> computed = {};  // 0: none
        std::array<std::uint64_t, cell_kinds> constant = {};
        DType type;
    };
    Position flat_position(const Flat& flat, DType type, std::span<const ir::NodeId> path, bool clamp);
    Id cell_pointer(const Flat& flat, const Position& at, Cell cell, std::uint64_t next);
    void load_flat(const Flat& flat, const Position& at, std::vector<Scalar>& out);
    void store_flat(const Flat& flat, const Position& at, std::span<const Scalar> values);
    Scalar from_cell(ScalarType s, Cell cell, Id v);
    Id to_cell(ScalarType s, Cell cell, Scalar v);
    Id clamped_index(ir::NodeId index, std::uint64_t count);
    Id index_word(ir::NodeId index);
    void declare_root(ir::NodeId id);
    void declare_variable(ir::NodeId id);
    void reset_variable(ir::NodeId id);
    void spill(ir::NodeId id);
    void emit_variable_load(ir::NodeId id);
    void emit_variable_store(ir::NodeId id);

    // emit_control.cpp
    void emit_region(ir::RegionId region);
    void emit_if(ir::NodeId id);
    void emit_for(ir::NodeId id);
    void emit_loop(ir::NodeId id);
    Id never();
    void emit_jump(ir::NodeId id);
    void emit_sync(ir::NodeId id);
    // Iteration counting, if the driver silently terminates loops.
    Id load_counter();
    void store_counter(Id count);
    void begin_count();
    void count_iteration(ir::NodeId id, Id exit);
    void leave_count();
    void add_count(Id more);

    // emit_atomic.cpp
    void emit_atomic(ir::NodeId id);
    void emit_split_atomic(ir::NodeId id, bool shared);
    Scalar exchange_loop(ir::NodeId id, Id pointer, ScalarType s, Scalar operand, bool shared);
    Id atomic(spv::Op op, Id type, Id pointer, bool shared, std::initializer_list<Id> operands);
    Id compare_exchange(Id type, Id pointer, bool shared, Id expected, Id desired);

    // emit_subgroup.cpp
    void emit_fold(ir::NodeId id);
    void emit_lane(ir::NodeId id);
    void emit_vote(ir::NodeId id);
    Scalar identity(ir::Op combine, ScalarType type);
    Scalar fold_scalar(ir::Op combine, spv::GroupOperation kind, ScalarType type, Scalar x);
    Scalar fold_extreme(ir::Op combine, spv::GroupOperation kind, ScalarType type, Scalar x);
    Scalar fold_by_lanes(ir::Op combine, spv::GroupOperation kind, ScalarType type, Scalar x);
    Id group(spv::Op op, Id type, std::initializer_list<std::uint32_t> operands);
    Scalar shuffle(ScalarType type, Scalar x, Id from);
    Id lane();
    Id ballot(Id vote);  // uvec4
    void need(spv::Capability capability);

    // emit_subgroup_shared.cpp
    void require_whole_group(std::string_view what);
    void group_barrier();
    Id exchange_cell(std::size_t array, Id index);
    void put_down(Scalar words);
    Scalar pick_up(ScalarType type, Id index);
    Id neighbour(Id from);
    Scalar shuffle_shared(ScalarType type, Scalar x, Id from);
    Id ballot_shared(Id vote);
    Scalar fold_shared(ir::Op combine, spv::GroupOperation kind, ScalarType type, Scalar x);

    // emit_print.cpp
    void emit_print(ir::NodeId id);

    // Values
    [[nodiscard]] std::span<const Scalar> value(ir::NodeId id) const {
        return {pool_.data() + values_[id].first, values_[id].count};
    }
    [[nodiscard]] Scalar scalar(ir::NodeId id) const { return pool_[values_[id].first]; }
    void set(ir::NodeId id, std::span<const Scalar> leaves);
    void set(ir::NodeId id, Scalar v) { set(id, std::span<const Scalar>(&v, 1)); }
    [[nodiscard]] const ir::Leaves& leaves(DType type) { return plan_.leaves.of(type); }

    const ir::Function& fn_;
    const Variant variant_;
    const Target& target_;
    EmittedNode site_;
    KernelPlan plan_;
    ModuleBuilder m_;
    ScalarCode s_;
    Module out_;

    struct PoolSlice {
        std::uint32_t first = 0;
        std::uint32_t count = 0;
    };
    std::vector<PoolSlice> values_;
    std::vector<Scalar> pool_;
    std::vector<Scalar> scratch_;

    struct Variable {
        std::vector<Scalar> slots;  // one per leaf; a pair has two
        Flat flat;                  // if indices are computed
        bool indexed = false;
    };
    std::vector<Variable> variables_;
    std::vector<Flat> flats_;                                   // shared arrays and spilled values
    std::vector<std::uint32_t> memory_;                         // by node: index into variables_ or flats_
    std::vector<std::pair<std::uint64_t, Id>> block_pointers_;  // (parameter, block type) -> pointer

    struct OpenLoop {
        ir::NodeId node = ir::none;
        Id exit = 0;
        Id next = 0;
        bool broken = false;  // some branch leads to the exit
    };
    std::vector<OpenLoop> loops_;

    // Prologue caches
    Id arguments_ = 0;             // the push-constant variable, or a pointer to the block
    Id value_block_ = 0;           // a pointer to the value block, if there is one
    std::size_t first_value_ = 0;  // index of the first value among the fields, where values come last
    std::vector<Id> addresses_;
    std::array<Id, 3> global_size_ = {}, group_id_ = {}, local_id_ = {}, global_id_ = {};
    Id local_index_ = 0, lane_ = 0, reports_ = 0, never_ = 0;
    Id counters_ = 0, counter_ = 0,
       iterations_ = 0;  // iteration counts: shared cells, this subgroup's cell, this loop's register
    std::array<Id, 2> exchange_ = {};  // words of all invocations, for subgroup operations
    std::optional<passes::Uniformity> uniformity_;
    bool payload_ = false;     // the access being emitted preserves the bits of f16 NaNs
    unsigned free_depth_ = 0;  // enclosing loops whose iterations were added in advance
};

}  // namespace volley::codegen::spirv
