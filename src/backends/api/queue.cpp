// The default mark.
#include "backends/api/queue.hpp"

namespace volley::backends {

Point Queue::mark() {
    return call([] {});
}

}  // namespace volley::backends
