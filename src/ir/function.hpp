// A kernel in Volley's IR: typed SSA nodes in nested, structured regions. docs/ir.md is the contract.
//
// A node and its result share one id (NodeId). Nodes are stored in one array in the order of their creation.
// Regions list node ids and define which nodes run, and in which order. Passes edit regions and operands, or
// rebuild the function; a node that no region lists is dead.
#pragma once

#include <volley/dtype.hpp>
#include <volley/ir/op.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace volley::ir {

using NodeId = std::uint32_t;
using RegionId = std::uint32_t;
inline constexpr std::uint32_t none = 0xffffffffu;

/// The number of operations; an Op of this value or above is invalid.
#define VOLLEY_IR_COUNT(name, text, form) +1u
inline constexpr unsigned op_count = VOLLEY_IR_OPS(VOLLEY_IR_COUNT);
#undef VOLLEY_IR_COUNT

/// The maximum nesting depth of regions; it allows code that walks them to recurse.
inline constexpr unsigned max_nesting = 256;
/// The maximum nesting depth of types (arrays in structs in arrays).
inline constexpr unsigned max_type_nesting = 64;

/// The source location of an operation; file indexes Function::files, line 0 means unknown. It does not
/// affect the meaning of a kernel, and passes preserve it.
struct Loc {
    std::uint32_t file = 0;
    std::uint32_t line = 0;
    std::uint32_t note = 0;  // the comment that precedes it: Function::notes[note - 1]; 0: none
    friend bool operator==(Loc, Loc) = default;
};

struct Node {
    Op op = Op::Zero;
    DType type;               // of the result; for roots the type of the memory (a buffer: of one element)
    std::uint64_t imm = 0;    // constant bits, parameter index, string index, fence scope
    std::uint32_t first = 0;  // operands: Function::operands[first, first + count)
    std::uint32_t count = 0;
    RegionId regions[2] = {none, none};  // If: then, else (else may be none); For, Loop: body
    Loc loc;
};

struct Region {
    std::vector<NodeId> nodes;
};

enum class ParamKind : std::uint8_t {
    Buffer,  // Buff<T>, Buff<const T>
    Const,   // Const<T>, Value<T>: passed by the caller
    Extent,  // the extent of an axis of a bound buffer, in elements; passed by the runtime
    Stride,  // the distance between neighbours along an axis, in elements; passed by the runtime
};

struct Param {
    ParamKind kind = ParamKind::Buffer;
    DType type;              // element type of a buffer, else type of the value
    std::string name;        // "data", or "arg0" if the host language provides no name
    bool read_only = false;  // Buff<const T>
    NodeId node = none;      // the Buffer or Param node
    /// Of a buffer: the number of dimensions that its accesses by position need; 0: any.
    std::uint32_t rank = 0;
    /// Of an Extent or Stride: the parameter index of the buffer, and the axis.
    std::uint32_t buffer = 0;
    std::uint32_t axis = 0;

    /// Returns whether the runtime computes the value from the layout of a bound buffer. These parameters
    /// follow all others.
    [[nodiscard]] bool is_layout() const noexcept {
        return kind == ParamKind::Extent || kind == ParamKind::Stride;
    }
};

using Dim3 = std::array<std::uint32_t, 3>;

struct ForeignCode;

/// One kernel as plain data: a copy is an independent kernel. Built by Builder, checked by verify().
class Function {
public:
    std::string name;
    std::vector<Param> params;
    std::optional<Dim3> local_size;  // declared by the kernel, or fixed by specialisation
    std::vector<Node> nodes;
    std::vector<NodeId> operands;  // pool; see Node::first
    std::vector<Region> regions;   // regions[body] is the kernel's body
    std::vector<std::string> strings;
    std::vector<std::string> files;
    std::vector<std::string> notes;
    RegionId body = 0;
    std::shared_ptr<const ForeignCode> foreign;  // replaces the body: SPIR-V or OpenCL C

    Function() : regions(1) {}

    [[nodiscard]] const Node& operator[](NodeId id) const { return nodes[id]; }
    [[nodiscard]] Node& operator[](NodeId id) { return nodes[id]; }
    [[nodiscard]] std::span<const NodeId> args(NodeId id) const {
        return {operands.data() + nodes[id].first, nodes[id].count};
    }
    [[nodiscard]] std::span<NodeId> args(NodeId id) {
        return {operands.data() + nodes[id].first, nodes[id].count};
    }
    [[nodiscard]] NodeId arg(NodeId id, unsigned k) const { return operands[nodes[id].first + k]; }
    [[nodiscard]] DType type(NodeId id) const { return nodes[id].type; }
    [[nodiscard]] const std::vector<NodeId>& nodes_of(RegionId r) const { return regions[r].nodes; }

    /// Appends a node to the node array (not to a region) and returns its id.
    NodeId add(Op op, DType type, std::span<const NodeId> args, std::uint64_t imm = 0, Loc loc = {});
    RegionId add_region();
    std::uint32_t add_string(std::string_view text);  // interned
    std::uint32_t add_file(std::string_view path);    // interned
    std::uint32_t add_note(std::string_view text);    // interned; for Loc::note

    /// Returns the value of a Const node of integer or bool type, sign- or zero-extended; nullopt for other
    /// nodes.
    [[nodiscard]] std::optional<std::int64_t> constant_int(NodeId id) const;
    [[nodiscard]] bool is_constant(NodeId id) const { return nodes[id].op == Op::Const; }
    /// Returns "file.cpp:12", or "" if the location is unknown.
    [[nodiscard]] std::string where(Loc loc) const;
    /// Returns the lines of the comment that precedes the operation.
    [[nodiscard]] std::vector<std::string_view> note_lines(Loc loc) const;
};

/// The effects of an operation besides computing its result.
struct Traits {
    bool pure = false;        // same operands, same result; may be removed, merged, moved
    bool reads = false;       // memory
    bool writes = false;      // memory or output
    bool convergent = false;  // its result depends on the active lanes: never moves across control flow
    bool control = false;     // has regions or jumps
};

[[nodiscard]] std::string_view mnemonic(Op op) noexcept;
[[nodiscard]] Form form(Op op) noexcept;
/// Returns whether operations of the form compute each component of their result from the same component of
/// their operands. These forms are contiguous in the enumeration.
[[nodiscard]] constexpr bool is_elementwise(Form form) noexcept {
    return form >= Form::Unary && form <= Form::Convert;
}
[[nodiscard]] Traits traits(Op op) noexcept;
/// Returns whether the first two operands may be exchanged.
[[nodiscard]] bool is_commutative(Op op) noexcept;
[[nodiscard]] std::optional<Op> op_from_mnemonic(std::string_view text) noexcept;

/// Returns the number of operands before the path of an access: Load 1, Store and Atomic* 2, AtomicCas 3,
/// Extract 1; 0 for other operations.
[[nodiscard]] unsigned path_start(Op op) noexcept;

/// Returns the number of {} placeholders in a print format; nullopt if a brace is neither part of a
/// placeholder nor doubled.
[[nodiscard]] std::optional<std::size_t> print_places(std::string_view format) noexcept;

/// Bytes that a shared array of `size` bytes occupies: each starts at a multiple of 64, a cache line.
[[nodiscard]] constexpr std::uint64_t shared_slot_bytes(std::uint64_t size) noexcept {
    return (size + 63) / 64 * 64;
}
/// Returns the shared memory that a workgroup of the kernel needs, in bytes.
[[nodiscard]] std::uint64_t shared_bytes(const Function& fn);

/// Returns the bytes of memory that the function occupies.
[[nodiscard]] std::uint64_t memory_bytes(const Function& fn) noexcept;

/// Calls f(node id) for each node in execution order; a node comes before the nodes in its regions.
template <class F>
void for_each_node(const Function& fn, RegionId region, F&& f) {
    for (const NodeId id : fn.regions[region].nodes) {
        f(id);
        for (const RegionId inner : fn.nodes[id].regions) {
            if (inner != none) for_each_node(fn, inner, f);
        }
    }
}

}  // namespace volley::ir
