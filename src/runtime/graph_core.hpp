// The state shared by copies of a CommandGraph: the recording, the bound values, and the compiled programs.
#pragma once

#include "runtime/command_order.hpp"
#include "runtime/graph_program.hpp"
#include "runtime/recording.hpp"

#include <volley/command_graph.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace volley::runtime {

/// Thread-safe.
class GraphCore {
public:
    explicit GraphCore(std::shared_ptr<ContextCore> core) : core_(std::move(core)) {}

    /// Calls body(data) and appends the commands it records to the graph; adds none if it throws.
    void record(void (*body)(void*), void* data);
    void reset();
    /// If `same` is set, the one value is used by all instances.
    void bind(std::string_view name, DType type, const std::byte* values, std::size_t count, bool same);
    void rebind(const AnyBuffer& from, const AnyBuffer& to);
    Event submit(const SubmitOptions& options);
    void prepare(const SubmitOptions& options);

    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] GraphMemory memory();
    [[nodiscard]] std::string to_string();

private:
    struct Bound {
        std::vector<std::byte> values;
        std::size_t count = 0;
        bool same = false;
    };
    // These require mutex_:
    void changed();
    void plan();
    [[nodiscard]] CommandOrder find_order() const;
    [[nodiscard]] GraphProgram& program(std::optional<unsigned> queue);
    [[nodiscard]] std::optional<unsigned> choose(const SubmitOptions& options);
    /// Returns the queues that have all buffers of the commands without an explicit queue, or all queues if
    /// there is no such queue.
    [[nodiscard]] QueueRange common_queues();
    [[nodiscard]] QueueRange find_common_queues() const;
    /// Returns the packed values of `instances` instances.
    [[nodiscard]] std::span<const std::byte> values(std::uint32_t instances);
    void check_bound(std::uint32_t instances) const;
    Event spread(std::uint32_t instances);
    /// Returns the number of this submission in the active profile, or 0 without one.
    [[nodiscard]] std::uint64_t submission() const;
    void record_into(Recorder& recorder, const SubmitOptions& options);

    const std::shared_ptr<ContextCore> core_;
    mutable std::mutex mutex_;
    Recording recording_;
    std::vector<Bound> bound_;       // indexed like recording_.names
    std::vector<std::byte> packed_;  // the values of packed_instances_ instances
    std::uint32_t packed_instances_ = 0;
    std::optional<std::vector<std::uint32_t>> order_;  // commands sorted by level; none: not planned yet
    Arena arena_;
    std::optional<QueueRange> common_;  // computed on first use
    std::unique_ptr<GraphProgram> everywhere_;
    std::vector<std::unique_ptr<GraphProgram>> by_queue_;
};

}  // namespace volley::runtime
