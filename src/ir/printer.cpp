// The printer accepts ill-formed functions too, for debugging: values that no region defines are printed as
// %?id, and a region is printed only once and only up to the legal depth.
#include "ir/printer.hpp"

#include "core/text.hpp"
#include "ir/literal.hpp"
#include "ir/syntax.hpp"

#include <unordered_map>
#include <unordered_set>

namespace volley::ir {
namespace {

class Printer {
public:
    Printer(const Function& fn, PrintOptions options)
        : fn_(fn),
          options_(options),
          numbers_(fn.nodes.size(), none),
          inlined_(fn.nodes.size(), false),
          reached_(fn.regions.size(), false),
          printed_(fn.regions.size(), false) {}

    std::string run() {
        if (fn_.body < fn_.regions.size()) collect(fn_.body, 0);
        declare_structs();
        find_inlined();
        out_ += cat("kernel ", quote(fn_.name));
        if (fn_.local_size) {
            const Dim3& l = *fn_.local_size;
            out_ += cat(" local(", l[0], ", ", l[1], ", ", l[2], ")");
        }
        out_ += " {\n";
        indent_ = 1;
        for (const Param& param : fn_.params) print_param(param);
        if (fn_.body < fn_.regions.size()) print_nodes(fn_.body);
        out_ += "}\n";
        return std::move(out_);
    }

private:
    // Collects the reachable operations; dead regions are not printed.
    void collect(RegionId region, unsigned depth) {
        if (region >= fn_.regions.size() || reached_[region] || depth > max_nesting) return;
        reached_[region] = true;
        for (const NodeId id : fn_.nodes_of(region)) {
            if (id >= fn_.nodes.size()) continue;
            live_.push_back(id);
            for (const RegionId inner : fn_[id].regions) collect(inner, depth + 1);
        }
    }

    // Structs

    void declare_structs() {
        for (const Param& param : fn_.params) declare(param.type);
        for (const NodeId id : live_) declare(fn_[id].type);
    }

    void declare(DType type) {
        if (type.is_array() && type.count() != 0) return declare(type.part(0));
        if (!type.is_struct() || labels_.contains(type.info())) return;
        for (const StructField& field : type.fields()) declare(field.type);
        const std::string label = make_label(type.struct_name());
        out_ += cat("struct ", label);
        if (label != type.struct_name()) out_ += cat(" ", quote(type.struct_name()));
        out_ += cat(" size ", type.size(), " align ", type.align(), " {\n");
        for (const StructField& field : type.fields()) {
            out_ += cat("  ", is_identifier(field.name) ? field.name : quote(field.name), " : ",
                        type_text(field.type), " @ ", field.offset, "\n");
        }
        out_ += "}\n";
        labels_.emplace(type.info(), label);
    }

    // Two structs may have the same name, and a name need not be an identifier ("app::Particle").
    std::string make_label(std::string_view name) {
        const bool plain = is_identifier(name) && !is_type_word(name);
        std::string label(plain ? "" : "S");
        for (const char c : name) label += is_identifier_char(c) ? c : '_';
        std::string candidate = label;
        unsigned& suffix = suffixes_[label];
        while (!used_labels_.insert(candidate).second) candidate = cat(label, ".", ++suffix + 1);
        return candidate;
    }

    std::string type_text(DType type) const {
        if (type.is_array() && type.count() != 0) {
            return cat("array<", type_text(type.part(0)), ", ", type.count(), ">");
        }
        const auto label = labels_.find(type.info());
        return label == labels_.end() ? type.name() : label->second;
    }

    // Values

    // A u32 constant that is used only in paths is printed there, as a plain number.
    void find_inlined() {
        std::vector<std::uint8_t> uses(fn_.nodes.size(), 0);  // 1: in a path, 2: elsewhere
        for (const NodeId id : live_) {
            const auto operands = args(id);
            const unsigned start = path_start(fn_[id].op);
            for (std::size_t k = 0; k < operands.size(); ++k) {
                if (operands[k] >= uses.size()) continue;
                uses[operands[k]] |= start != 0 && k >= start ? 1 : 2;
            }
        }
        for (NodeId id = 0; id < uses.size(); ++id) inlined_[id] = uses[id] == 1 && is_u32(id);
    }

    bool is_u32(NodeId id) const { return fn_[id].op == Op::Const && fn_[id].type == ScalarType::U32; }

    std::span<const NodeId> args(NodeId id) const {
        const Node& node = fn_[id];
        if (std::uint64_t{node.first} + node.count > fn_.operands.size()) return {};
        return fn_.args(id);
    }

    std::string value(NodeId id) const {
        if (id >= numbers_.size() || numbers_[id] == none) return cat("%?", id);
        return cat("%", numbers_[id]);
    }

    std::string values(std::span<const NodeId> ids) const {
        std::string text;
        for (std::size_t i = 0; i < ids.size(); ++i) text += cat(i == 0 ? " " : ", ", value(ids[i]));
        return text;
    }

    std::string path(std::span<const NodeId> steps) const {
        if (steps.empty()) return {};
        std::string text = "[";
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (i != 0) text += ", ";
            text +=
                steps[i] < fn_.nodes.size() && is_u32(steps[i]) ? cat(fn_[steps[i]].imm) : value(steps[i]);
        }
        return text + "]";
    }

    // Lines

    void line(std::string_view text, Loc loc) {
        if (options_.locations && loc.note != 0 && loc.note != shown_note_) {
            shown_note_ = loc.note;
            for (const std::string_view note : fn_.note_lines(loc))
                out_.append(2 * indent_, ' ').append("; ").append(note).append("\n");
        }
        out_.append(2 * indent_, ' ');
        out_ += text;
        if (options_.locations && loc.line != 0 && loc.file < fn_.files.size()) {
            const std::string& file = fn_.files[loc.file];
            out_ += cat("  ; ", is_plain_path(file) ? file : quote(file), ":", loc.line);
        }
        out_ += '\n';
    }

    static std::string layout_text(const Param& param) {
        if (!param.is_layout()) return {};
        return cat(param.kind == ParamKind::Extent ? " extent(" : " stride(", param.buffer, ", ", param.axis,
                   ")");
    }

    void print_param(const Param& param) {
        Loc loc;
        if (param.node < fn_.nodes.size()) {
            numbers_[param.node] = next_;
            loc = fn_[param.node].loc;
        }
        const bool buffer = param.kind == ParamKind::Buffer;
        line(cat("%", next_++, buffer ? " = buffer " : " = param ", type_text(param.type), " ",
                 quote(param.name), param.read_only ? " read_only" : "",
                 param.rank != 0 ? cat(" rank ", param.rank) : "", layout_text(param)),
             loc);
    }

    void print_nodes(RegionId region) {
        if (printed_[region] || !reached_[region]) return;
        printed_[region] = true;
        for (const NodeId id : fn_.nodes_of(region)) {
            if (id >= fn_.nodes.size()) {
                line(cat("%?", id), {});
            } else if (!is_own_param(id) && !inlined_[id]) {
                print_node(id);
            }
        }
    }

    bool is_own_param(NodeId id) const {
        const Node& node = fn_[id];
        return (node.op == Op::Param || node.op == Op::Buffer) && node.imm < fn_.params.size() &&
               fn_.params[node.imm].node == id;
    }

    void print_node(NodeId id) {
        const Node& node = fn_[id];
        std::string text = node_text(id);
        if (!node.type.is_void()) {
            numbers_[id] = next_;
            text = cat("%", next_++, " = ", text);
        }
        const bool block = node.op == Op::If || node.op == Op::For || node.op == Op::Loop;
        line(block ? text + " {" : text, node.loc);
        if (!block) return;
        print_inner(node.regions[0]);
        if (node.regions[1] != none) {
            line("} else {", {});
            print_inner(node.regions[1]);
        }
        line("}", {});
    }

    void print_inner(RegionId region) {
        if (region >= fn_.regions.size()) return;
        ++indent_;
        print_nodes(region);
        --indent_;
    }

    std::string node_text(NodeId id) const {
        const Node& node = fn_[id];
        const auto operands = args(id);
        std::string text(mnemonic(node.op));
        switch (form(node.op)) {
            case Form::Constant: text += cat(" ", constant_text(node.type.scalar(), node.imm)); break;
            case Form::Parameter:
            case Form::Root: return cat(text, " ", type_text(node.type));
            case Form::Sync: return node.op == Op::Fence ? cat(text, " ", fence_scope_text(node.imm)) : text;
            case Form::Print:
                text += cat(" ", node.imm < fn_.strings.size() ? quote(fn_.strings[node.imm]) : "?");
                for (const NodeId operand : operands) text += cat(", ", value(operand));
                return text;
            case Form::Extract:
            case Form::Load:
            case Form::Store:
            case Form::Atomic:
            case Form::AtomicCas: {
                const std::size_t start = path_start(node.op);
                if (operands.size() < start) break;
                text += cat(" ", value(operands[0]), path(operands.subspan(start)));
                for (std::size_t k = 1; k < start; ++k) text += cat(", ", value(operands[k]));
                break;
            }
            default: text += values(operands); break;
        }
        if (!node.type.is_void()) text += cat(" : ", type_text(node.type));
        return text;
    }

    const Function& fn_;
    PrintOptions options_;
    std::string out_;
    std::size_t indent_ = 0;
    std::uint32_t shown_note_ = 0;
    std::vector<std::uint32_t> numbers_;
    std::vector<bool> inlined_;
    std::vector<bool> reached_;
    std::vector<bool> printed_;
    std::vector<NodeId> live_;  // in execution order
    std::uint32_t next_ = 0;
    std::unordered_map<const TypeInfo*, std::string> labels_;
    std::unordered_set<std::string> used_labels_;
    std::unordered_map<std::string, unsigned> suffixes_;
};

}  // namespace

std::string print(const Function& fn, PrintOptions options) { return Printer(fn, options).run(); }

}  // namespace volley::ir
