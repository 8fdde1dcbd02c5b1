// The functions of ir::Function, and the table of operations: mnemonics, forms and effects, all from
// VOLLEY_IR_OPS.
#include "ir/function.hpp"

#include "ir/foreign.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <unordered_map>

namespace volley::ir {
namespace {

struct OpRow {
    std::string_view text;
    Form form;
};

constexpr OpRow op_rows[] = {
#define VOLLEY_IR_ROW(name, text, form) {text, Form::form},
    VOLLEY_IR_OPS(VOLLEY_IR_ROW)
#undef VOLLEY_IR_ROW
};
static_assert(std::size(op_rows) == op_count);

std::uint32_t intern(std::vector<std::string>& table, std::string_view text) {
    // Searches from the newest entry: consecutive operations mostly come from one file.
    for (std::size_t i = table.size(); i-- > 0;) {
        if (table[i] == text) return static_cast<std::uint32_t>(i);
    }
    table.emplace_back(text);
    return static_cast<std::uint32_t>(table.size() - 1);
}

}  // namespace

NodeId Function::add(Op op, DType type, std::span<const NodeId> args, std::uint64_t imm, Loc loc) {
    if (nodes.size() >= none || operands.size() + args.size() >= none) {
        fail(ErrorCode::IrError, "the kernel has more operations than 32-bit ids can number", name,
             "check for an infinite host loop, or split the kernel");
    }
    Node node;
    node.op = op;
    node.type = type;
    node.imm = imm;
    node.first = static_cast<std::uint32_t>(operands.size());
    node.count = static_cast<std::uint32_t>(args.size());
    node.loc = loc;
    if (!args.empty()) {
        // args may alias the operand pool, which may reallocate.
        if (args.data() >= operands.data() && args.data() < operands.data() + operands.size()) {
            const std::vector<NodeId> copy(args.begin(), args.end());
            operands.insert(operands.end(), copy.begin(), copy.end());
        } else {
            operands.insert(operands.end(), args.begin(), args.end());
        }
    }
    nodes.push_back(node);
    return static_cast<NodeId>(nodes.size() - 1);
}

RegionId Function::add_region() {
    regions.emplace_back();
    return static_cast<RegionId>(regions.size() - 1);
}

std::uint32_t Function::add_string(std::string_view text) { return intern(strings, text); }
std::uint32_t Function::add_file(std::string_view path) { return intern(files, path); }
std::uint32_t Function::add_note(std::string_view text) { return intern(notes, text) + 1; }

std::optional<std::int64_t> Function::constant_int(NodeId id) const {
    if (id >= nodes.size()) return std::nullopt;
    const Node& node = nodes[id];
    if (node.op != Op::Const || !node.type.is_scalar() || node.type.is_float()) return std::nullopt;
    const unsigned unused = 64 - bits_of(node.type.scalar());
    const std::uint64_t shifted = node.imm << unused;
    if (is_signed_integer(node.type.scalar())) return static_cast<std::int64_t>(shifted) >> unused;
    return static_cast<std::int64_t>(shifted >> unused);
}

std::vector<std::string_view> Function::note_lines(Loc loc) const {
    std::vector<std::string_view> lines;
    if (loc.note == 0 || loc.note > notes.size()) return lines;
    std::string_view rest = notes[loc.note - 1];
    for (;;) {
        const std::size_t end = rest.find_first_of("\r\n");
        if (const std::string_view line = rest.substr(0, end); !line.empty()) lines.push_back(line);
        if (end == std::string_view::npos) return lines;
        rest.remove_prefix(end + 1);
    }
}

std::string Function::where(Loc loc) const {
    if (loc.line == 0 || loc.file >= files.size()) return {};
    return cat(files[loc.file], ":", loc.line);
}

std::string_view mnemonic(Op op) noexcept {
    const auto index = static_cast<unsigned>(op);
    return index < op_count ? op_rows[index].text : "?";
}

Form form(Op op) noexcept {
    const auto index = static_cast<unsigned>(op);
    return index < op_count ? op_rows[index].form : Form::Jump;
}

bool is_commutative(Op op) noexcept {
    switch (op) {
        case Op::Add:
        case Op::Mul:
        case Op::Fma:
        case Op::Min:
        case Op::Max:
        case Op::And:
        case Op::Or:
        case Op::Xor:
        case Op::Eq:
        case Op::Ne: return true;
        default: return false;
    }
}

Traits traits(Op op) noexcept {
    switch (form(op)) {
        case Form::Constant:
        case Form::Zero:
        case Form::Parameter:
        case Form::Builtin:
        case Form::Unary:
        case Form::Binary:
        case Form::Compare:
        case Form::Shift:
        case Form::Ternary:
        case Form::Select:
        case Form::Classify:
        case Form::BitCount:
        case Form::Convert:
        case Form::Bitcast:
        case Form::Construct:
        case Form::Extract:
        case Form::BufferSize: return {.pure = true};
        // Not pure: two equal declarations are two memory locations.
        case Form::Root: return {};
        case Form::Load: return {.reads = true};
        case Form::Store:
        case Form::Print: return {.writes = true};
        case Form::Atomic:
        case Form::AtomicCas: return {.reads = true, .writes = true};
        case Form::SubgroupFold:
        case Form::SubgroupLane:
        case Form::SubgroupVote:
        case Form::Ballot:
        case Form::Elect: return {.convergent = true};
        // No access may move across them in either direction.
        case Form::Sync: return {.reads = true, .writes = true, .convergent = op != Op::Fence};
        case Form::If:
        case Form::For:
        case Form::Loop:
        case Form::Jump: return {.control = true};
    }
    return {};
}

std::optional<Op> op_from_mnemonic(std::string_view text) noexcept {
    static const auto table = [] {
        std::unordered_map<std::string_view, Op> map;
        for (unsigned i = 0; i < op_count; ++i) map.emplace(op_rows[i].text, static_cast<Op>(i));
        return map;
    }();
    const auto found = table.find(text);
    if (found == table.end()) return std::nullopt;
    return found->second;
}

unsigned path_start(Op op) noexcept {
    switch (form(op)) {
        case Form::Load:
        case Form::Extract: return 1;
        case Form::Store:
        case Form::Atomic: return 2;
        case Form::AtomicCas: return 3;
        default: return 0;
    }
}

std::optional<std::size_t> print_places(std::string_view format) noexcept {
    std::size_t places = 0;
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '{' && format[i] != '}') continue;
        const char next = i + 1 < format.size() ? format[i + 1] : '\0';
        if (format[i] == '{' && next == '}') {
            ++places;
        } else if (next != format[i]) {
            return std::nullopt;
        }
        ++i;
    }
    return places;
}

std::uint64_t memory_bytes(const Function& fn) noexcept {
    const auto of_vector = [](const auto& list) { return list.capacity() * sizeof(list[0]); };
    const auto of_strings = [&](const std::vector<std::string>& list) {
        std::uint64_t bytes = of_vector(list);
        for (const std::string& text : list) bytes += text.capacity();
        return bytes;
    };
    std::uint64_t bytes = sizeof fn + of_vector(fn.params) + of_vector(fn.nodes) + of_vector(fn.operands) +
                          of_vector(fn.regions) + of_strings(fn.strings) + of_strings(fn.files) +
                          of_strings(fn.notes);
    for (const Region& region : fn.regions) bytes += of_vector(region.nodes);
    if (fn.foreign) bytes += sizeof *fn.foreign + of_vector(fn.foreign->words) + fn.foreign->text.capacity();
    return bytes;
}

std::uint64_t shared_bytes(const Function& fn) {
    std::uint64_t bytes = 0;
    for_each_node(fn, fn.body, [&](NodeId id) {
        if (fn[id].op == Op::Shared) bytes += shared_slot_bytes(fn.type(id).size());
    });
    return bytes;
}

}  // namespace volley::ir
