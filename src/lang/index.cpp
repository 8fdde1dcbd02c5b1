// Ravels and unravels indices.
#include "lang/expand.hpp"

#include <volley/lang/index.hpp>

namespace volley::lang {

void unravel(Ref linear, const Ref* extents, Ref* indices, std::size_t count, Site at) {
    Tracer& t = Tracer::current(at);
    Expand x(t);
    ir::NodeId rest = t.read(linear);
    for (std::size_t k = count; k-- > 1;) {
        const ir::NodeId extent = t.read(extents[k]);
        indices[k] = t.wrap(x.op(ir::Op::Rem, {rest, extent}));
        rest = x.div(rest, extent);
    }
    if (count > 0) indices[0] = t.wrap(rest);
}

Ref ravel(const Ref* indices, const Ref* extents, std::size_t count, Site at) {
    Tracer& t = Tracer::current(at);
    Expand x(t);
    ir::NodeId linear = t.read(indices[0]);
    for (std::size_t k = 1; k < count; ++k) {
        linear = x.add(x.mul(linear, t.read(extents[k])), t.read(indices[k]));
    }
    return t.wrap(linear);
}

}  // namespace volley::lang
