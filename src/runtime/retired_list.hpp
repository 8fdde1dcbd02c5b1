// Objects that commands still use after their owners have dropped them.
#pragma once

#include "runtime/queue_point.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace volley::runtime {

/// Keeps each object until its last point has passed. Thread-safe.
class RetiredList {
public:
    void add(QueuePoint last, std::shared_ptr<const void> object) {
        const std::scoped_lock lock(mutex_);
        objects_.push_back({last, std::move(object)});
        any_.store(true, std::memory_order_release);
    }
    /// Drops the objects whose last point has passed. One load if there are none.
    template <class Passed>
    void collect(Passed&& passed) {
        if (!any_.load(std::memory_order_acquire)) return;
        std::vector<Retired> over;  // destroyed without the lock
        const std::scoped_lock lock(mutex_);
        for (Retired& one : objects_) {
            if (passed(one.last)) over.push_back(std::move(one));
        }
        std::erase_if(objects_, [](const Retired& one) { return one.object == nullptr; });
        any_.store(!objects_.empty(), std::memory_order_release);
    }
    void clear() {
        std::vector<Retired> over;
        const std::scoped_lock lock(mutex_);
        over.swap(objects_);
        any_.store(false, std::memory_order_release);
    }

private:
    struct Retired {
        QueuePoint last;
        std::shared_ptr<const void> object;
    };
    std::mutex mutex_;
    std::vector<Retired> objects_;
    std::atomic<bool> any_{false};
};

}  // namespace volley::runtime
