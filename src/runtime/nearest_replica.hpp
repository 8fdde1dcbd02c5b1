// Selects the replica that a copy reads if its source is not specified.
#pragma once

#include "runtime/context_core.hpp"
#include "runtime/storage.hpp"

#include <optional>

namespace volley::runtime {

/// Returns the queue of the replica nearest to queue k for which written(replica) is true: the queue's own
/// replica, else one on the same device, else any. Returns nullopt if there is none.
template <class Written>
[[nodiscard]] std::optional<unsigned> nearest_replica(Storage& storage, unsigned k, Written&& written) {
    const ContextCore& core = storage.core();
    if (Replica* own = storage.find(k); own != nullptr && written(*own)) return k;
    std::optional<unsigned> found;
    for (unsigned r = 0; r < storage.replica_count(); ++r) {
        const unsigned q = storage.home(r);
        if (!written(storage.replica(q))) continue;
        if (core.device_of(q) == core.device_of(k)) return q;
        if (!found) found = q;
    }
    return found;
}

}  // namespace volley::runtime
