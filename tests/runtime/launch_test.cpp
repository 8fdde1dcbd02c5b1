// Launches: sizes, workgroups, queues, and all invalid combinations.
#include "runtime/runtime_support.hpp"

#include <thread>

namespace volley {
namespace {

using testing::counting;
using testing::error_of;
using testing::expect_contains;

auto make_count() {
    return kernel("count", [](Buff<int> data) { data.atomic(0).add(1); });
}
auto make_number() {
    return kernel("number", [](Buff<u32> data) {
        auto i = global_id();
        data[i.x + global_size().x * (i.y + global_size().y * i.z)] = local_size().x * 10000u + group_id().x;
    });
}
auto make_reverse() {
    return kernel("reverse", [](Buff<int> data) {
        Shared<int> tile(1024);
        auto l = local_id().x;
        auto i = global_id().x;
        tile[l] = data[i];
        barrier();
        data[i] = tile[local_size().x - 1u - l];
    });
}

class LaunchTest : public ::testing::TestWithParam<const char*> {
protected:
    Context context = make_context({.devices = {GetParam()}, .queues_per_device = 2});
    ContextScope scope = context.use();

    /// Returns the number of invocations of a launch that `configure` sets up.
    template <class Configure>
    int runs(Configure&& configure, std::size_t buffer_size = 10) {
        Buffer<int> data(buffer_size);
        data.fill(0);
        configure(make_count())(data);
        return data.read(0)[0];
    }
};
INSTANTIATE_TEST_SUITE_P(Backends, LaunchTest, ::testing::Values("cpu", "reference"));

TEST_P(LaunchTest, RunsOnceForEachElementOfTheFirstBuffer) {
    EXPECT_EQ(runs([](auto k) { return k; }, 10), 10);
    EXPECT_EQ(runs([](auto k) { return k; }, 1), 1);
    EXPECT_EQ(runs([](auto k) { return k; }, 1003), 1003);
}

TEST_P(LaunchTest, RunsTheRequestedNumberOfInvocations) {
    EXPECT_EQ(runs([](auto k) { return k.over(100); }), 100);
    EXPECT_EQ(runs([](auto k) { return k.over(100u); }), 100);
    EXPECT_EQ(runs([](auto k) { return k.over(std::size_t{77}); }), 77);
    EXPECT_EQ(runs([](auto k) { return k.over({7, 5}); }), 35);
    EXPECT_EQ(runs([](auto k) { return k.over({7, 5, 3}); }), 105);
    EXPECT_EQ(runs([](auto k) { return k.groups({3}).local({16}); }), 48);
    EXPECT_EQ(runs([](auto k) { return k.groups({3, 2}).local({4, 4}); }), 96);
    EXPECT_EQ(runs([](auto k) { return k.over(100).local(64); }), 100);
}

TEST_P(LaunchTest, EveryInvocationSeesItsIndices) {
    Buffer<u32> data({6, 5, 40});
    make_number().over({40, 5, 6}).local({8, 1, 1})(data);
    const std::vector<u32> result = data.read(0);
    for (u32 i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], 80'000u + i % 40 / 8) << i;
}

TEST_P(LaunchTest, RunsOnEveryQueueUnlessOneIsNamed) {
    auto set = kernel("set", [](Buff<int> data, Const<int> value) { data[global_id().x] = value; });
    Buffer<int> data(4);
    set(data, 1);
    set.on(queue(1))(data, 2);
    EXPECT_EQ(data.read(), (std::vector<std::vector<int>>{{1, 1, 1, 1}, {2, 2, 2, 2}}));
}

TEST_P(LaunchTest, EmptyGridsDoNothing) {
    EXPECT_EQ(runs([](auto k) { return k.over(0); }), 0);
    EXPECT_EQ(runs([](auto k) { return k.over({5, 0, 5}); }), 0);
    EXPECT_EQ(runs([](auto k) { return k.groups(0).local(64); }), 0);
    Buffer<int> none(0);
    EXPECT_NO_THROW(make_count()(none).wait());
    Buffer<int> some(5);
    make_count().over(0)(some);
    EXPECT_FALSE(some.is_allocated(0));
    EXPECT_NO_THROW(make_reverse().local(64).over(0)(some));
}

TEST_P(LaunchTest, ConstantsConvertWithoutLoss) {
    auto set = kernel(
        "set", [](Buff<double> data, Const<double> a, Const<u8> b, Const<complex<float>> c, Const<vec2> d) {
            data[0] = a;
            data[1] = cast<double>(b);
            data[2] = cast<double>(real(c));
            data[3] = cast<double>(d.y);
        });
    Buffer<double> data(4);
    set.over(1)(data, 2.5f, 200, 3.0f, vec2(4, 5));
    EXPECT_EQ(data.read(0), (std::vector<double>{2.5, 200, 3, 5}));
    const std::string text =
        error_of(ErrorCode::InvalidLaunch, [&] { set.over(1)(data, 1, 256, 1.0f, vec2()); });
    expect_contains(text, "argument 3");
    expect_contains(text, "kernel 'set'");
    error_of(ErrorCode::InvalidLaunch, [&] { set.over(1)(data, 1, -1, 1.0f, vec2()); });
}

TEST_P(LaunchTest, StructsAreConstantsToo) {
    auto set = kernel("set", [](Buff<float> data, Const<mat2> m) { data[0] = m[1].x; });
    Buffer<float> data(1);
    mat2 m;
    m[1] = vec2(7, 8);
    set(data, m);
    EXPECT_EQ(data.read(0)[0], 7);
}

TEST_P(LaunchTest, ATypeErasedBufferIsCheckedWhenCalled) {
    Buffer<int> ints(4);
    ints.fill(0);
    const AnyBuffer any = ints;
    make_count()(any);
    EXPECT_EQ(ints.read(0)[0], 4);
    const AnyBuffer floats = Buffer<float>(4);
    const std::string text = error_of(ErrorCode::TypeMismatch, [&] { make_count()(floats); });
    expect_contains(text, "argument 1 is a buffer of f32, but i32 is required");
}

// ---- invalid launches: each throws an error with three parts, and the context stays usable ----

class BadLaunchTest : public LaunchTest {
protected:
    void TearDown() override {
        EXPECT_EQ(runs([](auto k) { return k.over(17); }), 17) << "the context stays usable";
    }

    template <class Configure>
    std::string refusal(Configure&& configure) {
        return error_of(ErrorCode::InvalidLaunch, [&] { runs(configure); });
    }
};
INSTANTIATE_TEST_SUITE_P(Backends, BadLaunchTest, ::testing::Values("cpu", "reference"));

TEST_P(BadLaunchTest, NegativeSizes) {
    for (const std::string& text : {refusal([](auto k) { return k.over(-1); }), refusal([](auto k) {
                                        return k.over({4, -4});
                                    }),
                                    refusal([](auto k) { return k.groups(-1).local(4); }),
                                    refusal([](auto k) { return k.over(4).local(-4); })}) {
        expect_contains(text, "negative");
        expect_contains(text, "kernel 'count'");
    }
}

TEST_P(BadLaunchTest, SizesThatOverflow) {
    expect_contains(refusal([](auto k) { return k.over(std::int64_t{1} << 32); }), "too large: 4294967296");
    expect_contains(refusal([](auto k) { return k.over(~std::uint64_t{0}); }), "too large");
    expect_contains(refusal([](auto k) {
                        return k.over({4294967295u, 4294967295u, 4294967295u});
                    }),
                    "too large");
    expect_contains(refusal([](auto k) { return k.groups(std::int64_t{1} << 30).local(64); }), "too large");
    expect_contains(refusal([](auto k) { return k.over({1, 1, 1, 1}); }), "4 dimensions");
    Buffer<int> huge(std::int64_t{1} << 33);
    expect_contains(error_of(ErrorCode::InvalidLaunch, [&] { make_count()(huge); }),
                    "too many for one dimension");
    EXPECT_FALSE(huge.is_allocated(0));
}

TEST_P(BadLaunchTest, WorkgroupsBeyondTheLimit) {
    expect_contains(refusal([](auto k) { return k.over(4096).local(2048); }), "use at most 1024 invocations");
    expect_contains(refusal([](auto k) { return k.over({64, 64}).local({64, 64}); }), "64 x 64");
    expect_contains(refusal([](auto k) { return k.over(64).local(0); }), "zero");
}

TEST_P(BadLaunchTest, BothOverAndGroups) {
    expect_contains(refusal([](auto k) { return k.over(64).groups(1); }), "both over() and groups()");
}

TEST_P(BadLaunchTest, ABarrierWithAPartialLastWorkgroup) {
    Buffer<int> data(1000);
    data.write(counting<int>(1000));
    const std::string text = error_of(ErrorCode::InvalidLaunch, [&] { make_reverse().local(64)(data); });
    expect_contains(text, "1000 invocations in workgroups of 64");
    expect_contains(text, "make n a multiple of the local size");
    expect_contains(text, ".local()");
    expect_contains(text, "kernel 'reverse'");
    make_reverse().local(100)(data);
    EXPECT_EQ(data.read(0)[0], 99);
}

TEST_P(BadLaunchTest, SharedMemoryBeyondTheLimit) {
    auto greedy = kernel("greedy", [](Buff<double> data) {
        Shared<double> tile(1'000'000);
        tile[local_id().x] = data[global_id().x];
        barrier();
        data[global_id().x] = tile[local_size().x - 1u - local_id().x];
    });
    Buffer<double> data(64);
    const std::string text = error_of(ErrorCode::InvalidLaunch, [&] { greedy.local(64)(data); });
    expect_contains(text, "8000000 bytes of shared memory");
    expect_contains(text, cat("kernel 'greedy' on ", GetParam()));
}

TEST_P(BadLaunchTest, BuffersOfAnotherContext) {
    const Context other = make_context({.devices = {"cpu"}});
    Buffer<int> foreign;
    {
        const auto use = other.use();
        foreign = Buffer<int>(4, {.name = "foreign"});
        foreign.fill(0);
    }
    const std::string text = error_of(ErrorCode::WrongContext, [&] { make_count()(foreign); });
    expect_contains(text, "buffer 'foreign'");
    expect_contains(text, "argument 1");
    // Naming a queue of the buffer's context is enough.
    make_count().on(other.queue(0))(foreign);
    EXPECT_EQ(foreign.read(0)[0], 4);
}

TEST_P(BadLaunchTest, NoBufferAndNoSize) {
    auto nothing = kernel("nothing", [](Const<int>) {});
    expect_contains(error_of(ErrorCode::InvalidLaunch, [&] { nothing(1); }), ".over(n)");
    EXPECT_NO_THROW(nothing.over(100)(1).wait());
}

TEST_P(BadLaunchTest, AnotherLocalSizeThanTheDeclaredOne) {
    auto declared =
        kernel("declared", {.local = {64}}, [](Buff<u32> data) { data[global_id().x] = local_size().x; });
    Buffer<u32> data(128);
    declared(data);
    EXPECT_EQ(data.read(0)[127], 64u);
    const std::string text = error_of(ErrorCode::InvalidLaunch, [&] { declared.local(32)(data); });
    expect_contains(text, "the kernel declares 64");
    error_of(ErrorCode::InvalidLaunch, [] { (void)kernel("bad", {.local = {0}}, [](Buff<int>) {}); });
}

TEST_P(BadLaunchTest, ABodyThatThrowsWhileItIsTraced) {
    bool broken = true;
    const auto body = [&broken](Buff<int> data) {
        data[0] = 1;
        if (broken) throw std::runtime_error("out of ideas");
    };
    expect_contains(error_of(ErrorCode::TraceError, [&] { (void)kernel("fragile", body); }), "fragile");
    broken = false;
    Buffer<int> data(4);
    kernel("fragile", body)(data);
    EXPECT_EQ(data.read(0)[0], 1) << "it can be tried again";
}

TEST_P(BadLaunchTest, ALaunchInAKernelBody) {
    auto inner = make_count();
    Buffer<int> data(4);
    data.fill(0);
    const auto outer = [&](Buff<int> d) {
        d[0] = 1;
        inner(data);
    };
    expect_contains(error_of(ErrorCode::TraceError, [&] { (void)kernel("outer", outer); }), "kernel 'count'");
    inner(data);
    EXPECT_EQ(data.read(0)[0], 4);
}

TEST_P(BadLaunchTest, ABarrierInDivergentFlow) {
    const auto divergent = [](Buff<int> data) {
        $if (global_id().x < 3u) {
            barrier();
        }
        data[global_id().x] = 1;
    };
    error_of(ErrorCode::IrError, [&] { (void)kernel("divergent", divergent); });
}

}  // namespace
}  // namespace volley
