// Records accesses to variables, shared arrays, buffers and parameters, and atomics.
#include "core/text.hpp"
#include "ir/typing.hpp"
#include "lang/expand.hpp"

#include <volley/lang/structs.hpp>
#include <volley/shape.hpp>

#include <algorithm>
#include <limits>

namespace volley::lang {
namespace {

// Returns the root and the path that a Ref refers to. A Place is identified by its load.
std::vector<ir::NodeId> address(Tracer& t, Ref place) {
    t.check(place);
    std::vector<ir::NodeId> operands;
    if (place.kind() == Ref::Kind::Place) {
        const auto args = t.function().args(place.node());
        operands.assign(args.begin(), args.end());
    } else {
        operands.push_back(place.node());
    }
    t.append_steps(place, operands);
    return operands;
}

bool is_root(Tracer& t, Ref ref) { return ir::form(t.function()[ref.node()].op) == ir::Form::Root; }

void check_index(Tracer& t, DType at, ir::NodeId index) {
    if (at.is_struct() || at.is_scalar()) return;  // the typing rules of the IR report the error
    const auto constant = t.function().constant_int(index);
    if (constant && static_cast<std::uint64_t>(*constant) >= at.count()) {
        t.fail(cat("the index ", *constant, " is out of range for ", at.name()),
               cat("use 0 to ", at.count() - 1));
    }
}

// Returns the operands of a load: root, path and indices.
std::vector<ir::NodeId> indexed(Tracer& t, Ref parent, const Ref* indices, unsigned count) {
    std::vector<ir::NodeId> operands = address(t, parent);
    bool element_of_buffer = operands.size() == 1 && t.function()[operands[0]].op == ir::Op::Buffer;
    for (unsigned k = 0; k < count; ++k) {
        const ir::NodeId index = t.read(indices[k]);
        // A path into a buffer starts with the element index, whose limit is known only at launch.
        if (!element_of_buffer) check_index(t, ir::access_type(t.function(), ir::Op::Load, operands), index);
        element_of_buffer = false;
        operands.push_back(index);
    }
    return operands;
}

}  // namespace

Ref extract(Ref composite, Ref index) {
    Tracer& t = Tracer::current();
    const ir::NodeId node = t.read(composite);
    const ir::NodeId step = t.read(index);
    check_index(t, t.type(node), step);
    return t.wrap(t.builder().extract_at(node, step));
}

Ref declare_var(DType type, Site at) {
    Tracer& t = Tracer::current(at);
    return Ref(Ref::Kind::Var, t.builder().var(type), t.serial());
}

Ref declare_var(DType type, Ref initial, Site at) {
    Tracer& t = Tracer::current(at);
    const ir::NodeId value = Expand(t).widen(t.read(initial), type);
    const ir::NodeId var = t.builder().var(type);
    t.builder().store(var, value, {});
    return Ref(Ref::Kind::Var, var, t.serial());
}

Ref declare_shared(DType element, const std::uint64_t* extents, unsigned rank, Site at) {
    Tracer& t = Tracer::current(at);
    DType type = element;
    for (unsigned k = rank; k-- > 0;) {
        if (extents[k] == 0)
            t.fail("a shared array has an extent of zero", "use at least one element per dimension");
        if (extents[k] > (std::uint64_t{1} << 40) / type.size()) {
            t.fail("a shared array is too large",
                   "use a buffer: devices have only tens of KiB of shared memory");
        }
        type = DType::array(type, extents[k]);
    }
    return Ref(Ref::Kind::Value, t.builder().shared(type), t.serial());
}

Ref element(Ref parent, const Ref* indices, unsigned count) {
    Tracer& t = Tracer::current();
    t.check(parent);
    if (parent.kind() == Ref::Kind::Partial) static_cast<void>(t.read(parent));  // throws with the reason
    if (parent.kind() == Ref::Kind::Value && !is_root(t, parent)) return extract(parent, indices[0]);
    const std::vector<ir::NodeId> operands = indexed(t, parent, indices, count);
    if (parent.kind() == Ref::Kind::Place) t.drop_unused(parent.node());
    return Ref(Ref::Kind::Place, t.builder().emit(ir::Op::Load, operands), t.serial());
}

Ref locate(Ref parent, const Ref* indices, unsigned count) {
    Tracer& t = Tracer::current();
    const std::vector<ir::NodeId> operands = indexed(t, parent, indices, count);
    // The load is in no region: it only stores the path.
    ir::Function& fn = t.function();
    const DType type = ir::access_type(fn, ir::Op::Load, operands);
    return Ref(Ref::Kind::Place, fn.add(ir::Op::Load, type, operands, 0, t.builder().loc()), t.serial());
}

Ref store(Ref place, Ref value) {
    Tracer& t = Tracer::current();
    if (place.kind() == Ref::Kind::Partial) static_cast<void>(t.read(place));
    if (place.kind() == Ref::Kind::Value) t.fail("a value cannot be assigned to", "declare a Var");
    const std::vector<ir::NodeId> target = address(t, place);
    const DType type = ir::access_type(t.function(), ir::Op::Load, target);
    const ir::NodeId stored = Expand(t).widen(t.read(value), type);
    t.builder().store(target[0], stored, std::span(target).subspan(1));
    if (place.kind() == Ref::Kind::Place) t.drop_unused(place.node());
    return t.wrap(stored);
}

Ref atomic(ir::Op op, Ref place, std::initializer_list<Ref> values, Site at) {
    Tracer& t = Tracer::current(at);
    if (place.kind() != Ref::Kind::Place) {
        static_cast<void>(t.read(place));
        t.fail("an atomic operation cannot act on a value", "use an element of a buffer or shared array");
    }
    const std::vector<ir::NodeId> target = address(t, place);
    if (t.function()[target[0]].op == ir::Op::Var) {
        t.fail("an atomic operation cannot act on a variable",
               "assign to the variable, which belongs to one invocation");
    }
    std::vector<ir::NodeId> operands = {target[0]};
    for (const Ref value : values) operands.push_back(t.read(value));
    operands.insert(operands.end(), target.begin() + 1, target.end());
    const ir::NodeId old = t.builder().emit(op, operands);
    t.drop_unused(place.node());
    return t.wrap(old);
}

Ref buffer_size(Ref buffer, ScalarType type, Site at) {
    Tracer& t = Tracer::current(at);
    t.check(buffer);
    return t.wrap(t.builder().emit(ir::Op::BufferSize, {buffer.node()}, type));
}

namespace {

bool needs_64_bits(Tracer& t, ir::NodeId index) {
    if (t.type(index).size() < 8) return false;
    const auto constant = t.function().constant_int(index);
    return !constant || *constant < 0 || *constant > std::numeric_limits<std::uint32_t>::max();
}

std::uint32_t parameter_of(Tracer& t, Ref buffer) {
    t.check(buffer);
    return static_cast<std::uint32_t>(t.function()[buffer.node()].imm);
}

}  // namespace

Ref buffer_position(Ref buffer, const Ref* indices, std::size_t count) {
    Tracer& t = Tracer::current();
    Expand x(t);
    const std::uint32_t parameter = parameter_of(t, buffer);
    std::uint32_t& rank = t.function().params[parameter].rank;
    if (rank != 0 && rank != count) {
        t.fail(cat("a buffer is accessed with ", count, count == 1 ? " index" : " indices", " and with ",
                   rank, " elsewhere"),
               "use one index per dimension of the buffer, or data[i] for the flat index");
    }
    rank = static_cast<std::uint32_t>(count);

    std::vector<ir::NodeId> position(count);
    for (std::size_t k = 0; k < count; ++k) position[k] = t.read(indices[k]);
    const bool wide = std::ranges::any_of(position, [&](ir::NodeId id) { return needs_64_bits(t, id); });
    const DType type = wide ? ScalarType::U64 : ScalarType::U32;
    ir::NodeId sum = ir::none;
    for (std::uint32_t k = 0; k < count; ++k) {
        ir::NodeId index = position[k];
        if (t.type(index) != type) index = t.builder().emit(ir::Op::Convert, {index}, type);
        const ir::NodeId stride = t.builder().layout_param(ir::ParamKind::Stride, type, parameter, k);
        const ir::NodeId term = x.mul(index, stride);
        sum = sum == ir::none ? term : x.add(sum, term);
    }
    return t.wrap(sum);
}

Ref buffer_extent(Ref buffer, int axis, ScalarType type, Site at) {
    Tracer& t = Tracer::current(at);
    if (axis < 0 || axis >= max_rank) {
        t.fail(cat("extent(", axis, ") is not an axis of a buffer"),
               cat("use 0 for the first axis, up to ", max_rank - 1));
    }
    return t.wrap(t.builder().layout_param(ir::ParamKind::Extent, type, parameter_of(t, buffer),
                                           static_cast<std::uint32_t>(axis)));
}

void fail_partial(unsigned given, unsigned rank) {
    Tracer::current().fail(cat("a shared array of ", rank, rank == 1 ? " dimension" : " dimensions",
                               " is accessed with ", given, given == 1 ? " index" : " indices"),
                           "use one index per dimension, and tile(y, x)[k] for a part of an element");
}

Ref declare_buffer(DType element, bool read_only) {
    Tracer& t = Tracer::current();
    const std::string name(t.next_parameter_name());
    return Ref(Ref::Kind::Value, t.builder().buffer(element, name, read_only), t.serial());
}

Ref declare_parameter(DType type) {
    Tracer& t = Tracer::current();
    const std::string name(t.next_parameter_name());
    return t.wrap(t.builder().param(type, name, ir::ParamKind::Const));
}

DType struct_type(const char* name, const FieldInfo* fields, std::size_t count, std::size_t size,
                  std::size_t align) {
    std::vector<StructField> list;
    list.reserve(count);
    for (std::size_t k = 0; k < count; ++k)
        list.push_back({fields[k].name, fields[k].type, fields[k].offset});
    return DType::structure(name, list, size, align);
}

}  // namespace volley::lang
