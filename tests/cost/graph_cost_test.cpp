// Checks that repeated submissions and launches do not allocate.
#include "graphs/graph_support.hpp"
#include "support/allocations.hpp"
#include "support/held_queue.hpp"

namespace volley {
namespace {

using testing::add_number;
using testing::allocation_count;
using testing::axpy;
using testing::scale_by;

/// Counts the allocations of submitting work after the same amount was pending before. The queues are held
/// during the first submissions, so that the result does not depend on the device's speed. Waiting is not
/// counted: a thread that goes to sleep may allocate.
template <class F>
std::uint64_t allocations_of(F&& submit) {
    for (int round = 0; round < 2; ++round) {
        const testing::HeldQueue first(queue(0)), second(queue(1));
        submit();
    }
    wait();
    std::uint64_t counted = 0;
    for (int round = 0; round < 16; ++round) {
        const std::uint64_t before = allocation_count();
        submit();
        if (round >= 8) counted += allocation_count() - before;
        wait();
    }
    return counted;
}

constexpr const char* interpreted = "the reference device interprets kernels during the call";

VOLLEY_BACKEND_TEST(GraphCost, SubmittingAgainAllocatesNothing) {
    if (device().backend == "reference") GTEST_SKIP() << interpreted;
    Buffer<float> x = as_buffer(std::vector<float>(200, 1.0f));
    Buffer<float> y = as_buffer(std::vector<float>(200, 2.0f));
    CommandGraph g = record([&] {
        Buffer<float> t = temporary<float>(200);
        t.copy_from(x);
        axpy()(t, y, 0.5f);
        add_number()(t, dyn<float>("a"));
        scale_by()(y, 0.5f);
        y.copy_from(t);
        x.fill(1.0f);
    });
    g.bind("a", {1.0f, 2.0f, 3.0f, 4.0f});
    EXPECT_EQ(allocations_of([&] { g.submit({.instances = 4}); }), 0u) << "on all queues";
    EXPECT_EQ(allocations_of([&] { g.submit({.instances = 4, .queue = queue(1)}); }), 0u) << "on one";
    EXPECT_EQ(allocations_of([&] { g.submit({.instances = 4, .any = true}); }), 0u) << "on any";
    EXPECT_EQ(allocations_of([&] { g.submit({.instances = 4, .spread = true}); }), 0u) << "spread";
    EXPECT_EQ(allocations_of([&] {
                  for (int k = 0; k < 5; ++k) g.submit({.instances = 4});
              }),
              0u)
        << "one after another";
}

VOLLEY_BACKEND_TEST(GraphCost, BindingValuesAgainAllocatesNothing) {
    if (device().backend == "reference") GTEST_SKIP() << interpreted;
    Buffer<float> data = as_buffer(std::vector<float>(64, 0.0f));
    CommandGraph g = record([&] { add_number()(data, dyn<float>("a")); });
    std::vector<float> values(100, 1.0f);
    EXPECT_EQ(allocations_of([&] {
                  values[0] += 1.0f;
                  g.bind("a", values);
                  g.submit({.instances = 100});
              }),
              0u);
}

VOLLEY_BACKEND_TEST(GraphCost, LaunchingAgainAllocatesNothing) {
    if (device().backend == "reference") GTEST_SKIP() << interpreted;
    const auto scale = scale_by();
    const auto add = axpy();
    Buffer<float> x = as_buffer(std::vector<float>(200, 1.0f));
    Buffer<float> y = as_buffer(std::vector<float>(200, 2.0f));
    EXPECT_EQ(allocations_of([&] {
                  for (int k = 0; k < 20; ++k) {
                      scale(x, 0.5f);
                      add(y, x, 2.0f);
                      add.on(queue(1))(x, y, 0.25f);
                  }
              }),
              0u);
}

}  // namespace
}  // namespace volley
