// Host access to buffers. Order: everything is checked before anything is allocated or written.
#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/context_core.hpp"
#include "runtime/storage.hpp"

#include <volley/any_buffer.hpp>

#include <cstring>

namespace volley {

using runtime::ContextCore;
using runtime::Replica;
using runtime::Storage;

namespace {

constexpr std::size_t direct_read = 64 * 1024;  // bytes that are not worth a queue's help

}  // namespace

AnyBuffer::AnyBuffer(DType dtype, const Shape& shape, BufferOptions options)
    : dtype_(dtype), shape_(shape), id_(BufferId::mint()), name_(std::move(options.name)) {
    if (dtype.is_void()) {
        fail(ErrorCode::TypeMismatch, "a buffer needs an element type", name(), "use dtype_of<T>()");
    }
    size_ = shape.elements();
    const std::int64_t total = shape.bytes(static_cast<std::int64_t>(dtype.size()));
    const std::shared_ptr<ContextCore>& core = runtime::current_core();
    core->check_open(name());
    storage_ = std::make_shared<Storage>(core, static_cast<std::uint64_t>(total),
                                         runtime::StorageOptions{.name = name()});
}

void AnyBuffer::fail_empty() {
    fail(ErrorCode::InvalidArgument, "a buffer without storage was used",
         "a default-constructed or moved-from Buffer", "construct it with a shape first");
}

std::string AnyBuffer::name() const {
    return name_.empty() ? cat("buffer ", id_.value()) : cat("buffer '", name_, "'");
}

StorageId AnyBuffer::storage_id() const noexcept { return storage_ ? storage_->id() : StorageId(); }

unsigned AnyBuffer::replica_count() const { return storage().core().queue_count(); }

bool AnyBuffer::is_allocated(unsigned k) const {
    return k < replica_count() && storage().replica(k).memory() != nullptr;
}

void AnyBuffer::check_size(std::size_t given, const char* doing) const {
    if (!storage().core().is_open()) storage().core().check_open(name());
    if (given == bytes()) return;
    const std::size_t element = dtype_.size();
    fail(ErrorCode::SizeMismatch,
         cat(doing, " with ", given / element, " elements of ", element, " bytes, where it has ", size()),
         name(), "give exactly as many elements as the buffer has");
}

void AnyBuffer::write_replica(std::span<const std::byte> data, unsigned k) {
    Storage& own = storage();
    backend::Memory& memory = own.allocate(k);
    const backend::Point point = own.core().queue(k).write(memory, offset(), data);
    own.replica(k).wrote(k, point);
}

void AnyBuffer::write_bytes(std::span<const std::byte> data) {
    check_size(data.size(), "it was written");
    Storage& own = storage();
    for (unsigned k = 0; k < replica_count(); ++k) static_cast<void>(own.allocate(k));  // all or nothing
    for (unsigned k = 0; k < replica_count(); ++k) write_replica(data, k);
}

void AnyBuffer::write_bytes(std::span<const std::byte> data, const Queue& queue) {
    check_size(data.size(), "it was written");
    if (ContextCore::core_of(queue).get() != &storage().core()) {
        fail(ErrorCode::WrongContext, "a buffer was written through a queue of another context", name(),
             "use a queue of the context that the buffer was made for");
    }
    write_replica(data, queue.index());
}

void AnyBuffer::check_readable(unsigned k) const {
    Storage& own = storage();
    if (!own.core().is_open()) own.core().check_open(name());
    if (k >= own.core().queue_count()) {
        fail(ErrorCode::IndexError, cat("there is no replica ", k), name(),
             cat("its context has ", own.core().queue_count(), " queue(s), numbered from 0"));
    }
    if (size_ != 0 && !own.replica(k).written()) {
        fail(ErrorCode::NotAllocated,
             cat("queue ", k, "'s replica was read before anything was written to it"), name(),
             "write to it, or run a kernel on that queue that does");
    }
}

void AnyBuffer::read_bytes(std::span<std::byte> data, unsigned k) const {
    check_size(data.size(), "it was read");
    check_readable(k);
    if (data.empty()) return;
    Storage& own = storage();
    ContextCore& core = own.core();
    Replica& replica = own.replica(k);
    backend::Memory& memory = *replica.memory();
    backend::Queue& queue = core.queue(k);
    if (memory.host() != nullptr) {
        for (unsigned q = 0; q < core.queue_count(); ++q) {
            if (const backend::Point point = replica.last_write(q); point != 0)
                core.queue(q).timeline().wait(point);
        }
        const bool idle = queue.timeline().completed() >= queue.last();
        if (data.size() <= direct_read || !idle) {
            // The bytes are there: joining the queue would wait for work that this read does not need.
            std::memcpy(data.data(), memory.host() + offset(), data.size());
            return;
        }
    } else {
        // The replica's own queue is in order by itself.
        for (unsigned q = 0; q < core.queue_count(); ++q) {
            const backend::Point point = replica.last_write(q);
            if (q != k && !core.passed({q, point})) queue.wait_for(core.queue(q).timeline(), point);
        }
    }
    const backend::Point point = queue.read(memory, offset(), data);
    replica.used(k, point);
    queue.timeline().wait(point);
}

void AnyBuffer::fill_bytes(std::span<const std::byte> element) {
    Storage& own = storage();
    own.core().check_open(name());
    if (element.size() != dtype_.size()) {
        fail(ErrorCode::SizeMismatch, cat("it was filled with an element of ", element.size(), " bytes"),
             name(), cat("its elements have ", dtype_.size()));
    }
    for (unsigned k = 0; k < replica_count(); ++k) {
        backend::Memory& memory = own.allocate(k);
        if (size_ == 0) continue;
        own.replica(k).wrote(k, own.core().queue(k).fill(memory, offset(), bytes(), element));
    }
}

}  // namespace volley
