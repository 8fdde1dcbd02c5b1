// Lazy allocation and retirement of a storage's replicas.
#include "runtime/storage.hpp"

#include "runtime/context_core.hpp"

#include <new>

namespace volley::runtime {

Storage::Storage(std::shared_ptr<ContextCore> core, std::uint64_t bytes)
    : core_(std::move(core)), id_(StorageId::mint()), bytes_(bytes) {
    const unsigned queues = core_->queue_count();
    replicas_.reserve(queues);
    for (unsigned k = 0; k < queues; ++k) replicas_.push_back(std::make_unique<Replica>(queues));
    core_->add(*this);
}

Storage::~Storage() {
    core_->remove(*this);
    release();
}

backend::Memory& Storage::allocate_slow(unsigned queue) {
    Replica& replica = *replicas_[queue];
    const std::scoped_lock lock(mutex_);
    if (backend::Memory* memory = replica.memory()) return *memory;
    replica.owned_ = core_->allocate(queue, bytes_);
    replica.memory_.store(replica.owned_.get(), std::memory_order_release);
    return *replica.owned_;
}

void Storage::release() noexcept {
    for (const auto& replica : replicas_) {
        replica->memory_.store(nullptr, std::memory_order_release);
        if (!replica->owned_) continue;
        try {
            std::vector<QueuePoint> uses;
            for (unsigned k = 0; k < replica->uses_.size(); ++k) {
                const QueuePoint use{k, replica->last_use(k)};
                if (!core_->passed(use)) uses.push_back(use);
            }
            core_->retire(replica->owned_, std::move(uses));
        } catch (const std::bad_alloc&) {
            core_->drain();  // no memory to remember it by: wait instead
            replica->owned_.reset();
        }
    }
}

}  // namespace volley::runtime
