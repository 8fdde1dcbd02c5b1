// The protocol between threads that use a context and the thread that closes it (runtime/visits.hpp): a model
// of it, all of whose states are visited, and the real one under load.
#include "runtime/visits.hpp"

#include "runtime/context_core.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <deque>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

namespace volley::runtime {
namespace {

// ---- the model ----

/// Where a barrier stands: nowhere, in the visitor after it has listed its use and in the closing thread, in
/// the closing thread alone, or there and, by its order, in all threads (membarrier).
enum class ModelBarrier { None, Both, Closer, AllThreads };

/// Two threads with store buffers, as processors have them: a thread's store reaches the memory at any later
/// time, in order, and at the latest at its next barrier.
struct VisitModel {
    enum Variable : std::uint8_t { Listed, Closed };
    using Store = std::pair<Variable, bool>;
    struct Thread {
        std::uint8_t at = 0;
        std::deque<Store> stores;
        auto operator<=>(const Thread&) const = default;
    };
    std::array<bool, 2> memory{};
    Thread visitor;
    Thread closer;
    bool using_it = false;
    bool freed = false;
    bool broken = false;  // used after it was freed, or freed while it was used
    auto operator<=>(const VisitModel&) const = default;

    static void flush(Thread& thread, std::array<bool, 2>& memory) {
        for (const auto& [variable, value] : thread.stores) memory[variable] = value;
        thread.stores.clear();
    }
    [[nodiscard]] bool load(const Thread& thread, Variable variable) const {
        for (auto store = thread.stores.rbegin(); store != thread.stores.rend(); ++store) {
            if (store->first == variable) return store->second;
        }
        return memory[variable];
    }

    void step_visitor(ModelBarrier barrier) {
        switch (visitor.at++) {
            case 0: visitor.stores.emplace_back(Listed, true); break;
            case 1:
                if (barrier == ModelBarrier::Both) flush(visitor, memory);
                break;
            case 2:
                if (load(visitor, Closed)) visitor.at = 4;
                break;
            case 3:  // begins to use the context; ends with the next step
                broken |= freed;
                using_it = true;
                break;
            case 4:
                broken |= using_it && freed;
                using_it = false;
                visitor.stores.emplace_back(Listed, false);
                break;
            default: visitor.at = 0;  // the next use
        }
    }
    void step_closer(ModelBarrier barrier) {
        switch (closer.at++) {
            case 0: closer.stores.emplace_back(Closed, true); break;
            case 1:
                if (barrier != ModelBarrier::None) flush(closer, memory);
                if (barrier == ModelBarrier::AllThreads) flush(visitor, memory);
                break;
            case 2:
                if (load(closer, Listed)) closer.at = 2;  // waits
                break;
            case 3:
                freed = true;
                broken |= using_it;
                break;
            default: closer.at = 4;
        }
    }
};

/// Visits every state that some order of steps reaches. Returns whether one of them is broken.
bool can_break(ModelBarrier barrier, std::size_t& states) {
    std::set<VisitModel> seen;
    std::vector<VisitModel> open{VisitModel{}};
    bool broken = false;
    while (!open.empty()) {
        const VisitModel now = open.back();
        open.pop_back();
        if (now.visitor.stores.size() > 3 || !seen.insert(now).second) continue;
        broken |= now.broken;
        for (int choice = 0; choice < 4; ++choice) {
            VisitModel next = now;
            VisitModel::Thread& thread = choice % 2 == 0 ? next.visitor : next.closer;
            if (choice >= 2) {
                if (thread.stores.empty()) continue;
                next.memory[thread.stores.front().first] = thread.stores.front().second;
                thread.stores.pop_front();
            } else if (choice == 0) {
                next.step_visitor(barrier);
            } else {
                next.step_closer(barrier);
            }
            open.push_back(next);
        }
    }
    states = seen.size();
    return broken;
}

TEST(VisitModel, NoOrderOfStepsUsesAContextThatWasFreed) {
    std::size_t states = 0;
    EXPECT_FALSE(can_break(ModelBarrier::AllThreads, states));
    EXPECT_GT(states, 100u);
    EXPECT_FALSE(can_break(ModelBarrier::Both, states));
    EXPECT_GT(states, 50u);
}

TEST(VisitModel, FindsThatOneBarrierIsNotEnough) {
    std::size_t states = 0;
    EXPECT_TRUE(can_break(ModelBarrier::Closer, states));
    EXPECT_TRUE(can_break(ModelBarrier::None, states));
}

// ---- the real protocol ----

ContextOptions small_context() { return {.devices = {"reference:0"}}; }

TEST(Visits, ClosingWaitsForThem) {
    const auto core = std::make_shared<ContextCore>(small_context());
    std::atomic<bool> inside{false};
    std::atomic<bool> closed{false};
    std::thread visitor([&] {
        const ContextCore::Visit visit(*core);
        ASSERT_TRUE(visit);
        inside = true;
        for (int k = 0; k < 1000; ++k) {
            EXPECT_FALSE(closed);
            EXPECT_EQ(core->queue(0).last(), 0u);
            std::this_thread::yield();
        }
    });
    while (!inside) std::this_thread::yield();
    core->close();
    closed = true;
    visitor.join();
    EXPECT_FALSE(ContextCore::Visit(*core));
}

TEST(Visits, NestBeyondTheSlotOfAThread) {
    const auto core = std::make_shared<ContextCore>(small_context());
    const auto other = std::make_shared<ContextCore>(small_context());
    const auto nest = [&](auto&& self, unsigned depth) -> void {
        const ContextCore::Visit visit(depth % 2 == 0 ? *core : *other);
        EXPECT_TRUE(visit);
        if (depth < 3 * VisitSlot::most) self(self, depth + 1);
    };
    nest(nest, 0);
    EXPECT_FALSE(is_visited(*core));
    EXPECT_FALSE(is_visited_here(*other));
    core->close();  // does not wait
    {
        const ContextCore::Visit outer(*other);
        const ContextCore::Visit inner(*core);
        EXPECT_TRUE(outer);
        EXPECT_FALSE(inner);
        EXPECT_TRUE(is_visited_here(*other));
        EXPECT_FALSE(is_visited_here(*core));
    }
    other->close();
}

TEST(Visits, OfManyThreadsNeverSeeAClosedContext) {
    for (int round = 0; round < 16; ++round) {
        const auto core = std::make_shared<ContextCore>(small_context());
        std::atomic<bool> go{false};
        std::vector<std::thread> visitors;
        for (int t = 0; t < 3; ++t) {
            visitors.emplace_back([&] {
                while (!go) std::this_thread::yield();
                for (;;) {
                    const ContextCore::Visit visit(*core);
                    if (!visit) return;
                    EXPECT_EQ(core->queue(0).last(), 0u);  // reads freed memory if the context was closed
                }
            });
        }
        go = true;
        for (int k = 0; k < round % 16; ++k) std::this_thread::yield();
        core->close();
        for (std::thread& visitor : visitors) visitor.join();
    }
}

}  // namespace
}  // namespace volley::runtime
