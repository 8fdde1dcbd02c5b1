#include "lang/narrow_loads.hpp"

namespace volley::lang {
void narrow_loads(ir::Function&) {}
}  // namespace volley::lang
