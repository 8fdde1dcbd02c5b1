// Writes a kernel's IR as a SPIR-V module for Vulkan 1.2, in microseconds and without any other compiler.
// Knows devices by their features alone (Target); needs no driver. Thread-safe.
//
// How a module is called, in short (the backend does it):
// - One entry point "main" whose local size is the variant's, all in the first dimension (so that subgroups
//   are consecutive invocations); the dispatch covers the grid with workgroups in three dimensions, and
//   WorkgroupId counts from the grid's origin. A grid with more workgroups than the device can dispatch is
//   cut into pieces, launched with the variant `based`: it adds the argument block's GroupBase to WorkgroupId
//   (vkCmdDispatchBase may not go beyond the device's limit either).
// - Arguments are one block of bytes that Module::fields describes. It is the push-constant block itself, or,
//   where it is larger than the target's push constants, push constants hold the block's device address.
//   `values_apart` is for callers who change values without recording commands again: they lie in memory.
// - Buffers are device addresses; descriptors are not used.
#pragma once

#include "codegen/api/reports.hpp"
#include "ir/function.hpp"
#include "passes/coarsen.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace volley::codegen::spirv {

/// What code may use. Plain features of a device, as far as code depends on them.
struct Target {
    std::string device;  // for messages: "vulkan:0 (llvmpipe ...)"
    // Arithmetic. What is missing is emulated (integers of 8, 16 and 64 bits, f16) or refused (f64).
    bool f16 = false, f64 = false, i8 = false, i16 = false, i64 = false;
    // Loads and stores of 8- and 16-bit items in buffers; else words are taken apart.
    bool storage8 = false, storage16 = false;
    // Atomics beyond 32-bit integers; else loops of compare and exchange.
    bool f32_add = false, shared_f32_add = false;  // OpAtomicFAddEXT
    bool i64_atomics = false, shared_i64_atomics = false;
    bool fused_fma = false;                                                    // GLSL.std.450 Fma rounds once
    bool keeps_nan_f16 = false, keeps_nan_f32 = false, keeps_nan_f64 = false;  // SignedZeroInfNanPreserve
    bool rounds_even_f16 = false, rounds_even_f32 = false, rounds_even_f64 = false;  // RoundingModeRTE
    bool keeps_subnormals_f32 = false;                                               // DenormPreserve
    bool subgroup_vote = false, subgroup_arithmetic = false, subgroup_ballot = false,
         subgroup_shuffle = false;
    bool subgroup_extended_types = false;  // 8-, 16-, 64-bit integers and f16 in subgroup operations
    std::uint32_t subgroup_size = 1;
    std::uint32_t push_bytes = 128;
    /// Loop iterations that the driver runs for one invocation before it silently ends its loops (0: no
    /// limit). Where a kernel may reach it, code counts and reports.
    std::uint32_t max_iterations = 0;
    /// How stream-like kernels are given several elements an invocation, where that is faster (factor 1:
    /// not).
    passes::Coarsening coarsening;
    /// Conditions inside of conditions that the driver keeps apart (0: any number); it ignores deeper ones.
    std::uint32_t max_nesting = 0;
    /// Lanes that leave a loop before others lose the values of its body, unless it has a second exit.
    bool loses_loop_values = false;
    friend bool operator==(const Target&, const Target&) = default;
};

/// How a kernel is specialised.
struct Variant {
    ir::Dim3 local = {1, 1, 1};
    bool full = false;    // the caller promises that every workgroup is whole: no guard at the grid's edge
    bool based = false;   // a piece of a grid: the group's place is WorkgroupId + FieldKind::GroupBase
    bool coarse = false;  // several elements an invocation, as Target::coarsening says; passes/coarsen.hpp
                          // has what the caller promises. `full`: exactly n / factor invocations run
    bool values_apart = false;  // values lie in memory: a block of their own, or where the whole block does
    friend bool operator==(const Variant&, const Variant&) = default;
};

/// What a place in the argument block holds.
enum class FieldKind : std::uint8_t {
    GlobalSize,  // three u32
    Address,     // u64: of parameter's buffer, its first byte
    Elements,    // u64: how many elements it has
    Value,       // the parameter's bytes in the host's layout; in the block of values, where there is one
    Reports,     // u64: address of a ReportHeader with its records, where Module::reports
    GroupBase,   // three u32: of the piece's first workgroup, where Variant::based
    ValueBlock,  // u64: address of the block of values, where Module::value_bytes
};

struct Field {
    FieldKind kind = FieldKind::Value;
    std::uint32_t parameter = 0;
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
};

/// A buffer in descriptor set 0: only modules that were made elsewhere have any.
struct Binding {
    std::uint32_t binding = 0;
    std::uint32_t parameter = 0;
};

struct Module {
    std::vector<std::uint32_t> words;
    std::vector<Field> fields;
    std::uint32_t argument_bytes = 0;
    bool indirect = false;          // push constants hold the u64 address of the argument block
    std::uint32_t value_bytes = 0;  // of the block that holds the values alone; 0: there is none
    bool reports = false;
    std::vector<PrintSite> prints;
    std::vector<Binding> bindings;
    std::string entry = "main";
    std::uint32_t shared_bytes = 0;     // what the module's Workgroup variables take
    bool needs_full_subgroups = false;  // uses subgroups: ask for full ones of the target's size
};

/// `fn` is verified and optimised (passes/pipeline.hpp). Throws DeviceError (Unsupported) naming the device,
/// the feature and the source line where the target lacks what the kernel needs and nothing can stand in.
[[nodiscard]] Module compile(const ir::Function& fn, const Variant& variant, const Target& target);

/// The module of a function that is foreign in SPIR-V, as it is, with its interface. Throws CompileError
/// where it cannot be used, and DeviceError (Unsupported) where it needs what the target lacks.
[[nodiscard]] Module adopt(const ir::Function& fn, const Target& target);

/// A readable listing of a module, one instruction a line: for VOLLEY_DUMP=spirv.
[[nodiscard]] std::string disassemble(const std::vector<std::uint32_t>& words);

}  // namespace volley::codegen::spirv
