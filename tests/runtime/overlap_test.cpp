// Queues whose launches may overlap: the dependencies of each launch, as logged by the null backend.
#include "runtime/runtime_support.hpp"

#include <thread>

namespace volley {
namespace {

using backends::null::NullEntry;
using testing::make_touch;
using testing::NullContext;

TEST(Overlap, AFullBarrierOrdersIndependentLaunches) {
    NullContext null({.devices = {"null:0"}, .queues_per_device = 2}, {.overlaps = true});
    const auto use = null.context.use();
    Buffer<int> a(64), b(64);
    const auto touch = make_touch();
    touch(a);
    touch(b);
    fence();
    touch(b);
    for (const NullEntry& entry : null.log->entries()) {
        EXPECT_EQ(entry.after, entry.point == 3 ? 2u : 0u) << "queue " << entry.queue << ", " << entry.point;
    }
}

TEST(Overlap, LaunchesOfSeveralThreadsOnOneBufferFollowEachOther) {
    NullContext null({.devices = {"null:0"}}, {.overlaps = true});
    Buffer<int> data;
    {
        const auto use = null.context.use();
        data = Buffer<int>(64);
        data.fill(0).wait();
    }
    constexpr int threads = 4, launches = 500;
    std::vector<std::thread> all;
    const auto touch = make_touch();
    null.log->clear();
    for (int t = 0; t < threads; ++t) {
        all.emplace_back([&, t] {
            const auto use = null.context.use();
            for (int k = 0; k < launches; ++k) {
                if (t == 0 && k % 10 == 0) {
                    data.fill(k);
                } else {
                    touch(data);
                }
            }
        });
    }
    for (std::thread& thread : all) thread.join();
    const std::vector<NullEntry> entries = null.log->entries();
    ASSERT_EQ(entries.size(), static_cast<std::size_t>(threads * launches));
    for (const NullEntry& entry : entries) ASSERT_GE(entry.after, entry.point - 1) << "a barrier is missing";
}

}  // namespace
}  // namespace volley
