// A list guarded by a mutex.
#include "support/null/null_log.hpp"

#include "core/fail.hpp"

namespace volley::backends::null {

void NullLog::add(NullEntry entry) {
    const std::scoped_lock lock(mutex_);
    entries_.push_back(std::move(entry));
}

std::vector<NullEntry> NullLog::entries() const {
    const std::scoped_lock lock(mutex_);
    return entries_;
}

std::vector<std::string> NullLog::lines() const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> lines;
    for (const NullEntry& entry : entries_) lines.insert(lines.end(), entry.lines.begin(), entry.lines.end());
    return lines;
}

void NullLog::take_command() {
    std::uint64_t left = fail_in_;
    while (left != 0 && !fail_in_.compare_exchange_weak(left, left - 1)) {
    }
    if (left == 1) fail(ErrorCode::OutOfMemory, "a command was rejected", "null", "submit it again");
}

void NullLog::clear() {
    const std::scoped_lock lock(mutex_);
    entries_.clear();
}

}  // namespace volley::backends::null
