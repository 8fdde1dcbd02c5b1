// Random values: operands from the current scope, and operations that create new ones.
#include "random/generator_state.hpp"

#include <algorithm>
#include <utility>

namespace volley::testing {

using ir::Op;
using S = ScalarType;

Generator::Value Generator::keep(Value value) {
    values_.push_back(value);
    return value;
}

Generator::Value Generator::emit(Op op, std::initializer_list<Value> operands, DType wanted) {
    std::vector<NodeId> ids;
    bool uniform = true;
    for (const Value& v : operands) {
        ids.push_back(v.id);
        uniform = uniform && v.uniform;
    }
    const NodeId id = b_.emit(op, ids, wanted);
    return {id, program_.fn.type(id), uniform};
}

Generator::Value Generator::constant(S type) {
    return {b_.constant(type, random_scalar(random_, type)), type, true};
}

Generator::Value Generator::number(S type, double v) { return {b_.constant_number(type, v), type, true}; }

Generator::Value Generator::operand(DType type, bool uniform) {
    std::vector<Value> candidates;
    for (const Value& v : values_) {
        if (v.type == type && (v.uniform || !uniform)) candidates.push_back(v);
    }
    if (!candidates.empty() && random_.chance(80)) {
        // Picks the newest value half of the time, which favours long chains.
        return random_.chance(50) ? candidates.back() : random_.pick(candidates);
    }
    return leaf(type, uniform);
}

Generator::Value Generator::leaf(DType type, bool uniform) {
    for (const Input& input : inputs_) {
        if (input.type == type && random_.chance(50)) {
            const Value at = buffer_index(input.elements, uniform);
            return {b_.load(input.root, std::span(&at.id, 1)), type, at.uniform};
        }
    }
    if (!uniform) {
        for (const Variable& variable : variables_) {
            if (variable.type == type && random_.chance(40)) return {b_.load(variable.root, {}), type, false};
        }
    }
    if (type.is_scalar()) {
        const S scalar = type.scalar();
        if (random_.chance(25)) return constant(scalar);
        if (scalar == S::Bool) return condition(uniform);
        // Derived from a value of another type; the invocation's index always exists and differs between
        // lanes.
        std::vector<Value> numbers;
        for (const Value& v : values_) {
            if (v.type.is_scalar() && !v.type.is_bool() && (v.uniform || !uniform)) numbers.push_back(v);
        }
        if (!numbers.empty()) return emit(Op::Convert, {random_.pick(numbers)}, type);
        return constant(scalar);
    }
    if (random_.chance(15)) return {b_.zero(type), type, true};
    std::vector<NodeId> parts;
    bool all_uniform = true;
    for (std::uint64_t i = 0; i < type.count(); ++i) {
        const Value part = operand(type.part(i), uniform);
        parts.push_back(part.id);
        all_uniform = all_uniform && part.uniform;
    }
    return {b_.construct(type, parts), type, all_uniform};
}

Generator::Value Generator::condition(bool uniform) {
    if (uniform && random_.chance(20)) return constant(S::Bool);
    // Integers only: they are cheap, and their comparisons rarely have the same result everywhere.
    const S type = integer_type();
    const Op op = random_.pick({Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge});
    std::vector<Value> candidates;
    for (const Value& v : values_) {
        if (v.type == DType(type) && (v.uniform || !uniform)) candidates.push_back(v);
    }
    Value a = candidates.empty() ? uniform ? constant(type) : emit(Op::Convert, {linear_}, type)
                                 : random_.pick(candidates);
    if (random_.chance(50)) {
        const double n = static_cast<double>(random_.between(2, 5));
        a = emit(Op::Rem, {a, number(type, n)});
        return emit(op, {a, number(type, static_cast<double>(random_.below(4)))});
    }
    return emit(op, {a, number(type, static_cast<double>(random_.below(64)))});
}

// Returns a scalar integer that is below n in every invocation.
Generator::Value Generator::index_below(std::uint64_t n, bool uniform) {
    if (n == 1 || random_.chance(25)) {
        return {b_.constant(S::U32, random_.below(n)), S::U32, true};
    }
    Value v = operand(random_.chance(70) ? S::U32 : integer_type(), uniform);
    if (is_signed_integer(v.type.scalar()))
        v = emit(Op::Convert, {v}, random_.pick({S::U32, S::U64, S::U16}));
    const S type = v.type.scalar();
    if (type == S::U8 && n > 256) return v;
    if ((n & (n - 1)) == 0 && random_.chance(60)) {
        v = emit(Op::And, {v, {b_.constant(type, n - 1), type, true}});
    } else if (random_.chance(80)) {
        v = emit(Op::Rem, {v, {b_.constant(type, n), type, true}});
    } else {
        v = emit(Op::Min, {v, {b_.constant(type, n - 1), type, true}});
    }
    // It now also fits any signed type that can represent n.
    if (random_.chance(30))
        v = emit(Op::Convert, {v}, n < 120 ? random_.pick({S::I8, S::I32}) : random_.pick({S::I32, S::I64}));
    return v;
}

// Contiguous, reversed, strided, shifted and arbitrary accesses: the cases that access analysis
// distinguishes.
Generator::Value Generator::buffer_index(std::uint64_t elements, bool uniform) {
    if (uniform || elements < 3 * invocations_ + 8 || random_.chance(30))
        return index_below(elements, uniform);
    Value at = linear_;
    if (random_.chance(30)) at = emit(Op::Convert, {at}, random_.pick({S::I32, S::U64, S::I64}));
    const S type = at.type.scalar();
    switch (random_.below(6)) {
        case 0: return at;
        case 1: return emit(Op::Add, {at, number(type, static_cast<double>(random_.below(8)))});
        case 2: return emit(Op::Sub, {number(type, static_cast<double>(invocations_ - 1)), at});
        case 3: return emit(Op::Mul, {at, number(type, static_cast<double>(random_.between(2, 3)))});
        case 4: {
            const Value twice = emit(Op::Shl, {at, number(type, 1)});
            return emit(Op::Add, {twice, number(type, static_cast<double>(random_.below(3)))});
        }
        default: {
            const Value small = index_below(8, false);
            return emit(Op::Add, {at, emit(Op::Convert, {small}, type)});
        }
    }
}

// Returns x + 0, which turns a zero of either sign into +0.
Generator::Value Generator::fixed_zero_sign(Value value) {
    if (!value.type.is_float()) return value;
    return emit(Op::Add, {value, {b_.zero(value.type), value.type, true}});
}

// NaN bits are device-specific.
Generator::Value Generator::without_nan(Value value) {
    if (!value.type.is_float()) return value;
    const Value is_nan = emit(Op::IsNan, {value});
    return emit(Op::Select, {is_nan, {b_.zero(value.type), value.type, true}, value});
}

// The patterns in which workgroups exchange values: own, reversed, rotated, butterfly, arbitrary.
Generator::Value Generator::shared_slot(bool uniform) {
    if (uniform || random_.chance(40)) return index_below(group_size_, uniform);
    const Value last = {b_.constant(S::U32, group_size_ - 1), S::U32, true};
    const Value size = {b_.constant(S::U32, group_size_), S::U32, true};
    const Value shift = {b_.constant(S::U32, random_.below(group_size_)), S::U32, true};
    const bool power_of_two = (group_size_ & (group_size_ - 1)) == 0;
    switch (random_.below(5)) {
        case 0: return local_index_;
        case 1: return emit(Op::Sub, {last, local_index_});
        case 2: {
            const Value sum = emit(Op::Add, {local_index_, shift});
            return power_of_two ? emit(Op::And, {sum, last}) : emit(Op::Rem, {sum, size});
        }
        case 3:
            if (power_of_two) return emit(Op::Xor, {local_index_, shift});
            return emit(Op::Div, {local_index_, number(S::U32, 2)});
        default: {
            const Value product =
                emit(Op::Mul, {local_index_, number(S::U32, double(random_.between(2, 5)))});
            return power_of_two ? emit(Op::And, {product, last}) : emit(Op::Rem, {product, size});
        }
    }
}

Generator::Value Generator::builtin() {
    if (random_.chance(15)) {
        const DType size_type = random_.pick({S::U32, S::U64});
        return keep({b_.emit(Op::BufferSize, {random_.pick(inputs_).root}, size_type), size_type, true});
    }
    std::vector<Op> ops = {Op::GlobalId, Op::GlobalSize};
    if (options_.barriers || options_.subgroups || random_.chance(20)) {
        ops.insert(ops.end(), {Op::LocalId, Op::GroupId, Op::LocalSize, Op::GroupCount, Op::LocalIndex});
    }
    if (options_.subgroups) {
        ops.insert(ops.end(), {Op::SubgroupId, Op::SubgroupCount, Op::SubgroupSize, Op::SubgroupLane});
        program_.subgroups = true;
    }
    const Op op = random_.pick(ops);
    const bool varying = op == Op::GlobalId || op == Op::LocalId || op == Op::LocalIndex ||
                         op == Op::SubgroupId || op == Op::SubgroupLane;
    const NodeId id = b_.emit(op, {});
    const DType type = program_.fn.type(id);
    if (type.is_vector() && random_.chance(60)) {
        return keep({b_.extract(id, static_cast<std::uint32_t>(random_.below(3))), S::U32, !varying});
    }
    return keep({id, type, !varying});
}

Generator::Value Generator::arithmetic() {
    const DType type =
        options_.floats && random_.chance(8)
            ? (random_.chance(60) ? DType::complex(float_type()) : DType::matrix(float_type(), 2, 3))
            : arithmetic_type();
    if (type.is_complex() || type.is_matrix()) {
        const Op op = random_.pick({Op::Add, Op::Sub, Op::Neg});
        return keep(op == Op::Neg ? emit(op, {operand(type)}) : emit(op, {operand(type), operand(type)}));
    }
    const Value a = operand(type);
    switch (random_.below(type.is_float() ? 16 : 12)) {
        case 0: return keep(emit(Op::Neg, {a}));
        case 1: return keep(emit(Op::Abs, {a}));
        case 2: return keep(fixed_zero_sign(emit(Op::Sign, {a})));
        case 3: return keep(fixed_zero_sign(emit(random_.pick({Op::Min, Op::Max}), {a, operand(type)})));
        case 4: return keep(emit(Op::Fma, {a, operand(type), operand(type)}));
        case 5: return keep(emit(Op::Div, {a, operand(type)}));
        case 6: return keep(emit(Op::Rem, {a, operand(type)}));
        case 7:
        case 8: return keep(emit(Op::Mul, {a, operand(type)}));
        case 9: return keep(emit(Op::Sub, {a, operand(type)}));
        case 10:
        case 11: return keep(emit(Op::Add, {a, operand(type)}));
        case 12: return keep(emit(Op::Sqrt, {a}));
        case 13: return keep(emit(random_.pick({Op::Floor, Op::Ceil, Op::Trunc}), {a}));
        case 14: return keep(emit(random_.pick({Op::Round, Op::RoundEven}), {a}));
        default: {
            // The pattern that contraction looks for.
            const Value product = emit(Op::Mul, {a, operand(type)});
            return keep(emit(random_.pick({Op::Add, Op::Sub}), {product, operand(type)}));
        }
    }
}

Generator::Value Generator::comparison() {
    if (random_.chance(40)) {
        const DType type = random_.chance(15) ? value_type() : arithmetic_type();
        const bool lanes = type.is_vector() && random_.chance(40);
        const Value c = operand(lanes ? type.with_scalar(S::Bool) : DType(S::Bool));
        return keep(emit(Op::Select, {c, operand(type), operand(type)}));
    }
    if (random_.chance(15)) {
        const DType type = random_.chance(70) ? DType(S::Bool) : DType::vector(S::Bool, 3);
        const Value a = operand(type);
        const Op op = random_.pick({Op::And, Op::Or, Op::Xor, Op::Eq, Op::Ne, Op::Not});
        return keep(op == Op::Not ? emit(op, {a}) : emit(op, {a, operand(type)}));
    }
    const DType type = arithmetic_type();
    if (type.is_float() && random_.chance(15))
        return keep(emit(random_.pick({Op::IsNan, Op::IsInf}), {operand(type)}));
    const Op op = random_.pick({Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge});
    return keep(emit(op, {operand(type), operand(type)}));
}

Generator::Value Generator::conversion() {
    if (options_.floats && random_.chance(8)) {
        return keep(emit(Op::Convert, {operand(DType::complex(float_type()))}, DType::complex(float_type())));
    }
    const DType from = random_.chance(10) ? DType(S::Bool) : arithmetic_type();
    return keep(emit(Op::Convert, {operand(from)}, from.with_scalar(scalar_type())));
}

Generator::Value Generator::bitcast() {
    const DType from = arithmetic_type();
    std::vector<DType> targets;
    for (const S s : {S::I8, S::U8, S::I16, S::U16, S::I32, S::U32, S::I64, S::U64, S::F16, S::F32, S::F64}) {
        if (is_float(s) && !options_.floats) continue;
        if (size_of(s) == from.size()) targets.push_back(s);
        for (unsigned n = 2; n <= 4; ++n) {
            if (size_of(s) * n == from.size()) targets.push_back(DType::vector(s, n));
        }
    }
    const DType to = random_.pick(targets);
    const Value bits = without_nan(operand(from));
    return keep(without_nan(emit(Op::Bitcast, {bits}, to)));
}

Generator::Value Generator::shift_or_bits() {
    const S scalar = integer_type();
    const DType type = random_.chance(75)
                           ? DType(scalar)
                           : DType::vector(scalar, static_cast<unsigned>(random_.between(2, 4)));
    switch (random_.below(10)) {
        case 0: return keep(emit(Op::Not, {operand(type)}));
        case 1: return keep(emit(Op::PopCount, {operand(type)}));
        case 2: return keep(emit(Op::Clz, {operand(type)}));
        case 3: return keep(emit(Op::Ctz, {operand(type)}));
        case 4: return keep(emit(Op::ReverseBits, {operand(type)}));
        case 5:
        case 6: return keep(emit(random_.pick({Op::Shl, Op::Shr}), {operand(type), operand(type)}));
        default: return keep(emit(random_.pick({Op::And, Op::Or, Op::Xor}), {operand(type), operand(type)}));
    }
}

Generator::Value Generator::composite() { return keep(leaf(value_type(), false)); }

Generator::Value Generator::extraction() {
    std::vector<Value> composites;
    for (const Value& v : values_) {
        if (!v.type.is_scalar()) composites.push_back(v);
    }
    const Value whole =
        composites.empty() ? leaf(DType::vector(scalar_type(), 4), false) : random_.pick(composites);
    DType type = whole.type;
    std::vector<NodeId> ids = {whole.id};
    bool uniform = whole.uniform;
    std::vector<NodeId> path;
    random_path(type, path, uniform);
    ids.insert(ids.end(), path.begin(), path.end());
    return keep({b_.emit(Op::Extract, ids), type, uniform});
}

// Takes at least one step from `type` (which has parts) towards a leaf; updates `type` to the part it
// reaches.
ir::NodeId Generator::random_path(DType& type, std::vector<NodeId>& path, bool& uniform) {
    do {
        if (type.is_struct()) {
            const std::uint64_t field = random_.below(type.count());
            path.push_back(b_.constant(S::U32, field));
            type = type.part(field);
        } else {
            const Value at = index_below(type.count(), false);
            path.push_back(at.id);
            uniform = uniform && at.uniform;
            type = type.part(0);
        }
    } while (!type.is_scalar() && random_.chance(70));
    return path.back();
}

Generator::Value Generator::load_input(bool uniform) {
    const Input& input = random_.pick(inputs_);
    const Value at = buffer_index(input.elements, uniform);
    std::vector<NodeId> path = {at.id};
    DType type = input.type;
    bool same = at.uniform;
    if (!type.is_scalar() && random_.chance(50)) random_path(type, path, same);
    return keep({b_.load(input.root, path), type, same});
}

Generator::Value Generator::load_variable() {
    if (variables_.empty()) return load_input(false);
    const Variable variable = random_.pick(variables_);
    DType type = variable.type;
    std::vector<NodeId> path;
    bool uniform = variable.uniform;
    if (!type.is_scalar() && random_.chance(60)) random_path(type, path, uniform);
    return keep({b_.load(variable.root, path), type, uniform});
}

// An index that is outside of an array of n elements in some invocations, and the condition that it is
// inside.
std::pair<Generator::Value, Generator::Value> Generator::wild_index(std::uint64_t n) {
    const bool near = n >= invocations_ && random_.chance(60);
    Value at = near ? linear_ : operand(random_.chance(70) ? S::U32 : integer_type());
    if (at.type == S::U32 && random_.chance(30)) at = emit(Op::Convert, {at}, random_.pick({S::I32, S::I64}));
    const S type = at.type.scalar();
    const auto shift = number(type, static_cast<double>(random_.below(4)));
    if (random_.chance(70)) at = emit(random_.pick({Op::Add, Op::Sub}), {at, shift});
    if (near && random_.chance(20)) at = emit(Op::Shl, {at, number(type, 1)});
    Value wide = is_signed_integer(type) ? emit(Op::Convert, {at}, S::I64) : at;
    wide = emit(Op::Convert, {wide}, S::U64);
    return {at, emit(Op::Lt, {wide, {b_.constant(S::U64, n), S::U64, true}})};
}

// Loads that only a chosen arm needs, with indices that are out of bounds where it is not chosen. The guard
// comes before or after the load, which may feed others.
Generator::Value Generator::guarded_value() {
    Input from = random_.pick(inputs_);
    if (random_.chance(25)) {
        for (const Variable& variable : variables_) {
            if (variable.type.is_array())
                from = {variable.root, variable.type.part(0), variable.type.count()};
        }
    }
    auto [at, guard] = wild_index(from.elements);
    Value loaded = {b_.load(from.root, std::span(&at.id, 1)), from.type, false};
    if (random_.chance(20)) store_variable();  // the load stays before the store
    for (unsigned n = 0; n < 2 && from.type.is_scalar() && is_integer(from.type.scalar()); ++n) {
        if (random_.chance(60)) break;
        // The index of the next load is what this one found.
        const Input& next = random_.pick(inputs_);
        const Value wide = emit(Op::Convert, {loaded}, random_.pick({S::U32, S::U64}));
        const Value limit = number(wide.type.scalar(), static_cast<double>(next.elements));
        guard = emit(Op::And, {guard, emit(Op::Lt, {wide, limit})});
        loaded = {b_.load(next.root, std::span(&wide.id, 1)), next.type, false};
        from = next;
    }
    Value value = loaded;
    if (value.type.is_scalar() && !value.type.is_bool() && random_.chance(40)) {
        value = emit(Op::Add, {value, operand(value.type)});
    }
    if (random_.chance(30)) guard = emit(Op::And, {guard, condition(false)});
    if (random_.chance(20)) guard = emit(Op::And, {condition(false), guard});
    const Value other = operand(value.type);
    if (value.type.is_scalar() && random_.chance(40)) {
        const Value test = value.type.is_bool() ? value : emit(Op::Ne, {value, other});
        const Value result =
            random_.chance(50) ? emit(Op::And, {guard, test}) : emit(Op::Or, {emit(Op::Not, {guard}), test});
        if (random_.chance(30)) keep(emit(Op::Select, {guard, value, other}));
        return keep({result.id, result.type, false});
    }
    const Value result = random_.chance(50) ? emit(Op::Select, {guard, value, other})
                                            : emit(Op::Select, {emit(Op::Not, {guard}), other, value});
    if (random_.chance(30)) keep(emit(Op::Select, {guard, value, operand(value.type)}));
    return keep({result.id, result.type, false});
}

Generator::Value Generator::new_value() {
    if (random_.chance(7)) return guarded_value();
    const std::uint64_t kind = random_.below(100);
    if (kind < 35) return arithmetic();
    if (kind < 47) return comparison();
    if (kind < 57) return conversion();
    if (kind < 62) return bitcast();
    if (kind < 72) return shift_or_bits();
    if (kind < 77) return composite();
    if (kind < 83) return extraction();
    if (kind < 87) return builtin();
    if (kind < 95) return load_input(random_.chance(25));
    return load_variable();
}

}  // namespace volley::testing
