// Targets, result memory, the cache of kernels, and checks that algorithms share.
#include "algorithms/execution.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/command_graph.hpp>
#include <volley/context.hpp>

#include <list>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace volley {

DeviceClass device_class(const DeviceInfo& device) noexcept {
    if (device.backend == "cpu" || device.backend == "reference") return DeviceClass::Cpu;
    return device.software || device.type == DeviceType::Cpu ? DeviceClass::Software : DeviceClass::Gpu;
}

namespace algorithms {
namespace {

Placement meet(const Placement& a, const Placement& b) {
    if (a.kind() == Placement::Kind::OnQueue) return a;
    if (b.kind() == Placement::Kind::OnQueue) return b;
    return a.kind() == Placement::Kind::PerDevice ? a : b;
}

// Devices for which every algorithm chooses the same kernel.
bool alike(const DeviceInfo& a, const DeviceInfo& b) {
    return &a == &b || (a.backend == b.backend && a.index == b.index);
}

}  // namespace

Execution::Execution(const std::optional<Queue>& queue, std::initializer_list<const AnySource*> sources,
                     std::initializer_list<const AnySink*> sinks) {
    std::vector<AnyArgument> arguments;
    for (const AnySource* source : sources) source->add_arguments(arguments);
    for (const AnySink* sink : sinks) sink->add_arguments(arguments);
    for (const AnyArgument& argument : arguments) {
        if (argument.is_buffer()) placement_ = meet(placement_, argument.buffer().placement());
    }
    if (queue) {
        targets_.push_back({queue, &queue->device()});
        if (placement_.kind() == Placement::Kind::Replicated) placement_ = Placement::on(*queue);
        return;
    }
    const Context context = current_context();
    if (placement_.kind() == Placement::Kind::OnQueue) {
        targets_.push_back({std::nullopt, &placement_.queue()->device()});
        return;
    }
    std::vector<Queue> queues;
    bool same = true;
    for (unsigned k = 0; k < context.queue_count(); ++k) {
        queues.push_back(context.queue(k));
        same = same && alike(queues.front().device(), queues.back().device());
    }
    if (same) {
        targets_.push_back({std::nullopt, &queues.front().device()});
        return;
    }
    for (std::size_t k = 0; k < queues.size(); ++k) {
        // Queues of a device share its replica: the kernel runs once for it.
        const bool repeated = placement_.kind() == Placement::Kind::PerDevice && k > 0 &&
                              alike(queues[k - 1].device(), queues[k].device());
        if (!repeated) targets_.push_back({queues[k], &queues[k].device()});
    }
}

AnyBuffer Execution::result(DType type, const Shape& shape) const {
    return {type, shape, {.placement = placement_}};
}

AnyBuffer Execution::scratch(DType type, const Shape& shape) const {
    if (is_recording()) return detail::make_temporary(type, shape);
    return result(type, shape);
}

namespace {

/// Kernels by key, the most recently used first.
class KernelCache {
public:
    AnyKernel find(const KernelKey& key, const std::function<AnyKernel()>& make) {
        if (AnyKernel found = look_up(key.text())) return found;
        // Not under the lock: tracing takes time, and a user's function may use the library.
        AnyKernel kernel = make();
        const std::scoped_lock lock(mutex_);
        if (const auto known = by_key_.find(key.text()); known != by_key_.end()) return known->second->kernel;
        kernels_.push_front({key.text(), kernel});
        by_key_.emplace(kernels_.front().key, kernels_.begin());
        if (kernels_.size() > limit) {
            by_key_.erase(kernels_.back().key);
            kernels_.pop_back();
        }
        return kernel;
    }

private:
    static constexpr std::size_t limit = 512;

    struct Entry {
        std::string key;
        AnyKernel kernel;
    };

    AnyKernel look_up(const std::string& key) {
        const std::scoped_lock lock(mutex_);
        const auto known = by_key_.find(key);
        if (known == by_key_.end()) return {};
        kernels_.splice(kernels_.begin(), kernels_, known->second);
        return known->second->kernel;
    }

    std::mutex mutex_;
    std::list<Entry> kernels_;
    std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key_;  // views of the entries' keys
};

}  // namespace

AnyKernel find_kernel(const KernelKey& key, const std::function<AnyKernel()>& make) {
    static KernelCache& cache = *new KernelCache;  // never destroyed: used until the process ends
    return cache.find(key, make);
}

Event launch(const AnyKernel& kernel, const Target& target, std::span<const AnyArgument> arguments) {
    return target.queue ? kernel.on(*target.queue)(arguments) : kernel(arguments);
}

int checked_axis(int axis, int rank, std::string_view algorithm) {
    if (axis < -rank || axis >= rank) {
        fail(ErrorCode::IndexError,
             cat("axis ", axis, " is out of range for an array with ", rank,
                 rank == 1 ? " dimension" : " dimensions"),
             algorithm, cat("use ", -rank, " to ", rank - 1, "; negative axes count from the end"));
    }
    return axis < 0 ? axis + rank : axis;
}

std::vector<bool> checked_axes(std::span<const int> axes, int rank, std::string_view algorithm) {
    std::vector<bool> chosen(static_cast<std::size_t>(rank), axes.empty());
    for (const int axis : axes) {
        const auto k = static_cast<std::size_t>(checked_axis(axis, rank, algorithm));
        if (chosen[k]) {
            fail(ErrorCode::InvalidArgument, cat("axis ", axis, " is repeated"), algorithm,
                 "name each axis once");
        }
        chosen[k] = true;
    }
    return chosen;
}

void check_sink(const AnySink& sink, DType type, const Shape& shape, std::string_view algorithm) {
    const std::string name = sink.buffer() != nullptr ? sink.buffer()->name() : "a store map";
    if (sink.dtype() != type) {
        fail(ErrorCode::TypeMismatch,
             cat("the output takes ", sink.dtype().name(), ", but the result is ", type.name()),
             cat(algorithm, ", ", name), "use an output of the result's type, or convert the input");
    }
    if (sink.shape() != shape) {
        fail(ErrorCode::SizeMismatch,
             cat("the output has the shape ", sink.shape().to_string(), ", but the result has ",
                 shape.to_string()),
             cat(algorithm, ", ", name), "use an output of the result's shape");
    }
}

void check_no_overlap(const AnySink& sink, const AnySource& source, bool same_allowed,
                      std::string_view algorithm) {
    if (sink.buffer() == nullptr) return;
    const AnyBuffer& out = *sink.buffer();
    const std::size_t out_begin = out.offset(), out_end = out_begin + out.window_bytes();
    std::vector<AnyArgument> arguments;
    source.add_arguments(arguments);
    for (const AnyArgument& argument : arguments) {
        if (!argument.is_buffer() || argument.buffer().storage_id() != out.storage_id()) continue;
        const AnyBuffer& in = argument.buffer();
        if (in.offset() >= out_end || out_begin >= in.offset() + in.window_bytes()) continue;
        const bool same = in.offset() == out.offset() && in.dtype() == out.dtype() &&
                          in.shape() == out.shape() && in.strides() == out.strides();
        if (same && same_allowed) continue;
        fail(ErrorCode::InvalidView, "the output overlaps the input", cat(algorithm, ", ", out.name()),
             same_allowed ? "write to the same elements, or to another buffer" : "write to another buffer");
    }
}

}  // namespace algorithms
}  // namespace volley
