// Widens scalars to other shapes, and creates numbers of any shape.
#include "lang/expand.hpp"

namespace volley::lang {
namespace {

// Matches Type<T>::rank in the headers.
int rank(DType type) {
    if (type.is_scalar()) return 0;
    if (type.is_vector() || type.is_complex()) return 1;
    return type.is_matrix() ? 2 : 3;
}

}  // namespace

ir::NodeId Expand::complex(ir::NodeId re, ir::NodeId im) {
    const ir::NodeId parts[] = {re, im};
    return make(DType::complex(type(re).scalar()), parts);
}

ir::NodeId Expand::number(DType type, double value) {
    return widen(b_.constant_number(type.scalar(), value), type);
}

ir::NodeId Expand::widen(ir::NodeId a, DType requested) {
    const DType own = type(a);
    if (own == requested) return a;
    if (own.is_scalar() && own.scalar() == requested.scalar()) {
        if (requested.is_vector()) {
            const std::vector<ir::NodeId> parts(requested.count(), a);
            return make(requested, parts);
        }
        if (requested.is_complex()) return complex(a, b_.constant_number(own.scalar(), 0));
    }
    t_.fail(cat_types(own, requested), "convert it with cast<T>(v)");
}

void Expand::even_out(std::vector<ir::NodeId>& operands) {
    if (operands.empty()) return;
    DType widest = type(operands[0]);
    for (const ir::NodeId id : operands) {
        if (rank(type(id)) > rank(widest)) widest = type(id);
    }
    for (ir::NodeId& id : operands) id = widen(id, widest);
}

std::string Expand::cat_types(DType own, DType requested) {
    return "a value of type " + own.name() + " is used, but " + requested.name() + " is required";
}

}  // namespace volley::lang
