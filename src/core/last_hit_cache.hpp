// Values created on request and looked up by key: the last hit without a lock, the others in a list under
// one. For few keys, of which one is used most of the time.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace volley {

/// Thread-safe. Values keep their addresses and live as long as the cache.
template <class Key, class Value>
class LastHitCache {
public:
    /// Returns the value if `key` is that of the last call of find(), else nullptr: a load and a compare.
    [[nodiscard]] Value* peek(const Key& key) const noexcept {
        Entry* last = last_.load(std::memory_order_acquire);
        return last != nullptr && last->key == key ? &last->value : nullptr;
    }

    /// Returns the key's value. If there is none, stores what make() returns; make() runs under the lock, and
    /// nothing that can throw follows it.
    template <class Make>
    [[nodiscard]] Value& find(const Key& key, Make&& make) {
        if (Value* hit = peek(key)) return *hit;
        const std::scoped_lock lock(mutex_);
        for (const auto& entry : entries_) {
            if (entry->key == key) {
                last_.store(entry.get(), std::memory_order_release);
                return entry->value;
            }
        }
        entries_.reserve(entries_.size() + 1);
        auto entry = std::make_unique<Entry>(Entry{key, Value{}});
        entry->value = std::forward<Make>(make)();
        entries_.push_back(std::move(entry));
        last_.store(entries_.back().get(), std::memory_order_release);
        return entries_.back()->value;
    }

    /// Calls f(value) for each. Not while another thread calls find().
    template <class F>
    void for_each(F&& f) {
        for (const auto& entry : entries_) f(entry->value);
    }

private:
    struct Entry {
        Key key;
        Value value;
    };
    std::atomic<Entry*> last_{nullptr};  // points into entries_
    std::mutex mutex_;
    std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace volley
