// The words of one SPIR-V module, by section, with interned types and constants.
//
// Instructions go to the current stream: the kernel's body, its prologue (the start of the entry block, which
// computes values for the whole kernel), or a helper function. Requesting a type, constant or capability
// twice returns the same id; all ids are unique in the module.
#pragma once

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.hpp11>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace volley::codegen::spirv {

using Id = std::uint32_t;
using Words = std::vector<std::uint32_t>;

/// A member of a block: its type and byte offset.
struct BlockMember {
    Id type = 0;
    std::uint32_t offset = 0;
};

/// A phi and the position of its instruction.
struct Phi {
    Id id = 0;
    std::size_t at = 0;
};

class ModuleBuilder {
    struct Stream {
        Words opening;  // of a helper: its header, parameters and first label
        Words locals;
        Words code;
        Id block = 0;  // 0: the last block is terminated
        Stream* outer = nullptr;
    };

public:
    ModuleBuilder();
    ModuleBuilder(const ModuleBuilder&) = delete;
    ModuleBuilder& operator=(const ModuleBuilder&) = delete;

    // Types.
    Id void_type() { return intern(spv::Op::OpTypeVoid, {}); }
    Id bool_type() { return intern(spv::Op::OpTypeBool, {}); }
    Id int_type(unsigned bits);    // always unsigned: signedness is a property of operations
    Id float_type(unsigned bits);  // both add the 64-bit capabilities; narrower ones depend on the use
    Id vector_type(Id component, unsigned count);
    Id array_type(Id element, std::uint32_t count, std::uint32_t stride = 0);  // stride 0: no explicit layout
    Id runtime_array_type(Id element, std::uint32_t stride);
    Id struct_type(std::initializer_list<Id> members);
    Id block_type(std::span<const BlockMember> members);
    Id pointer_type(spv::StorageClass storage, Id to);
    Id u32_type() { return u32_; }
    /// Returns true if the module has floats of this width.
    [[nodiscard]] bool has_float(unsigned bits) const { return (float_widths_ & bits) != 0; }

    // Constants.
    Id constant(Id type, std::uint32_t word) { return intern(spv::Op::OpConstant, {type, word}); }
    Id constant64(Id type, std::uint64_t bits);
    Id u32(std::uint32_t value) { return constant(u32_, value); }
    Id f32(float value);
    Id boolean(bool value);
    Id null(Id type) { return intern(spv::Op::OpConstantNull, {type}); }
    Id undefined(Id type) { return intern(spv::Op::OpUndef, {type}); }
    Id constant_composite(Id type, std::initializer_list<Id> parts);
    /// Returns the bits of a scalar constant, or nullopt for any other id.
    [[nodiscard]] std::optional<std::uint64_t> constant_bits(Id id) const;

    // Module-wide declarations.
    void capability(spv::Capability capability);
    void extension(std::string_view name);
    Id variable(spv::StorageClass storage, Id type);  // module scope; part of the interface
    Id builtin(spv::BuiltIn builtin, Id type);        // an input variable, declared once
    void decorate(Id id, spv::Decoration decoration);
    void execution_mode(spv::ExecutionMode mode, std::initializer_list<std::uint32_t> operands);

    // Instructions in the current stream.
    Id op(spv::Op op, Id type, std::initializer_list<std::uint32_t> operands);
    Id op(spv::Op op, Id type, std::span<const std::uint32_t> operands);
    void statement(spv::Op op, std::initializer_list<std::uint32_t> operands);
    Id glsl(GLSLstd450 function, Id type, std::initializer_list<Id> operands);
    Id extract(Id composite, Id type, std::uint32_t part) {
        return op(spv::Op::OpCompositeExtract, type, {composite, part});
    }
    Id select(Id type, Id condition, Id a, Id b) { return op(spv::Op::OpSelect, type, {condition, a, b}); }
    Id local(Id type);  // a Function variable
    Id load(Id type, Id pointer) { return op(spv::Op::OpLoad, type, {pointer}); }
    void store(Id pointer, Id value) { statement(spv::Op::OpStore, {pointer, value}); }

    // Blocks. A label opens a block; branches and returns terminate it.
    Id new_id() { return next_++; }
    void label(Id id);
    void branch(Id target);
    void branch_if(Id condition, Id yes, Id no);
    void selection_merge(Id merge) { statement(spv::Op::OpSelectionMerge, {merge, 0}); }
    void loop_merge(Id merge, Id next) { statement(spv::Op::OpLoopMerge, {merge, next, 0}); }
    void leave();
    void unreachable();
    [[nodiscard]] Id block() const noexcept { return stream_->block; }
    [[nodiscard]] bool open() const noexcept {
        return stream_->block != 0;
    }  // true while a block is being written
    /// A phi with two predecessors.
    Id phi(Id type, Id a, Id from_a, Id b, Id from_b) {
        return op(spv::Op::OpPhi, type, {a, from_a, b, from_b});
    }
    /// A phi at a loop's head whose second value is set later, by close_phi.
    Phi open_phi(Id type, Id a, Id from_a);
    void close_phi(const Phi& phi, Id b, Id from_b);

    /// Redirects instructions to the prologue during its lifetime.
    class InPrologue {
    public:
        explicit InPrologue(ModuleBuilder& m) : m_(m), outer_(m_.stream_) { m_.stream_ = &m_.prologue_; }
        ~InPrologue() { m_.stream_ = outer_; }
        InPrologue(const InPrologue&) = delete;
        InPrologue& operator=(const InPrologue&) = delete;

    private:
        ModuleBuilder& m_;
        Stream* outer_;
    };

    // Helper functions, emitted once. Instructions between begin and end go into the function.
    Id begin_function(Id result, std::span<const Id> parameter_types, std::span<Id> parameters);
    void end_function(Id value);  // returns the value
    Id call(Id function, Id result, std::span<const Id> arguments);

    /// Returns the finished module with the entry point "main".
    [[nodiscard]] Words finish(std::span<const std::uint32_t, 3> local_size);

private:
    Id intern(spv::Op op, std::initializer_list<std::uint32_t> key) {
        return intern(op, std::span<const std::uint32_t>(key.begin(), key.size()), {});
    }
    // `hidden` is part of the key but not of the instruction: the layout of blocks and arrays.
    Id intern(spv::Op op, std::span<const std::uint32_t> operands, std::span<const std::uint32_t> hidden,
              bool* fresh = nullptr);
    void grow_table();

    Id next_ = 1;
    Id u32_ = 0;
    unsigned float_widths_ = 0;  // 16 | 32 | 64
    Id glsl_ = 0;
    Id entry_ = 0;
    Id entry_block_ = 0;
    std::vector<std::uint32_t> capabilities_;
    Words extensions_;
    Words modes_;
    Words annotations_;
    Words globals_;
    Words helpers_;
    std::vector<Id> interface_;
    std::vector<std::pair<std::uint32_t, Id>> builtins_;

    // Interned instructions: open addressing over keys in one pool.
    struct Interned {
        std::uint32_t hash = 0;
        std::uint32_t first = 0;
        std::uint32_t count = 0;
        Id id = 0;
    };
    std::vector<Interned> table_;
    std::size_t interned_ = 0;
    Words keys_;
    std::vector<std::pair<Id, std::uint64_t>> constant_bits_;  // ascending ids

    Stream body_;
    Stream prologue_;
    std::vector<std::unique_ptr<Stream>> unfinished_;  // helpers being emitted
    Stream* stream_ = &body_;
};

}  // namespace volley::codegen::spirv
