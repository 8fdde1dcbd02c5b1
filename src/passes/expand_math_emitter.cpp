// Each operator emits one node; operations of several nodes are named functions.
#include "passes/expand_math_emitter.hpp"

#include <bit>
#include <optional>

namespace volley::passes::math {
namespace {

using ir::NodeId;
using ir::Op;

constexpr Format formats[] = {
    {ScalarType::F32, ScalarType::I32, ScalarType::U32, 32, 23, 127, 0x1p-126, 0x1.8p23, 0x3f800000u,
     0x7f800000u, 0x80000000u, 0xfffff000u, false},
    {ScalarType::F64, ScalarType::I64, ScalarType::U64, 64, 52, 1023, 0x1p-1022, 0x1.8p52,
     0x3ff0000000000000u, 0x7ff0000000000000u, 0x8000000000000000u, 0xfffffffff8000000u, true}};

Value binary(Op op, Value a, Value b) { return a.emitter->emit(op, a.type(), {a, b}); }

Value compare(Op op, Value a, Value b) {
    return a.emitter->emit(op, a.type().with_scalar(ScalarType::Bool), {a, b});
}

Value bits_like(Value a, std::uint64_t bits) { return a.emitter->bits(a.type(), bits); }

// Returns the bits of a scalar constant, or of a vector that has the same constant in all components.
std::optional<std::uint64_t> constant_of(Value v) {
    const ir::Function& fn = v.emitter->function();
    const NodeId id = fn[v.id].op == Op::Construct ? fn.arg(v.id, 0) : v.id;
    for (const NodeId part : fn[v.id].op == Op::Construct ? fn.args(v.id) : std::span(&id, 1)) {
        if (part != id) return std::nullopt;
    }
    if (!fn.is_constant(id)) return std::nullopt;
    return fn[id].imm;
}

// Splits v into a sum of two numbers with half the format's digits each.
Pair halves(Value v) {
    const Format& f = v.format();
    if (const std::optional<std::uint64_t> bits = constant_of(v)) {
        const Value hi = bits_like(v, *bits & f.upper);
        if (f.wide) {
            return {hi, like(v, std::bit_cast<double>(*bits) - std::bit_cast<double>(*bits & f.upper))};
        }
        const auto number = [](std::uint64_t b) {
            return std::bit_cast<float>(static_cast<std::uint32_t>(b));
        };
        return {hi, like(v, static_cast<double>(number(*bits) - number(*bits & f.upper)))};
    }
    const Value hi = real(word(v) & f.upper);
    return {hi, v - hi};
}

}  // namespace

const Format& format_of(ScalarType real) noexcept {
    return formats[real == ScalarType::F64 || real == ScalarType::I64 || real == ScalarType::U64 ? 1 : 0];
}

DType Value::type() const { return emitter->function().type(id); }
const Format& Value::format() const { return format_of(type().scalar()); }

Value Emitter::emit(Op op, DType type, std::initializer_list<Value> operands) {
    NodeId ids[3] = {};
    std::size_t count = 0;
    for (const Value v : operands) ids[count++] = v.id;
    const NodeId id = fn_.add(op, type, std::span(ids).first(count), 0, loc_);
    list_->push_back(id);
    return {this, id};
}

Value Emitter::bits(DType type, std::uint64_t bits) {
    const auto [at, is_new] = known_.try_emplace({type.info(), bits}, ir::none);
    if (!is_new) return {this, at->second};
    NodeId id = ir::none;
    if (type.is_scalar()) {
        id = fn_.add(Op::Const, type, {}, bits);
    } else {
        const NodeId part = this->bits(type.scalar(), bits).id;
        const NodeId parts[4] = {part, part, part, part};
        id = fn_.add(Op::Construct, type, std::span(parts).first(type.count()));
    }
    constants_.push_back(id);
    known_[{type.info(), bits}] = id;
    return {this, id};
}

Value Emitter::number(DType type, double v) {
    switch (type.scalar()) {
        case ScalarType::F64: return bits(type, std::bit_cast<std::uint64_t>(v));
        case ScalarType::F32: return bits(type, std::bit_cast<std::uint32_t>(static_cast<float>(v)));
        case ScalarType::I64:
        case ScalarType::U64: return bits(type, static_cast<std::uint64_t>(static_cast<std::int64_t>(v)));
        default: return bits(type, static_cast<std::uint32_t>(static_cast<std::int64_t>(v)));
    }
}

Value Emitter::part(Value vector, unsigned k) {
    const Value index = bits(ScalarType::U32, k);
    return emit(Op::Extract, vector.type().part(k), {vector, index});
}

Value Emitter::construct(DType type, std::span<const Value> parts) {
    NodeId ids[4] = {};
    for (std::size_t i = 0; i < parts.size(); ++i) ids[i] = parts[i].id;
    const NodeId id = fn_.add(Op::Construct, type, std::span(ids).first(parts.size()), 0, loc_);
    list_->push_back(id);
    return {this, id};
}

Value Emitter::variable(Value start) {
    const Value root = emit(Op::Var, start.type(), {});
    assign(root, start);
    return root;
}

void Emitter::assign(Value variable, Value v) { emit(Op::Store, {}, {variable, v}); }
Value Emitter::read(Value variable) { return emit(Op::Load, variable.type(), {variable}); }

const Emitter::Known* Emitter::recall(Value x) const noexcept {
    for (auto at = remembered_.rbegin(); at != remembered_.rend(); ++at) {
        if (at->first == x.id) return &at->second;
    }
    return nullptr;
}

Value Emitter::open(Op op, DType type, std::initializer_list<Value> operands) {
    return emit(op, type, operands);
}

void Emitter::close(Value owner, std::vector<NodeId> nodes) {
    const ir::RegionId region = fn_.add_region();
    fn_.regions[region].nodes = std::move(nodes);
    fn_[owner.id].regions[0] = region;
}

void Emitter::add_region(Op op, std::initializer_list<Value> operands, std::vector<NodeId> nodes) {
    close(open(op, {}, operands), std::move(nodes));
}

Value operator+(Value a, Value b) { return binary(Op::Add, a, b); }
Value operator-(Value a, Value b) { return binary(Op::Sub, a, b); }
Value operator*(Value a, Value b) { return binary(Op::Mul, a, b); }
Value operator/(Value a, Value b) { return binary(Op::Div, a, b); }
Value operator-(Value a) { return unary(Op::Neg, a); }
Value operator+(Value a, double b) { return a + like(a, b); }
Value operator-(Value a, double b) { return a - like(a, b); }
Value operator*(Value a, double b) { return a * like(a, b); }
Value operator+(double a, Value b) { return like(b, a) + b; }
Value operator-(double a, Value b) { return like(b, a) - b; }
Value operator/(double a, Value b) { return like(b, a) / b; }

Value operator&(Value a, Value b) { return binary(Op::And, a, b); }
Value operator|(Value a, Value b) { return binary(Op::Or, a, b); }
Value operator^(Value a, Value b) { return binary(Op::Xor, a, b); }
Value operator&(Value a, std::uint64_t b) { return a & bits_like(a, b); }
Value operator|(Value a, std::uint64_t b) { return a | bits_like(a, b); }
Value operator^(Value a, std::uint64_t b) { return a ^ bits_like(a, b); }
Value operator<<(Value a, Value b) { return binary(Op::Shl, a, b); }
Value operator>>(Value a, Value b) { return binary(Op::Shr, a, b); }
Value operator<<(Value a, int b) { return a << bits_like(a, static_cast<std::uint64_t>(b)); }
Value operator>>(Value a, int b) { return a >> bits_like(a, static_cast<std::uint64_t>(b)); }
Value operator!(Value a) { return unary(Op::Not, a); }

Value operator<(Value a, Value b) { return compare(Op::Lt, a, b); }
Value operator>(Value a, Value b) { return compare(Op::Gt, a, b); }
Value operator>=(Value a, Value b) { return compare(Op::Ge, a, b); }
Value operator<(Value a, double b) { return a < like(a, b); }
Value operator>(Value a, double b) { return a > like(a, b); }
Value equal(Value a, Value b) { return compare(Op::Eq, a, b); }
Value equal(Value a, double b) { return equal(a, like(a, b)); }
Value differ(Value a, Value b) { return compare(Op::Ne, a, b); }

Value select(Value condition, Value yes, Value no) {
    return yes.emitter->emit(Op::Select, yes.type(), {condition, yes, no});
}
Value select(Value condition, double yes, Value no) { return select(condition, like(no, yes), no); }
Value select(Value condition, Value yes, double no) { return select(condition, yes, like(yes, no)); }

Value unary(Op op, Value a) { return a.emitter->emit(op, a.type(), {a}); }
Value abs(Value a) { return unary(Op::Abs, a); }
Value sqrt(Value a) { return unary(Op::Sqrt, a); }
Value trunc(Value a) { return unary(Op::Trunc, a); }
Value clz(Value a) { return unary(Op::Clz, a); }
Value min(Value a, Value b) { return binary(Op::Min, a, b); }
Value max(Value a, Value b) { return binary(Op::Max, a, b); }
Value min(Value a, double b) { return min(a, like(a, b)); }
Value max(Value a, double b) { return max(a, like(a, b)); }

Value convert(Value a, ScalarType to) {
    const DType type = a.type().with_scalar(to);
    return type == a.type() ? a : a.emitter->emit(Op::Convert, type, {a});
}
Value bitcast(Value a, ScalarType to) {
    const DType type = a.type().with_scalar(to);
    return type == a.type() ? a : a.emitter->emit(Op::Bitcast, type, {a});
}

Value any(Value condition) {
    if (condition.type().is_scalar()) return condition;
    Value result = condition.emitter->part(condition, 0);
    for (unsigned k = 1; k < condition.type().count(); ++k) {
        result = result | condition.emitter->part(condition, k);
    }
    return result;
}

Value like(Value a, double v) { return a.emitter->number(a.type(), v); }
Value like(Value a, Number v) { return like(a, pick(a, v)); }
Value infinity_like(Value a) { return bits_like(a, a.format().inf); }
Value nan_like(Value a) {
    return bits_like(a, a.format().inf | (std::uint64_t{1} << (a.format().fraction - 1)));
}
double pick(Value a, Number v) { return a.format().wide ? v.f64 : v.f32; }
Pair like(Value a, const SplitNumber& parts) { return {like(a, parts.hi), like(a, parts.lo)}; }

Value word(Value real) { return bitcast(real, real.format().word); }
Value real(Value word) { return bitcast(word, word.format().real); }

Value with_sign_of(Value magnitude, Value sign) {
    return real(word(magnitude) | (word(sign) & sign.format().sign));
}

Value power_of_two(Value n) {
    const Format& f = n.format();
    return bitcast((n + f.bias) << f.fraction, f.real);
}

Value mad(Value a, Value b, Value c) {
    if (a.emitter->target().fused_fma) return a.emitter->emit(Op::Fma, a.type(), {a, b, c});
    return a * b + c;
}
Value mad(Value a, Value b, double c) { return mad(a, b, like(a, c)); }
Value mad(Value a, double b, Value c) { return mad(a, like(a, b), c); }

Value polynomial(Value u, const Table& table) {
    const std::span<const double> c = u.format().wide ? table.f64 : table.f32;
    Value sum = like(u, c.back());
    for (std::size_t k = c.size() - 1; k-- > 0;) sum = mad(sum, u, c[k]);
    return sum;
}

Pair quick_two_sum(Value a, Value b) {
    const Value sum = a + b;
    return {sum, b - (sum - a)};
}

Pair two_product(Value a, Value b) {
    const Value product = a * b;
    if (a.emitter->target().fused_fma) {
        return {product, a.emitter->emit(Op::Fma, a.type(), {a, b, -product})};
    }
    // Products of halves are exact.
    const Pair u = halves(a);
    const Pair v = a.id == b.id ? u : halves(b);
    return {product, ((u.hi * v.hi - product) + u.hi * v.lo + u.lo * v.hi) + u.lo * v.lo};
}

Pair operator*(const Pair& a, const Pair& b) {
    const Pair p = two_product(a.hi, b.hi);
    return {p.hi, p.lo + mad(a.hi, b.lo, a.lo * b.hi)};
}

}  // namespace volley::passes::math
