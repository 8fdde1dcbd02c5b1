// Narrows the loads of whole structs and arrays. `data[i].mass` is traced as a load of the element and an
// extraction; where all uses of such a load are extractions by constant paths, each becomes a load of its own, at
// the place of the whole one, so that it sees the same memory.
#pragma once

#include "ir/function.hpp"

namespace volley::lang {

/// Needs a function as traced; leaves one with the same meaning. Vectors, complex numbers and matrices are loaded
/// whole unless only some of their components are used.
void narrow_loads(ir::Function& fn);

}  // namespace volley::lang
