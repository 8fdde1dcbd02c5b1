// Copies between buffers: within a device, between queues, devices and backends; fills of every type.
#include "buffers/buffer_support.hpp"
#include "support/held_queue.hpp"

#include <array>
#include <complex>
#include <cstring>

namespace volley {

struct Sample {
    vec3 position;
    double weight;
    std::uint8_t flag;
};
VOLLEY_STRUCT(Sample, position, weight, flag)

namespace {

using testing::error_of;
using testing::expect_contains;
using testing::numbers;

VOLLEY_BACKEND_TEST(Copy, GoesReplicaByReplica) {
    Buffer<int> from(1000);
    from.write(numbers(1000), current_context().queue(0));
    from.write(numbers(1000, 5), current_context().queue(1));
    Buffer<int> to(1000);
    to.copy_from(from);
    EXPECT_EQ(to.read(0), numbers(1000));
    EXPECT_EQ(to.read(1), numbers(1000, 5));
    EXPECT_EQ(transfer_plan(from, to).path, TransferPath::Whole);
}

VOLLEY_BACKEND_TEST(Copy, TakesTheNearestReplicaThatWasWritten) {
    Buffer<int> from(1000);
    from.write(numbers(1000, 3), current_context().queue(1));
    Buffer<int> to(1000);
    to.copy_from(from);
    EXPECT_EQ(to.read(0), numbers(1000, 3));
    EXPECT_EQ(to.read(1), numbers(1000, 3));
}

VOLLEY_BACKEND_TEST(Copy, ChecksBeforeItAllocates) {
    Buffer<int> to(10, {.name = "to"});
    error_of(ErrorCode::SizeMismatch, [&] { to.copy_from(as_buffer(numbers(11))); });
    error_of(ErrorCode::TypeMismatch, [&] { to.copy_from(as_buffer(numbers<float>(10))); });
    error_of(ErrorCode::NotAllocated, [&] { to.copy_from(Buffer<int>(10)); });
    EXPECT_FALSE(to.is_allocated(0));
    const Context other = make_context({.devices = {"reference:0"}});
    Buffer<int> foreign;
    {
        const ContextScope scope = other.use();
        foreign = as_buffer(numbers(10));
    }
    expect_contains(error_of(ErrorCode::WrongContext, [&] { to.copy_from(foreign); }), "'to'");
    error_of(ErrorCode::WrongContext, [&] { to.write(numbers(10), other.queue(0)); });
}

VOLLEY_BACKEND_TEST(Copy, OfNothingDoesNothing) {
    Buffer<int> from = as_buffer(numbers(10)), to = as_buffer(numbers(10, 50));
    wait();
    EXPECT_TRUE(to.view(3, 0).copy_from(from.view(10, 0)).ready());
    to.view(2, 0).copy_from(to.view(2, 0));
    EXPECT_EQ(to.read(0), numbers(10, 50));
    EXPECT_EQ(transfer_plan(from.view(0, 0), to.view(0, 0)).path, TransferPath::None);
    Buffer<int> empty(0), other({0, 5});
    EXPECT_NO_THROW(empty.copy_from(Buffer<int>(0)));
    EXPECT_NO_THROW(other.copy_from(Buffer<int>({0, 5})));
    EXPECT_TRUE(empty.read(1).empty());
    error_of(ErrorCode::SizeMismatch, [&] { empty.copy_from(other); });
}

VOLLEY_BACKEND_TEST(Copy, FollowsTheWorkOnBothSides) {
    const auto add = kernel(
        "add", [](Buff<int> data, Const<int> value) { data[global_id().x] = data[global_id().x] + value; });
    Buffer<int> a = as_buffer(numbers(10'000));
    Buffer<int> b(10'000);
    for (int round = 0; round < 10; ++round) {
        add(a, 1);
        b.copy_from(a);
        add(b, 1);
        a.copy_from(b);
    }
    EXPECT_EQ(a.read(0), numbers(10'000, 20));
    EXPECT_EQ(a.read(1), numbers(10'000, 20));
}

template <class T>
void fill_and_zero(const T& value) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, dtype_of<T>().name());
    Buffer<T> buffer(101);
    buffer.fill(value);
    const auto same = [](const T& a, const T& b) { return std::memcmp(&a, &b, sizeof(T)) == 0; };
    const std::unique_ptr<T[]> back(new T[101]);
    buffer.read_into(std::span<T>(back.get(), 101), 1);
    for (std::size_t i = 0; i < 101; ++i) ASSERT_TRUE(same(back[i], value));
    buffer.view(3, 50).zero();
    buffer.read_into(std::span<T>(back.get(), 101), 0);
    T nothing;
    std::memset(static_cast<void*>(&nothing), 0, sizeof(T));
    for (std::size_t i = 0; i < 101; ++i) ASSERT_TRUE(same(back[i], i >= 3 && i < 53 ? nothing : value));
}

VOLLEY_BACKEND_TEST(Copy, FillsWithEveryElementType) {
    fill_and_zero(true);
    fill_and_zero(std::int8_t{-3});
    fill_and_zero(std::uint16_t{40'000});
    fill_and_zero(-123'456);
    fill_and_zero(std::uint64_t{1} << 60);
    fill_and_zero(half(1.5f));
    fill_and_zero(2.5f);
    fill_and_zero(-1e300);
    fill_and_zero(std::complex<float>(1, -2));
    fill_and_zero(std::complex<double>(3, 4));
    fill_and_zero(vec2(1, 2));
    fill_and_zero(vec3(1, 2, 3));
    fill_and_zero(vec4(1, 2, 3, 4));
    fill_and_zero(mat3{});
    fill_and_zero(std::array<int, 5>{1, 2, 3, 4, 5});
    Sample sample;
    std::memset(static_cast<void*>(&sample), 0, sizeof sample);
    sample.position = vec3(1, 2, 3);
    sample.weight = 9;
    fill_and_zero(sample);
}

// ---- several devices ----

/// Returns a context with a device of every backend that this machine has.
Context all_backends() {
    std::vector<std::string> names;
    for (const char* name : {"cpu:0", "reference:0", "vulkan:llvmpipe", "opencl:0"}) {
        try {
            static_cast<void>(make_context({.devices = {name}}));
            names.emplace_back(name);
        } catch (const DeviceError&) {
        }
    }
    return make_context({.devices = names});
}

TEST(CopyBetweenDevices, ReachesEveryBackendFromEveryOther) {
    const Context context = all_backends();
    const ContextScope scope = context.use();
    for (unsigned source = 0; source < context.queue_count(); ++source) {
        const Buffer<int> from({300, 1000}, {.placement = Placement::on(context.queue(source))});
        Buffer<int>(from).write(numbers(300'000, static_cast<int>(source)));
        Buffer<int> to({300, 1000});
        to.copy_from(from).wait();
        for (unsigned k = 0; k < context.queue_count(); ++k)
            EXPECT_EQ(to.read(k), numbers(300'000, static_cast<int>(source))) << source << " to " << k;
    }
}

TEST(CopyBetweenDevices, ReachesQueuesThatHadNothingToDoBefore) {
    for (const bool recorded : {false, true}) {
        SCOPED_TRACE(recorded ? "recorded" : "at once");
        const Context context = all_backends();
        const ContextScope scope = context.use();
        const Buffer<int> from(100, {.placement = Placement::on(context.queue(0))});
        Buffer<int>(from).write(numbers(100));
        Buffer<int> to(100);
        if (recorded) {
            record([&] { to.copy_from(from); }).submit().wait();
        } else {
            to.copy_from(from).wait();
        }
        for (unsigned k = 0; k < context.queue_count(); ++k) EXPECT_EQ(to.read(k), numbers(100)) << k;
    }
}

TEST(CopyBetweenDevices, IsPlannedFromTheReplicaThatWasWritten) {
    const Context context = make_context({.devices = {"reference:0", "cpu:0"}});
    const ContextScope scope = context.use();
    Buffer<int> from(100), to(100);
    EXPECT_EQ(transfer_plan(from, to).path, TransferPath::Whole) << "nothing was written yet";
    from.write(numbers(100), context.queue(1));
    EXPECT_EQ(transfer_plan(from, to).path, TransferPath::ThroughHost);
    to.copy_from(from);
    EXPECT_EQ(context.statistics().transfers.hops, 1u);
    EXPECT_EQ(to.read(0), numbers(100));
}

TEST(CopyBetweenDevices, OfFewBytesIsOneCommandOfTheDestination) {
    const Context context = make_context({.devices = {"reference:0", "cpu:0"}});
    const ContextScope scope = context.use();
    Buffer<int> from(1 << 16, {.placement = Placement::on(context.queue(0))});
    from.write(numbers(1 << 16));
    Buffer<int> to(1 << 16, {.placement = Placement::on(context.queue(1))});
    const TransferPlan plan = transfer_plan(from, to);
    EXPECT_EQ(plan.path, TransferPath::ThroughHost);
    EXPECT_EQ(plan.driver_calls, 1u);
    EXPECT_FALSE(plan.page_locked);
    const std::uint64_t before = context.statistics().transfers.driver_calls;
    to.copy_from(from);
    EXPECT_EQ(context.statistics().transfers.driver_calls, before + 1);
    EXPECT_EQ(to.read(1), numbers(1 << 16));
    Buffer<int> larger((1 << 16) + 1, {.placement = Placement::on(context.queue(0))});
    larger.write(numbers((1 << 16) + 1));
    EXPECT_EQ(transfer_plan(larger, Buffer<int>((1 << 16) + 1)).driver_calls, 1u) << "on one device";
    Buffer<int> there((1 << 16) + 1, {.placement = Placement::on(context.queue(1))});
    EXPECT_EQ(transfer_plan(larger, there).driver_calls, 2u);
    EXPECT_TRUE(transfer_plan(larger, there).page_locked);
}

/// Calls f(source, destination) for each pair of different queues.
template <class F>
void for_each_pair(const Context& context, F&& f) {
    for (unsigned source = 0; source < context.queue_count(); ++source) {
        for (unsigned target = 0; target < context.queue_count(); ++target) {
            if (source != target) f(context.queue(source), context.queue(target));
        }
    }
}

TEST(CopyBetweenDevices, ReadsTheSourceBeforeItChanges) {
    const Context context = all_backends();
    const ContextScope scope = context.use();
    for_each_pair(context, [&](const Queue& source, const Queue& target) {
        for (const bool recorded : {false, true}) {
            Buffer<int> from(500, {.placement = Placement::on(source)});
            from.write(numbers(500));
            Buffer<int> to(500, {.placement = Placement::on(target)});
            to.fill(1);
            const auto work = [&] {
                to.copy_from(from);
                from.fill(7);
            };
            CommandGraph graph;
            if (recorded) graph = record(work);
            testing::HeldQueue held(target);
            recorded ? static_cast<void>(graph.submit()) : work();
            held.release();
            EXPECT_EQ(to.read(target), numbers(500)) << source.index() << " to " << target.index();
            EXPECT_EQ(from.read(source), std::vector<int>(500, 7));
            EXPECT_FALSE(held.released_by_itself());
        }
    });
}

TEST(CopyBetweenDevices, WaitsForTheSourceAndComesBeforeLaterCommands) {
    const Context context = all_backends();
    const ContextScope scope = context.use();
    const auto add_one = kernel("add_one", [](Buff<int> data) { data[global_id().x] += 1; });
    for_each_pair(context, [&](const Queue& source, const Queue& target) {
        for (const bool recorded : {false, true}) {
            Buffer<int> from(500, {.placement = Placement::on(source)});
            from.write(numbers(500));
            Buffer<int> to(500, {.placement = Placement::on(target)});
            to.fill(1);
            const auto work = [&] {
                add_one(from);
                to.copy_from(from);
                add_one(to);
                from.copy_from(to);
            };
            CommandGraph graph;
            if (recorded) graph = record(work);
            testing::HeldQueue held(source);
            recorded ? static_cast<void>(graph.submit()) : work();
            held.release();
            EXPECT_EQ(from.read(source), numbers(500, 2)) << source.index() << " to " << target.index();
            EXPECT_EQ(to.read(target), numbers(500, 2));
            EXPECT_FALSE(held.released_by_itself());
        }
    });
}

TEST(CopyBetweenDevices, TakesMemoryThatIsOnlyCached) {
    const Context context = make_context({.devices = {"reference:0", "cpu:0"}, .memory_limit = 1 << 20});
    const ContextScope scope = context.use();
    Buffer<int> from(50'000, {.placement = Placement::on(context.queue(0))});
    from.write(numbers(50'000));
    Buffer<int> to(50'000, {.placement = Placement::on(context.queue(1))});
    to.fill(0);
    Buffer<char>(800 * 1024, {.placement = Placement::on(context.queue(1))}).fill('a');
    to.copy_from(from);
    EXPECT_EQ(to.read(1), numbers(50'000));
}

TEST(CopyBetweenDevices, GoesInPiecesThroughPageLockedMemory) {
    const Context context = all_backends();
    if (context.queue_count() < 2) GTEST_SKIP() << "there is only one device";
    const ContextScope scope = context.use();
    Buffer<int> from({5, 1 << 20}, {.placement = Placement::on(context.queue(0))});
    from.write(numbers(5u << 20));
    for (unsigned k = 1; k < context.queue_count(); ++k) {
        Buffer<int> to({5, 1 << 20}, {.placement = Placement::on(context.queue(k))});
        const TransferPlan plan = transfer_plan(from, to);
        EXPECT_EQ(plan.path, TransferPath::ThroughHost);
        EXPECT_GE(plan.driver_calls, 10u);
        const std::uint64_t before = context.statistics().transfers.hops;
        to.copy_from(from);
        EXPECT_EQ(context.statistics().transfers.hops, before + 1);
        EXPECT_EQ(to.read(k), numbers(5u << 20));
        // Regions take the same path.
        to.zero();
        copy_region(to, {slice(1, 4, 2), slice(0, 1 << 20, 4)}, from, {slice(0, 2), slice(2, 1 << 20, 4)});
        const std::vector<int> back = read_region(to, {3, slice(0, 16)}, k);
        EXPECT_EQ(back[0], (1 << 20) + 2);
        EXPECT_EQ(back[4], (1 << 20) + 6);
        EXPECT_EQ(back[5], 0);
    }
}

}  // namespace
}  // namespace volley
