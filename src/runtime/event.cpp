// Events and queues as the user holds them.
#include "runtime/context_core.hpp"

#include <volley/event.hpp>
#include <volley/queue.hpp>

#include <algorithm>

namespace volley {

// A closed context has no work left: everything of it is done.

void Event::wait() const {
    if (!core_ || !core_->is_open()) return;
    core_->queue(part_.queue).timeline().wait(part_.point);
    for (const Part& part : more_) core_->queue(part.queue).timeline().wait(part.point);
    core_->collect();
}

bool Event::ready() const noexcept {
    if (!core_) return true;
    const auto done = [this](const Part& part) { return core_->passed({part.queue, part.point}); };
    return done(part_) && std::all_of(more_.begin(), more_.end(), done);
}

bool Event::wait_nanoseconds(std::int64_t timeout) const {
    if (!core_ || !core_->is_open()) return true;
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const auto one = [&](const Part& part) {
        const std::int64_t left = timeout - (Clock::now() - start).count();
        const auto time = std::chrono::nanoseconds(std::max<std::int64_t>(left, 0));
        return core_->queue(part.queue).timeline().wait_for(part.point, time);
    };
    if (!one(part_) || !std::all_of(more_.begin(), more_.end(), one)) return false;
    wait();  // all done: reports errors
    return true;
}

void Queue::wait() const {
    core_->check_open("a queue");
    backend::Queue& queue = core_->queue(index_);
    queue.timeline().wait(queue.last());
    core_->collect();
}

const DeviceInfo& Queue::device() const {
    core_->check_open("a queue");
    return core_->info(core_->device_of(index_));
}

}  // namespace volley
