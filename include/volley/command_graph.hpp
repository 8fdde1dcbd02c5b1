// Command graphs: record once, submit many times.
#pragma once

#include <volley/any_buffer.hpp>
#include <volley/api.hpp>
#include <volley/buffer.hpp>
#include <volley/dyn.hpp>
#include <volley/event.hpp>
#include <volley/queue.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace volley {

namespace runtime {
class GraphCore;
}

/// Where and how often a graph runs. By default it runs once, on the queues on which its commands would run
/// outside a recording. At most one of `queue`, `any` and `spread` may be set.
struct SubmitOptions {
    /// Number of consecutive runs of the whole graph; 0 is valid and does nothing.
    std::uint32_t instances = 1;
    /// Runs the graph on this queue, except commands that were recorded for a specific one.
    std::optional<Queue> queue = {};
    bool any = false;     ///< uses the least busy queue that has all buffers of the graph
    bool spread = false;  ///< divides the instances among the queues that have all buffers of the graph
};

/// Memory of a graph's temporaries.
struct GraphMemory {
    std::uint64_t planned = 0;  ///< bytes of the allocation that they share according to their lifetimes
    std::uint64_t naive = 0;    ///< bytes if each had a separate allocation
};

/// A list of commands recorded by record() and append(). The buffers that commands access determine their
/// order; commands without conflicting accesses may run concurrently. A handle: copies refer to the same
/// graph. The graph keeps the buffers that it uses alive. Thread-safe: several threads may submit one graph.
///
/// The first submit to a queue (or prepare()) compiles the kernels, plans the memory and records the driver's
/// command buffers. Later submits only replay them, until append(), rebind() or reset() changes the graph.
class VOLLEY_API CommandGraph {
public:
    /// Creates an empty graph in the current context. Submitting it is valid and does nothing.
    CommandGraph();

    /// Calls `f` and appends its commands to the graph. If `f` throws, the graph is unchanged.
    template <std::invocable F>
    void append(F&& f) {
        record_with([](void* body) { (*static_cast<std::remove_reference_t<F>*>(body))(); },
                    const_cast<void*>(static_cast<const void*>(std::addressof(f))));
    }
    /// Removes all commands, names and values. Submitted work is not affected.
    void reset();

    /// Sets the values of dyn<T>(name) for later submissions, one per instance; surplus values are ignored.
    /// Throws ArgumentError if the graph has no dynamic value of that name or it has another type.
    template <class T>
    void bind(std::string_view name, std::initializer_list<T> values) {
        bind_values(name, dtype_of<T>(), std::data(values), values.size());
    }
    template <std::ranges::contiguous_range R>
    requires std::ranges::sized_range<R>
    void bind(std::string_view name, const R& values) {
        bind_values(name, dtype_of<std::ranges::range_value_t<R>>(), std::ranges::data(values),
                    std::ranges::size(values));
    }
    /// Sets one value for all instances.
    template <class T>
    requires(!std::ranges::range<T>) void bind(std::string_view name, const T& value) {
        bind_same(name, dtype_of<T>(), &value);
    }

    /// Replaces the buffer `from` by `to` in all commands; views and bases of `from` are not replaced. A
    /// later rebind() must name `to`. Recomputes the order of the commands, so `to` may alias other buffers.
    /// Throws ArgumentError if the graph does not use `from` or if type, shape or padding differ, and
    /// LaunchError (WrongContext) if `to` belongs to another context.
    void rebind(const AnyBuffer& from, const AnyBuffer& to);

    /// Submits the graph and returns the completion of its last instance on all queues. Throws ArgumentError
    /// or LaunchError, before anything is submitted, for names without values, too few values, a queue of
    /// another context, and buffers that the host has mapped. While recording, appends the commands with
    /// their current values to the recording instead.
    Event submit(const SubmitOptions& options = {});
    /// Does the one-time work of the first submit() with these options, without running anything.
    void prepare(const SubmitOptions& options = {});

    /// Returns the number of recorded commands.
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] bool empty() const { return size() == 0; }
    /// Returns the memory of the temporaries.
    [[nodiscard]] GraphMemory memory() const;
    /// Returns one line per command: its kind and the commands that it depends on.
    [[nodiscard]] std::string to_string() const;

private:
    using Body = void (*)(void*);
    void record_with(Body body, void* data);
    void bind_values(std::string_view name, DType type, const void* values, std::size_t count);
    void bind_same(std::string_view name, DType type, const void* value);

    std::shared_ptr<runtime::GraphCore> core_;
};

/// Calls `f` and returns a graph of its commands, which do not run: kernels, copies, fills, transfers with
/// host arrays, host calls, submissions of other graphs. A recording applies to the calling thread only.
/// Recordings may be nested; the inner one creates a separate graph. While recording, calls that return data
/// to the host (read(), as_span(), map()) and waits for recorded commands throw; wait() waits for work
/// submitted earlier. If `f` throws, nothing is recorded.
///
///     auto g = record([&] { scale(buf, dyn<float>("alpha")); });
template <std::invocable F>
[[nodiscard]] CommandGraph record(F&& f) {
    CommandGraph graph;
    graph.append(f);
    return graph;
}

/// Returns whether this thread is recording.
[[nodiscard]] VOLLEY_API bool is_recording() noexcept;

/// Submits a host function as a command: it runs on a thread of the library after all earlier work of all
/// queues (or of `queue`) has completed, and later work waits for it. In a graph that is submitted to one
/// queue, "all queues" are those that its commands use. A wait for the function or for later work of its
/// queue rethrows its exception. Throws ArgumentError for an empty function.
VOLLEY_API Event host_call(std::function<void()> function);
VOLLEY_API Event host_call(std::function<void()> function, const Queue& queue);

/// Orders all later commands of each queue (or of the recording) after all earlier ones. Necessary only for
/// memory that kernels access without the library's knowledge; otherwise the buffers determine the order.
VOLLEY_API void fence();

namespace detail {
[[nodiscard]] VOLLEY_API AnyBuffer make_temporary(DType type, const Shape& shape);
}

/// Returns a buffer for intermediate results of a recording. While recording, it shares memory with
/// temporaries that are not in use at the same time, its contents are undefined at the start of each
/// instance, and it can be used only in that graph. Outside a recording, it is an ordinary buffer.
template <class T>
[[nodiscard]] Buffer<T> temporary(const Shape& shape) {
    return Buffer<T>(detail::make_temporary(dtype_of<T>(), shape));
}

}  // namespace volley
