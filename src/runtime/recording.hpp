// What is called inside of record(): commands, kept with all that they need until the graph is compiled for
// queues.
#pragma once

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

/// Keeps a buffer's storage usable, whatever its owners do: a buffer that was destroyed lives on in graphs.
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
    [[nodiscard]] bool empty() const noexcept { return buffer_.shared_storage() == nullptr; }

private:
    AnyBuffer buffer_;
};

struct RecordedArgument {
    static constexpr std::uint32_t fixed = ~0u;
    PinnedBuffer buffer;  // a buffer,
    bool reads = false;   //     and what the kernel does with it,
    bool writes = false;
    std::vector<std::byte> value;   //   a value,
    std::uint32_t dynamic = fixed;  //   or a name: its place in Recording::names
};

struct RecordedLaunch {
    std::shared_ptr<KernelCore> kernel;
    CachedKernel* cached = nullptr;  // the context's
    RequestedGrid requested;
    std::vector<RecordedArgument> arguments;
};
/// Host arrays take part as buffers on their storages.
struct RecordedCopy {
    PinnedBuffer to;
    PinnedBuffer from;
    Rows rows;
    std::optional<unsigned> source;  // this queue's replica; else the nearest
    CommandKind kind = CommandKind::Copy;
};
struct RecordedFill {
    PinnedBuffer to;
    std::vector<std::byte> element;
    Rows rows;
};
/// Everything before it is done before everything behind it starts, on each queue; with a function of the
/// host's in between, on all queues together.
struct RecordedFence {
    std::shared_ptr<const HostFunction> call;  // or none
};

struct RecordedCommand {
    std::variant<RecordedLaunch, RecordedCopy, RecordedFill, RecordedFence> what;
    std::optional<unsigned> queue;  // the one that was named
    [[nodiscard]] std::string text() const;
};

/// A name of dyn<T>().
struct RecordedName {
    std::string name;
    DType type;
    std::uint32_t offset = 0;  // in the values of an instance
};

struct Recording {
    std::vector<RecordedCommand> commands;
    std::vector<RecordedName> names;
    std::uint32_t value_bytes = 0;  // of an instance, a multiple of 16
    std::vector<std::shared_ptr<Storage>> temporaries;

    [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const;
    /// The name's place; new ones are added. Throws ArgumentError (TypeMismatch) where it has another type.
    std::uint32_t name(const detail::DynamicName& wanted);
    [[nodiscard]] bool owns(const Storage& temporary) const;
};

/// Throws TraceError where a kernel's body, which is only traced, would act on the host.
void refuse_while_tracing(std::string_view what, std::string_view on);
/// The same; the buffer's name is made only then.
void refuse_while_tracing(std::string_view what, const AnyBuffer& on);

/// While one lives, the calls of its thread are recorded.
class Recorder {
public:
    /// `known` are the names and temporaries of a graph that is added to.
    Recorder(std::shared_ptr<ContextCore> core, const Recording& known);
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// The one that this thread's calls go to, or nullptr. One load.
    [[nodiscard]] static Recorder* current() noexcept { return thread_recorder; }
    /// Throws where this thread records: `what` has a result for the host at once.
    static void refuse(std::string_view what, std::string_view on, std::string_view instead) {
        if (thread_recorder != nullptr) fail_refused(what, on, instead);
    }

    [[nodiscard]] ContextCore& core() const noexcept { return *core_; }
    [[nodiscard]] const std::shared_ptr<ContextCore>& shared_core() const noexcept { return core_; }
    /// One more command, which was checked. Throws where a buffer is not one for this recording.
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
