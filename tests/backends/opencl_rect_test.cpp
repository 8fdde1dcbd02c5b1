// Transfers of separate rows on OpenCL: which driver calls they use, and what happens if one fails.
// tests/backends/rect_test.cpp has what holds for every backend.
#include "backends/opencl_support.hpp"
#include "backends/rect_support.hpp"
#include "support/expect_error.hpp"

#include <volley/error.hpp>

#include <atomic>
#include <map>
#include <string>
#include <utility>

namespace volley::backends::opencl {
namespace {

/// Counts calls, and fails from the given one on.
std::map<std::string, int> calls;
std::atomic<int> until_failure{-1};
std::atomic<cl_int> failure{CL_SUCCESS};

cl_int next_result(const char* name) {
    ++calls[name];
    const int left = until_failure.load();
    if (left < 0) return CL_SUCCESS;
    if (left == 0) return failure;
    until_failure = left - 1;
    return CL_SUCCESS;
}

/// A driver function that counts its calls.
template <class F>
struct Counted;
template <class... A>
struct Counted<cl_int(CL_API_CALL*)(A...)> {
    using Function = cl_int(CL_API_CALL*)(A...);
    template <int Number>
    struct At {
        static inline Function real = nullptr;
        static inline const char* name = "";
        static cl_int CL_API_CALL call(A... args) {
            const cl_int result = next_result(name);
            return result == CL_SUCCESS ? real(args...) : result;
        }
    };
};
template <int Number, class F>
void count(F& function, const char* name) {
    using Entry = typename Counted<F>::template At<Number>;
    Entry::real = std::exchange(function, Entry::call);
    Entry::name = name;
}

/// By default uses memory that the host cannot address, so that the device does all transfers.
class OpenClRectTest : public OpenClTest {
protected:
    void SetUp() override {
        OpenClTest::SetUp();
        if (!IsSkipped()) open(false);
    }
    void TearDown() override { until_failure = -1; }
    void open(bool shared) {
        until_failure = -1;
        OpenClOptions options;
        options.heap.share = shared;
        queue.reset();
        device = open_first(options);
        Api& cl = device->logical().cl;
        count<0>(cl.EnqueueWriteBuffer, "write");
        count<1>(cl.EnqueueReadBuffer, "read");
        count<2>(cl.EnqueueCopyBuffer, "copy");
        count<3>(cl.EnqueueFillBuffer, "fill");
        count<4>(cl.EnqueueWriteBufferRect, "write_rect");
        count<5>(cl.EnqueueReadBufferRect, "read_rect");
        count<6>(cl.EnqueueCopyBufferRect, "copy_rect");
        queue = device->make_queue();
        calls.clear();
    }
    void fail_after(int count, cl_int result) {
        failure = result;
        until_failure = count;
    }
    using Calls = std::map<std::string, int>;
    /// What the driver was called for since the last time.
    [[nodiscard]] static Calls taken() { return std::exchange(calls, {}); }

    std::unique_ptr<OpenClDevice> device;
    std::unique_ptr<backends::Queue> queue;
};

TEST_F(OpenClRectTest, ARectWithStridesAsOpenClWantsThemIsOneCall) {
    const auto a = device->allocate(100'000);
    const auto b = device->allocate(100'000);
    Bytes data(100'000);
    const Rect rect{40, {20, 30}};
    const RectPlace at{100, {80, 1600}};
    const RectPlace other{4, {48, 960}};
    queue->copy(*a, *b, {rect, at, other});
    EXPECT_EQ(taken(), (Calls{{"copy_rect", 1}}));
    queue->write(*a, data.data(), {rect, at, other});
    EXPECT_EQ(taken(), (Calls{{"write_rect", 1}}));
    queue->timeline().wait(queue->read(data.data(), *a, {rect, other, at}));
    EXPECT_EQ(taken(), (Calls{{"read_rect", 1}}));
    EXPECT_EQ(queue->driver_calls({rect, at, other}), 1u);
}

TEST_F(OpenClRectTest, OtherPlanesAreCallsOfTheirOwnOrTheirRowsAre) {
    const auto a = device->allocate(100'000);
    const auto b = device->allocate(100'000);
    const RectPlace odd{0, {80, 1601}};
    const RectPlace even{0, {80, 1600}};
    queue->copy(*a, *b, {{40, {20, 7}}, odd, even});
    EXPECT_EQ(taken(), (Calls{{"copy_rect", 7}}));
    queue->copy(*a, *b, {{40, {3, 30}}, even, odd});
    EXPECT_EQ(taken(), (Calls{{"copy_rect", 3}}));
    EXPECT_EQ(queue->driver_calls({{40, {20, 7}}, odd, even}), 7u);
    EXPECT_EQ(queue->driver_calls({{40, {3, 30}}, even, odd}), 3u);
    queue->timeline().wait(queue->last());
}

TEST_F(OpenClRectTest, RowsThatTouchAreOnePlainCall) {
    const auto a = device->allocate(10'000);
    const auto b = device->allocate(10'000);
    queue->copy(*a, *b, {{40, {20, 5}}, {5, {40, 800}}, {9, {40, 800}}});
    EXPECT_EQ(taken(), (Calls{{"copy", 1}}));
    queue->fill(*a, {8, {40, 800}}, {40, {20, 5}}, Bytes(8));
    EXPECT_EQ(taken(), (Calls{{"fill", 1}}));
    EXPECT_EQ(queue->driver_calls({{40, {20, 5}}, {5, {40, 800}}, {9, {40, 800}}}), 1u);
    queue->timeline().wait(queue->last());
}

TEST_F(OpenClRectTest, AMillionElementsAreFilledByFewCalls) {
    const auto memory = device->allocate(8 << 20);
    queue->fill(*memory, {4, {8, 8 * 1024}}, {4, {1000, 1000}}, Bytes(4, std::byte{3}));
    EXPECT_EQ(taken(), (Calls{{"write", 1}, {"copy_rect", 4}}));
    Bytes back(8 << 20);
    queue->timeline().wait(read_at(*queue, *memory, 0, back));
    EXPECT_EQ(back[8 * 1024 * 999 + 8 * 999 + 7], std::byte{3});
}

TEST_F(OpenClRectTest, LongRowsAreFilledOneByOne) {
    const auto memory = device->allocate(3 << 20);
    queue->fill(*memory, {0, {1 << 20, 0}}, {512 << 10, {3, 1}}, Bytes(4, std::byte{3}));
    EXPECT_EQ(taken(), (Calls{{"fill", 3}}));
    queue->timeline().wait(queue->last());
}

TEST_F(OpenClRectTest, RowsOfOneBufferAreCopiedAtOnceWhereDriversSeeThatTheyAreApart) {
    const auto memory = device->allocate(100'000);
    const auto copy = [&](const RectPlace& to, const RectPlace& from, const Rect& rect) {
        queue->timeline().wait(queue->copy(*memory, *memory, {rect, to, from}));
        return taken();
    };
    const Calls one_call{{"copy_rect", 1}};
    EXPECT_EQ(copy({40, {80, 0}}, {0, {80, 0}}, {40, {50, 1}}), one_call) << "odd rows from even ones";
    EXPECT_EQ(copy({400, {8, 800}}, {0, {8, 800}}, {4, {50, 20}}), one_call) << "halves of planes";
    EXPECT_EQ(copy({8000, {8, 800}}, {0, {8, 800}}, {4, {50, 10}}), one_call) << "other planes";
    const Calls two_calls{{"copy_rect", 2}};
    EXPECT_EQ(copy({48'000, {16, 0}}, {0, {8, 0}}, {4, {100, 1}}), two_calls) << "strides differ";
    EXPECT_EQ(copy({6, {8, 0}}, {2, {8, 0}}, {4, {50, 1}}), two_calls) << "a row goes around the end";
}

TEST_F(OpenClRectTest, ManyShortRowsOfSharedMemoryAreTheHosts) {
    open(true);
    if (!device->info().host_memory) GTEST_SKIP() << "the device keeps its memory to itself";
    const auto a = device->allocate(2 << 20);
    const auto b = device->allocate(2 << 20);
    const Rect rect{4, {100'000, 1}};
    std::memset(a->host(), 1, a->size());
    std::memset(b->host(), 2, b->size());
    queue->copy(*a, *b, {rect, {0, {16, 0}}, {0, {20, 0}}});
    queue->fill(*a, {4, {16, 0}}, rect, Bytes(4, std::byte{3}));
    queue->timeline().wait(queue->last());
    EXPECT_EQ(taken(), Calls{});
    EXPECT_EQ(a->host()[16 * 99'999], std::byte{2});
    EXPECT_EQ(a->host()[16 * 99'999 + 4], std::byte{3});
    EXPECT_EQ(a->host()[16 * 99'999 + 8], std::byte{1});
}

TEST_F(OpenClRectTest, ThePointerOfHostMemoryServesNotItsBuffer) {
    const auto memory = device->allocate(10'000);
    const auto host = device->allocate_host(10'000);
    copy_at(*queue, *memory, 0, *host, 0, 10'000);
    copy_at(*queue, *host, 0, *memory, 0, 5000);
    EXPECT_EQ(taken(), (Calls{{"write", 1}, {"read", 1}}));
    queue->copy(*memory, *host, {{12, {50, 1}}, {0, {20, 0}}, {0, {40, 0}}});
    queue->copy(*host, *memory, {{12, {50, 1}}, {0, {20, 0}}, {0, {40, 0}}});
    EXPECT_EQ(taken(), (Calls{{"write_rect", 1}, {"read_rect", 1}}));
    queue->timeline().wait(queue->last());
}

// ---- calls that fail ----

struct Command {
    const char* name;
    std::function<Point(OpenClDevice&, backends::Queue&, backends::Memory&, backends::Memory&, Bytes&)> run;
};

const RectPlace apart{0, {80, 1601}};
const RectPlace closer{8000, {48, 960}};
const Rect rows{40, {20, 5}};

const Command commands[] = {
    {"write", [](auto&, auto& queue, auto& a, auto&, auto& data) { return write_at(queue, a, 0, data); }},
    {"read", [](auto&, auto& queue, auto& a, auto&, auto& data) { return read_at(queue, a, 0, data); }},
    {"copy", [](auto&, auto& queue, auto& a, auto& b, auto&) { return copy_at(queue, a, 0, b, 0, 100); }},
    {"fill", [](auto&, auto& queue, auto& a, auto&, auto&) { return fill_at(queue, a, 0, 100, Bytes(4)); }},
    {"fill by copies", [](auto&, auto& queue, auto& a, auto&,
                          auto&) { return fill_at(queue, a, 0, 20'000 - 20'000 % 3, Bytes(3)); }},
    {"write_rect",
     [](auto&, auto& queue, auto& a, auto&, auto& data) {
         return queue.write(a, data.data(), {rows, apart, closer});
     }},
    {"read_rect",
     [](auto&, auto& queue, auto& a, auto&, auto& data) {
         return queue.read(data.data(), a, {rows, closer, apart});
     }},
    {"copy_rect",
     [](auto&, auto& queue, auto& a, auto& b, auto&) {
         return queue.copy(a, b, {rows, apart, closer});
     }},
    {"copy_rect within",
     [](auto&, auto& queue, auto& a, auto&, auto&) {
         return queue.copy(a, a, {rows, apart, closer});
     }},
    {"fill_rect",
     [](auto&, auto& queue, auto& a, auto&, auto&) { return queue.fill(a, apart, rows, Bytes(4)); }},
};

/// Returns the number of driver calls of the command.
int calls_of_command(const Command& command, OpenClDevice& device, backends::Queue& queue,
                     backends::Memory& a, backends::Memory& b, Bytes& data) {
    calls.clear();
    queue.timeline().wait(command.run(device, queue, a, b, data));
    int count = 0;
    for (const auto& [name, times] : calls) count += times;
    return count;
}

TEST_F(OpenClRectTest, AFailedCallOfAnyCommandIsItsErrorAndTheQueueGoesOn) {
    const auto a = device->allocate(20'000);
    const auto b = device->allocate(20'000);
    Bytes data(20'000);
    for (const Command& command : commands) {
        const int count = calls_of_command(command, *device, *queue, *a, *b, data);
        ASSERT_GT(count, 0) << command.name;
        for (int failing = 0; failing < count; ++failing) {
            SCOPED_TRACE(std::string(command.name) + ", call " + std::to_string(failing));
            fail_after(failing, CL_MEM_OBJECT_ALLOCATION_FAILURE);
            error_of(ErrorCode::OutOfMemory, [&] { command.run(*device, *queue, *a, *b, data); });
            until_failure = -1;
            EXPECT_NO_THROW(queue->timeline().wait(command.run(*device, *queue, *a, *b, data)));
        }
    }
}

TEST_F(OpenClRectTest, BehindACallbackTheFailureIsTheQueues) {
    const auto a = device->allocate(20'000);
    const auto b = device->allocate(20'000);
    Bytes data(20'000);
    for (const Command& command : commands) {
        SCOPED_TRACE(command.name);
        Gate gate;
        queue->call([&] { gate.pass(); });
        const Point bad = command.run(*device, *queue, *a, *b, data);
        fail_after(0, CL_OUT_OF_HOST_MEMORY);
        gate.open();
        error_of(ErrorCode::OutOfMemory, [&] { queue->timeline().wait(bad); });
        until_failure = -1;
        EXPECT_NO_THROW(queue->timeline().wait(command.run(*device, *queue, *a, *b, data)));
    }
}

TEST_F(OpenClRectTest, ALostDeviceFailsEveryRect) {
    const auto a = device->allocate(20'000);
    const auto b = device->allocate(20'000);
    const auto host = device->allocate_host(20'000);
    Bytes data(20'000);
    fail_after(0, CL_DEVICE_NOT_AVAILABLE);
    EXPECT_THROW(queue->copy(*a, *b, {rows, apart, closer}), DeviceError);
    until_failure = -1;
    for (const Command& command : commands) {
        SCOPED_TRACE(command.name);
        error_of(ErrorCode::DeviceLost, [&] { command.run(*device, *queue, *a, *b, data); });
        error_of(ErrorCode::DeviceLost, [&] { command.run(*device, *queue, *host, *a, data); });
    }
    error_of(ErrorCode::DeviceLost, [&] { (void)device->import_native(a->native()); });
    EXPECT_THROW((void)device->allocate_host(100), DeviceError);
}

TEST_F(OpenClRectTest, WithoutStagingOrScratchMemoryATransferFailsAloneAndTheQueueGoesOn) {
    const auto a = device->allocate(20'000);
    const auto b = device->allocate(20'000);
    const Bytes data(20'000);
    auto& create = device->logical().cl.CreateBuffer;
    const auto real = std::exchange(create, refuse_buffer);
    EXPECT_THROW(queue->write(*a, data.data(), {rows, apart, closer}), MemoryError);
    EXPECT_THROW(queue->fill(*a, apart, rows, Bytes(4)), MemoryError);
    EXPECT_THROW(queue->copy(*a, *a, {rows, apart, closer}), MemoryError);
    EXPECT_EQ(queue->last(), 0u);
    create = real;
    queue->write(*a, data.data(), {rows, apart, closer});
    queue->fill(*a, apart, rows, Bytes(4));
    EXPECT_NO_THROW(queue->timeline().wait(queue->copy(*a, *a, {rows, apart, closer})));
}

}  // namespace
}  // namespace volley::backends::opencl
