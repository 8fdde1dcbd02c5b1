// The end of the process, and its copies: what happens to open contexts at exit and in a forked child.
//
// A driver's compiler makes static objects when it is first used, often on a thread of the driver. At exit
// these are destroyed before the library's own, which are older, and a driver that is still compiling then
// crashes. So all work must have completed before the first exit handler of a driver runs. Handlers run in
// the reverse order of their registration, hence begin() is registered again after drivers have
// compiled, and as the last one when the main thread starts to exit: the destructors of its thread-local
// objects run before all exit handlers.
//
// From then on no driver is torn down, since parts of it may be gone: contexts that use one keep their
// objects, which remain reachable.
#pragma once

#include "core/compilers.hpp"

#include <atomic>
#include <memory>

namespace volley::runtime {

class ContextCore;

class ProcessEnd {
public:
    /// Adds an open context: it is finished at exit.
    static void add(ContextCore& core);
    static void remove(ContextCore& core) noexcept;

    /// Registers the exit handler again if compilers may have made static objects since. Two loads if not.
    static void refresh() noexcept {
        if (compiler_uses() != handled_uses.load(std::memory_order_relaxed)) handle();
    }
    /// Registers the exit handler to run next, after the handler or destructor that is running now.
    static void handle() noexcept;

    /// Finishes the work of all contexts. Called by the exit handler, and by destructors of static objects.
    static void begin() noexcept;
    /// Returns whether the exit handler has run: static objects are being destroyed.
    [[nodiscard]] static bool begun() noexcept { return exit_begun.load(std::memory_order_acquire); }
    /// Returns whether the calling thread is the one that runs the exit handlers.
    [[nodiscard]] static bool is_exiting_thread() noexcept;
    /// If another thread is ending the process, blocks for ten seconds, in which the process normally ends:
    /// an error of a thread that is still running would terminate it.
    static void hold() noexcept;
    /// Keeps a closed context, with all its objects, for ever.
    static void keep(std::shared_ptr<ContextCore> core) noexcept;

private:
    static std::atomic<unsigned> handled_uses;
    static std::atomic<bool> exit_begun;
};

}  // namespace volley::runtime
