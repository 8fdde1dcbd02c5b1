// The host in a device's memory: waits for the work that touches it, and no other.
#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/context_core.hpp"
#include "runtime/recording.hpp"
#include "runtime/storage.hpp"
#include "runtime/transfer.hpp"

#include <volley/any_buffer.hpp>
#include <volley/mapping.hpp>

namespace volley {

using runtime::ContextCore;
using runtime::Replica;
using runtime::Storage;

namespace {

/// The replica, when the host can reach it: the checks in the order that the header promises.
Replica& reachable(const AnyBuffer& buffer, unsigned k) {
    Storage& storage = buffer.storage();
    storage.check_usable();
    runtime::Recorder::refuse("the host asked for a buffer's memory", buffer.name(),
                              "do so before record() or after submit()");
    ContextCore& core = storage.core();
    if (!buffer.exists_on(k)) {
        fail(ErrorCode::IndexError, cat("there is no replica ", k), buffer.name(),
             cat("it has replicas on ", storage.place()));
    }
    Replica& replica = storage.replica(k);
    const backends::Memory* memory = replica.memory();
    const DeviceInfo& info = core.info(core.device_of(k));
    if (memory != nullptr ? memory->host() == nullptr && memory->size() != 0 : !info.host_memory) {
        fail(ErrorCode::NotHostAccessible, "the host cannot address the device's memory",
             cat(buffer.name(), " on ", info.id()), "use read() and write()");
    }
    return replica;
}

std::span<std::byte> window_of(const AnyBuffer& buffer, const Replica& replica) {
    if (buffer.window_bytes() == 0) return {};
    std::byte* const first = replica.memory()->host() + buffer.offset();
    // Views are made for aligned types alone; this is of those that ask for more than memory has.
    if (const std::size_t align = buffer.dtype().align();
        reinterpret_cast<std::uintptr_t>(first) % align != 0) {
        fail(ErrorCode::InvalidView,
             cat("elements of type ", buffer.dtype().name(),
                 " would be misaligned: they begin at multiples of ", align, " bytes"),
             buffer.name(), "use read() and write(), or as_host_bytes() of view_bytes()");
    }
    return {first, buffer.window_bytes()};
}

}  // namespace

std::span<const std::byte> AnyBuffer::as_host_bytes(unsigned k) const {
    const Replica& replica = reachable(*this, k);
    if (window_ != 0 && !replica.written()) {
        fail(ErrorCode::NotAllocated,
             cat("queue ", k, "'s replica was read before anything was written to it"), name(),
             "write to it, or run a kernel on that queue that does");
    }
    storage().wait_for_uses(k, runtime::bytes_of(*this), false);
    return window_of(*this, replica);
}

std::span<std::byte> AnyBuffer::as_host_bytes(unsigned k) {
    Replica& replica = reachable(*this, k);
    if (window_ != 0 && replica.memory() == nullptr) {
        fail(ErrorCode::NotAllocated, cat("queue ", k, "'s replica has no memory yet"), name(),
             "write to it, or call ensure_allocated() first");
    }
    storage().wait_for_uses(k, runtime::bytes_of(*this), true);
    replica.settled(runtime::bytes_of(*this));
    replica.wrote();
    return window_of(*this, replica);
}

namespace detail {

MapGuard::MapGuard(const AnyBuffer& buffer, unsigned k) : storage_(buffer.shared_storage()), queue_(k) {
    reachable(buffer, k).map();
}

MapGuard::~MapGuard() {
    if (storage_) storage_->replica(queue_).unmap();
}

MapGuard& MapGuard::operator=(MapGuard&& other) noexcept {
    if (this == &other) return *this;
    if (storage_) storage_->replica(queue_).unmap();
    storage_ = std::exchange(other.storage_, nullptr);
    queue_ = other.queue_;
    return *this;
}

}  // namespace detail
}  // namespace volley
