// What the emitter knows before it writes: the leaves of types, which variables need memory, which arguments
// are used, what has to be ordered between invocations, and how many iterations loops may take.
#pragma once

#include "codegen/spirv/compiler.hpp"
#include "ir/function.hpp"
#include "ir/leaves.hpp"

#include <unordered_map>
#include <vector>

namespace volley::codegen::spirv {

/// Leaves of types, made once for each.
class LeafTable {
public:
    [[nodiscard]] const ir::Leaves& of(DType type);

private:
    std::unordered_map<const TypeInfo*, ir::Leaves> table_;
};

/// What an item of a flat array is: see KernelEmitter::cell_of.
enum class Cell : std::uint8_t { Bit, Byte, Short, Word, Float, Long, Double, Pair };
inline constexpr std::size_t cell_kinds = 8;

/// Iterations of loops, as an upper bound; saturates at `unbounded`.
inline constexpr std::uint64_t unbounded = ~std::uint64_t{0};

struct KernelPlan {
    KernelPlan(const ir::Function& fn, const Variant& variant, const Target& target);

    LeafTable leaves;
    struct Use {
        bool address = false, elements = false, value = false;
    };
    std::vector<Use> uses;  // by parameter
    struct Mark {
        bool indexed = false;      // a variable with computed indices
        bool initialised = false;  // a variable that is stored to as a whole before anything else
        bool payload = false;      // a load whose bits matter, of NaN too: not only computed with
        bool spilled = false;      // a value from which parts are taken by computed indices
        bool exchanged = false;    // a shared array whose floats are compared and exchanged
        std::uint32_t sites = 0;   // of a loop: places of loops inside of it
        bool outer = false;        // a loop that holds loops which count on their own
        /// Of a loop whose iterations are constant and few: added once, not counted one by one.
        std::uint32_t free = 0;
    };
    std::vector<Mark> marks;  // by node
    bool global_size = false;
    bool barrier = false;
    bool ordered = false;  // invocations may see each other's accesses
    bool subgroups = false;
    bool prints = false;
    bool guarded = false;  // the grid's edge may cut workgroups
    /// Loops are counted: some invocation may reach the target's limit.
    bool counted = false;
    std::uint32_t most_iterations = 0;  // where counting stops
    std::uint32_t sites = 0;            // places of loops

private:
    void look_at(ir::NodeId id);
    void look_at_path(ir::NodeId id);
    void look_at_variables(ir::RegionId region);
    std::uint64_t bound(ir::RegionId region, std::uint64_t& uncounted);
    std::uint64_t bound_node(ir::NodeId id, std::uint64_t& uncounted);

    const ir::Function& fn_;
    const Target& target_;
};

/// How often a For runs its body, where that is constant; else `unbounded`.
[[nodiscard]] std::uint64_t constant_trips(const ir::Function& fn, ir::NodeId loop);

/// Whether the payload of a NaN that goes in or comes out means nothing.
[[nodiscard]] bool computes(ir::Op op) noexcept;

/// Whether an atomic is a loop of compare and exchange on this target.
[[nodiscard]] bool is_exchange_loop(const Target& target, ir::Op op, ScalarType type, bool shared);

}  // namespace volley::codegen::spirv
