// Launches and host commands. The hot path is launch(): one lock, the arguments that changed, one call that
// enqueues and one that flushes. It does not allocate.
#include "backends/opencl/opencl_queue.hpp"

#include "backends/opencl/opencl_batch.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace volley::backends::opencl {

namespace {

constexpr std::size_t backlog = 1024;       // pending commands before the submitting thread waits
constexpr std::uint32_t longest_run = 256;  // launches of a batch before they are flushed to the device

/// The events of a run's launches, released unless they are kept.
class RunEvents {
public:
    explicit RunEvents(const Api& cl) noexcept : cl_(cl) {}
    ~RunEvents() {
        for (const cl_event event : events()) cl_.ReleaseEvent(event);
    }
    RunEvents(const RunEvents&) = delete;
    RunEvents& operator=(const RunEvents&) = delete;

    /// Returns the slot for the next launch's event; count() makes it part of the run.
    [[nodiscard]] cl_event* next() noexcept { return &events_[count_]; }
    void count() noexcept { ++count_; }
    void keep(OpenClTimeline& timeline, Point point) noexcept {
        for (const cl_event event : events()) timeline.keep(point, event, false);
        count_ = 0;
    }

private:
    [[nodiscard]] std::span<const cl_event> events() const noexcept { return {events_.data(), count_}; }

    const Api& cl_;
    std::array<cl_event, longest_run> events_;
    std::size_t count_ = 0;
};

}  // namespace

/// A launch that is enqueued later, with copies of the caller's arguments.
struct OpenClQueue::OwnedLaunch {
    OwnedLaunch(const KernelVariant& requested, const backends::Launch& given, backends::ReportBuffer* buffer)
        : kernel(requested), launch(given), args(given.args.begin(), given.args.end()), reports(buffer) {
        const ir::Function& fn = given.program->function();
        values.resize(args.size());
        for (std::size_t i = 0; i < args.size(); ++i) {
            if (args[i].value == nullptr) continue;
            const auto* bytes = static_cast<const std::byte*>(args[i].value);
            values[i].assign(bytes, bytes + fn.params[i].type.size());
            args[i].value = values[i].data();
        }
        launch.args = args;
    }
    OwnedLaunch(const OwnedLaunch&) = delete;
    OwnedLaunch& operator=(const OwnedLaunch&) = delete;

    const KernelVariant& kernel;
    backends::Launch launch;
    std::vector<backends::Argument> args;
    std::vector<std::vector<std::byte>> values;
    backends::ReportBuffer* reports;  // owned by its epilogue
};

OpenClQueue::Driver::Driver(std::shared_ptr<LogicalDevice> owner)
    : device(std::move(owner)), slot(device->take_slot()) {
    try {
        handle = plain = device->make_queue();
    } catch (...) {
        device->give_back_slot(slot);
        throw;
    }
}

OpenClQueue::Driver::~Driver() {
    device->cl.ReleaseCommandQueue(plain);
    if (timed != nullptr) device->cl.ReleaseCommandQueue(timed);
    device->give_back_slot(slot);
}

OpenClQueue::OpenClQueue(std::shared_ptr<LogicalDevice> device, const std::shared_ptr<Heap>& scratch,
                         std::shared_ptr<Heap> host, const QueueOptions& options)
    : device_(std::move(device)),
      scratch_heap_(scratch),
      host_(std::move(host)),
      options_(options),
      queue_(device_),
      reports_([heap = scratch](std::uint64_t bytes) {
          auto memory = std::make_unique<OpenClMemory>(heap, bytes);
          std::byte* bytes_of_host = memory->host();
          return std::make_unique<backends::ReportBuffer>(std::move(memory), bytes_of_host);
      }),
      timeline_(device_, reports_),
      host_commands_(mutex_, timeline_),
      staging_(host_, options_.staging_bytes, timeline_, host_commands_) {}

OpenClQueue::~OpenClQueue() {
    timeline_.await(timeline_.last(), OpenClTimeline::forever);
    host_commands_.stop();
    if (device_->lost()) device_->cl.Finish(queue_.handle);
}

void OpenClQueue::use_queue(bool timed) {
    if (timed && queue_.timed == nullptr) queue_.timed = device_->make_queue(true);
    cl_command_queue requested = timed ? queue_.timed : queue_.plain;
    if (requested == queue_.handle) return;
    if (const HeldEvent last = timeline_.newest(); last.get() != nullptr) {
        device_->check(device_->cl.EnqueueBarrierWithWaitList(requested, 1, &last.get(), nullptr),
                       "clEnqueueBarrierWithWaitList");
    }
    queue_.handle = requested;
}

void OpenClQueue::make_room(Lock& lock) {
    if (timeline_.in_flight() < backlog) return;
    static_cast<void>(timeline_.completed());
    // With host commands pending, waiting might never end: a callback may be the submitting thread.
    if (timeline_.in_flight() < backlog || !host_commands_.empty()) return;
    const Point point = timeline_.half_way();
    lock.unlock();
    timeline_.await(point, OpenClTimeline::forever);
    lock.lock();
    device_->check_lost();
}

// ---- launches ----

void OpenClQueue::fail_grid(cl_int result, const backends::Launch& launch) {
    const auto subject = [&] {
        return cat("kernel '", launch.program->function().name, "' on ", device_->name());
    };
    switch (result) {
        case CL_INVALID_WORK_GROUP_SIZE:
        case CL_INVALID_WORK_ITEM_SIZE:
            fail(ErrorCode::InvalidLaunch,
                 cat("the device does not run this kernel in workgroups of ", join(launch.local, " x ")),
                 subject(), "use a smaller local size, or the one that the kernel declares");
        case CL_INVALID_GLOBAL_WORK_SIZE:
            fail(ErrorCode::InvalidLaunch,
                 cat("the grid is too big for the device: ", join(launch.global, " x ")), subject(),
                 "launch it several times, or do more in an invocation");
        case CL_OUT_OF_RESOURCES: {
            // Either this kernel exceeds the resources, or the device is lost and everything fails.
            cl_event marker = nullptr;
            if (device_->cl.EnqueueMarkerWithWaitList(queue_.handle, 0, nullptr, &marker) != CL_SUCCESS)
                device_->fail_call(CL_DEVICE_NOT_AVAILABLE, "clEnqueueNDRangeKernel");
            device_->cl.ReleaseEvent(marker);
            fail(ErrorCode::OutOfMemory, "the device has not enough resources for the launch", subject(),
                 "use a smaller local size or less shared memory, or free buffers");
        }
        default: device_->fail_call(result, "clEnqueueNDRangeKernel");
    }
}

void OpenClQueue::enqueue_grid(const KernelVariant& kernel, const backends::Launch& launch, cl_kernel object,
                               cl_event* event) {
    std::size_t global[3];
    std::size_t local[3];
    for (std::size_t d = 0; d < 3; ++d) {
        local[d] = launch.local[d];
        global[d] = (std::size_t{launch.global[d]} + local[d] - 1) / local[d] * local[d];
    }
    // Foreign sources may query the number of dimensions. Generated ones do not, and one dimension is
    // cheapest.
    const cl_uint dimensions = !kernel.raw && launch.local[1] * launch.local[2] == 1 &&
                                       launch.global[1] == 1 && launch.global[2] == 1
                                   ? 1
                                   : 3;
    const cl_int result = device_->cl.EnqueueNDRangeKernel(
        queue_.handle, object, dimensions, nullptr, static_cast<const std::size_t*>(global),
        static_cast<const std::size_t*>(local), 0, nullptr, event);
    if (result != CL_SUCCESS) fail_grid(result, launch);
}

void OpenClQueue::enqueue_launch(const KernelVariant& kernel, const backends::Launch& launch,
                                 backends::ReportBuffer* reports, cl_event* event) {
    const auto& program = static_cast<const OpenClProgram&>(*launch.program);
    KernelObject& object = program.object(kernel, queue_.slot);
    if (reports == nullptr) {
        object.set(launch, nullptr, kernel.raw);
        enqueue_grid(kernel, launch, object.handle(), event);
        return;
    }
    const auto& memory = static_cast<const OpenClMemory&>(reports->memory());
    object.set(launch, &memory, kernel.raw);
    const std::span<std::byte> copy = reports->copy();
    if (copy.empty()) {
        enqueue_grid(kernel, launch, object.handle(), event);
        return;
    }
    device_->check(device_->cl.EnqueueWriteBuffer(queue_.handle, memory.buffer(), CL_FALSE, 0, copy.size(),
                                                  copy.data(), 0, nullptr, nullptr),
                   "clEnqueueWriteBuffer");
    enqueue_grid(kernel, launch, object.handle(), nullptr);
    device_->check(device_->cl.EnqueueReadBuffer(queue_.handle, memory.buffer(), CL_FALSE, 0, copy.size(),
                                                 copy.data(), 0, nullptr, event),
                   "clEnqueueReadBuffer");
}

Point OpenClQueue::launch(const backends::Launch& launch) {
    const auto& program = static_cast<const OpenClProgram&>(*launch.program);
    const KernelVariant& kernel = program.kernel(variant_of(launch));
    std::unique_ptr<backends::ReportBuffer> reports;
    if (kernel.source.reports) {
        const std::uint64_t count = std::uint64_t{launch.global[0]} * launch.global[1] * launch.global[2];
        reports = reports_.take(kernel.print_bytes, count);
        reports->arm();
    }
    const bool prints = reports && !kernel.source.prints.empty();

    Lock lock(mutex_);
    device_->check_lost();
    make_room(lock);
    backends::Epilogue epilogue;
    backends::ReportBuffer* buffer = reports.get();
    if (reports) {
        epilogue.source = {&program.function(), kernel.source.prints, device_->name()};
        epilogue.reports = std::move(reports);
        epilogue.prints = prints;
        if (prints) host_commands_.start();
    }
    backends::Epilogue* after = buffer != nullptr ? &epilogue : nullptr;
    const Calls calls = buffer != nullptr && !buffer->copy().empty() ? Calls::Several : Calls::One;
    Point point = 0;
    if (host_commands_.empty()) {
        point = submit([&](cl_event* event) { enqueue_launch(kernel, launch, buffer, event); }, after, calls);
    } else {
        const auto owned = std::make_shared<const OwnedLaunch>(kernel, launch, buffer);
        point = submit(
            [this, owned](cl_event* event) {
                enqueue_launch(owned->kernel, owned->launch, owned->reports, event);
            },
            after, calls);
    }
    lock.unlock();
    if (prints) host_commands_.wake();
    return point;
}

// ---- batches ----

std::unique_ptr<backends::Batch> OpenClQueue::prepare(backends::BatchPlan plan) {
    device_->check_lost();
    return std::make_unique<OpenClBatch>(std::move(plan), device_);
}

OpenClQueue::Run OpenClQueue::submit_run(const OpenClBatch& batch, std::uint64_t begin, std::uint64_t end,
                                         std::span<const std::byte> values, std::size_t stride) {
    const std::uint32_t size = batch.size();
    const auto ready = [&](std::uint64_t k) { return batch.ready(static_cast<std::uint32_t>(k % size)); };
    std::uint32_t count = 0;
    while (count < longest_run && begin + count < end && ready(begin + count) != nullptr) ++count;
    if (count == 0) return {};

    Lock lock(mutex_);
    device_->check_lost();
    make_room(lock);
    // With host commands pending, each launch needs a copy of its values.
    if (!host_commands_.empty()) return {};
    timeline_.reserve(count);
    const Point point = timeline_.last() + 1;
    submit([&](cl_event* last) {
        RunEvents events(device_->cl);
        for (std::uint64_t k = begin; k < begin + count; ++k) {
            const OpenClBatch::Ready& launch = *ready(k);
            batch.patch(launch, values.subspan(k / size * stride, stride));
            const bool is_last = k + 1 == begin + count;
            enqueue_grid(*launch.kernel, batch.launch(static_cast<std::uint32_t>(k % size)),
                         launch.object->handle(), is_last ? last : events.next());
            if (!is_last) events.count();
        }
        events.keep(timeline_, point);
    });
    return {count, point};
}

Point OpenClQueue::submit(backends::Batch& given, std::uint32_t instances,
                          std::span<const std::byte> values) {
    auto& batch = static_cast<OpenClBatch&>(given);
    const std::size_t stride = instances == 0 ? 0 : values.size() / instances;
    const std::uint64_t end = std::uint64_t{instances} * batch.size();
    const bool timed = backends::TimesScope::requested();  // each command has its own times
    Point point = last();
    for (std::uint64_t k = 0; k < end;) {
        Run run;
        if (!timed) run = submit_run(batch, k, end, values, stride);
        if (run.commands == 0) {
            const auto instance = static_cast<std::uint32_t>(k / batch.size());
            const auto place = static_cast<std::uint32_t>(k % batch.size());
            run = {1,
                   batch.plain().submit(*this, place, instance, values.subspan(instance * stride, stride))};
        }
        k += run.commands;
        point = run.point;
    }
    return point;
}

// ---- host commands ----

Point OpenClQueue::call(std::function<void()> callback) { return host_commands_.call(std::move(callback)); }

Point OpenClQueue::wait_for(backends::Timeline& other, Point point) {
    auto* sibling = dynamic_cast<OpenClTimeline*>(&other);
    if (sibling != nullptr && &sibling->device() != device_.get()) sibling = nullptr;
    return host_commands_.wait_for(other, point, sibling, [&](backends::Epilogue* epilogue) {
        const HeldEvent event = sibling->event_of(point);
        const cl_uint waits =
            event.get() == nullptr ? 0 : 1;  // none if the device has reached the point meanwhile
        if (waits == 0 && epilogue == nullptr) return last();
        const auto enqueue = [&](cl_event* done) {
            device_->check(device_->cl.EnqueueBarrierWithWaitList(queue_.handle, waits,
                                                                  waits == 0 ? nullptr : &event.get(), done),
                           "clEnqueueBarrierWithWaitList");
        };
        return submit(enqueue, epilogue);
    });
}

Point OpenClQueue::mark() {
    Lock lock(mutex_);
    device_->check_lost();
    make_room(lock);
    return submit(
        [this](cl_event* event) {
            device_->check(device_->cl.EnqueueMarkerWithWaitList(queue_.handle, 0, nullptr, event),
                           "clEnqueueMarkerWithWaitList");
        },
        nullptr, Calls::One);
}

}  // namespace volley::backends::opencl
