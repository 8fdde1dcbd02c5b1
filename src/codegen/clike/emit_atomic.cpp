// Atomics: a single call if the dialect has one, a compare-exchange loop for other float operations, two
// 32-bit atomics for 64-bit operations that can be split. The memory order is relaxed (docs/ir.md section 8).
#include "codegen/clike/kernel_emitter.hpp"
#include "core/text.hpp"
#include "ir/combine.hpp"

namespace volley::codegen::clike {

using ir::NodeId;
using ir::Op;

// Defines one function per address space: OpenCL 1.2 has no generic pointers.
std::string KernelEmitter::exchange_loop(Op op, ScalarType s, Space space) {
    std::string name = cat(ir::mnemonic(op), '_', name_of(s), space == Space::Global ? "_global" : "_shared");
    if (helpers_.has(name)) return name;
    const ScalarType bits = ScalarCode::unsigned_of(s);
    const std::string pointer = cat("volatile ", d_.space(space), d_.type(bits), '*');
    const Expr updated =
        s_.apply(ir::combine_of_atomic(op), s, expr(d_.reinterpret(s, bits, "seen")), named("x"));
    const std::string exchanged =
        d_.atomic(Op::AtomicCas, bits, "at", "seen", d_.reinterpret(bits, s, updated.text));
    helpers_.define(name, cat(d_.type(s), ' ', name, '(', pointer, " at, ", d_.type(s), " x)"),
                    cat(d_.type(bits), " seen = *at;\nfor (;;) {\n    const ", d_.type(bits),
                        " found = ", exchanged, ";\n    if (found == seen) return ",
                        d_.reinterpret(s, bits, "found"), ";\n    seen = found;\n}"));
    return name;
}

// Splits a 64-bit sum or bit operation into two 32-bit operations. This is correct only if the old value is
// unused; the carry follows from the old value of the low word.
std::string KernelEmitter::split_atomic(Op op, Space space) {
    std::string name = cat(ir::mnemonic(op), space == Space::Global ? "_words_global" : "_words_shared");
    const std::string_view word = d_.type(ScalarType::U32);
    const std::string_view wide = d_.type(ScalarType::U64);
    const bool sum = op == Op::AtomicAdd || op == Op::AtomicSub;
    const auto call = [&](std::string_view at, std::string_view x) {
        return d_.atomic(sum ? Op::AtomicAdd : op, ScalarType::U32, at, x, {});
    };
    std::string body = op == Op::AtomicSub ? "x = 0 - x;\n" : "";
    body += cat("const ", word, " low = (", word, ")x;\nconst ", word, " high = (", word, ")(x >> 32);\n");
    if (sum) {
        body += cat("const ", word, " old = ", call("at", "low"), ";\n",
                    call("at + 1", "high + (old + low < old ? 1u : 0u)"), ';');
    } else {
        body += cat(call("at", "low"), ";\n", call("at + 1", "high"), ';');
    }
    helpers_.define(name, cat("void ", name, "(volatile ", d_.space(space), word, "* at, ", wide, " x)"),
                    body);
    return name;
}

void KernelEmitter::emit_atomic(NodeId id) {
    const Op op = fn_[id].op;
    const NodeId root = fn_.arg(id, 0);
    const ScalarType s = fn_.type(id).scalar();
    const Space space = fn_[root].op == Op::Shared ? Space::Shared : Space::Global;
    if (s == ScalarType::F64 && !features_.f64)
        site_.refuse("64-bit floats (f64)", "use float, or run the kernel on a device that has f64");
    const bool splits = size_of(s) == 8 && !features_.i64_atomics;
    const bool two_words = op == Op::AtomicAdd || op == Op::AtomicSub || op == Op::AtomicAnd ||
                           op == Op::AtomicOr || op == Op::AtomicXor;
    if (splits && (is_float(s) || !two_words || uses_[id] != 0))
        site_.refuse("64-bit atomics",
                     "use 32-bit atomics, or run the kernel on a device that has 64-bit atomics");
    const ElementPath place = element_path(fn_, id);
    if (!place.aligned_to(size_of(s)))
        site_.refuse("atomics on misaligned scalars", "align the struct's members naturally");
    before_write(root);
    locate(id);
    const std::vector<Expr> dims = indices(place, false);
    const Expr target = element(place, dims, 0, s_.memory_type(s));
    if (splits) {
        const Expr x = s_.to_bits(s, use(fn_.arg(id, 1)));
        line(cat(split_atomic(op, space), "((volatile ", d_.space(space), d_.type(ScalarType::U32), "*)&",
                 target.text, ", ", x.text, ");"));
        return;
    }
    const bool native = !is_float(s) || d_.has_float_atomic(op, s);
    const ScalarType t = native ? s : ScalarCode::unsigned_of(s);
    const std::string pointer = cat("(volatile ", d_.space(space), d_.type(t), "*)&", target.text);
    const Expr operand = use(fn_.arg(id, 1));
    Expr old;
    if (native) {
        const std::string desired = op == Op::AtomicCas ? use(fn_.arg(id, 2)).text : std::string();
        old = expr(d_.atomic(op, s, pointer, operand.text, desired));
    } else if (op == Op::AtomicCas || op == Op::AtomicExchange) {
        const std::string desired =
            op == Op::AtomicCas ? s_.to_bits(s, use(fn_.arg(id, 2))).text : std::string();
        old = s_.from_bits(s, expr(d_.atomic(op, t, pointer, s_.to_bits(s, operand).text, desired)));
    } else {
        old = expr(cat(exchange_loop(op, s, space), '(', pointer, ", ", operand.text, ')'));
    }
    if (uses_[id] == 0) {
        line(old.text + ';');
        return;
    }
    Exprs list = {std::move(old)};
    define_here(id, std::move(list));
}

}  // namespace volley::codegen::clike
