// Everything around the kernel's body (planning, parameters, ids, the guard at the grid's edge), and the
// conversion of expressions into statements.
#include "codegen/clike/kernel_emitter.hpp"

#include "core/text.hpp"
#include "passes/rewrite.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace volley::codegen::clike {

using ir::Form;
using ir::NodeId;
using ir::Op;

namespace {

constexpr std::size_t longest_inlined = 72;
constexpr std::uint64_t most_scalars = 16;  // larger variables become arrays
constexpr std::array<char, 3> axes = {'x', 'y', 'z'};

// Returns the identifiers in a text.
std::unordered_set<std::string_view> words_of(std::string_view text) {
    std::unordered_set<std::string_view> words;
    const auto part = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    for (std::size_t at = 0; at < text.size();) {
        if (!part(text[at])) {
            ++at;
            continue;
        }
        const std::size_t first = at;
        while (at < text.size() && part(text[at])) ++at;
        words.insert(text.substr(first, at - first));
    }
    return words;
}

}  // namespace

KernelEmitter::KernelEmitter(const ir::Function& fn, const Variant& variant, const Features& features,
                             const Dialect& dialect)
    : fn_(fn),
      variant_(variant),
      features_(features),
      d_(dialect),
      site_{fn, features.device},
      helpers_(dialect),
      s_(dialect, features, helpers_, site_),
      values_(fn.nodes.size()),
      uses_(passes::count_uses(fn)),
      near_(fn.nodes.size()),
      spilled_(fn.nodes.size()),
      indexed_(fn.nodes.size()),
      declared_by_(fn.nodes.size(), ir::none),
      memory_(fn.nodes.size(), ir::none) {}

Source KernelEmitter::emit() {
    name_parameters();
    plan();
    emit_region(fn_.body);
    out_.entry = cat(valid_name(fn_.name), "_kernel");
    if (out_.entry[0] == '_') out_.entry = cat('a', out_.entry);
    const std::string before = prologue(body_);
    const std::string head = signature(before + body_);
    out_.text = header();
    out_.text += d_.prelude();
    out_.text += structs_;
    out_.text += helpers_.text();
    out_.text += head;
    out_.text += before;
    out_.text += body_;
    out_.text += "}\n";
    return std::move(out_);
}

void KernelEmitter::name_parameters() {
    for (const ir::Param& param : fn_.params) parameters_.push_back(names_.unique(param.name));
}

// ---- before the walk ----

void KernelEmitter::plan() {
    const std::vector<ir::RegionId> regions = passes::regions_of_nodes(fn_);
    for (std::uint32_t p = 0; p < fn_.params.size(); ++p) {
        const NodeId node = fn_.params[p].node;
        if (fn_.params[p].kind != ir::ParamKind::Buffer || node == ir::none) continue;
        memory_[node] = static_cast<std::uint32_t>(memories_.size());
        Memory& memory = memories_.emplace_back();
        memory.space = Space::Global;
        memory.name = parameters_[p];
        memory.read_only = fn_.params[p].read_only;
    }
    // Finds the first access to each variable. If it is a whole store in the same region, it declares the
    // variable.
    std::vector<bool> met(fn_.nodes.size());
    ir::for_each_node(fn_, fn_.body, [&](NodeId id) {
        const Op op = fn_[id].op;
        barrier_ = barrier_ || op == Op::Barrier;
        const auto args = fn_.args(id);
        for (const NodeId arg : args) {
            near_[arg] = regions[arg] == regions[id];
            if (fn_[arg].op != Op::Var || met[arg]) continue;
            met[arg] = true;
            const bool whole = op == Op::Store && args.size() == 2 && args[0] == arg;
            if (whole && regions[id] == regions[arg] && fn_.type(arg).is_scalar()) declared_by_[arg] = id;
        }
        const unsigned start = ir::path_start(op);
        if (start == 0) return;
        const auto path = args.subspan(start);
        const bool computed =
            std::any_of(path.begin(), path.end(), [&](NodeId step) { return !fn_.is_constant(step); });
        if (op == Op::Extract && computed) spilled_[args[0]] = true;
        if (fn_[args[0]].op == Op::Var && computed) indexed_[args[0]] = true;
    });
    const auto add_memory = [&](NodeId id, Space space, std::string_view prefix) {
        memory_[id] = static_cast<std::uint32_t>(memories_.size());
        Memory& memory = memories_.emplace_back();
        memory.space = space;
        memory.name = names_.numbered(prefix);
        memory.bytes = std::max<std::uint64_t>(fn_.type(id).size(), 1);
    };
    ir::for_each_node(fn_, fn_.body, [&](NodeId id) {
        const Op op = fn_[id].op;
        if (op == Op::Shared) {
            add_memory(id, Space::Shared, "shared");
            out_.shared_bytes += static_cast<std::uint32_t>(memories_.back().bytes);
        } else if (op == Op::Var) {
            if (fn_.type(id).leaf_count() > most_scalars) indexed_[id] = true;
            add_memory(id, Space::Private, "x");
        } else if (spilled_[id]) {
            add_memory(id, Space::Private, "parts");
            need_types(element_path(fn_, id, {}));
        }
    });
    variables_.resize(memories_.size());
    ir::for_each_node(fn_, fn_.body, [&](NodeId id) { plan_access(id); });
    guarded_ = !variant_.full && !barrier_ && variant_.local != ir::Dim3{1, 1, 1};
}

// ---- around the body ----

std::string KernelEmitter::header() const {
    const ir::Dim3& local = variant_.local;
    std::string name;
    for (const char c : fn_.name) name += c == '\n' || c == '\r' || c == '\\' ? ' ' : c;
    return cat("// ", name, ": ", d_.name(), " by Volley, for workgroups of ", local[0], " x ", local[1],
               " x ", local[2], variant_.full ? ", all of them whole.\n" : ".\n");
}

std::vector<std::pair<std::string, std::string>> KernelEmitter::ids() const {
    std::vector<std::pair<std::string, std::string>> list;
    const ir::Dim3& local = variant_.local;
    if (features_.subgroup_size > 1) {
        list.emplace_back("subgroup_id", d_.subgroup_id());
        list.emplace_back("subgroup_lane", d_.subgroup_lane());
    }
    for (unsigned d = 3; d-- > 0;)
        list.emplace_back(cat("group_count_", axes[d]),
                          local[d] == 1 ? cat("global_size_", axes[d])
                                        : cat("(global_size_", axes[d], " - 1u) / ", local[d], "u + 1u"));
    std::string index;
    for (unsigned d = 3; d-- > 0;) {
        if (local[d] == 1) continue;
        index = index.empty() ? cat("local_id_", axes[d])
                              : cat(index.find(' ') == std::string::npos ? index : cat('(', index, ')'),
                                    " * ", local[d], "u + local_id_", axes[d]);
    }
    list.emplace_back("local_index", index.empty() ? "0u" : index);
    for (unsigned d = 3; d-- > 0;)
        list.emplace_back(cat("local_id_", axes[d]), local[d] == 1 ? "0u" : d_.local_id(d));
    for (unsigned d = 3; d-- > 0;) list.emplace_back(cat("group_id_", axes[d]), d_.group_id(d));
    for (unsigned d = 3; d-- > 0;) list.emplace_back(cat("global_id_", axes[d]), d_.global_id(d, local[d]));
    return list;
}

std::string KernelEmitter::guard() const {
    std::string outside;
    for (unsigned d = 0; d < 3; ++d) {
        if (variant_.local[d] == 1) continue;
        outside += cat(outside.empty() ? "" : " || ", "global_id_", axes[d], " >= global_size_", axes[d]);
    }
    return cat("    if (", outside, ") return;\n");
}

// Declares only the names that the body uses.
std::string KernelEmitter::prologue(std::string_view body) {
    std::string arrays;
    std::string pointers;
    const auto words = words_of(body);
    for (const ir::Param& param : fn_.params) {
        if (param.kind != ir::ParamKind::Buffer || param.node == ir::none) continue;
        const Memory& memory = memories_[memory_[param.node]];
        for (const ScalarType s : memory.types) {
            const std::string name = memory.pointer(s);
            if (!words.contains(name)) continue;
            const std::string pointed =
                cat(memory.read_only ? "const " : "", d_.space(Space::Global), d_.type(s), '*');
            pointers += cat("    ", pointed, " const ", name, " = (", pointed, ")(", memory.name,
                            "_memory + ", memory.name, "_offset);\n");
        }
    }
    ir::for_each_node(fn_, fn_.body, [&](NodeId id) {
        if (fn_[id].op == Op::Shared) arrays += shared_declaration(id);
    });
    const std::string edge = guarded_ ? guard() : std::string();
    // An id may refer to ids listed after it, so declarations are emitted in reverse.
    std::string declared;
    std::string named = cat(edge, body);
    for (const auto& [name, text] : ids()) {
        if (!words_of(named).contains(name)) continue;
        const std::string statement =
            cat("    const ", d_.type(ScalarType::U32), ' ', name, " = ", text, ";\n");
        declared = cat(statement, declared);
        named += cat(' ', text);
    }
    return cat(arrays, declared, edge, pointers);
}

std::string KernelEmitter::signature(std::string_view body) {
    const auto words = words_of(body);
    std::vector<std::string> list;
    const auto add = [&](ArgumentKind kind, std::size_t index, std::size_t size, std::string text) {
        out_.parameters.push_back(
            {kind, static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(size)});
        list.push_back(std::move(text));
    };
    const std::string_view word = d_.type(ScalarType::U32);
    const std::string_view wide = d_.type(ScalarType::U64);
    for (std::uint32_t p = 0; p < fn_.params.size(); ++p) {
        const ir::Param& param = fn_.params[p];
        const std::string& name = parameters_[p];
        if (param.kind != ir::ParamKind::Buffer) {
            if (!words.contains(name)) continue;
            const std::string type = param.type.is_scalar()
                                         ? std::string(d_.type(s_.memory_type(param.type.scalar())))
                                         : name + "_t";
            add(ArgumentKind::Value, p, param.type.size(), cat("const ", type, ' ', name));
            continue;
        }
        const std::string memory = name + "_memory";
        const std::string offset = name + "_offset";
        const std::string elements = name + "_elements";
        if (words.contains(memory)) {
            add(ArgumentKind::Memory, p, 0,
                cat(param.read_only ? "const " : "", d_.space(Space::Global), d_.type(ScalarType::U8), "* ",
                    memory));
            add(ArgumentKind::Offset, p, 8, cat("const ", wide, ' ', offset));
        }
        if (words.contains(elements)) add(ArgumentKind::Elements, p, 8, cat("const ", wide, ' ', elements));
    }
    for (unsigned d = 0; d < 3; ++d) {
        const std::string name = cat("global_size_", axes[d]);
        if (words.contains(name)) add(ArgumentKind::GlobalSize, d, 4, cat("const ", word, ' ', name));
    }
    out_.reports = words.contains("reports");
    if (out_.reports) add(ArgumentKind::Reports, 0, 0, cat(d_.space(Space::Global), word, "* reports"));
    std::string text = cat(d_.kernel_head(variant_), out_.entry, '(');
    for (std::size_t k = 0; k < list.size(); ++k) text += cat(k > 0 ? "," : "", "\n        ", list[k]);
    return text + ") {\n";
}

// Declares a composite parameter as a struct of scalar arrays with explicit padding, which every compiler
// lays out like the host. If any scalar is misaligned, the struct is an array of bytes.
KernelEmitter::Exprs KernelEmitter::struct_of(std::uint32_t p) {
    const DType type = fn_.params[p].type;
    const std::string& name = parameters_[p];
    std::string text = "typedef struct {\n";
    Exprs exprs;
    const ir::Leaves all = ir::leaves_of(type);
    const std::string_view byte = d_.type(ScalarType::U8);
    std::size_t at = 0;
    unsigned members = 0;
    const bool aligned =
        type.size() % type.align() == 0 && std::all_of(all.begin(), all.end(), [&](const ir::Leaf& leaf) {
            return leaf.offset % size_of(leaf.scalar) == 0 && type.size() % size_of(leaf.scalar) == 0;
        });
    if (!aligned) {
        text += cat("    ", byte, " bytes[", type.size(), "];\n");
        for (const ir::Leaf& leaf : all) {
            const std::size_t size = size_of(leaf.scalar);
            const std::string_view wide = d_.type(size == 8 ? ScalarType::U64 : ScalarType::U32);
            Expr bits = named(cat(name, ".bytes[", leaf.offset, ']'));
            for (std::size_t k = 1; k < size; ++k) {
                const Expr next = cast(wide, named(cat(name, ".bytes[", leaf.offset + k, ']')));
                bits = binary(k == 1 ? cast(wide, bits) : bits, "|", binary(next, "<<", expr(cat(8 * k))));
                bits.level = Level::Or;
            }
            const ScalarType unsigned_type = ScalarCode::unsigned_of(leaf.scalar);
            exprs.push_back(s_.from_bits(leaf.scalar, cast(d_.type(unsigned_type), bits)));
        }
    }
    for (std::size_t first = 0; aligned && first < all.size();) {
        const ScalarType s = all[first].scalar;
        std::size_t end = first + 1;
        while (end < all.size() && all[end].scalar == s &&
               all[end].offset == all[end - 1].offset + size_of(s))
            ++end;
        if (all[first].offset > at)
            text += cat("    ", byte, " pad", members, '[', all[first].offset - at, "];\n");
        const ScalarType kept = s_.memory_type(s);
        text += cat("    ", d_.type(kept), " part", members, '[', end - first, "];\n");
        for (std::size_t k = first; k < end; ++k) {
            Expr e = named(cat(name, ".part", members, '[', k - first, ']'));
            exprs.push_back(s == ScalarType::Bool ? s_.from_bits(s, e) : std::move(e));
        }
        at = all[end - 1].offset + size_of(s);
        ++members;
        first = end;
    }
    if (aligned && type.size() > at)
        text += cat("    ", byte, " pad", members, '[', type.size() - at, "];\n");
    structs_ += cat(text, "} ", name, "_t;\n\n");
    return exprs;
}

// ---- statements ----

void KernelEmitter::line(std::string_view text) {
    body_.append(4 * static_cast<std::size_t>(depth_), ' ');
    body_ += text;
    body_ += '\n';
}

void KernelEmitter::open(std::string_view text) {
    line(text);
    ++depth_;
}

void KernelEmitter::close(std::string_view text) {
    --depth_;
    line(text);
}

void KernelEmitter::locate(NodeId id) {
    const ir::Loc loc = fn_[id].loc;
    if (loc == shown_ || loc.line == 0) return;
    const auto remark = [this](std::string text) {
        for (char& c : text) {
            if (c == '\n' || c == '\r' || c == '\\') c = ' ';  // must not end or continue the comment
        }
        line("// " + text);
    };
    if (loc.note != shown_.note) {
        for (const std::string_view note : fn_.note_lines(loc)) remark(std::string(note));
    }
    shown_ = loc;
    std::string where = fn_.where(loc);
    // The file name suffices, and keeps the text independent of where the sources are.
    if (const std::size_t folder = where.find_last_of("/\\"); folder != std::string::npos)
        where.erase(0, folder + 1);
    remark(std::move(where));
}

// ---- values ----

Expr KernelEmitter::use(NodeId id, std::size_t leaf) { return values_[id][leaf]; }

void KernelEmitter::define(NodeId id, Exprs leaves) {
    if (uses_[id] == 0) {
        values_[id] = std::move(leaves);
        return;
    }
    const bool short_enough = std::all_of(leaves.begin(), leaves.end(), [](const Expr& e) {
        return e.fixed || e.text.size() <= longest_inlined;
    });
    const bool inlined = uses_[id] == 1 && near_[id] && short_enough && !spilled_[id];
    if (!inlined) materialise(id, leaves);
    const bool reads =
        std::any_of(leaves.begin(), leaves.end(), [](const Expr& e) { return !e.reads.empty(); });
    if (reads) pending_.push_back(id);
    values_[id] = std::move(leaves);
    if (spilled_[id]) spill(id);
}

void KernelEmitter::define_here(NodeId id, Exprs leaves) {
    materialise(id, leaves);
    values_[id] = std::move(leaves);
    if (spilled_[id]) spill(id);
}

void KernelEmitter::materialise(NodeId id, Exprs& leaves) {
    const DType type = fn_.type(id);
    const std::vector<ScalarType> scalars = ir::leaf_scalars(type);
    if (std::all_of(leaves.begin(), leaves.end(), [](const Expr& e) { return e.fixed; })) return;
    locate(id);
    const std::string name = names_.numbered("v");
    constexpr std::string_view components = "xyzw";
    for (std::size_t k = 0; k < leaves.size(); ++k) {
        if (leaves[k].fixed) continue;
        std::string own = name;
        if (type.is_vector())
            own += cat('_', components[k]);
        else if (type.is_complex())
            own += k == 0 ? "_re" : "_im";
        else if (!type.is_scalar())
            own += cat('_', k);
        line(cat("const ", s_.type(scalars[k]), ' ', own, " = ", leaves[k].text, ';'));
        leaves[k] = named(std::move(own));
    }
}

Expr KernelEmitter::atom(ScalarType s, Expr e) {
    if (e.fixed) return e;
    std::string name = names_.numbered("t");
    line(cat("const ", s_.type(s), ' ', name, " = ", e.text, ';'));
    return named(std::move(name));
}

void KernelEmitter::before_write(NodeId root) {
    const NodeId key = memory_key(root);
    for (const NodeId id : pending_) {
        const bool touched = std::any_of(values_[id].begin(), values_[id].end(), [&](const Expr& e) {
            return std::find(e.reads.begin(), e.reads.end(), key) != e.reads.end();
        });
        if (touched) materialise(id, values_[id]);
    }
    std::erase_if(pending_, [&](NodeId id) {
        return std::all_of(values_[id].begin(), values_[id].end(),
                           [](const Expr& e) { return e.reads.empty(); });
    });
}

void KernelEmitter::before_all() {
    for (const NodeId id : pending_) materialise(id, values_[id]);
    pending_.clear();
}

}  // namespace volley::codegen::clike
