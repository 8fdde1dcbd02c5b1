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

/// Where and how often a graph runs. By default: once, on every queue of its context, as calls outside of a
/// recording do.
struct SubmitOptions {
    std::uint32_t instances =
        1;  ///< runs of the whole list, one after the other; 0 is legal and does nothing
    /// This queue, but for commands that name another one.
    std::optional<Queue> queue = {};
    bool any = false;     ///< of the queues that have all of its buffers, the one with the least to do
    bool spread = false;  ///< the instances divided among these queues
};

/// What temporaries of a graph take.
struct GraphMemory {
    std::uint64_t planned = 0;  ///< bytes of the one piece of memory that they share by lifetime
    std::uint64_t naive = 0;    ///< bytes if each had its own
};

/// A list of commands with the order that their buffers ask for, recorded by record() and append(). A handle:
/// copies are the same graph. It keeps the buffers that it uses, so they may be destroyed elsewhere.
/// Thread-safe: threads may submit one graph at once.
///
/// Submitting costs nothing that was paid before: kernels are compiled, memory is planned and drivers'
/// command buffers are written at the first submit to a queue (or by prepare()), and again only after
/// append(), rebind() or reset(). Commands that touch no common bytes are not ordered, and may run at the
/// same time.
class VOLLEY_API CommandGraph {
public:
    /// An empty one, in the current context. Submitting it is legal and does nothing.
    CommandGraph();

    /// Records what f calls behind what is there when f returns. Where f throws, the graph stays as it was.
    template <std::invocable F>
    void append(F&& f) {
        record_with([](void* body) { (*static_cast<std::remove_reference_t<F>*>(body))(); },
                    const_cast<void*>(static_cast<const void*>(std::addressof(f))));
    }
    /// Drops all commands, names and values. What was submitted goes on.
    void reset();

    /// One value of dyn<T>(name) for each instance of later submissions; at least as many as these have.
    /// Throws ArgumentError where the graph has no such name or another type.
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
    /// One value for all instances.
    template <class T>
    requires(!std::ranges::range<T>) void bind(std::string_view name, const T& value) {
        bind_same(name, dtype_of<T>(), &value);
    }

    /// Uses `to` wherever the graph uses `from` (that very buffer, not its views or bases): of the same type
    /// and shape. From then on the graph uses `to`, which is the one to name when it is bound anew again. The
    /// order is found anew, so another pattern of aliasing is right too. Throws ArgumentError where the graph
    /// does not use it, or it does not fit.
    void rebind(const AnyBuffer& from, const AnyBuffer& to);

    /// Runs it. Everything is checked before anything starts: unbound names, too few values, a queue of
    /// another context, buffers that the host has mapped. The event is that of the last instance, on all
    /// queues. Inside of a recording, its commands are recorded there, with the values that are bound now.
    Event submit(const SubmitOptions& options = {});
    /// What the first such submit would do once, done now.
    void prepare(const SubmitOptions& options = {});

    /// How many commands were recorded.
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] bool empty() const { return size() == 0; }
    [[nodiscard]] GraphMemory memory() const;
    /// One line for each command: what it is, and which it must follow.
    [[nodiscard]] std::string to_string() const;

private:
    using Body = void (*)(void*);
    void record_with(Body body, void* data);
    void bind_values(std::string_view name, DType type, const void* values, std::size_t count);
    void bind_same(std::string_view name, DType type, const void* value);

    std::shared_ptr<runtime::GraphCore> core_;
};

/// Calls f, and records instead of running what it calls: kernels, copies, fills, transfers with host arrays,
/// host calls, submissions of other graphs. Recordings belong to their thread, and may be nested: the inner
/// one is a graph of its own. What has a result for the host at once (read(), as_span(), map()) is an error
/// inside, and so is waiting for a recorded command. wait() waits for what was given before. Where f throws,
/// nothing is left behind.
///
///     auto g = record([&] { scale(buf, dyn<float>("alpha")); });
template <std::invocable F>
[[nodiscard]] CommandGraph record(F&& f) {
    CommandGraph graph;
    graph.append(f);
    return graph;
}

/// Whether this thread is inside of record().
[[nodiscard]] VOLLEY_API bool is_recording() noexcept;

/// Runs a function of the host's in the order of commands: on a thread of the library's, when what was given
/// before (to all queues, or to one) is done; what is given later waits for it. In a graph, all queues are
/// those of the context, or, where it is submitted to one, those that its commands use. An exception of it is
/// the error of whoever waits.
VOLLEY_API Event host_call(std::function<void()> function);
VOLLEY_API Event host_call(std::function<void()> function, const Queue& queue);

/// On each queue, what is given (or, inside of a recording, recorded) behind it starts when what is before it
/// is done. For memory that kernels reach behind the library's back; else the order is found from buffers.
VOLLEY_API void fence();

namespace detail {
[[nodiscard]] VOLLEY_API AnyBuffer make_temporary(DType type, const Shape& shape);
}

/// Memory for as long as a recording needs it: inside of record(), it shares memory with other temporaries
/// whose uses do not meet its own, and each instance finds undefined contents. It is unusable elsewhere.
/// Outside of record(), it is a buffer like any other.
template <class T>
[[nodiscard]] Buffer<T> temporary(const Shape& shape) {
    return Buffer<T>(detail::make_temporary(dtype_of<T>(), shape));
}

}  // namespace volley
