// Random statements: variables, control flow, shared memory, atomics, subgroups.
#include "random/generator_state.hpp"

#include <algorithm>
#include <utility>

namespace volley::testing {

using ir::Op;
using S = ScalarType;

void Generator::statement() {
    if (budget_ > 0) --budget_;
    // Features that define the kind of program get a larger share than one statement in twenty.
    if (options_.barriers && uniform_ && !returned_ && random_.chance(15)) return shared_statement();
    if (options_.subgroups && random_.chance(15)) return subgroup_statement();
    if (random_.chance(5)) return strided_statement();
    const std::uint64_t kind = random_.below(100);
    if (kind < 40) {
        for (std::uint64_t n = random_.below(3) + 1; n > 0; --n) new_value();
    } else if (kind < 46) {
        declare_variable();
    } else if (kind < 56) {
        store_variable();
    } else if (kind < 59) {
        partial_store_statement();
    } else if (kind < 62) {
        output_statement();
    } else if (kind < 68) {
        if_statement();
    } else if (kind < 73) {
        for_statement();
    } else if (kind < 76) {
        loop_statement();
    } else if (kind < 80) {
        jump_statement();
    } else if (kind < 83) {
        random_.chance(70) ? atomic_statement() : own_atomic_statement();
    } else if (kind < 88) {
        random_.chance(70) ? shared_statement() : shared_atomic_statement();
    } else if (kind < 94) {
        subgroup_statement();
    } else if (kind < 97) {
        function_statement();
    } else if (!values_.empty()) {
        observe(random_.pick(values_));
    }
}

void Generator::declare_variable() {
    const DType type = random_.chance(25) ? DType::array(scalar_type(), random_.below(8) + 1) : value_type();
    const bool uniform = uniform_ && !returned_ && random_.chance(25);
    const NodeId root = b_.var(type);
    if (random_.chance(70)) b_.store(root, operand(type, uniform).id, {});
    variables_.push_back({root, type, uniform});
}

void Generator::store_variable() {
    if (variables_.empty()) return declare_variable();
    const Variable variable = random_.pick(variables_);
    if (variable.uniform && (!uniform_ || returned_)) return;
    b_.store(variable.root, operand(variable.type, variable.uniform).id, {});
}

void Generator::partial_store_statement() {
    if (variables_.empty()) return;
    const Variable variable = random_.pick(variables_);
    if (variable.uniform || variable.type.is_scalar()) return;
    std::vector<NodeId> path;
    DType type = variable.type;
    bool uniform = false;
    random_path(type, path, uniform);
    b_.store(variable.root, operand(type).id, path);
}

// Reads back this invocation's element of an output, or stores to a part of one.
void Generator::output_statement() {
    if (outputs_.empty()) return;
    const Output output = random_.pick(outputs_);
    const NodeId element = own_element(output, random_.chance(50));
    std::vector<NodeId> path = {element};
    DType type = output.type;
    bool uniform = false;
    if (!type.is_scalar() && random_.chance(70)) random_path(type, path, uniform);
    if (random_.chance(50)) {
        keep({b_.load(output.root, path), type, false});
    } else {
        b_.store(output.root, operand(type).id, path);
    }
    if (random_.chance(10)) b_.emit(Op::Fence, {}, {}, random_.below(4));
}

// Each invocation loads or stores consecutive elements in any order, which compilers turn into vectors and
// transposes.
void Generator::strided_statement() {
    const auto index = [&](std::uint64_t stride, std::uint64_t part) {
        const NodeId first = b_.emit(Op::Mul, {linear_.id, b_.constant(S::U32, stride)});
        return part == 0 && random_.chance(50) ? first : b_.emit(Op::Add, {first, b_.constant(S::U32, part)});
    };
    const auto shuffled = [&](std::uint64_t n) {
        std::vector<std::uint64_t> order;
        for (std::uint64_t k = 0; k < n; ++k)
            order.insert(order.begin() + random_.between(0, std::ssize(order)), k);
        return order;
    };
    for (const Input& input : inputs_) {
        const auto stride = static_cast<std::uint64_t>(random_.between(2, 3));
        if (input.elements < 3 * invocations_ + 8 || random_.chance(50)) continue;
        for (const std::uint64_t part : shuffled(stride)) {
            const NodeId at = index(stride, part);
            keep({b_.load(input.root, std::span(&at, 1)), input.type, false});
            if (random_.chance(15)) new_value();
        }
    }
    if (outputs_.size() >= 8) return;
    Output output;
    output.type = random_.chance(70) ? DType(scalar_type()) : value_type();
    output.per_invocation = static_cast<std::uint64_t>(random_.between(2, 4));
    output.root = add_buffer(output.type, output.per_invocation * invocations_, false, true);
    outputs_.push_back(output);
    for (const std::uint64_t part : shuffled(output.per_invocation)) {
        const NodeId value = operand(output.type).id;
        const NodeId at = index(output.per_invocation, part);
        b_.store(output.root, value, std::span(&at, 1));
    }
}

// On an unshared element, every atomic is defined bit by bit, including its old value.
void Generator::own_atomic_statement() {
    if (own_atomics_ >= 3) return;
    ++own_atomics_;
    const S type = options_.floats && random_.chance(30) ? random_.pick({S::F32, S::F64})
                                                         : random_.pick({S::I32, S::U32, S::I64, S::U64});
    const NodeId root = add_buffer(type, invocations_, false, false);
    for (std::uint64_t n = random_.below(3) + 1; n > 0; --n) {
        if (random_.chance(25)) {
            // Floats are compared by their bits, so NaN and zeros of unknown sign are avoided.
            const Value wanted = fixed_zero_sign(without_nan(operand(type)));
            const NodeId old =
                b_.emit(Op::AtomicCas, {root, wanted.id, without_nan(operand(type)).id, linear_.id});
            keep({old, type, false});
            continue;
        }
        std::vector<Op> ops = {Op::AtomicAdd, Op::AtomicSub, Op::AtomicExchange};
        if (!is_float(type)) {
            ops.insert(ops.end(), {Op::AtomicMin, Op::AtomicMax, Op::AtomicAnd, Op::AtomicOr, Op::AtomicXor});
        }
        keep({b_.emit(random_.pick(ops), {root, operand(type).id, linear_.id}), type, false});
    }
}

void Generator::if_statement() {
    if (depth_ >= 4) return;
    const Value c = condition(random_.chance(options_.barriers ? 60 : 30));
    b_.begin_if(c.id);
    Scope scope = open_scope(c.uniform);
    block(static_cast<unsigned>(random_.between(1, 5)));
    close_scope(scope);
    if (random_.chance(50)) {
        b_.begin_else();
        scope = open_scope(c.uniform);
        block(static_cast<unsigned>(random_.between(1, 4)));
        close_scope(scope);
    }
    b_.end_if();
}

void Generator::for_statement() {
    if (depth_ >= 4 || loops_ >= 3) return;
    const S type = integer_type();
    const bool uniform_bounds = random_.chance(options_.barriers ? 80 : 50);
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits_of(type));
    const std::uint64_t highest = is_signed_integer(type) ? mask >> 1 : mask;
    const auto literal = [&](std::uint64_t v) { return Value{b_.constant(type, v & mask), type, true}; };
    Value begin = literal(random_.below(3));
    Value end = literal(random_.below(6));
    Value step = literal(random_.pick<std::uint64_t>({1, 1, 1, 2, 3, 0}));
    switch (random_.below(8)) {
        case 0:  // close to the limit of the type: the index must not wrap
            begin = literal(highest - random_.below(5));
            end = literal(highest - random_.below(2));
            break;
        case 1:  // downwards, or not at all
            begin = literal(random_.below(6));
            end = literal(0 - random_.below(3));
            step = is_signed_integer(type) ? literal(0 - random_.below(3)) : step;
            if (!is_signed_integer(type)) end = literal(random_.below(6));
            break;
        case 2:
        case 3:
        case 4: end = emit(Op::Convert, {index_below(6, uniform_bounds)}, type); break;
        case 5: begin = emit(Op::Convert, {index_below(6, uniform_bounds)}, type); break;
        default: break;
    }
    const bool same = begin.uniform && end.uniform && step.uniform;
    const bool exits = !same || !uniform_ || returned_ || random_.chance(options_.barriers ? 25 : 60);
    const NodeId index = b_.begin_for(begin.id, end.id, step.id);
    const Scope scope = open_scope(same && !exits);
    const bool outer_exits = std::exchange(divergent_exits_, exits);
    if (!exits) ++uniform_loops_;
    ++loops_;
    keep({index, type, same && !exits});
    block(static_cast<unsigned>(random_.between(1, 5)));
    --loops_;
    if (!exits) --uniform_loops_;
    divergent_exits_ = outer_exits;
    close_scope(scope);
    b_.end_for();
}

// Counts up in a variable and breaks at a limit, so every loop terminates.
void Generator::loop_statement() {
    if (depth_ >= 4 || loops_ >= 3) return;
    const bool uniform_limit = random_.chance(options_.barriers ? 80 : 40);
    const Value limit = emit(Op::Convert, {index_below(6, uniform_limit)}, S::I32);
    const bool exits =
        !limit.uniform || !uniform_ || returned_ || random_.chance(options_.barriers ? 25 : 60);
    const NodeId counter = b_.var(S::I32);
    b_.begin_loop();
    const Scope scope = open_scope(!exits);
    const bool outer_exits = std::exchange(divergent_exits_, exits);
    if (!exits) ++uniform_loops_;
    ++loops_;
    const Value count = {b_.load(counter, {}), S::I32, !exits};
    b_.begin_if(b_.emit(Op::Ge, {count.id, limit.id}));
    b_.jump(Op::Break);
    b_.end_if();
    b_.store(counter, b_.emit(Op::Add, {count.id, b_.constant_i32(1)}), {});
    keep(count);
    block(static_cast<unsigned>(random_.between(1, 5)));
    --loops_;
    if (!exits) --uniform_loops_;
    divergent_exits_ = outer_exits;
    close_scope(scope);
    b_.end_loop();
}

void Generator::jump_statement() {
    if (depth_ >= 5) return;
    const Value c = condition(random_.chance(50));
    const bool divergent = !(uniform_ && c.uniform) || returned_;
    std::vector<Op> jumps;
    if (loops_ > 0 && (!divergent || divergent_exits_)) jumps = {Op::Break, Op::Continue};
    // A return in a loop would leave the other invocations alone at the barriers of the next iteration.
    if ((!divergent || uniform_loops_ == 0) && random_.chance(loops_ > 0 ? 20 : 35))
        jumps.push_back(Op::Return);
    if (jumps.empty()) return;
    const Op jump = random_.pick(jumps);
    b_.begin_if(c.id);
    const Scope scope = open_scope(c.uniform);
    if (random_.chance(50)) block(1);
    if (jump == Op::Return) observe_all();
    b_.jump(jump);
    if (jump == Op::Return && divergent) returned_ = true;
    close_scope(scope);
    b_.end_if();
}

void Generator::atomic_statement() {
    if (atomics_.empty() || (atomics_.size() < 3 && random_.chance(40))) {
        Atomic made;
        made.type = random_.pick({S::I32, S::U32, S::I64, S::U64});
        made.ops = random_.pick<std::vector<Op>>({{Op::AtomicAdd, Op::AtomicSub},
                                                  {Op::AtomicMin},
                                                  {Op::AtomicMax},
                                                  {Op::AtomicAnd},
                                                  {Op::AtomicOr},
                                                  {Op::AtomicXor}});
        if (options_.floats && random_.chance(40)) {
            made.type = random_.pick({S::F32, S::F64});
            made.ops = random_.pick<std::vector<Op>>(
                {{Op::AtomicAdd, Op::AtomicSub}, {Op::AtomicMin}, {Op::AtomicMax}});
        }
        made.elements = random_.below(8) + 1;
        made.root = add_buffer(made.type, made.elements, false, is_float(made.type));
        atomics_.push_back(made);
    }
    const Atomic atomic = random_.pick(atomics_);
    // Small integers: their sums are exact in any order.
    const Value v = is_float(atomic.type) ? emit(Op::Convert, {index_below(16, false)}, atomic.type)
                                          : operand(atomic.type);
    const NodeId at = index_below(atomic.elements, false).id;
    b_.emit(random_.pick(atomic.ops), {atomic.root, v.id, at});
}

void Generator::sync_barrier() { b_.emit(Op::Barrier, {}); }

// Each invocation writes its own slot, all synchronise, each reads any slot, all synchronise.
void Generator::shared_statement() {
    if (!options_.barriers || !uniform_ || returned_) return;
    DType type = value_type();
    NodeId root = ir::none;
    if (!shared_.empty() && random_.chance(50)) {
        const Input& old = random_.pick(shared_);
        root = old.root;
        type = old.type;
    } else {
        if (type.size() > 64 || shared_.size() >= 4) return;
        root = b_.shared(DType::array(type, group_size_));
        shared_.push_back({root, type, group_size_});
    }
    const NodeId own = local_index_.id;
    b_.store(root, operand(type).id, std::span(&own, 1));
    if (random_.chance(30)) {
        b_.begin_if(condition().id);
        b_.store(root, leaf(type, false).id, std::span(&own, 1));
        b_.end_if();
    }
    sync_barrier();
    for (std::uint64_t n = random_.below(3) + 1; n > 0; --n) {
        const Value at = shared_slot(random_.chance(30));
        std::vector<NodeId> path = {at.id};
        DType part = type;
        bool uniform = at.uniform;
        if (!part.is_scalar() && random_.chance(50)) random_path(part, path, uniform);
        keep({b_.load(root, path), part, uniform});
        if (random_.chance(30)) new_value();
    }
    sync_barrier();
}

void Generator::shared_atomic_statement() {
    if (!options_.barriers || !uniform_ || returned_ || shared_atomics_ >= 2) return;
    ++shared_atomics_;
    const S type = random_.pick({S::I32, S::U32, S::I64, S::U64});
    const std::uint64_t count = random_.below(4) + 1;
    const NodeId root = b_.shared(DType::array(type, count));
    b_.begin_if(b_.emit(Op::Eq, {local_index_.id, b_.constant_u32(0)}));
    b_.store(root, b_.zero(DType::array(type, count)), {});
    b_.end_if();
    sync_barrier();
    const Op op = random_.pick({Op::AtomicAdd, Op::AtomicMin, Op::AtomicMax, Op::AtomicOr, Op::AtomicXor});
    const bool some = random_.chance(50);
    if (some) b_.begin_if(condition().id);
    const NodeId at = index_below(count, false).id;
    b_.emit(op, {root, operand(type).id, at});
    if (some) b_.end_if();
    sync_barrier();
    const Value index = index_below(count, random_.chance(50));
    keep({b_.load(root, std::span(&index.id, 1)), type, index.uniform});
    sync_barrier();
}

void Generator::subgroup_statement() {
    if (!options_.subgroups) return;
    program_.subgroups = true;
    const auto integers = [&]() -> DType {
        const S scalar = integer_type();
        return random_.chance(75) ? DType(scalar)
                                  : DType::vector(scalar, static_cast<unsigned>(random_.between(2, 4)));
    };
    const auto scan = [&](Op fold) {
        // Folds, inclusive and exclusive scans are listed in the same order, seven operations apart.
        const auto distance =
            static_cast<unsigned>(Op::SubgroupInclusiveAdd) - static_cast<unsigned>(Op::SubgroupAdd);
        return static_cast<Op>(static_cast<unsigned>(fold) +
                               static_cast<unsigned>(random_.below(3)) * distance);
    };
    switch (random_.below(8)) {
        case 0: keep(emit(random_.pick({Op::SubgroupAny, Op::SubgroupAll}), {condition()})); break;
        case 1: keep(emit(Op::SubgroupBallot, {condition()})); break;
        case 2: keep({b_.emit(Op::SubgroupElect, {}), S::Bool, false}); break;
        case 3: {
            const DType type = random_.chance(40) ? DType(S::Bool) : integers();
            keep(emit(scan(random_.pick({Op::SubgroupAnd, Op::SubgroupOr, Op::SubgroupXor})),
                      {operand(type)}));
            break;
        }
        case 4: {
            // No NaN: the result would depend on whether a scan starts at its first value or at the identity.
            const DType type = arithmetic_type();
            keep(fixed_zero_sign(emit(scan(random_.pick({Op::SubgroupMin, Op::SubgroupMax})),
                                      {fixed_zero_sign(without_nan(operand(type)))})));
            break;
        }
        case 5: {
            // Every lane reads a lane that is certainly active: itself, or any lane of a full subgroup.
            const bool whole = uniform_ && !returned_ && options_.barriers && group_size_ % 16 == 0;
            const Value size = {b_.emit(Op::SubgroupSize, {}), S::U32, true};
            const Value lane = {b_.emit(Op::SubgroupLane, {}), S::U32, false};
            const DType type = random_.chance(15) && options_.floats ? DType::complex(float_type())
                               : random_.chance(20)                  ? DType(S::Bool)
                                                                     : arithmetic_type();
            const Value v = operand(type);
            if (!whole) {
                keep(emit(Op::SubgroupShuffle, {v, lane}));
            } else if (random_.chance(40)) {
                keep(emit(Op::SubgroupShuffle, {v, emit(Op::Rem, {operand(S::U32), size})}));
            } else if (random_.chance(50)) {
                const Value last = emit(Op::Sub, {size, {b_.constant_u32(1), S::U32, true}});
                const Value mask = emit(Op::And, {operand(S::U32, random_.chance(60)), last});
                keep(emit(Op::SubgroupShuffleXor, {v, mask}));
            } else {
                const Value from = emit(Op::Rem, {operand(S::U32, true), size});
                keep(emit(Op::SubgroupBroadcast, {v, from}));
            }
            break;
        }
        default:
            keep(emit(scan(random_.pick({Op::SubgroupAdd, Op::SubgroupMul})), {operand(integers())}));
            break;
    }
    values_.back().uniform = false;  // at most subgroup-uniform
}

// Stores a function's result directly into a buffer that is compared with a tolerance; nothing else uses it.
void Generator::function_statement() {
    if (!options_.functions || functions_ >= 4) return;
    ++functions_;
    const Op op = random_.pick({Op::Rsqrt, Op::Sin,  Op::Cos,   Op::Tan,   Op::Asin,  Op::Acos,  Op::Atan,
                                Op::Atan2, Op::Sinh, Op::Cosh,  Op::Tanh,  Op::Asinh, Op::Acosh, Op::Atanh,
                                Op::Exp,   Op::Exp2, Op::Exp10, Op::Expm1, Op::Log,   Op::Log2,  Op::Log10,
                                Op::Log1p, Op::Pow,  Op::Cbrt,  Op::Hypot});
    const S scalar = float_type();
    const DType type = random_.chance(70)
                           ? DType(scalar)
                           : DType::vector(scalar, static_cast<unsigned>(random_.between(2, 4)));
    const Value a = operand(type);
    const Value result = ir::form(op) == ir::Form::Unary ? emit(op, {a}) : emit(op, {a, operand(type)});
    const NodeId out = add_buffer(type, invocations_, false, true);
    program_.args.back().function = op;
    b_.store(out, result.id, std::span(&linear_.id, 1));
}

}  // namespace volley::testing
