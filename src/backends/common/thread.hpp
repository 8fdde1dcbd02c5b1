// Starts the library's threads.
#pragma once

#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace volley::backends {

/// Throws MemoryError (OutOfMemory) that says for what a thread was needed.
[[noreturn]] void fail_thread(std::string_view what, const std::system_error& error);

/// Starts a thread. Throws MemoryError (OutOfMemory) if the system has none left.
template <class F>
[[nodiscard]] std::thread start_thread(std::string_view what, F&& function) {
    try {
        return std::thread(std::forward<F>(function));
    } catch (const std::system_error& error) {
        fail_thread(what, error);
    }
}

/// Gives up a thread that does not exist in this process: it belongs to the process that forked this one.
inline void forget_thread(std::thread& thread) {
    if (thread.joinable()) static_cast<void>(new std::thread(std::move(thread)));
}

}  // namespace volley::backends
