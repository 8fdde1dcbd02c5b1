// Regions, branches, loops, barriers, prints.
#include "codegen/clike/kernel_emitter.hpp"
#include "core/text.hpp"
#include "ir/literal.hpp"

namespace volley::codegen::clike {

using ir::NodeId;
using ir::Op;

void KernelEmitter::emit_region(ir::RegionId region) {
    for (const NodeId id : fn_.nodes_of(region)) emit_node(id);
    pending_.clear();
}

void KernelEmitter::emit_if(NodeId id) {
    const ir::Node& node = fn_[id];
    const bool has_else = node.regions[1] != ir::none && !fn_.nodes_of(node.regions[1]).empty();
    before_all();
    locate(id);
    open(cat("if (", use(fn_.arg(id, 0)).text, ") {"));
    emit_region(node.regions[0]);
    if (has_else) {
        --depth_;
        open("} else {");
        emit_region(node.regions[1]);
    }
    close();
}

// The trip count is exact and the index never wraps (docs/ir.md). If the step is one, or cannot step past the
// end of the type's range, the loop tests the index; otherwise it counts trips.
void KernelEmitter::emit_for(NodeId id) {
    const ir::Node& node = fn_[id];
    const ScalarType s = node.type.scalar();
    const bool sign = is_signed_integer(s);
    const auto known_step = fn_.constant_int(fn_.arg(id, 2));
    const auto known_end = fn_.constant_int(fn_.arg(id, 1));
    before_all();
    if (known_step == 0) return;
    locate(id);
    const std::string_view type = d_.type(s);
    const std::string index = names_.numbered("k");
    const Expr begin = use(fn_.arg(id, 0));
    const Expr end = atom(s, use(fn_.arg(id, 1)));
    const bool down = sign && known_step && *known_step < 0;
    const bool by_one = known_step && (*known_step == 1 || (sign && *known_step == -1));
    const unsigned bits = bits_of(s);
    const std::uint64_t ones = ~std::uint64_t{0} >> (64 - bits);
    const std::uint64_t highest = sign ? ones >> 1 : ones;
    const bool stays =
        known_step && known_end && !down &&
        static_cast<std::uint64_t>(*known_step) - 1 <= highest - static_cast<std::uint64_t>(*known_end) &&
        *known_end >= 0;
    if (by_one || stays) {
        const std::string next =
            by_one ? cat(down ? "--" : "++", index)
                   : cat(index, " += ", s_.literal(s, static_cast<std::uint64_t>(*known_step)).text);
        open(cat("for (", type, ' ', index, " = ", begin.text, "; ", index, down ? " > " : " < ", end.text,
                 "; ", next, ") {"));
    } else {
        const Expr from = atom(s, begin);
        const Expr step = atom(s, use(fn_.arg(id, 2)));
        const ScalarType u = size_of(s) == 8 ? ScalarType::U64 : ScalarType::U32;
        const auto plain = [&](const Expr& e) { return s == u ? e : cast(d_.type(u), e); };
        const Expr zero = s_.literal(s, 0);
        const Expr one = s_.literal(u, 1);
        const auto trips = [&](const Expr& low, const Expr& high, const Expr& stride) {
            const Expr distance = binary(binary(plain(high), "-", plain(low)), "-", one);
            return binary(binary(distance, "/", stride), "+", one);
        };
        const Expr up = trips(from, end, plain(step));
        const Expr back = trips(end, from, binary(s_.literal(u, 0), "-", plain(step)));
        Expr goes_up = binary(from, "<", end);
        Expr count;
        if (sign && !known_step) {
            goes_up = binary(binary(step, ">", zero), "&&", goes_up);
            const Expr goes_down = binary(binary(step, "<", zero), "&&", binary(from, ">", end));
            count = expr(cat(goes_up.text, " ? ", up.text, " : ", goes_down.text, " ? ", back.text, " : ",
                             s_.literal(u, 0).text));
        } else if (down) {
            count = choice(binary(from, ">", end), back, s_.literal(u, 0));
        } else {
            if (!known_step) goes_up = binary(binary(step, "!=", zero), "&&", goes_up);
            count = choice(goes_up, up, s_.literal(u, 0));
        }
        const std::string left = names_.numbered("trips");
        line(cat(d_.type(u), ' ', left, " = ", count.text, ';'));
        line(cat(type, ' ', index, "_next = ", from.text, ';'));
        const Expr next = s_.apply(Op::Add, s, expr(index + "_next"), step);
        open(cat("for (; ", left, " != 0; --", left, ", ", index, "_next = ", next.text, ") {"));
        line(cat("const ", type, ' ', index, " = ", index, "_next;"));
    }
    values_[id] = {named(index)};
    emit_region(node.regions[0]);
    close();
}

void KernelEmitter::emit_loop(NodeId id) {
    before_all();
    locate(id);
    open("for (;;) {");
    emit_region(fn_[id].regions[0]);
    close();
}

void KernelEmitter::emit_jump(NodeId id) {
    locate(id);
    switch (fn_[id].op) {
        case Op::Break: line("break;"); break;
        case Op::Continue: line("continue;"); break;
        default: line("return;"); break;
    }
}

void KernelEmitter::emit_sync(NodeId id) {
    before_all();
    locate(id);
    switch (fn_[id].op) {
        case Op::Barrier: line(d_.barrier()); return;
        case Op::SubgroupBarrier:
            // A subgroup of one invocation needs no barrier.
            if (features_.subgroup_size > 1) line(d_.subgroup_barrier());
            return;
        default: line(d_.fence(static_cast<ir::FenceScope>(fn_[id].imm))); return;
    }
}

// Claims space for a record in the report buffer and fills it. Records that do not fit are counted.
void KernelEmitter::emit_print(NodeId id) {
    const auto args = fn_.args(id);
    const auto number = static_cast<std::uint32_t>(out_.prints.size());
    PrintSite& print = out_.prints.emplace_back();
    print.format = fn_.strings[fn_[id].imm];
    const auto slot = [](std::size_t bytes) { return static_cast<std::uint32_t>((bytes + 15) / 16 * 16); };
    std::uint32_t bytes = sizeof(RecordHeader);
    for (const NodeId arg : args) {
        print.types.push_back(fn_.type(arg));
        bytes += slot(fn_.type(arg).size());
    }
    locate(id);
    const std::string at = names_.numbered("report");
    const std::string_view word = d_.type(ScalarType::U32);
    line(cat("// print ", ir::quote(print.format)));
    line(cat("const ", word, ' ', at, " = ", helpers_.claim_report(), "(reports, ", bytes, "u);"));
    open(cat("if (", at, " != 0u) {"));
    const auto put = [&](std::size_t k, std::string_view text) {
        line(cat("reports[", at, " + ", k, "u] = ", text, ';'));
    };
    put(0, cat(number, 'u'));
    put(1, cat(bytes, 'u'));
    std::size_t first = sizeof(RecordHeader) / 4;
    for (const NodeId arg : args) {
        const ir::Leaves all = ir::leaves_of(fn_.type(arg));
        std::vector<Expr> words(slot(fn_.type(arg).size()) / 4);
        for (std::size_t k = 0; k < all.size(); ++k) {
            const std::size_t size = size_of(all[k].scalar);
            Expr leaf = s_.to_bits(all[k].scalar, use(arg, k));
            Expr& low = words[all[k].offset / 4];
            if (size == 8) {
                leaf = atom(ScalarType::U64, std::move(leaf));
                low = cast(word, leaf);
                words[all[k].offset / 4 + 1] = cast(word, binary(leaf, ">>", expr("32")));
                continue;
            }
            if (size < 4) leaf = cast(word, leaf);
            const std::size_t shift = all[k].offset % 4 * 8;
            if (shift != 0) leaf = binary(leaf, "<<", expr(cat(shift)));
            low = low.text.empty() ? leaf : binary(low, "|", leaf);
        }
        for (std::size_t k = 0; k < words.size(); ++k) {
            if (!words[k].text.empty()) put(first + k, words[k].text);
        }
        first += words.size();
    }
    close();
}

}  // namespace volley::codegen::clike
