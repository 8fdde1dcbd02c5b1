// The defaults of optional commands.
#include "backends/api/queue.hpp"

#include "core/fail.hpp"

namespace volley::backends {

Point Queue::copy_from_host(Memory& /*to*/, const std::byte* /*from*/, const RectMove& /*move*/) {
    fail_internal("a queue that cannot copy host memory was asked to");
}

Point Queue::mark() {
    return call([] {});
}

}  // namespace volley::backends
