// Which replica a copy reads where none is named.
#pragma once

#include "runtime/context_core.hpp"
#include "runtime/storage.hpp"

#include <optional>

namespace volley::runtime {

/// The replica that is nearest to queue k of those for which written(replica) says so, by its queue: its own,
/// its device's, or any. None where there is none.
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
