// Writes a kernel's IR as a SPIR-V module for Vulkan 1.2, in microseconds and without another compiler. It
// depends on a device only through its features (Target) and needs no driver. Thread-safe.
//
// Calling convention, implemented by the backend:
// - The entry point "main" has the variant's local size, all in the first dimension (so subgroups are
//   consecutive invocations). The dispatch covers the grid with workgroups in three dimensions; WorkgroupId
//   counts from the grid's origin. A grid with more workgroups than the device can dispatch is split into
//   pieces, launched with the variant `based`, which adds the argument block's GroupBase to WorkgroupId
//   (vkCmdDispatchBase is subject to the same limit).
// - Arguments form one block of bytes, described by Module::fields. It is the push-constant block, or, if it
//   exceeds the target's push constants, those hold the block's device address. With `values_apart`, values
//   are in memory, so callers can change them without recording commands again.
// - Buffers are passed as device addresses; descriptors are not used.
#pragma once

#include "codegen/api/reports.hpp"
#include "ir/function.hpp"
#include "passes/coarsen.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace volley::codegen::spirv {

/// The device features that code may use.
struct Target {
    std::string device;  // for messages: "vulkan:0 (llvmpipe ...)"
    // Arithmetic. Missing 8, 16 and 64-bit integers and f16 are emulated; a missing f64 is an error.
    bool f16 = false, f64 = false, i8 = false, i16 = false, i64 = false;
    // 8 and 16-bit loads and stores in buffers; otherwise they are extracted from words.
    bool storage8 = false, storage16 = false;
    // Atomics beyond 32-bit integers; otherwise compare-exchange loops.
    bool f32_add = false, shared_f32_add = false;  // OpAtomicFAddEXT
    bool i64_atomics = false, shared_i64_atomics = false;
    bool fused_fma = false;                                                    // GLSL.std.450 Fma rounds once
    bool keeps_nan_f16 = false, keeps_nan_f32 = false, keeps_nan_f64 = false;  // SignedZeroInfNanPreserve
    bool rounds_even_f16 = false, rounds_even_f32 = false, rounds_even_f64 = false;  // RoundingModeRTE
    bool keeps_subnormals_f32 = false;                                               // DenormPreserve
    bool subgroup_vote = false, subgroup_arithmetic = false, subgroup_ballot = false,
         subgroup_shuffle = false;
    bool subgroup_extended_types = false;  // 8, 16 and 64-bit integers and f16 in subgroup operations
    std::uint32_t subgroup_size = 1;
    std::uint32_t push_bytes = 128;
    /// Loop iterations after which the driver silently terminates an invocation's loops (0: no limit). If a
    /// kernel may reach the limit, its code counts iterations and reports.
    std::uint32_t max_iterations = 0;
    /// How stream-like kernels process several elements per invocation, if that is faster (factor 1: they do
    /// not).
    passes::Coarsening coarsening;
    /// Depth of nested conditions that the driver handles (0: any); it ignores deeper ones.
    std::uint32_t max_nesting = 0;
    /// Lanes that leave a loop early lose the values of its body, unless the loop has a second exit.
    bool loses_loop_values = false;
    friend bool operator==(const Target&, const Target&) = default;
};

/// How a kernel is specialised.
struct Variant {
    ir::Dim3 local = {1, 1, 1};
    bool full = false;   // the caller guarantees full workgroups: no guard at the grid's edge
    bool based = false;  // a piece of a grid: the group id is WorkgroupId + FieldKind::GroupBase
    /// Several elements per invocation, according to Target::coarsening; passes/coarsen.hpp documents what
    /// the caller must guarantee. With `full`, exactly n / factor invocations run.
    bool coarse = false;
    bool values_apart = false;  // values are in memory: in their own block, or with the whole argument block
    friend bool operator==(const Variant&, const Variant&) = default;
};

/// The content of a field of the argument block.
enum class FieldKind : std::uint8_t {
    GlobalSize,  // three u32
    Address,     // u64: first byte of the parameter's buffer
    Elements,    // u64: number of elements
    Value,       // the parameter's bytes in the host's layout; in the value block, if there is one
    Reports,     // u64: address of a ReportHeader and its records, if Module::reports
    GroupBase,   // three u32: first workgroup of the piece, if Variant::based
    ValueBlock,  // u64: address of the value block, if Module::value_bytes is not 0
};

struct Field {
    FieldKind kind = FieldKind::Value;
    std::uint32_t parameter = 0;
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
};

/// A buffer in descriptor set 0; only foreign modules have any.
struct Binding {
    std::uint32_t binding = 0;
    std::uint32_t parameter = 0;
};

struct Module {
    std::vector<std::uint32_t> words;
    std::vector<Field> fields;
    std::uint32_t argument_bytes = 0;
    bool indirect = false;          // push constants hold the u64 address of the argument block
    std::uint32_t value_bytes = 0;  // size of the separate value block; 0: there is none
    bool reports = false;
    std::vector<PrintSite> prints;
    std::vector<Binding> bindings;
    std::string entry = "main";
    std::uint32_t shared_bytes = 0;     // size of the module's Workgroup variables
    bool needs_full_subgroups = false;  // uses subgroups: request full ones of the target's size
};

/// Requires a verified and optimised `fn` (passes/pipeline.hpp). Throws DeviceError (Unsupported), naming the
/// device, the feature and the source line, if the target lacks a feature that cannot be emulated.
[[nodiscard]] Module compile(const ir::Function& fn, const Variant& variant, const Target& target);

/// Returns the unchanged SPIR-V of a foreign function, with its interface. Throws CompileError if it cannot
/// be used, and DeviceError (Unsupported) if it needs a feature that the target lacks.
[[nodiscard]] Module adopt(const ir::Function& fn, const Target& target);

/// Returns a readable listing of a module, one instruction per line, for VOLLEY_DUMP=spirv.
[[nodiscard]] std::string disassemble(const std::vector<std::uint32_t>& words);

}  // namespace volley::codegen::spirv
