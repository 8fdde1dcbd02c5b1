// One walk that rebuilds the node list of each region: the nodes of the expansion replace the function, and
// their result replaces its value.
#include "passes/expand_math.hpp"

#include "passes/expand_math_functions.hpp"
#include "passes/rewrite.hpp"

#include <array>

namespace volley::passes {
namespace {

using ir::Function;
using ir::NodeId;
using ir::Op;
using ir::RegionId;
using math::Value;

using Unary = Value (*)(Value);
using Binary = Value (*)(Value, Value);

Unary unary_function(Op op) noexcept {
    switch (op) {
        case Op::Rsqrt: return math::rsqrt;
        case Op::Sin: return math::sin;
        case Op::Cos: return math::cos;
        case Op::Tan: return math::tan;
        case Op::Asin: return math::asin;
        case Op::Acos: return math::acos;
        case Op::Atan: return math::atan;
        case Op::Sinh: return math::sinh;
        case Op::Cosh: return math::cosh;
        case Op::Tanh: return math::tanh;
        case Op::Asinh: return math::asinh;
        case Op::Acosh: return math::acosh;
        case Op::Atanh: return math::atanh;
        case Op::Exp: return math::exp;
        case Op::Exp2: return math::exp2;
        case Op::Exp10: return math::exp10;
        case Op::Expm1: return math::expm1;
        case Op::Log: return math::log;
        case Op::Log2: return math::log2;
        case Op::Log10: return math::log10;
        case Op::Log1p: return math::log1p;
        case Op::Cbrt: return math::cbrt;
        default: return nullptr;
    }
}

Binary binary_function(Op op) noexcept {
    switch (op) {
        case Op::Atan2: return math::atan2;
        case Op::Pow: return math::pow;
        case Op::Hypot: return math::hypot;
        case Op::Rem: return math::rem;
        default: return nullptr;
    }
}

class MathExpansion {
public:
    MathExpansion(Function& fn, const MathTarget& target) : fn_(fn), target_(target), emitter_(fn, target) {}

    void run() {
        region(fn_.body);
        if (emitter_.constants().empty()) return;
        std::vector<NodeId>& body = fn_.regions[fn_.body].nodes;
        auto at = body.begin();
        while (at != body.end() && is_declaration(fn_[*at].op)) ++at;
        body.insert(at, emitter_.constants().begin(), emitter_.constants().end());
    }

private:
    static bool is_declaration(Op op) { return op == Op::Buffer || op == Op::Param || op == Op::Shared; }

    void region(RegionId id) {
        const std::vector<NodeId> old = std::move(fn_.regions[id].nodes);
        std::vector<NodeId> list;
        list.reserve(old.size());
        const std::size_t remembered = emitter_.remembered();
        for (const NodeId node : old) {
            replaced_.apply(fn_, node);
            if (expands(fn_[node], target_)) {
                emitter_.into(&list);
                emitter_.set_loc(fn_[node].loc);
                replaced_.set(node, expansion(node).id);
                continue;
            }
            list.push_back(node);
            const std::array<RegionId, 2> inner = {fn_[node].regions[0], fn_[node].regions[1]};
            for (const RegionId r : inner) {
                if (r != ir::none) region(r);
            }
        }
        emitter_.forget_beyond(remembered);
        fn_.regions[id].nodes = std::move(list);
    }

    Value expansion(NodeId node) {
        const Op op = fn_[node].op;
        const DType type = fn_.type(node);
        Value a = emitter_.value(fn_.arg(node, 0));
        Value b = fn_[node].count > 1 ? emitter_.value(fn_.arg(node, 1)) : Value{};
        const bool half = type.scalar() == ScalarType::F16;
        if (half) {
            a = math::convert(a, ScalarType::F32);
            if (b.emitter != nullptr) b = math::convert(b, ScalarType::F32);
        }
        const Value result = call(op, a, b);
        return half ? math::convert(result, ScalarType::F16) : result;
    }

    Value call(Op op, Value a, Value b) {
        if (const Unary f = unary_function(op)) return f(a);
        const Binary f = binary_function(op);
        // The loop of integer divisions has a different trip count in each component.
        if (op != Op::Rem || a.type().is_scalar()) return f(a, b);
        const auto count = static_cast<unsigned>(a.type().count());
        std::array<Value, 4> parts;
        for (unsigned k = 0; k < count; ++k) parts[k] = f(emitter_.part(a, k), emitter_.part(b, k));
        return emitter_.construct(a.type(), std::span(parts).first(count));
    }

    Function& fn_;
    const MathTarget& target_;
    math::Emitter emitter_;
    Replacements replaced_;
};

}  // namespace

bool expands(const ir::Node& node, const MathTarget& target) noexcept {
    if (unary_function(node.op) == nullptr && binary_function(node.op) == nullptr) return false;
    if (!node.type.is_float()) return false;
    return node.type.scalar() != ScalarType::F64 || target.f64;
}

void expand_math(Function& fn, const MathTarget& target) { MathExpansion(fn, target).run(); }

}  // namespace volley::passes
