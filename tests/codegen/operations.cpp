// Enumerates the operations with the typing rules.
#include "codegen/operations.hpp"

#include "core/text.hpp"
#include "ir/builder.hpp"
#include "ir/typing.hpp"

#include <volley/error.hpp>

#include <array>
#include <map>
#include <optional>
#include <vector>

namespace volley::test {

using ir::Builder;
using ir::Form;
using ir::Function;
using ir::NodeId;
using ir::Op;

namespace {

constexpr std::array scalars = {ScalarType::Bool, ScalarType::I8,  ScalarType::U8,  ScalarType::I16,
                                ScalarType::U16,  ScalarType::I32, ScalarType::U32, ScalarType::I64,
                                ScalarType::U64,  ScalarType::F16, ScalarType::F32, ScalarType::F64};

std::optional<DType> result_of(Op op, std::span<const DType> operands, DType wanted = {}) {
    try {
        return ir::result_type(op, operands, wanted);
    } catch (const Error&) {
        return std::nullopt;
    }
}

bool is_exact(Op op) { return op < Op::Rsqrt || op > Op::Hypot; }

// Collects results and stores them at the end.
class Results {
public:
    explicit Results(Builder& b) : b_(b) {}
    void add(NodeId value) {
        const DType type = b_.function().type(value);
        for (auto& [known, list] : results_) {
            if (known == type) {
                list.push_back(value);
                return;
            }
        }
        results_.emplace_back(type, std::vector{value});
    }
    void store(NodeId i) {
        for (const auto& [type, list] : results_) {
            const NodeId out = b_.buffer(type, cat("out_", type.name()));
            const NodeId first =
                b_.emit(Op::Mul, {i, b_.constant_u32(static_cast<std::uint32_t>(list.size()))});
            for (std::uint32_t k = 0; k < list.size(); ++k)
                b_.store(out, list[k], std::array{b_.emit(Op::Add, {first, b_.constant_u32(k)})});
        }
    }

private:
    Builder& b_;
    std::vector<std::pair<DType, std::vector<NodeId>>> results_;
};

NodeId global_x(Builder& b) { return b.extract(b.emit(Op::GlobalId, {}), 0); }

template <class F>
void for_each_op(const F& f) {
    for (unsigned k = 0; k < ir::op_count; ++k) f(static_cast<Op>(k));
}

}  // namespace

std::span<const ScalarType> all_scalars() { return scalars; }

Function operations_on(DType type, bool functions) {
    Function fn;
    fn.name = cat("operations on ", type.name());
    Builder b(fn);
    b.set_loc({fn.add_file("operations.cpp"), 1});
    const NodeId i = global_x(b);
    std::array<NodeId, 3> x = {};
    for (std::size_t k = 0; k < 3; ++k)
        x[k] = b.load(b.buffer(type, std::string(1, static_cast<char>('a' + k)), true), std::array{i});
    Results results(b);
    for_each_op([&](Op op) {
        const Form form = ir::form(op);
        if (!functions && !is_exact(op)) return;
        const auto try_with = [&](std::size_t count) {
            const std::array types = {type, type, type};
            if (result_of(op, std::span(types).first(count)))
                results.add(b.emit(op, std::span(x).first(count)));
        };
        switch (form) {
            case Form::Unary:
            case Form::BitCount:
            case Form::Classify: try_with(1); break;
            case Form::Binary:
            case Form::Compare:
            case Form::Shift: try_with(2); break;
            case Form::Ternary: try_with(3); break;
            default: break;
        }
    });
    const NodeId odd = b.emit(Op::Eq, {b.emit(Op::And, {i, b.constant_u32(1)}), b.constant_u32(1)});
    results.add(b.emit(Op::Select, {odd, x[0], x[1]}));
    if (type.is_vector()) {
        const NodeId each = b.emit(type.is_bool() ? Op::Xor : Op::Ne, {x[1], x[2]});
        results.add(b.emit(Op::Select, {each, x[0], x[1]}));
    }
    results.store(i);
    return fn;
}

Function conversions_from(ScalarType type) {
    Function fn;
    fn.name = cat("conversions from ", name_of(type));
    Builder b(fn);
    const NodeId i = global_x(b);
    const NodeId x = b.load(b.buffer(type, "a", true), std::array{i});
    const NodeId four = b.load(b.buffer(DType::vector(type, 4), "b", true), std::array{i});
    Results results(b);
    for (const ScalarType to : scalars) {
        if (to != type) results.add(b.convert(x, to));
        for (unsigned count = 1; count <= 4; ++count) {
            const DType wanted = count == 1 ? DType(to) : DType::vector(to, count);
            const std::array one = {DType(type)};
            const std::array vector = {DType::vector(type, 4)};
            if (result_of(Op::Bitcast, one, wanted)) results.add(b.emit(Op::Bitcast, {x}, wanted));
            if (result_of(Op::Bitcast, vector, wanted)) results.add(b.emit(Op::Bitcast, {four}, wanted));
        }
    }
    results.store(i);
    return fn;
}

Function atomics_on(ScalarType type) {
    Function fn;
    fn.name = cat("atomics on ", name_of(type));
    Builder b(fn);
    const NodeId data = b.buffer(type, "data");
    const NodeId tile = b.shared(DType::array(type, 8));
    const NodeId i = global_x(b);
    const NodeId x = b.load(b.buffer(type, "a", true), std::array{i});
    const NodeId lane = b.emit(Op::LocalIndex, {});
    b.emit(Op::Store, {tile, x, lane});
    b.emit(Op::Barrier, {});
    Results results(b);
    for (const NodeId root : {data, tile}) {
        const NodeId at = root == data ? i : lane;
        for_each_op([&](Op op) {
            const Form form = ir::form(op);
            const bool bits = op == Op::AtomicAnd || op == Op::AtomicOr || op == Op::AtomicXor;
            if (bits && is_float(type)) return;
            if (form == Form::Atomic) {
                results.add(b.emit(op, {root, x, at}));
                b.emit(op, {root, x, at});  // the old value is unused
            }
            if (form == Form::AtomicCas) results.add(b.emit(op, {root, x, x, at}));
        });
    }
    results.store(i);
    return fn;
}

Function subgroup_operations_on(DType type) {
    Function fn;
    fn.name = cat("subgroups of ", type.name());
    Builder b(fn);
    const NodeId i = global_x(b);
    const NodeId x = b.load(b.buffer(type, "a", true), std::array{i});
    const NodeId lane = b.emit(Op::SubgroupLane, {});
    Results results(b);
    const NodeId odd = b.emit(Op::Eq, {b.emit(Op::And, {i, b.constant_u32(1)}), b.constant_u32(1)});
    for_each_op([&](Op op) {
        const std::array one = {type};
        const std::array two = {type, DType(ScalarType::U32)};
        switch (ir::form(op)) {
            case Form::SubgroupFold:
                if (result_of(op, one)) results.add(b.emit(op, {x}));
                break;
            case Form::SubgroupLane:
                if (result_of(op, two)) results.add(b.emit(op, {x, lane}));
                break;
            case Form::SubgroupVote:
            case Form::Ballot: results.add(b.emit(op, {odd})); break;
            case Form::Elect: results.add(b.emit(op, {})); break;
            default: break;
        }
    });
    b.emit(Op::SubgroupBarrier, {});
    for (const Op op : {Op::SubgroupId, Op::SubgroupCount, Op::SubgroupSize}) results.add(b.emit(op, {}));
    results.store(i);
    return fn;
}

Function accesses_to(DType type) {
    Function fn;
    fn.name = cat("accesses to ", type.name());
    Builder b(fn);
    const NodeId from = b.buffer(type, "from", true);
    const NodeId to = b.buffer(type, "to");
    const NodeId value = b.param(type, "value");
    const NodeId tile = b.shared(DType::array(type, 4));
    const NodeId i = global_x(b);
    const NodeId lane = b.emit(Op::LocalIndex, {});
    const NodeId step = b.load(b.buffer(ScalarType::I64, "step", true), std::array{i});
    const NodeId variable = b.var(type);
    const NodeId indexed = b.var(DType::array(type, 3));
    const NodeId x = b.load(from, std::array{i});
    b.emit(Op::Store, {tile, x, lane});
    b.emit(Op::Barrier, {});
    b.emit(Op::Store, {variable, x});
    b.emit(Op::Store, {indexed, value, step});
    const NodeId four = b.emit(Op::Mul, {i, b.constant_u32(4)});
    const auto place = [&](std::uint32_t k) { return b.emit(Op::Add, {four, b.constant_u32(k)}); };
    b.store(to, b.emit(Op::Load, {tile, lane}), std::array{place(0)});
    b.store(to, b.emit(Op::Load, {variable}), std::array{place(1)});
    b.store(to, b.emit(Op::Load, {indexed, step}), std::array{place(2)});
    b.store(to, value, std::array{place(3)});
    // Goes one part deeper each time, by a constant and by a computed step.
    DType inner = type;
    std::vector<NodeId> path = {i};
    Results results(b);
    while (!inner.is_scalar()) {
        const bool last = inner.is_struct();
        path.push_back(last ? b.constant_u32(static_cast<std::uint32_t>(inner.count() - 1)) : step);
        inner = inner.part(last ? inner.count() - 1 : 0);
        results.add(b.load(from, path));
        std::vector<NodeId> extract = {x};
        extract.insert(extract.end(), path.begin() + 1, path.end());
        results.add(b.emit(Op::Extract, extract));
        extract[0] = value;
        results.add(b.emit(Op::Extract, extract));
        std::vector<NodeId> load = {tile, lane};
        load.insert(load.end(), path.begin() + 1, path.end());
        results.add(b.emit(Op::Load, load));
        load[0] = indexed;
        load[1] = step;
        results.add(b.emit(Op::Load, load));
        load = {variable};
        load.insert(load.end(), path.begin() + 1, path.end());
        results.add(b.emit(Op::Load, load));
    }
    results.store(i);
    return fn;
}

}  // namespace volley::test
