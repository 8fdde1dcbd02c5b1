// One pass over the instructions collects types, constants, decorations and variables; the rest are look-ups.
#include "codegen/spirv/reflection.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <spirv/unified1/spirv.hpp11>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

namespace volley::codegen::spirv {
namespace {

constexpr std::size_t header_words = 5;
constexpr unsigned max_nesting = 32;  // of types, which bounds recursion in malformed modules

// A module may contain values that the specification's enumerations do not name.
template <class Enum>
constexpr std::uint32_t word_of(Enum name) {
    return static_cast<std::uint32_t>(name);
}
template <class Enum>
constexpr bool is(std::uint32_t word, Enum name) {
    return word == word_of(name);
}

struct TypeInstruction {
    spv::Op op = spv::Op::OpNop;
    std::vector<std::uint32_t> operands;  // after the result id
};

struct VariableInstruction {
    std::uint32_t id = 0;
    std::uint32_t type = 0;
    std::uint32_t storage = 0;  // spv::StorageClass, or anything else
};

class Reader {
public:
    Reader(std::span<const std::uint32_t> words, std::string_view entry, std::string_view kernel)
        : words_(words), entry_(entry), kernel_(kernel) {}

    Reflection run() {
        walk();
        if (entry_id_ == 0) {
            refuse(cat("it has no compute entry point named '", entry_, "'"),
                   "name one of its entry points, or compile it for the compute stage");
        }
        Reflection found;
        found.local = local_size();
        for (const VariableInstruction& variable : variables_) add(found, variable);
        std::sort(found.bindings.begin(), found.bindings.end());
        found.capabilities = std::move(capabilities_);
        return found;
    }

private:
    [[noreturn]] void refuse(std::string_view what, std::string_view advice) const {
        fail(ErrorCode::CompileError, cat("the SPIR-V cannot be used: ", what), cat("kernel '", kernel_, "'"),
             advice);
    }
    [[noreturn]] void broken() const {
        refuse("its instructions are cut off or malformed",
               "pass the complete, unchanged output of a SPIR-V compiler");
    }

    void walk() {
        if (words_.size() < header_words || words_[0] != spv::MagicNumber) {
            const bool swapped = !words_.empty() && words_[0] == 0x03022307u;
            refuse(swapped ? "its words have the opposite byte order" : "it is not SPIR-V",
                   "pass the words that a SPIR-V compiler wrote; the first one is 0x07230203");
        }
        for (std::size_t at = header_words; at < words_.size();) {
            const std::uint32_t count = words_[at] >> 16;
            if (count == 0 || count > words_.size() - at) broken();
            instruction(static_cast<spv::Op>(words_[at] & 0xffffu), words_.subspan(at + 1, count - 1));
            at += count;
        }
    }

    void instruction(spv::Op op, std::span<const std::uint32_t> w) {
        const auto need = [&](std::size_t n) {
            if (w.size() < n) broken();
        };
        switch (op) {
            case spv::Op::OpCapability:
                need(1);
                capabilities_.push_back(w[0]);
                break;
            case spv::Op::OpEntryPoint:
                need(3);
                if (is(w[0], spv::ExecutionModel::GLCompute) && text(w.subspan(2)) == entry_)
                    entry_id_ = w[1];
                break;
            case spv::Op::OpExecutionMode:
                need(2);
                if (is(w[1], spv::ExecutionMode::LocalSize)) {
                    need(5);
                    local_[w[0]] = {w[2], w[3], w[4]};
                }
                break;
            case spv::Op::OpExecutionModeId:
                need(2);
                if (is(w[1], spv::ExecutionMode::LocalSizeId)) {
                    need(5);
                    local_ids_[w[0]] = {w[2], w[3], w[4]};
                }
                break;
            case spv::Op::OpDecorate:
                need(2);
                decorations_[{w[0], w[1]}] = w.size() >= 3 ? w[2] : 0;
                if (is(w[1], spv::Decoration::BuiltIn) && w.size() >= 3 &&
                    is(w[2], spv::BuiltIn::WorkgroupSize))
                    size_constant_ = w[0];
                break;
            case spv::Op::OpMemberDecorate:
                need(3);
                members_[{w[0], w[1], w[2]}] = w.size() >= 4 ? w[3] : 0;
                break;
            case spv::Op::OpTypeInt:
            case spv::Op::OpTypeFloat:
            case spv::Op::OpTypeVector:
            case spv::Op::OpTypeMatrix:
            case spv::Op::OpTypeArray:
            case spv::Op::OpTypeRuntimeArray:
            case spv::Op::OpTypeStruct:
            case spv::Op::OpTypePointer:
            case spv::Op::OpTypeImage:
            case spv::Op::OpTypeSampler:
            case spv::Op::OpTypeSampledImage:
                need(1);
                types_[w[0]] = {op, {w.begin() + 1, w.end()}};
                break;
            case spv::Op::OpConstant:
            case spv::Op::OpSpecConstant:
                need(3);
                constants_[w[1]] = w[2];
                break;
            case spv::Op::OpConstantComposite:
            case spv::Op::OpSpecConstantComposite:
                need(2);
                composites_[w[1]] = {w.begin() + 2, w.end()};
                break;
            case spv::Op::OpVariable:
                need(3);
                if (!is(w[2], spv::StorageClass::Function)) variables_.push_back({w[1], w[0], w[2]});
                break;
            default: break;
        }
    }

    [[nodiscard]] static std::string text(std::span<const std::uint32_t> w) {
        std::string result;
        for (const std::uint32_t word : w) {
            for (unsigned byte = 0; byte < 4; ++byte) {
                const char c = static_cast<char>(word >> (8 * byte) & 0xffu);
                if (c == '\0') return result;
                result += c;
            }
        }
        return result;
    }

    [[nodiscard]] ir::Dim3 local_size() const {
        // A constant decorated WorkgroupSize takes precedence over the execution mode.
        std::vector<std::uint32_t> ids;
        if (const auto found = composites_.find(size_constant_); found != composites_.end()) {
            ids = found->second;
        } else if (const auto by_id = local_ids_.find(entry_id_); by_id != local_ids_.end()) {
            ids = {by_id->second.begin(), by_id->second.end()};
        } else if (const auto mode = local_.find(entry_id_); mode != local_.end()) {
            return checked(mode->second);
        } else {
            refuse("it declares no workgroup size", "declare one: layout(local_size_x = 64) in;");
        }
        ir::Dim3 size = {1, 1, 1};
        if (ids.size() != 3) broken();
        for (std::size_t d = 0; d < 3; ++d) {
            const auto constant = constants_.find(ids[d]);
            if (constant == constants_.end()) broken();
            size[d] = constant->second;  // default value of a specialisation constant
        }
        return checked(size);
    }

    [[nodiscard]] ir::Dim3 checked(ir::Dim3 size) const {
        if (size[0] == 0 || size[1] == 0 || size[2] == 0)
            refuse("its workgroup size is zero", "declare sizes greater than zero");
        return size;
    }

    [[nodiscard]] const TypeInstruction& type(std::uint32_t id) const {
        const auto found = types_.find(id);
        if (found == types_.end()) broken();
        return found->second;
    }

    [[nodiscard]] std::optional<std::uint32_t> decoration(std::uint32_t id, spv::Decoration what) const {
        const auto found = decorations_.find({id, word_of(what)});
        return found == decorations_.end() ? std::nullopt : std::optional(found->second);
    }
    [[nodiscard]] std::optional<std::uint32_t> member(std::uint32_t id, std::uint32_t index,
                                                      spv::Decoration what) const {
        const auto found = members_.find({id, index, word_of(what)});
        return found == members_.end() ? std::nullopt : std::optional(found->second);
    }

    void add(Reflection& found, const VariableInstruction& variable) const {
        const TypeInstruction& pointer = type(variable.type);
        if (pointer.op != spv::Op::OpTypePointer || pointer.operands.size() < 2) broken();
        const std::uint32_t pointee = pointer.operands[1];
        switch (static_cast<spv::StorageClass>(variable.storage)) {
            case spv::StorageClass::StorageBuffer: add_binding(found, variable.id, pointee); break;
            case spv::StorageClass::Uniform:
                // The declaration of storage buffers before SPIR-V 1.3.
                if (!decoration(pointee, spv::Decoration::BufferBlock))
                    refuse("it uses a uniform buffer",
                           "pass values as push constants and arrays as storage buffers");
                add_binding(found, variable.id, pointee);
                break;
            case spv::StorageClass::UniformConstant:
                refuse("it uses images or samplers", "use only storage buffers and push constants");
            case spv::StorageClass::PushConstant: add_push(found, pointee); break;
            default: break;
        }
    }

    void add_binding(Reflection& found, std::uint32_t variable, std::uint32_t pointee) const {
        if (type(pointee).op != spv::Op::OpTypeStruct)
            refuse("it uses an array of buffers", "declare one binding for each buffer");
        if (decoration(variable, spv::Decoration::DescriptorSet).value_or(0) != 0)
            refuse("it uses a descriptor set other than 0", "declare buffers with set = 0");
        const auto binding = decoration(variable, spv::Decoration::Binding);
        if (!binding) refuse("a buffer has no binding", "declare it with layout(binding = n)");
        found.bindings.push_back(*binding);
    }

    void add_push(Reflection& found, std::uint32_t block) const {
        const TypeInstruction& structure = type(block);
        if (structure.op != spv::Op::OpTypeStruct) broken();
        for (std::uint32_t i = 0; i < structure.operands.size(); ++i) {
            const auto offset = member(block, i, spv::Decoration::Offset);
            if (!offset) broken();
            PushMember push;
            push.offset = *offset;
            push.pointer = type(structure.operands[i]).op == spv::Op::OpTypePointer;
            push.size = static_cast<std::uint32_t>(size_of(structure.operands[i], block, i, 0));
            found.push_bytes = std::max(found.push_bytes, push.offset + push.size);
            found.push.push_back(push);
        }
    }

    /// Returns the size of a type in memory; matrix and array strides are decorations of the member.
    [[nodiscard]] std::uint64_t size_of(std::uint32_t id, std::uint32_t block, std::uint32_t index,
                                        unsigned depth) const {
        if (depth > max_nesting) broken();
        const TypeInstruction& t = type(id);
        const auto operand = [&](std::size_t k) {
            if (k >= t.operands.size()) broken();
            return t.operands[k];
        };
        std::uint64_t size = 0;
        switch (t.op) {
            case spv::Op::OpTypeInt:
            case spv::Op::OpTypeFloat: size = operand(0) / 8; break;
            case spv::Op::OpTypePointer: size = 8; break;
            case spv::Op::OpTypeVector:
                size = size_of(operand(0), block, index, depth + 1) * operand(1);
                break;
            case spv::Op::OpTypeMatrix: {
                const std::uint64_t column = size_of(operand(0), block, index, depth + 1);
                const std::uint64_t stride = member(block, index, spv::Decoration::MatrixStride).value_or(0);
                size = (operand(1) - std::uint64_t{1}) * stride + column;
                break;
            }
            case spv::Op::OpTypeArray: {
                const auto length = constants_.find(operand(1));
                if (length == constants_.end()) broken();
                const std::uint64_t element = size_of(operand(0), block, index, depth + 1);
                size = std::uint64_t{length->second} * decoration(id, spv::Decoration::ArrayStride)
                                                           .value_or(static_cast<std::uint32_t>(element));
                break;
            }
            case spv::Op::OpTypeStruct:
                for (std::uint32_t i = 0; i < t.operands.size(); ++i) {
                    const std::uint64_t at = member(id, i, spv::Decoration::Offset).value_or(0);
                    size = std::max(size, at + size_of(t.operands[i], id, i, depth + 1));
                }
                break;
            default: broken();
        }
        if (size > 0xffff) refuse("its push constants are too large", "pass large values in buffers");
        return size;
    }

    std::span<const std::uint32_t> words_;
    std::string_view entry_;
    std::string_view kernel_;
    std::uint32_t entry_id_ = 0;
    std::uint32_t size_constant_ = 0;
    std::vector<std::uint32_t> capabilities_;
    std::vector<VariableInstruction> variables_;
    std::unordered_map<std::uint32_t, TypeInstruction> types_;
    std::unordered_map<std::uint32_t, std::uint32_t> constants_;
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> composites_;
    std::unordered_map<std::uint32_t, ir::Dim3> local_;
    std::unordered_map<std::uint32_t, ir::Dim3> local_ids_;
    std::map<std::array<std::uint32_t, 2>, std::uint32_t> decorations_;  // id, decoration: its operand, or 0
    std::map<std::array<std::uint32_t, 3>, std::uint32_t> members_;      // id, member, decoration
};

}  // namespace

Reflection reflect(std::span<const std::uint32_t> words, std::string_view entry, std::string_view kernel) {
    return Reader(words, entry, kernel).run();
}

}  // namespace volley::codegen::spirv
