// Records single operations: constants, arithmetic, conversions and composites. See <volley/lang/record.hpp>.
#include "core/text.hpp"
#include "lang/expand.hpp"

#include <volley/half.hpp>

#include <bit>
#include <cmath>
#include <cstring>

namespace volley::lang {
namespace {

// Returns whether a signed or unsigned 64-bit integer fits in `type`.
template <class N>
bool fits(ScalarType type, N value) {
    if (volley::is_float(type)) return true;  // qualified: lang has a variable of that name
    if (type == ScalarType::Bool) return value == 0 || value == 1;
    const unsigned bits = bits_of(type);
    if (is_unsigned_integer(type)) {
        return value >= 0 && (bits == 64 || static_cast<std::uint64_t>(value) >> bits == 0);
    }
    const auto limit = std::uint64_t{1} << (bits - 1);
    if (value >= 0) return static_cast<std::uint64_t>(value) < limit;
    return static_cast<std::uint64_t>(-(static_cast<std::int64_t>(value) + 1)) < limit;
}

template <class N>
Ref integer(ScalarType type, N value, Site at) {
    Tracer& t = Tracer::current(at);
    if (!fits(type, value)) {
        t.fail(cat("the number ", value, " does not fit in ", name_of(type)),
               "a number takes the type of the other operand: convert that operand with cast<T>(v)");
    }
    ir::Builder& b = t.builder();
    switch (type) {
        // Converts directly to the requested precision: through double a large integer would be rounded
        // twice.
        case ScalarType::F16: return t.wrap(b.constant(type, half(value).bits()));
        case ScalarType::F32: return t.wrap(b.constant_f32(static_cast<float>(value)));
        case ScalarType::F64: return t.wrap(b.constant_f64(static_cast<double>(value)));
        default: return t.wrap(b.constant(type, static_cast<std::uint64_t>(value)));
    }
}

ir::NodeId constant_at(ir::Builder& b, DType type, const unsigned char* bytes) {
    if (type.is_scalar()) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, bytes,
                    type.size());  // requires a little-endian host; all devices are little-endian
        if (type.scalar() == ScalarType::Bool) bits = bits != 0 ? 1 : 0;
        return b.constant(type.scalar(), bits);
    }
    std::vector<ir::NodeId> parts;
    parts.reserve(type.count());
    for (std::uint64_t k = 0; k < type.count(); ++k) {
        parts.push_back(constant_at(b, type.part(k), bytes + type.part_offset(k)));
    }
    return b.construct(type, parts);
}

static_assert(std::endian::native == std::endian::little);

// Returns whether the operation acts on complex numbers or matrices and needs several nodes.
bool needs_expansion(ir::Op op, const Expand& x, std::span<const ir::NodeId> operands) {
    if (op != ir::Op::Mul && op != ir::Op::Div && op != ir::Op::Eq && op != ir::Op::Ne) return false;
    return std::any_of(operands.begin(), operands.end(),
                       [&](ir::NodeId id) { return x.type(id).is_complex() || x.type(id).is_matrix(); });
}

ir::NodeId expanded(Expand& x, ir::Op op, ir::NodeId a, ir::NodeId b) {
    if (x.type(a).is_matrix() || x.type(b).is_matrix()) return x.matrix_scale(op, a, b);
    if (op == ir::Op::Mul) return x.complex_mul(a, b);
    if (op == ir::Op::Div) return x.complex_div(a, b);
    return x.complex_equal(op, a, b);
}

}  // namespace

Ref read(Ref ref, Site at) {
    Tracer& t = Tracer::current(at);
    return t.wrap(t.read(ref));
}

Ref number(ScalarType type, std::int64_t value, Site at) { return integer(type, value, at); }
Ref number(ScalarType type, std::uint64_t value, Site at) { return integer(type, value, at); }

Ref number(ScalarType type, double value, Site at) {
    Tracer& t = Tracer::current(at);
    const bool overflows = (type == ScalarType::F32 && std::isinf(static_cast<float>(value))) ||
                           (type == ScalarType::F16 && std::isinf(static_cast<float>(half(value))));
    if (overflows && !std::isinf(value)) {
        t.fail(cat("the number ", value, " does not fit in ", name_of(type)),
               "a number takes the type of the other operand: convert that operand with cast<T>(v)");
    }
    return t.wrap(t.builder().constant_number(type, value));
}

Ref index_number(std::int64_t value, Site at) {
    if (value < 0)
        Tracer::current(at).fail(cat("the index ", value, " is negative"), "use indices of 0 or more");
    return index_number(static_cast<std::uint64_t>(value), at);
}

Ref index_number(std::uint64_t value, Site at) {
    Tracer& t = Tracer::current(at);
    const ScalarType type = value >> 32 == 0 ? ScalarType::U32 : ScalarType::U64;
    return t.wrap(t.builder().constant(type, value));
}

Ref constant(DType type, const void* bytes, Site at) {
    Tracer& t = Tracer::current(at);
    return t.wrap(constant_at(t.builder(), type, static_cast<const unsigned char*>(bytes)));
}

Ref zero(DType type, Site at) {
    Tracer& t = Tracer::current(at);
    return t.wrap(t.builder().zero(type));
}

Ref emit(ir::Op op, std::initializer_list<Ref> operands, Site at) {
    Tracer& t = Tracer::current(at);
    std::vector<ir::NodeId> nodes;
    nodes.reserve(operands.size());
    for (const Ref ref : operands) nodes.push_back(t.read(ref));

    Expand x(t);
    if (nodes.size() == 2 && needs_expansion(op, x, nodes))
        return t.wrap(expanded(x, op, nodes[0], nodes[1]));
    if (op == ir::Op::Select) {
        std::vector<ir::NodeId> choices(nodes.begin() + 1, nodes.end());
        x.even_out(choices);
        std::copy(choices.begin(), choices.end(), nodes.begin() + 1);
    } else if (ir::form(op) != ir::Form::SubgroupLane) {
        x.even_out(nodes);
    }
    return t.wrap(t.builder().emit(op, nodes));
}

Ref emit(Fn fn, std::initializer_list<Ref> operands, Site at) {
    Tracer& t = Tracer::current(at);
    std::vector<ir::NodeId> nodes;
    nodes.reserve(operands.size());
    for (const Ref ref : operands) nodes.push_back(t.read(ref));

    Expand x(t);
    if (fn >= Fn::MatrixProduct) return t.wrap(x.matrix_fn(fn, nodes));
    if (fn >= Fn::Real) return t.wrap(x.complex_fn(fn, nodes));
    x.even_out(nodes);
    return t.wrap(fn >= Fn::Dot ? x.vector_fn(fn, nodes) : x.real_fn(fn, nodes));
}

Ref promote(Ref value, DType type) {
    Tracer& t = Tracer::current();
    return t.wrap(Expand(t).widen(t.read(value), type));
}

Ref convert(Ref value, DType type, Site at) {
    Tracer& t = Tracer::current(at);
    ir::NodeId node = t.read(value);
    if (type.is_complex() && t.type(node).is_scalar()) {
        return t.wrap(Expand(t).widen(t.builder().convert(node, type.scalar()), type));
    }
    return t.wrap(t.builder().convert(node, type));
}

Ref bitcast(Ref value, DType type, Site at) {
    Tracer& t = Tracer::current(at);
    const ir::NodeId node = t.read(value);
    if (t.type(node) == type) return t.wrap(node);
    return t.wrap(t.builder().emit(ir::Op::Bitcast, {node}, type));
}

Ref construct(DType type, const Ref* parts, std::size_t count, Site at) {
    Tracer& t = Tracer::current(at);
    Expand x(t);
    std::vector<ir::NodeId> nodes;
    for (std::size_t k = 0; k < count; ++k) {
        const ir::NodeId node = t.read(parts[k]);
        if (type.is_vector() && t.type(node).is_vector()) {
            for (std::uint32_t c = 0; c < t.type(node).count(); ++c) nodes.push_back(x.part(node, c));
        } else {
            nodes.push_back(x.widen(node, type.part(nodes.size())));
        }
    }
    return t.wrap(x.make(type, nodes));
}

Ref swizzle(Ref vector, std::initializer_list<unsigned> picks, Site at) {
    Tracer& t = Tracer::current(at);
    Expand x(t);
    const ir::NodeId node = t.read(vector);
    std::vector<ir::NodeId> parts;
    for (const unsigned k : picks) parts.push_back(x.part(node, k));
    return t.wrap(x.make(DType::vector(t.type(node).scalar(), static_cast<unsigned>(picks.size())), parts));
}

void sync(ir::Op op, ir::FenceScope scope, Site at) {
    Tracer& t = Tracer::current(at);
    t.builder().emit(op, {}, {}, op == ir::Op::Fence ? static_cast<std::uint64_t>(scope) : 0);
}

void comment(std::string_view text, Site at) { Tracer::current(at).comment(text); }

void print(const char* format, const Ref* values, std::size_t count, Site at) {
    Tracer& t = Tracer::current(at);
    std::vector<ir::NodeId> nodes;
    for (std::size_t k = 0; k < count; ++k) nodes.push_back(t.read(values[k]));
    const auto places = ir::print_places(format);
    if (!places)
        t.fail(cat("the format \"", format, "\" has an unmatched brace"),
               "write {{ or }} for a literal brace");
    if (*places != count) {
        t.fail(cat("the format \"", format, "\" has ", *places, " placeholders for ", count, " values"),
               "write {} for each value");
    }
    t.builder().print(format, nodes);
}

}  // namespace volley::lang
