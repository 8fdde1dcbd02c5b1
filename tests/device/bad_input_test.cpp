// Invalid input throws an exception that says what is wrong, where, and what to do; the context remains
// usable.
#include "support/device_fixture.hpp"

#include <stdexcept>

namespace volley {
namespace {

/// Runs f, which must fail with that code and mention `part`; then the same context must still trace, compile
/// and compute.
template <class F>
void expect_refused(ErrorCode code, std::string_view part, F&& f) {
    const std::string text = testing::error_of(code, f);
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
    Buffer<u32> data(20);
    data.fill(4);
    kernel("after",
           [](Buff<u32> d) {
               Shared<u32> s(20);
               s[local_id().x] = d[global_id().x] + global_id().x;
               barrier();
               d[global_id().x] = s[19u - local_id().x];
           })
        .over(20)
        .local(20)(data);
    const auto got = data.read(0);
    for (u32 i = 0; i < 20; ++i) EXPECT_EQ(got[i], 23 - i) << "after: " << text;
}

Kernel<Buff<u32>> setter() {
    return kernel("setter", [](Buff<u32> d) { d[global_id().x] = 1u; });
}

VOLLEY_DEVICE_TEST(BadInput, NegativeSizesAreRefused) {
    Buffer<u32> data(10);
    auto set = setter();
    expect_refused(ErrorCode::InvalidLaunch, "setter", [&] { set.over(-1)(data); });
    expect_refused(ErrorCode::InvalidLaunch, "negative", [&] { set.over({4, -2})(data); });
    expect_refused(ErrorCode::InvalidLaunch, "negative", [&] { set.groups(-5)(data); });
    expect_refused(ErrorCode::InvalidLaunch, "negative", [&] { set.over(10).local(-8)(data); });
}

VOLLEY_DEVICE_TEST(BadInput, SizesThatOverflowAreRefused) {
    Buffer<u32> data(10);
    auto set = setter();
    expect_refused(ErrorCode::InvalidLaunch, "too large", [&] { set.over(~u64{0})(data); });
    expect_refused(ErrorCode::InvalidLaunch, "too large", [&] { set.over(std::int64_t{1} << 40)(data); });
    expect_refused(ErrorCode::InvalidLaunch, "too large", [&] {
        set.over({0xffffffffu, 0xffffffffu, 0xffffffffu})(data);
    });
    expect_refused(ErrorCode::InvalidLaunch, "too large", [&] { set.groups(0xffffffffu).local(64)(data); });
    expect_refused(ErrorCode::InvalidLaunch, "dimensions", [&] { set.over({1, 2, 3, 4})(data); });
}

VOLLEY_DEVICE_TEST(BadInput, ImpossibleWorkgroupsAreRefused) {
    Buffer<u32> data(10);
    auto set = setter();
    expect_refused(ErrorCode::InvalidLaunch, "zero", [&] { set.over(10).local(0)(data); });
    expect_refused(ErrorCode::InvalidLaunch, "limit",
                   [&] { set.over(10).local(device().max_local_size + 1)(data); });
    expect_refused(ErrorCode::InvalidLaunch, "limit", [&] { set.over(10).local({1024, 1024, 1024})(data); });
    expect_refused(ErrorCode::InvalidLaunch, "groups()", [&] { set.over(10).groups(2)(data); });
    auto declared = kernel("declared", {.local = {8}}, [](Buff<u32> d) { d[global_id().x] = 1u; });
    expect_refused(ErrorCode::InvalidLaunch, "declares", [&] { declared.over(16).local(16)(data); });
    expect_refused(ErrorCode::InvalidLaunch, "over", [] { kernel("none", [] {})(); });
}

VOLLEY_DEVICE_TEST(BadInput, ABarrierInAPartialWorkgroupIsRefused) {
    Buffer<u32> data(1000);
    auto exchange = kernel("exchange", [](Buff<u32> d) {
        Shared<u32> s(64);
        s[local_id().x] = global_id().x;
        barrier();
        d[global_id().x] = s[63u - local_id().x];
    });
    expect_refused(ErrorCode::InvalidLaunch, ".local()", [&] { exchange.over(1000).local(64)(data); });
    exchange.over(960).local(64)(data);
    EXPECT_EQ(data.read(0)[0], 63u);
}

VOLLEY_DEVICE_TEST(BadInput, ABarrierInDivergentFlowIsRefused) {
    Buffer<u32> data(64);
    data.fill(0);
    const auto in_branch = [](Buff<u32> d) {
        $if (local_id().x < 5u) {
            barrier();
        }
        d[global_id().x] = 1u;
    };
    expect_refused(ErrorCode::IrError, "bad_input_test.cpp",
                   [&] { kernel("branch", in_branch).local(64)(data); });
    const auto in_loop = [](Buff<u32> d) {
        $for (k, 0u, local_id().x) {
            barrier();
        }
        d[global_id().x] = 1u;
    };
    expect_refused(ErrorCode::IrError, "bad_input_test.cpp",
                   [&] { kernel("loop", in_loop).local(64)(data); });
    const auto after_return = [](Buff<u32> d) {
        $if (d[global_id().x] > 3u) {
            $return;
        }
        barrier();
    };
    expect_refused(ErrorCode::IrError, "bad_input_test.cpp",
                   [&] { kernel("return", after_return).local(64)(data); });
}

VOLLEY_DEVICE_TEST(BadInput, BuffersOfAnotherContextAreRefused) {
    Buffer<u32> mine(10, {.name = "mine"});
    const Context other = make_context(configuration().options);
    auto set = setter();
    {
        const auto scope = other.use();
        Buffer<u32> theirs(10);
        expect_refused(ErrorCode::WrongContext, "mine", [&] { set(mine); });
        set(theirs);
        EXPECT_EQ(theirs.read(0), std::vector<u32>(10, 1));
    }
    set(mine);
    EXPECT_EQ(mine.read(0), std::vector<u32>(10, 1));
}

VOLLEY_DEVICE_TEST(BadInput, SharedMemoryBeyondTheLimitIsRefused) {
    Buffer<u32> data(64);
    const u64 words = device().max_shared_bytes / 4;
    const auto with = [](u64 size) {
        return kernel("shared", [size](Buff<u32> d) {
            Shared<u32> s(size);
            s[local_id().x] = local_id().x;
            barrier();
            d[global_id().x] = s[63u - local_id().x];
        });
    };
    expect_refused(ErrorCode::InvalidLaunch, "shared memory",
                   [&] { with(words + 1).over(64).local(64)(data); });
    expect_refused(ErrorCode::TraceError, "shared", [&] { with(u64{1} << 60).over(64).local(64)(data); });
    with(words).over(64).local(64)(data);
    EXPECT_EQ(data.read(0)[3], 60u);
}

/// The same for missing device features: the message names the device, the feature and the line.
template <class F>
void expect_lacking(const DeviceInfo& device, std::string_view feature, int line, F&& f) {
    const auto again = [&] {
        const std::string text = testing::error_of(ErrorCode::Unsupported, f);
        for (const std::string_view part : {std::string_view(device.name), feature}) {
            EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
        }
        f();
    };
    expect_refused(ErrorCode::Unsupported, "bad_input_test.cpp:" + std::to_string(line), again);
}

VOLLEY_DEVICE_TEST(BadInput, DoublesAreRefusedByADeviceThatHasNone) {
    if (supports<f64>()) GTEST_SKIP() << device_name() << " has f64: nothing to refuse";
    Buffer<float> in(10);
    Buffer<double> out(10);
    in.fill(1.0f);
    out.fill(0.5);
    const int converts = __LINE__ + 1;
    const auto convert = [](Buff<const float> x, Buff<double> y) { y[global_id().x] = cast<f64>(x[0]); };
    expect_lacking(device(), "f64", converts, [&] { kernel("convert", convert)(in, out); });
    const int multiplies = __LINE__ + 1;
    const auto scale = [](Buff<double> y) { y[global_id().x] *= 2.0; };
    expect_lacking(device(), "f64", multiplies, [&] { kernel("scale", scale)(out); });
    EXPECT_EQ(out.read(0), std::vector<double>(10, 0.5));
}

VOLLEY_DEVICE_TEST(BadInput, LongAtomicsAreRefusedByADeviceThatHasNone) {
    if (device().int64_atomics) GTEST_SKIP() << device_name() << " has 64-bit atomics: nothing to refuse";
    Buffer<u64> counter(1);
    Buffer<u64> tickets(100);
    counter.fill(7);
    const int adds = __LINE__ + 1;
    const auto add = [](Buff<u64> c, Buff<u64> old) { old[global_id().x] = c.atomic(0u).add(u64{1}); };
    expect_lacking(device(), "64-bit atomics", adds, [&] { kernel("add", add).over(100)(counter, tickets); });
    const int swaps = __LINE__ + 1;
    const auto swap = [](Buff<u64> c) { c.atomic(0u).exchange(u64{1}); };
    expect_lacking(device(), "64-bit atomics", swaps, [&] { kernel("swap", swap).over(100)(counter); });
    EXPECT_EQ(counter.read(0), std::vector<u64>(1, 7));
}

VOLLEY_DEVICE_TEST(BadInput, ABodyThatThrowsIsATraceErrorWithTheCauseInside) {
    Buffer<u32> data(10);
    data.fill(3);
    bool broken = true;
    const auto fragile = [&broken](Buff<u32> d) {
        $if (d[global_id().x] == 3u) {
            if (broken) throw std::out_of_range("no such table");
            d[global_id().x] = 8u;
        }
    };
    expect_refused(ErrorCode::TraceError, "fragile", [&] { (void)kernel("fragile", fragile); });
    try {
        (void)kernel("fragile", fragile);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const TraceError& error) {
        try {
            std::rethrow_if_nested(error);
            ADD_FAILURE() << "nothing is nested";
        } catch (const std::out_of_range& cause) {
            EXPECT_STREQ(cause.what(), "no such table");
        }
    }
    // Once the cause is removed, it runs.
    broken = false;
    kernel("fragile", fragile)(data);
    EXPECT_EQ(data.read(0), std::vector<u32>(10, 8));
}

VOLLEY_DEVICE_TEST(BadInput, NestedTracingIsRefused) {
    Buffer<u32> data(10);
    auto set = setter();
    const auto launches = [&](Buff<u32> d) {
        d[0] = 1u;
        set(data);
    };
    expect_refused(ErrorCode::TraceError, "setter", [&] { (void)kernel("outer", launches); });
    const auto traces = [](Buff<u32>) { (void)setter(); };
    expect_refused(ErrorCode::TraceError, "setter", [&] { (void)kernel("outer", traces); });
}

VOLLEY_DEVICE_TEST(BadInput, OperationsOutsideAKernelAreRefused) {
    expect_refused(ErrorCode::TraceError, "bad_input_test.cpp", [] { (void)global_id(); });
    expect_refused(ErrorCode::TraceError, "bad_input_test.cpp", [] { (void)Var<float>(1.0f); });
    expect_refused(ErrorCode::TraceError, "bad_input_test.cpp", [] { barrier(); });
    std::vector<Value<u32>> kept;
    Buffer<u32> data(10);
    kernel("keep", [&](Buff<u32> d) {
        kept.push_back(global_id().x);
        d[global_id().x] = 1u;
    })(data);
    expect_refused(ErrorCode::TraceError, "outside a kernel", [&] { (void)(kept[0] + 1u); });
    expect_refused(ErrorCode::TraceError, "another kernel",
                   [&] { kernel("late", [&](Buff<u32> d) { d[kept[0]] = 2u; })(data); });
}

VOLLEY_DEVICE_TEST(BadInput, JumpsThatTheHostTakesAreRefused) {
    Buffer<u32> data(10);
    expect_refused(ErrorCode::TraceError, "bad_input_test.cpp", [&] {
        kernel("leave", [](Buff<u32> d) {
            $for (k, 0u, 4u) {
                d[k] = k;
                break;
            }
            d[0] = 1u;
        })(data);
    });
    expect_refused(ErrorCode::TraceError, "bad_input_test.cpp", [&] {
        kernel("return", [](Buff<u32> d) {
            $if (d[0] == 0u) {
                return;
            }
            d[0] = 1u;
        })(data);
    });
    expect_refused(ErrorCode::TraceError, "loop", [&] { kernel("break", [](Buff<u32>) { $break; })(data); });
}

VOLLEY_DEVICE_TEST(BadInput, AnEndlessHostLoopIsRefused) {
    Buffer<u32> data(10);
    expect_refused(ErrorCode::TraceError, "$for", [&] {
        kernel("endless", [](Buff<u32> d) {
            for (u32 k = 0;; ++k) d[k % 10] += k;
        })(data);
    });
}

VOLLEY_DEVICE_TEST(BadInput, ArgumentsThatDoNotFitAreRefused) {
    Buffer<u32> data(10);
    Buffer<float> floats(10);
    auto fill = kernel("fill", [](Buff<u32> d, Const<u8> v) { d[global_id().x] = cast<u32>(v); });
    expect_refused(ErrorCode::InvalidLaunch, "argument 2", [&] { fill(data, 256); });
    expect_refused(ErrorCode::InvalidLaunch, "argument 2", [&] { fill(data, -1); });
    const AnyBuffer any = floats;
    expect_refused(ErrorCode::TypeMismatch, "argument 1", [&] { fill(any, 1); });
    const AnyBuffer right = data;
    fill(right, 255);
    EXPECT_EQ(data.read(0), std::vector<u32>(10, 255));
    EXPECT_THROW(fill(Buffer<u32>(), 1), Error);
}

VOLLEY_DEVICE_TEST(BadInput, UnknownDevicesAreRefused) {
    expect_refused(ErrorCode::UnknownDevice, "quantum:0",
                   [] { (void)make_context({.devices = {"quantum:0"}}); });
    expect_refused(ErrorCode::UnknownDevice, "99",
                   [&] { (void)make_context({.devices = {device().backend + ":99"}}); });
}

VOLLEY_DEVICE_TEST(BadInput, UnwrittenBuffersCannotBeRead) {
    const Buffer<u32> data(10, {.name = "fresh"});
    expect_refused(ErrorCode::NotAllocated, "fresh", [&] { (void)data.read(0); });
    Buffer<u32> other(10);
    expect_refused(ErrorCode::SizeMismatch, "buffer", [&] { other.write(std::vector<u32>(9)); });
    expect_refused(ErrorCode::IndexError, "7", [&] {
        other.fill(1);
        (void)other.read(7);
    });
}

}  // namespace
}  // namespace volley
