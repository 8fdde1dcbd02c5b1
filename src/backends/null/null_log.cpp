// A list behind a lock.
#include "backends/null/null_log.hpp"

namespace volley::backends::null {

void NullLog::add(std::string line) {
    const std::scoped_lock lock(mutex_);
    lines_.push_back(std::move(line));
}

std::vector<std::string> NullLog::lines() const {
    const std::scoped_lock lock(mutex_);
    return lines_;
}

void NullLog::clear() {
    const std::scoped_lock lock(mutex_);
    lines_.clear();
}

}  // namespace volley::backends::null
