// The list of open contexts, and the handlers of exit() and fork().
#include "runtime/process_end.hpp"

#include "runtime/context_core.hpp"
#include "runtime/visits.hpp"

#include <cxxabi.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

extern "C" void*
    __dso_handle;  // NOLINT(bugprone-reserved-identifier,readability-identifier-naming): of the ABI

namespace volley::runtime {
namespace {

/// The open contexts, and those that are kept. Never destroyed.
struct OpenContexts {
    std::mutex mutex;
    std::vector<ContextCore*> open;
    std::vector<std::shared_ptr<ContextCore>> kept;
    std::atomic<std::thread::id> exiting{};

    static OpenContexts& instance() {
        static OpenContexts& contexts = *new OpenContexts;
        return contexts;
    }
    [[nodiscard]] std::vector<std::shared_ptr<ContextCore>> all() {
        std::vector<std::shared_ptr<ContextCore>> found;
        const std::scoped_lock lock(mutex);
        for (ContextCore* core : open) {
            if (std::shared_ptr<ContextCore> held = core->weak_from_this().lock())
                found.push_back(std::move(held));
        }
        return found;
    }
};

// The thread that calls fork() holds these locks meanwhile, so that the child finds both lists complete.
void before_fork() {
    OpenContexts::instance().mutex.lock();
    VisitSlot::lock_all();
}
void in_parent() {
    VisitSlot::unlock_all();
    OpenContexts::instance().mutex.unlock();
}
void in_child() {
    VisitSlot::forget_other_threads();
    VisitSlot::unlock_all();
    for (ContextCore* core : OpenContexts::instance().open) core->forked();
    OpenContexts::instance().mutex.unlock();
}

/// Runs when the library is loaded, on the main thread of most programs. When that thread calls exit() or
/// returns from main, its thread-local objects are destroyed before all exit handlers run, and what is
/// registered here after those of the program.
[[maybe_unused]] const bool loaded = [] {
    OpenContexts::instance();
    ::pthread_atfork(before_fork, in_parent, in_child);
    abi::__cxa_thread_atexit([](void*) { ProcessEnd::handle(); }, nullptr, &__dso_handle);
    return true;
}();

}  // namespace

std::atomic<unsigned> ProcessEnd::handled_uses{~0u};  // so that the first refresh() registers the handler
std::atomic<bool> ProcessEnd::exit_begun{false};

void ProcessEnd::add(ContextCore& core) {
    OpenContexts& contexts = OpenContexts::instance();
    const std::scoped_lock lock(contexts.mutex);
    contexts.open.push_back(&core);
}

void ProcessEnd::remove(ContextCore& core) noexcept {
    OpenContexts& contexts = OpenContexts::instance();
    const std::scoped_lock lock(contexts.mutex);
    std::erase(contexts.open, &core);
}

void ProcessEnd::handle() noexcept {
    handled_uses.store(compiler_uses(), std::memory_order_relaxed);
    static_cast<void>(std::atexit([] { begin(); }));  // if it fails, an earlier registration runs
}

void ProcessEnd::begin() noexcept {
    OpenContexts& contexts = OpenContexts::instance();
    contexts.exiting.store(std::this_thread::get_id());
    exit_begun.store(true, std::memory_order_release);
    end_compilers();
    try {
        for (const std::shared_ptr<ContextCore>& core : contexts.all()) core->finish_before_exit();
    } catch (const std::exception&) {  // no memory for the list: the work is not waited for
        return;
    }
}

bool ProcessEnd::is_exiting_thread() noexcept {
    return OpenContexts::instance().exiting.load() == std::this_thread::get_id();
}

void ProcessEnd::hold() noexcept {
    if (begun() && !is_exiting_thread()) std::this_thread::sleep_for(std::chrono::seconds(10));
}

void ProcessEnd::keep(std::shared_ptr<ContextCore> core) noexcept {
    OpenContexts& contexts = OpenContexts::instance();
    const std::scoped_lock lock(contexts.mutex);
    contexts.kept.push_back(std::move(core));
}

}  // namespace volley::runtime
