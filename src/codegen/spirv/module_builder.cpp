// Sections, interning, and the assembly of the finished module.
#include "codegen/spirv/module_builder.hpp"

#include <algorithm>
#include <bit>
#include <memory>

namespace volley::codegen::spirv {
namespace {

constexpr std::uint32_t spirv_1_5 = 0x00010500;

std::uint32_t head(spv::Op op, std::size_t words) {
    return static_cast<std::uint32_t>(words) << 16 | static_cast<std::uint32_t>(op);
}

void put(Words& out, spv::Op op, std::initializer_list<std::uint32_t> operands) {
    out.push_back(head(op, operands.size() + 1));
    out.insert(out.end(), operands.begin(), operands.end());
}

// Appends a literal string: zero-terminated bytes, padded to whole words.
void put_text(Words& out, std::string_view text) {
    std::uint32_t word = 0;
    unsigned shift = 0;
    for (const char c : text) {
        word |= static_cast<std::uint32_t>(static_cast<unsigned char>(c)) << shift;
        shift += 8;
        if (shift == 32) {
            out.push_back(word);
            word = 0;
            shift = 0;
        }
    }
    out.push_back(word);
}

constexpr std::size_t text_words(std::string_view text) { return text.size() / 4 + 1; }

void append(Words& out, const Words& more) { out.insert(out.end(), more.begin(), more.end()); }

}  // namespace

ModuleBuilder::ModuleBuilder() : table_(256) {
    keys_.reserve(1024);
    globals_.reserve(1024);
    annotations_.reserve(1024);
    body_.code.reserve(4096);
    entry_ = new_id();
    entry_block_ = new_id();
    glsl_ = new_id();
    body_.block = entry_block_;
    prologue_.block = entry_block_;
    u32_ = intern(spv::Op::OpTypeInt, {32, 0});
}

Id ModuleBuilder::intern(spv::Op op, std::span<const std::uint32_t> operands,
                         std::span<const std::uint32_t> hidden, bool* fresh) {
    std::uint32_t hash = static_cast<std::uint32_t>(op) * 0x9e3779b1u;
    const auto mix = [&](std::uint32_t word) { hash = (std::rotl(hash, 7) ^ word) * 0x85ebca6bu; };
    for (const std::uint32_t word : operands) mix(word);
    for (const std::uint32_t word : hidden) mix(word + 0x51u);
    const auto count = static_cast<std::uint32_t>(1 + operands.size() + hidden.size());
    if (fresh != nullptr) *fresh = false;

    std::size_t slot = (hash ^ hash >> 15) & (table_.size() - 1);
    for (; table_[slot].id != 0; slot = (slot + 1) & (table_.size() - 1)) {
        const Interned& entry = table_[slot];
        if (entry.hash != hash || entry.count != count) continue;
        const std::uint32_t* key = keys_.data() + entry.first;
        if (key[0] == static_cast<std::uint32_t>(op) &&
            std::equal(operands.begin(), operands.end(), key + 1) &&
            std::equal(hidden.begin(), hidden.end(), key + 1 + operands.size())) {
            return entry.id;
        }
    }

    const Id id = new_id();
    table_[slot] = {hash, static_cast<std::uint32_t>(keys_.size()), count, id};
    keys_.push_back(static_cast<std::uint32_t>(op));
    keys_.insert(keys_.end(), operands.begin(), operands.end());
    keys_.insert(keys_.end(), hidden.begin(), hidden.end());
    if (++interned_ * 2 > table_.size()) grow_table();

    // Types start with their id; constants have it after their type.
    const bool typed = op == spv::Op::OpConstant || op == spv::Op::OpConstantComposite ||
                       op == spv::Op::OpConstantNull || op == spv::Op::OpUndef ||
                       op == spv::Op::OpConstantTrue || op == spv::Op::OpConstantFalse;
    globals_.push_back(head(op, operands.size() + 2));
    if (typed) {
        globals_.push_back(operands[0]);
        globals_.push_back(id);
        globals_.insert(globals_.end(), operands.begin() + 1, operands.end());
        if (op == spv::Op::OpConstant) {
            const std::uint64_t high = operands.size() > 2 ? operands[2] : 0;
            constant_bits_.emplace_back(id, high << 32 | operands[1]);
        }
    } else {
        globals_.push_back(id);
        globals_.insert(globals_.end(), operands.begin(), operands.end());
    }
    if (fresh != nullptr) *fresh = true;
    return id;
}

void ModuleBuilder::grow_table() {
    std::vector<Interned> old(table_.size() * 2);
    old.swap(table_);
    for (const Interned& entry : old) {
        if (entry.id == 0) continue;
        std::size_t slot = (entry.hash ^ entry.hash >> 15) & (table_.size() - 1);
        while (table_[slot].id != 0) slot = (slot + 1) & (table_.size() - 1);
        table_[slot] = entry;
    }
}

// ---- types and constants ----

Id ModuleBuilder::int_type(unsigned bits) {
    if (bits == 32) return u32_;
    if (bits == 64) capability(spv::Capability::Int64);
    return intern(spv::Op::OpTypeInt, {bits, 0});
}

Id ModuleBuilder::float_type(unsigned bits) {
    float_widths_ |= bits;
    if (bits == 64) capability(spv::Capability::Float64);
    return intern(spv::Op::OpTypeFloat, {bits});
}

Id ModuleBuilder::vector_type(Id component, unsigned count) {
    return intern(spv::Op::OpTypeVector, {component, count});
}

Id ModuleBuilder::array_type(Id element, std::uint32_t count, std::uint32_t stride) {
    const std::uint32_t operands[] = {element, u32(count)};
    const std::uint32_t hidden[] = {stride};
    bool fresh = false;
    const Id id = intern(spv::Op::OpTypeArray, operands, hidden, &fresh);
    if (fresh && stride != 0)
        put(annotations_, spv::Op::OpDecorate,
            {id, static_cast<std::uint32_t>(spv::Decoration::ArrayStride), stride});
    return id;
}

Id ModuleBuilder::runtime_array_type(Id element, std::uint32_t stride) {
    const std::uint32_t operands[] = {element};
    const std::uint32_t hidden[] = {stride};
    bool fresh = false;
    const Id id = intern(spv::Op::OpTypeRuntimeArray, operands, hidden, &fresh);
    if (fresh)
        put(annotations_, spv::Op::OpDecorate,
            {id, static_cast<std::uint32_t>(spv::Decoration::ArrayStride), stride});
    return id;
}

Id ModuleBuilder::struct_type(std::initializer_list<Id> members) {
    return intern(spv::Op::OpTypeStruct, members);
}

Id ModuleBuilder::block_type(std::span<const BlockMember> members) {
    Words operands;
    Words hidden;
    for (const BlockMember& member : members) {
        operands.push_back(member.type);
        hidden.push_back(member.offset);
    }
    bool fresh = false;
    const Id id = intern(spv::Op::OpTypeStruct, operands, hidden, &fresh);
    if (!fresh) return id;
    put(annotations_, spv::Op::OpDecorate, {id, static_cast<std::uint32_t>(spv::Decoration::Block)});
    for (std::uint32_t k = 0; k < members.size(); ++k) {
        put(annotations_, spv::Op::OpMemberDecorate,
            {id, k, static_cast<std::uint32_t>(spv::Decoration::Offset), members[k].offset});
    }
    return id;
}

Id ModuleBuilder::pointer_type(spv::StorageClass storage, Id to) {
    return intern(spv::Op::OpTypePointer, {static_cast<std::uint32_t>(storage), to});
}

Id ModuleBuilder::constant64(Id type, std::uint64_t bits) {
    return intern(spv::Op::OpConstant,
                  {type, static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)});
}

Id ModuleBuilder::f32(float value) { return constant(float_type(32), std::bit_cast<std::uint32_t>(value)); }

Id ModuleBuilder::boolean(bool value) {
    return intern(value ? spv::Op::OpConstantTrue : spv::Op::OpConstantFalse, {bool_type()});
}

Id ModuleBuilder::constant_composite(Id type, std::initializer_list<Id> parts) {
    Words operands = {type};
    operands.insert(operands.end(), parts.begin(), parts.end());
    return intern(spv::Op::OpConstantComposite, operands, {});
}

std::optional<std::uint64_t> ModuleBuilder::constant_bits(Id id) const {
    const auto at = std::lower_bound(constant_bits_.begin(), constant_bits_.end(), id,
                                     [](const auto& entry, Id requested) { return entry.first < requested; });
    if (at == constant_bits_.end() || at->first != id) return std::nullopt;
    return at->second;
}

// ---- declarations ----

void ModuleBuilder::capability(spv::Capability capability) {
    const auto number = static_cast<std::uint32_t>(capability);
    if (std::find(capabilities_.begin(), capabilities_.end(), number) == capabilities_.end())
        capabilities_.push_back(number);
}

void ModuleBuilder::extension(std::string_view name) {
    Words text;
    text.push_back(head(spv::Op::OpExtension, 1 + text_words(name)));
    put_text(text, name);
    if (std::search(extensions_.begin(), extensions_.end(), text.begin(), text.end()) == extensions_.end())
        append(extensions_, text);
}

Id ModuleBuilder::variable(spv::StorageClass storage, Id type) {
    const Id pointer = pointer_type(storage, type);
    const Id id = new_id();
    put(globals_, spv::Op::OpVariable, {pointer, id, static_cast<std::uint32_t>(storage)});
    interface_.push_back(id);
    return id;
}

Id ModuleBuilder::builtin(spv::BuiltIn builtin, Id type) {
    const auto number = static_cast<std::uint32_t>(builtin);
    for (const auto& [known, id] : builtins_) {
        if (known == number) return id;
    }
    const Id id = variable(spv::StorageClass::Input, type);
    put(annotations_, spv::Op::OpDecorate,
        {id, static_cast<std::uint32_t>(spv::Decoration::BuiltIn), number});
    builtins_.emplace_back(number, id);
    return id;
}

void ModuleBuilder::decorate(Id id, spv::Decoration decoration) {
    put(annotations_, spv::Op::OpDecorate, {id, static_cast<std::uint32_t>(decoration)});
}

void ModuleBuilder::execution_mode(spv::ExecutionMode mode, std::initializer_list<std::uint32_t> operands) {
    modes_.push_back(head(spv::Op::OpExecutionMode, operands.size() + 3));
    modes_.push_back(entry_);
    modes_.push_back(static_cast<std::uint32_t>(mode));
    modes_.insert(modes_.end(), operands.begin(), operands.end());
}

// ---- instructions ----

Id ModuleBuilder::op(spv::Op op, Id type, std::initializer_list<std::uint32_t> operands) {
    return this->op(op, type, std::span<const std::uint32_t>(operands.begin(), operands.size()));
}

Id ModuleBuilder::op(spv::Op op, Id type, std::span<const std::uint32_t> operands) {
    const Id id = new_id();
    Words& code = stream_->code;
    code.push_back(head(op, operands.size() + 3));
    code.push_back(type);
    code.push_back(id);
    code.insert(code.end(), operands.begin(), operands.end());
    return id;
}

void ModuleBuilder::statement(spv::Op op, std::initializer_list<std::uint32_t> operands) {
    put(stream_->code, op, operands);
}

Id ModuleBuilder::glsl(GLSLstd450 function, Id type, std::initializer_list<Id> operands) {
    const Id id = new_id();
    Words& code = stream_->code;
    code.push_back(head(spv::Op::OpExtInst, operands.size() + 5));
    code.push_back(type);
    code.push_back(id);
    code.push_back(glsl_);
    code.push_back(static_cast<std::uint32_t>(function));
    code.insert(code.end(), operands.begin(), operands.end());
    return id;
}

Id ModuleBuilder::local(Id type) {
    const Id pointer = pointer_type(spv::StorageClass::Function, type);
    const Id id = new_id();
    // The prologue and the body are one function.
    Stream& owner = stream_ == &prologue_ ? body_ : *stream_;
    put(owner.locals, spv::Op::OpVariable,
        {pointer, id, static_cast<std::uint32_t>(spv::StorageClass::Function)});
    return id;
}

void ModuleBuilder::label(Id id) {
    statement(spv::Op::OpLabel, {id});
    stream_->block = id;
}

void ModuleBuilder::branch(Id target) {
    statement(spv::Op::OpBranch, {target});
    stream_->block = 0;
}

void ModuleBuilder::branch_if(Id condition, Id yes, Id no) {
    statement(spv::Op::OpBranchConditional, {condition, yes, no});
    stream_->block = 0;
}

void ModuleBuilder::leave() {
    statement(spv::Op::OpReturn, {});
    stream_->block = 0;
}

void ModuleBuilder::unreachable() {
    statement(spv::Op::OpUnreachable, {});
    stream_->block = 0;
}

Phi ModuleBuilder::open_phi(Id type, Id a, Id from_a) {
    const std::size_t at = stream_->code.size();
    return {op(spv::Op::OpPhi, type, {a, from_a, 0, 0}), at};
}

void ModuleBuilder::close_phi(const Phi& phi, Id b, Id from_b) {
    stream_->code[phi.at + 5] = b;
    stream_->code[phi.at + 6] = from_b;
}

// ---- helper functions ----

Id ModuleBuilder::begin_function(Id result, std::span<const Id> parameter_types, std::span<Id> parameters) {
    Words key = {result};
    key.insert(key.end(), parameter_types.begin(), parameter_types.end());
    const Id type = intern(spv::Op::OpTypeFunction, key, {});
    unfinished_.push_back(std::make_unique<Stream>());
    Stream& stream = *unfinished_.back();
    stream.outer = stream_;
    stream_ = &stream;
    const Id function = new_id();
    put(stream.opening, spv::Op::OpFunction, {result, function, 0, type});
    for (std::size_t k = 0; k < parameter_types.size(); ++k) {
        parameters[k] = new_id();
        put(stream.opening, spv::Op::OpFunctionParameter, {parameter_types[k], parameters[k]});
    }
    stream.block = new_id();
    put(stream.opening, spv::Op::OpLabel, {stream.block});
    return function;
}

void ModuleBuilder::end_function(Id value) {
    statement(spv::Op::OpReturnValue, {value});
    statement(spv::Op::OpFunctionEnd, {});
    append(helpers_, stream_->opening);
    append(helpers_, stream_->locals);
    append(helpers_, stream_->code);
    stream_ = stream_->outer;
    unfinished_.pop_back();
}

Id ModuleBuilder::call(Id function, Id result, std::span<const Id> arguments) {
    Words operands = {function};
    operands.insert(operands.end(), arguments.begin(), arguments.end());
    return op(spv::Op::OpFunctionCall, result, operands);
}

// ---- module ----

Words ModuleBuilder::finish(std::span<const std::uint32_t, 3> local_size) {
    const Id type = intern(spv::Op::OpTypeFunction, {void_type()});
    Words out;
    out.reserve(64 + modes_.size() + annotations_.size() + globals_.size() + helpers_.size() +
                prologue_.code.size() + body_.locals.size() + body_.code.size());
    out.insert(out.end(), {spv::MagicNumber, spirv_1_5, 0, 0, 0});
    for (const std::uint32_t capability : capabilities_) put(out, spv::Op::OpCapability, {capability});
    append(out, extensions_);
    constexpr std::string_view glsl = "GLSL.std.450";
    out.push_back(head(spv::Op::OpExtInstImport, 2 + text_words(glsl)));
    out.push_back(glsl_);
    put_text(out, glsl);
    put(out, spv::Op::OpMemoryModel,
        {static_cast<std::uint32_t>(spv::AddressingModel::PhysicalStorageBuffer64),
         static_cast<std::uint32_t>(spv::MemoryModel::Vulkan)});
    constexpr std::string_view name = "main";
    out.push_back(head(spv::Op::OpEntryPoint, 3 + text_words(name) + interface_.size()));
    out.push_back(static_cast<std::uint32_t>(spv::ExecutionModel::GLCompute));
    out.push_back(entry_);
    put_text(out, name);
    append(out, interface_);
    put(out, spv::Op::OpExecutionMode,
        {entry_, static_cast<std::uint32_t>(spv::ExecutionMode::LocalSize), local_size[0], local_size[1],
         local_size[2]});
    append(out, modes_);
    append(out, annotations_);
    append(out, globals_);
    append(out, helpers_);
    put(out, spv::Op::OpFunction, {void_type(), entry_, 0, type});
    put(out, spv::Op::OpLabel, {entry_block_});
    append(out, body_.locals);
    append(out, prologue_.code);
    append(out, body_.code);
    put(out, spv::Op::OpFunctionEnd, {});
    out[3] = next_;
    return out;
}

}  // namespace volley::codegen::spirv
