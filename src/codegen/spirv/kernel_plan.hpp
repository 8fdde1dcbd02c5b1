// Analysis before emission: the leaves of types, variables that need memory, arguments in use, accesses that
// need ordering between invocations, and upper bounds of loop iterations.
#pragma once

#include "codegen/spirv/compiler.hpp"
#include "ir/function.hpp"
#include "ir/leaves.hpp"

#include <unordered_map>
#include <vector>

namespace volley::codegen::spirv {

/// Caches the leaves of each type.
class LeafTable {
public:
    [[nodiscard]] const ir::Leaves& of(DType type);

private:
    std::unordered_map<const TypeInfo*, ir::Leaves> table_;
};

/// The kind of item of a flat array; see KernelEmitter::cell_of.
enum class Cell : std::uint8_t { Bit, Byte, Short, Word, Float, Long, Double, Pair };
inline constexpr std::size_t cell_kinds = 8;

/// Upper bound of loop iterations; saturates at `unbounded`.
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
        bool initialised = false;  // a variable that is first stored as a whole
        bool payload = false;      // a load whose bits matter even for NaN: not only computed with
        bool spilled = false;      // a value from which computed indices extract parts
        bool exchanged = false;    // a shared array whose floats are updated by compare-exchange
        std::uint32_t sites = 0;   // of a loop: number of loops inside it
        bool outer = false;        // a loop that contains loops with their own count
        /// Iterations of a loop whose count is a small constant: added at once instead of one by one.
        std::uint32_t free = 0;
    };
    std::vector<Mark> marks;  // by node
    bool global_size = false;
    bool barrier = false;
    bool ordered = false;  // invocations may observe each other's accesses
    bool subgroups = false;
    bool prints = false;
    bool guarded = false;  // workgroups may be partial at the grid's edge
    /// Loops are counted, because some invocation may reach the target's limit.
    bool counted = false;
    std::uint32_t most_iterations = 0;  // count at which loops stop
    std::uint32_t sites = 0;            // number of loops

private:
    void look_at(ir::NodeId id);
    void look_at_path(ir::NodeId id);
    void look_at_variables(ir::RegionId region);
    std::uint64_t bound(ir::RegionId region, std::uint64_t& uncounted);
    std::uint64_t bound_node(ir::NodeId id, std::uint64_t& uncounted);

    const ir::Function& fn_;
    const Target& target_;
};

/// Returns the trip count of a For if it is constant, otherwise `unbounded`.
[[nodiscard]] std::uint64_t constant_trips(const ir::Function& fn, ir::NodeId loop);

/// Returns true if NaN payloads of operands and result are irrelevant.
[[nodiscard]] bool computes(ir::Op op) noexcept;

/// Returns true if an atomic is a compare-exchange loop on this target.
[[nodiscard]] bool is_exchange_loop(const Target& target, ir::Op op, ScalarType type, bool shared);

}  // namespace volley::codegen::spirv
