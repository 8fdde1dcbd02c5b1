// What copies of a CommandGraph share: the recording, the values that are bound, and the programs that it has
// become.
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

    /// Calls body(data) while its calls are recorded, and takes them over where it does not throw.
    void record(void (*body)(void*), void* data);
    void reset();
    /// `same`: one value for all instances.
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
    // All with mutex_ held:
    void changed();
    void plan();
    [[nodiscard]] CommandOrder find_order() const;
    [[nodiscard]] GraphProgram& program(std::optional<unsigned> queue);
    [[nodiscard]] std::optional<unsigned> choose(const SubmitOptions& options);
    /// The queues that have the buffers of all commands that name none; all, if there is no such queue.
    [[nodiscard]] QueueRange common_queues();
    [[nodiscard]] QueueRange find_common_queues() const;
    /// Packs the values of so many instances.
    [[nodiscard]] std::span<const std::byte> values(std::uint32_t instances);
    void check_bound(std::uint32_t instances) const;
    Event spread(std::uint32_t instances);
    /// Its number in the profile that is under way.
    [[nodiscard]] std::uint64_t submission() const;
    void record_into(Recorder& recorder, const SubmitOptions& options);

    const std::shared_ptr<ContextCore> core_;
    mutable std::mutex mutex_;
    Recording recording_;
    std::vector<Bound> bound_;       // by name
    std::vector<std::byte> packed_;  // the values of packed_instances_ instances
    std::uint32_t packed_instances_ = 0;
    std::optional<std::vector<std::uint32_t>> order_;  // of the commands, by level; none: not planned yet
    Arena arena_;
    std::optional<QueueRange> common_;  // once asked for
    std::unique_ptr<GraphProgram> everywhere_;
    std::vector<std::unique_ptr<GraphProgram>> by_queue_;
};

}  // namespace volley::runtime
