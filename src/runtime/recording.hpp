// The commands recorded by record(), with all data needed to compile them for queues later.
#pragma once

#include "runtime/buffer_access.hpp"
#include "runtime/host_function.hpp"
#include "runtime/launch.hpp"
#include "runtime/transfer.hpp"

#include <volley/any_buffer.hpp>
#include <volley/dyn.hpp>
#include <volley/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace volley::runtime {

/// Keeps the storage of a buffer usable: a graph can still use a buffer after destroy().
class PinnedBuffer {
public:
    PinnedBuffer() noexcept = default;
    explicit PinnedBuffer(AnyBuffer buffer);
    ~PinnedBuffer();
    PinnedBuffer(const PinnedBuffer& other) : PinnedBuffer(other.buffer_) {}
    PinnedBuffer(PinnedBuffer&& other) noexcept : buffer_(std::exchange(other.buffer_, AnyBuffer())) {}
    PinnedBuffer& operator=(PinnedBuffer other) noexcept {
        std::swap(buffer_, other.buffer_);
        return *this;
    }
    [[nodiscard]] const AnyBuffer& get() const noexcept { return buffer_; }
    [[nodiscard]] bool empty() const noexcept { return shared_storage_of(buffer_) == nullptr; }

private:
    AnyBuffer buffer_;
};

struct RecordedArgument {
    static constexpr std::uint32_t fixed = ~0u;
    // One of: a buffer and how the kernel uses it; a value; a dynamic value.
    PinnedBuffer buffer;
    bool reads = false;
    bool writes = false;
    std::vector<std::byte> value;
    std::uint32_t dynamic = fixed;  // index in Recording::names
};

struct RecordedLaunch {
    std::shared_ptr<KernelCore> kernel;
    CachedKernel* cached = nullptr;  // in use as long as `kernel` exists
    RequestedGrid requested;
    std::vector<RecordedArgument> arguments;
};
/// Host arrays are represented by buffers on their storage.
struct RecordedCopy {
    PinnedBuffer to;
    PinnedBuffer from;
    Rows rows;
    std::optional<unsigned> source;  // queue of the replica to read; none: the nearest
    CommandKind kind = CommandKind::Copy;
};
struct RecordedFill {
    PinnedBuffer to;
    std::vector<std::byte> element;
    Rows rows;
};
/// All earlier commands complete before any later one starts: on each queue separately, or, with a host
/// function, which runs in between, on all queues together.
struct RecordedFence {
    std::shared_ptr<const HostFunction> call;  // may be null
};

struct RecordedCommand {
    std::variant<RecordedLaunch, RecordedCopy, RecordedFill, RecordedFence> what;
    std::optional<unsigned> queue;  // if specified by the caller
    [[nodiscard]] std::string text() const;
};

/// A dynamic value, recorded by dyn<T>(name).
struct RecordedName {
    std::string name;
    DType type;
    std::uint32_t offset = 0;  // within the values of an instance
};

struct Recording {
    std::vector<RecordedCommand> commands;
    std::vector<RecordedName> names;
    std::uint32_t value_bytes = 0;  // bytes per instance, a multiple of 16
    std::vector<std::shared_ptr<Storage>> temporaries;

    [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const;
    /// Returns the index of the name, adding it if it is new. Throws ArgumentError (TypeMismatch) if it is
    /// known with another type.
    std::uint32_t name(const detail::DynamicName& requested);
    [[nodiscard]] bool owns(const Storage& temporary) const;
};

/// Throws TraceError if the calling thread is tracing a kernel body, in which host operations are not
/// allowed.
void refuse_while_tracing(std::string_view what, std::string_view on);
/// The same; computes the name of the buffer only if it throws.
void refuse_while_tracing(std::string_view what, const AnyBuffer& on);

/// While a Recorder exists, the commands issued by its thread are recorded instead of submitted.
class Recorder {
public:
    /// `known` holds the existing names and temporaries of the graph.
    Recorder(std::shared_ptr<ContextCore> core, const Recording& known);
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// Returns the innermost recorder of the calling thread, or nullptr. Costs one load.
    [[nodiscard]] static Recorder* current() noexcept { return thread_recorder; }
    /// Throws ArgumentError if the calling thread is recording. For operations with an immediate result.
    static void refuse(std::string_view what, std::string_view on, std::string_view instead) {
        if (thread_recorder != nullptr) fail_refused(what, on, instead);
    }

    [[nodiscard]] ContextCore& core() const noexcept { return *core_; }
    [[nodiscard]] const std::shared_ptr<ContextCore>& shared_core() const noexcept { return core_; }
    /// Adds a validated command. Throws if one of its buffers cannot be used in this recording.
    Event add(RecordedCommand command);
    [[nodiscard]] Recording& recording() noexcept { return recording_; }

private:
    [[noreturn]] static void fail_refused(std::string_view what, std::string_view on,
                                          std::string_view instead);
    void check(const AnyBuffer& buffer) const;

    static constinit thread_local Recorder* thread_recorder;
    std::shared_ptr<ContextCore> core_;
    Recording recording_;
    Recorder* outer_;
};

}  // namespace volley::runtime
