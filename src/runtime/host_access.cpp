// Host access to device memory. Blocks for pending work that uses the accessed bytes, and for no other.
#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/buffer_access.hpp"
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

/// Returns the number of the queue if the host can address its replica; else throws, in the order that the
/// header documents.
unsigned reachable(const AnyBuffer& buffer, QueueRef queue) {
    Storage& storage = runtime::storage_of(buffer);
    storage.check_usable();
    runtime::Recorder::refuse("the host accessed a buffer's memory", buffer.name(),
                              "access it before record() or after submit()");
    ContextCore& core = storage.core();
    const unsigned k = runtime::queue_index(buffer, queue);
    const backends::Memory* memory = storage.replica(k).memory();
    const DeviceInfo& info = core.info(core.device_of(k));
    if (memory != nullptr ? memory->host() == nullptr && memory->size() != 0 : !info.host_memory) {
        fail(ErrorCode::NotHostAccessible, "the host cannot address the device's memory",
             cat(buffer.name(), " on ", info.id()), "use read() and write()");
    }
    return k;
}

std::span<std::byte> window_of(const AnyBuffer& buffer, const Replica& replica) {
    if (buffer.window_bytes() == 0) return {};
    std::byte* const first = replica.memory()->host() + buffer.offset();
    // view_as() checks offsets; this is for types with a stricter alignment than the memory has.
    if (const std::size_t align = buffer.dtype().align();
        reinterpret_cast<std::uintptr_t>(first) % align != 0) {
        fail(ErrorCode::InvalidView,
             cat("elements of type ", buffer.dtype().name(),
                 " would be misaligned: they require multiples of ", align, " bytes"),
             buffer.name(), "use read() and write(), or view_as<std::uint8_t>()");
    }
    return {first, buffer.window_bytes()};
}

}  // namespace

std::span<const std::byte> AnyBuffer::as_host_bytes(QueueRef queue) const {
    const ContextCore::Visit visit(storage().core(), storage());
    const unsigned k = reachable(*this, queue);
    const Replica& replica = storage().replica(k);
    if (window_ != 0 && !replica.written()) runtime::fail_unwritten(*this, k);
    storage().wait_for_uses(k, runtime::bytes_of(*this), false);
    return window_of(*this, replica);
}

std::span<std::byte> AnyBuffer::as_host_bytes(QueueRef queue) {
    const ContextCore::Visit visit(storage().core(), storage());
    const unsigned k = reachable(*this, queue);
    Replica& replica = storage().replica(k);
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

MapGuard::MapGuard(const AnyBuffer& buffer, QueueRef queue) {
    const ContextCore::Visit visit(runtime::storage_of(buffer).core(), runtime::storage_of(buffer));
    queue_ = reachable(buffer, queue);
    storage_ = runtime::shared_storage_of(buffer);
    storage_->replica(queue_).map();
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
