// Values with types known at run time: checks of the types, and the recording functions of record.hpp.
#include "core/text.hpp"
#include "lang/tracer.hpp"

#include <volley/lang/any_value.hpp>

#include <cstdint>
#include <vector>

namespace volley {
namespace {

void need_equal(DType a, DType b) {
    if (a == b) return;
    lang::Tracer::current().fail(cat("the operands have different types: ", a.name(), " and ", b.name()),
                                 "convert one of them with convert(value, type)");
}

// Most operations return the type of their operands, comparisons do not.
AnyValue value_of(lang::Ref ref) { return {ref, lang::Tracer::current().type(ref.node())}; }

lang::Ref position_of(lang::Ref root, std::span<const Value<std::uint32_t>> position) {
    std::vector<lang::Ref> refs;
    for (const Value<std::uint32_t>& index : position) refs.push_back(lang::ref_of(index));
    return lang::buffer_position(root, refs.data(), refs.size());
}

}  // namespace

void AnyValue::need(DType expected) const {
    if (type_ == expected) return;
    lang::Tracer::current().fail(cat("a value of type ", type_.name(), " was used as ", expected.name()),
                                 "convert it with convert(value, type) first");
}

AnyValue AnyValue::part(unsigned i) const {
    if (i >= type_.count() || type_.is_scalar()) {
        lang::Tracer::current().fail(cat("a value of type ", type_.name(), " has no part ", i),
                                     "use a number below dtype().count()");
    }
    // A path of a Ref has six bits for each step.
    constexpr unsigned path_parts = 64;
    if (i < path_parts) return {lang::read(ref_.part(i)), type_.part(i)};
    return {lang::extract(ref_, lang::index_number(std::uint64_t{i}, {})), type_.part(i)};
}

AnyValue AnyValue::binary(ir::Op op, const AnyValue& other) const { return apply(op, *this, other); }

AnyValue apply(ir::Op op, const AnyValue& a) { return value_of(lang::emit(op, {ref_of(a)})); }

AnyValue apply(ir::Op op, const AnyValue& a, const AnyValue& b) {
    need_equal(a.dtype(), b.dtype());
    return value_of(lang::emit(op, {ref_of(a), ref_of(b)}));
}

Value<bool> compare(ir::Op op, const AnyValue& a, const AnyValue& b) {
    need_equal(a.dtype(), b.dtype());
    const AnyValue result = apply(op, a, b);
    if (result.dtype() != dtype_of<bool>()) {
        lang::Tracer::current().fail(cat("the comparison of values of type ", a.dtype().name(),
                                         " has the type ", result.dtype().name()),
                                     "compare scalars, for example the parts of a composite");
    }
    return result.as<bool>();
}

AnyValue select(const Value<bool>& c, const AnyValue& a, const AnyValue& b) {
    need_equal(a.dtype(), b.dtype());
    return {lang::emit(ir::Op::Select, {lang::read(lang::ref_of(c)), ref_of(a), ref_of(b)}), a.dtype()};
}

AnyValue convert(const AnyValue& value, DType type, lang::Site at) {
    if (value.dtype() == type) return value;
    return {lang::convert(ref_of(value), type, at), type};
}

AnyValue constant_of(DType type, const void* bytes, lang::Site at) {
    return {lang::constant(type, bytes, at), type};
}

AnyValue zero_of(DType type, lang::Site at) { return {lang::zero(type, at), type}; }

AnyValue make_of(DType type, std::initializer_list<AnyValue> parts, lang::Site at) {
    std::vector<lang::Ref> refs;
    for (const AnyValue& part : parts) refs.push_back(ref_of(part));
    return {lang::construct(type, refs.data(), refs.size(), at), type};
}

AnyVar::AnyVar(const AnyValue& initial, lang::Site at)
    : ref_(lang::declare_var(initial.dtype(), ref_of(initial), at)), type_(initial.dtype()) {}

AnyVar& AnyVar::operator=(const AnyValue& value) {
    need_equal(type_, value.dtype());
    lang::store(ref_, ref_of(value));
    return *this;
}

AnyValue AnyVar::load() const { return {lang::read(ref_), type_}; }

AnyArray AnyArray::shared(DType element, std::uint64_t count, lang::Site at) {
    return {lang::declare_shared(element, &count, 1, at), element};
}

AnyArray AnyArray::local(DType element, std::uint64_t count, lang::Site at) {
    return {lang::declare_var(DType::array(element, count), at), element};
}

AnyValue AnyArray::load(lang::ElementIndex i) const {
    return {lang::read(lang::element(root_, &i.ref, 1)), element_};
}

AnyValue AnyArray::load_at(std::span<const Value<std::uint32_t>> position) const {
    const lang::Ref at = position_of(root_, position);
    return {lang::read(lang::element(root_, &at, 1)), element_};
}

void AnyArray::store_at(std::span<const Value<std::uint32_t>> position, const AnyValue& value) const {
    need_equal(element_, value.dtype());
    const lang::Ref at = position_of(root_, position);
    lang::store(lang::element(root_, &at, 1), ref_of(value));
}

void AnyArray::store(lang::ElementIndex i, const AnyValue& value) const {
    need_equal(element_, value.dtype());
    lang::store(lang::element(root_, &i.ref, 1), ref_of(value));
}

}  // namespace volley
