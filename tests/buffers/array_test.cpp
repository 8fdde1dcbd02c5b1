// Arrays with padding, page-locked host arrays, and the transfer paths between them.
#include "buffers/buffer_support.hpp"
#include "support/held_queue.hpp"

#include <array>
#include <chrono>
#include <initializer_list>
#include <sstream>
#include <thread>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;
using testing::HeldQueue;
using testing::numbers;

VOLLEY_BACKEND_TEST(Array, HasTheStridesOfItsPadding) {
    const Buffer<float> buffer({17, 13}, {.padded_shape = {32, 16}});
    EXPECT_EQ(buffer.strides().to_string(), "(64, 4)");
    EXPECT_EQ(buffer.size(), 221u);
    EXPECT_EQ(buffer.window_bytes(), 2048u);
    EXPECT_EQ(buffer.padded_shape(), Shape({32, 16}));
    EXPECT_EQ(buffer.view(64, 128).storage_id(), buffer.storage_id());
    error_of(ErrorCode::InvalidShape, [] { Buffer<float>({4, 4}, {.padded_shape = {4, 3}}); });
    error_of(ErrorCode::InvalidShape, [] { Buffer<float>({4, 4}, {.padded_shape = {16}}); });
    error_of(ErrorCode::Overflow, [] {
        Buffer<float>({4, 4}, {.padded_shape = {std::int64_t{1} << 40, std::int64_t{1} << 40}});
    });
}

VOLLEY_BACKEND_TEST(Array, CarriesDenseDataThroughItsPadding) {
    for (const Shape& padded : {Shape({3, 4, 5}), Shape({3, 4, 8}), Shape({5, 6, 7})}) {
        Buffer<int> buffer({3, 4, 5}, {.padded_shape = padded});
        buffer.write(numbers(60));
        EXPECT_EQ(buffer.read(0), numbers(60));
        EXPECT_EQ(buffer.read(1), numbers(60));
        EXPECT_EQ(buffer.sub({1, 2}).read(0), (std::vector<int>{30, 31, 32, 33, 34}));
    }
}

VOLLEY_BACKEND_TEST(Array, KernelsSeeTheirPadding) {
    const auto mark = kernel("mark", [](Buff<int> data) { data[global_id().x] = cast<int>(global_id().x); });
    Buffer<int> buffer({2, 3}, {.padded_shape = {2, 8}});
    mark(buffer);
    EXPECT_EQ(buffer.read(0), (std::vector<int>{0, 1, 2, 8, 9, 10}));
}

VOLLEY_BACKEND_TEST(Array, AHostArrayLikeItTakesOnePiece) {
    Buffer<int> buffer({17, 13}, {.padded_shape = {32, 16}});
    const HostArray<int> host = buffer.empty_like();
    EXPECT_EQ(host.shape(), buffer.shape());
    EXPECT_EQ(host.padded_shape(), buffer.padded_shape());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(host.data()) % 64, 0u);
    for (int i = 0; i < 17; ++i) {
        for (int j = 0; j < 13; ++j) host(i, j) = 100 * i + j;
    }
    buffer.write_async(host).wait();
    EXPECT_EQ(buffer.read(0)[2 * 13 + 5], 205);
    const HostArray<int> back = buffer.empty_like();
    buffer.read_async(back, 1).wait();
    EXPECT_EQ(back(16, 12), 1612);
    const TransferPlan in = transfer_plan(host, buffer);
    EXPECT_EQ(in.path, TransferPath::Whole) << in;
    EXPECT_EQ(in.driver_calls, 1u);
    EXPECT_TRUE(in.page_locked);
    EXPECT_EQ(transfer_plan(buffer, back).path, TransferPath::Whole);
}

VOLLEY_BACKEND_TEST(Array, AnotherPaddingTakesRows) {
    Buffer<int> buffer({17, 13}, {.padded_shape = {32, 16}});
    EXPECT_EQ(HostArray<int>({221}).shape(), Shape({221}));
    const HostArray<int> host({17, 13});
    int next = 0;
    for (int& value : host.view()) value = next++;
    const TransferPlan plan = transfer_plan(host, buffer);
    EXPECT_EQ(plan.path, TransferPath::Rect) << plan;
    EXPECT_EQ(plan.rows, 17u);
    EXPECT_EQ(plan.bytes, 17u * 13 * 4);
    buffer.write_async(host).wait();
    EXPECT_EQ(buffer.read(1), numbers(221));
    std::ostringstream text;
    text << plan;
    expect_contains(text.str(), "rect: 884 bytes in 17 row(s)");
}

VOLLEY_BACKEND_TEST(Array, TheContextCountsPaths) {
    Buffer<int> buffer({17, 13}, {.padded_shape = {32, 16}});
    const HostArray<int> like = buffer.empty_like();
    const HostArray<int> other({17, 13});
    const TransferStats before = current_context().statistics().transfers;
    buffer.write_async(like, current_context().queue(0)).wait();
    const TransferStats whole = current_context().statistics().transfers;
    EXPECT_EQ(whole.whole, before.whole + 1);
    EXPECT_EQ(whole.rects, before.rects);
    EXPECT_EQ(whole.driver_calls, before.driver_calls + 1);
    buffer.write_async(other, current_context().queue(0)).wait();
    const TransferStats rows = current_context().statistics().transfers;
    EXPECT_EQ(rows.whole, whole.whole);
    EXPECT_EQ(rows.rects, whole.rects + 1);
    EXPECT_EQ(rows.bytes, whole.bytes + 884);
}

VOLLEY_BACKEND_TEST(Array, HostArraysOutliveTheirTransfersByThemselves) {
    Buffer<int> buffer({1000, 100});
    Event done;
    {
        const HostArray<int> host = buffer.empty_like();
        int next = 0;
        for (int& value : host.view()) value = next++;
        done = buffer.write_async(host);
    }
    done.wait();
    EXPECT_EQ(buffer.read(0), numbers(100'000));
}

VOLLEY_BACKEND_TEST(Array, TakesAnyHostDataAsynchronously) {
    Buffer<int> buffer(100'000);
    const std::vector<int> data = numbers(100'000);
    buffer.write_async(data).wait();
    EXPECT_EQ(buffer.read(1), data);
    Event done = buffer.write_async(numbers(100'000, 5));  // kept until the event
    done.wait();
    EXPECT_EQ(buffer.read(0), numbers(100'000, 5));
    std::vector<int> back(100'000);
    buffer.read_async(std::span<int>(back), 1).wait();
    EXPECT_EQ(back, numbers(100'000, 5));
}

VOLLEY_BACKEND_TEST(Array, TakesViewsOfHostMemory) {
    const std::vector<int> data = numbers(6 * 8);
    const ArrayView<const int> all_data(data.data(), {6, 8});
    const Buffer<int> part = as_buffer(all_data[{slice(1, 4), slice(2, 8, 2)}]);
    EXPECT_EQ(part.shape(), Shape({3, 3}));
    EXPECT_EQ(part.read(0), (std::vector<int>{10, 12, 14, 18, 20, 22, 26, 28, 30}));
    // Transposed and reversed: strides that no driver supports.
    const Buffer<int> turned =
        as_buffer(ArrayView<const int>(data.data(), {8, 6}, Strides(std::array<std::int64_t, 2>{1, 8})));
    EXPECT_EQ(turned.read(0)[1], 8);
    EXPECT_EQ(turned.read(1)[6], 1);
    const Buffer<int> backwards =
        as_buffer(ArrayView<const int>(&data[4], {5}, Strides(std::array<std::int64_t, 1>{-1})));
    EXPECT_EQ(backwards.read(0), (std::vector<int>{4, 3, 2, 1, 0}));
    std::vector<int> into(8 * 6, -1);
    backwards.read_into(ArrayView<int>(&into[40], {5}, Strides(std::array<std::int64_t, 1>{-8})));
    EXPECT_EQ(into[40], 4);
    EXPECT_EQ(into[8], 0);
    EXPECT_EQ(into[9], -1);
}

template <class B, class D>
concept Takes = requires(B buffer, D data) {
    buffer.write(data);
    buffer.write_async(data);
};
static_assert(Takes<Buffer<float>, ArrayView<float>> && Takes<Buffer<float>, ArrayView<const float>>);
static_assert(!Takes<Buffer<float>, ArrayView<int>>, "of the same size, and yet no floats");
static_assert(!Takes<Buffer<float>, ArrayView<const double>>);
static_assert(Takes<Buffer<bool>, std::vector<bool>> && Takes<Buffer<bool>, std::array<bool, 2>>);
static_assert(!Takes<Buffer<bool>, std::vector<int>> && !Takes<Buffer<int>, std::vector<bool>>);

VOLLEY_BACKEND_TEST(Array, KeepsAListThatIsWrittenAsynchronously) {
    Buffer<int> buffer(3);
    buffer.fill(0);
    wait();
    {
        HeldQueue held(queue(0));
        buffer.write_async(std::initializer_list<int>{numbers(1, 1)[0], numbers(1, 2)[0], numbers(1, 3)[0]});
        std::array<volatile int, 64> elsewhere{};  // reuses the list's stack memory
        for (volatile int& value : elsewhere) value = 99;
        held.release();
    }
    EXPECT_EQ(buffer.read(0), (std::vector<int>{1, 2, 3}));
}

VOLLEY_BACKEND_TEST(Array, AHostArrayOfAnotherContextIsReadWhenItIsWritten) {
    Buffer<int> buffer(100'000);
    buffer.fill(-1);
    wait();
    HeldQueue held(queue(0));
    {
        const Context other = make_context({.devices = {"cpu:0"}});
        const ContextScope scope = other.use();
        const Buffer<int> theirs = as_buffer(numbers(100'000));
        const HostArray<int> host = theirs.empty_like();
        std::fill_n(host.data(), host.size(), 0);
        wait();
        HeldQueue theirs_held(queue(0));
        theirs.read_async(host, 0);
        std::thread later([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            theirs_held.release();
        });
        buffer.write_async(host);  // after the other context's transfer
        later.join();
        std::fill_n(host.data(), host.size(), 0);
    }  // the array is destroyed
    held.release();
    EXPECT_EQ(buffer.read(0), numbers(100'000));
    EXPECT_EQ(buffer.read(1), numbers(100'000));
}

TEST(ArrayLimit, CachedMemoryGivesWayToHostArrays) {
    for (const char* name : {"reference:0", "cpu:0"}) {  // which use the same memory
        SCOPED_TRACE(name);
        const Context context = make_context({.devices = {name}, .memory_limit = 1 << 20});
        const ContextScope scope = context.use();
        Buffer<char>(800 * 1024).fill('a');
        EXPECT_NO_THROW(static_cast<void>(HostArray<char>({600 * 1024}))) << "what was freed is only kept";
        {
            HeldQueue held(queue(0));
            Buffer<char>(800 * 1024).fill('b');
            std::thread later([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                held.release();
            });
            EXPECT_NO_THROW(static_cast<void>(HostArray<char>({600 * 1024}))) << "work is waited for";
            later.join();
        }
        Buffer<char> live(800 * 1024);
        live.fill('c');
        expect_contains(
            error_of(ErrorCode::OutOfMemory, [] { static_cast<void>(HostArray<char>({600 * 1024})); }),
            "614400");
    }
}

VOLLEY_BACKEND_TEST(Array, TakesNestedLists) {
    const Buffer<int> matrix = as_buffer({{1, 2, 3}, {4, 5, 6}});
    EXPECT_EQ(matrix.shape(), Shape({2, 3}));
    EXPECT_EQ(matrix.read(0), (std::vector<int>{1, 2, 3, 4, 5, 6}));
    const Buffer<float> cube = as_buffer({{{1.f}, {2.f}}, {{3.f}, {4.f}}});
    EXPECT_EQ(cube.shape(), Shape({2, 2, 1}));
    error_of(ErrorCode::InvalidShape, [] { static_cast<void>(as_buffer({{1, 2}, {3}})); });
}

VOLLEY_BACKEND_TEST(Array, OfNothingAlongAnyAxisIsWrittenAndRead) {
    for (const Shape& shape : {Shape({0, 4}), Shape({4, 0}), Shape({3, 0, 2}), Shape({2, 3, 0, 5})}) {
        SCOPED_TRACE(shape.to_string());
        Buffer<int> buffer(shape);
        buffer.write(std::vector<int>());
        buffer.write_async(std::vector<int>()).wait();
        buffer.write(ArrayView<const int>(nullptr, shape));
        EXPECT_EQ(buffer.read(), (std::vector<std::vector<int>>(2)));
        const HostArray<int> host = buffer.empty_like();
        buffer.write_async(host).wait();
        buffer.read_async(host, 1).wait();
        EXPECT_EQ(transfer_plan(host, buffer).path, TransferPath::None);
        EXPECT_TRUE(as_buffer(ArrayView<const int>(nullptr, shape)).read(0).empty());
    }
}

VOLLEY_BACKEND_TEST(Array, RefusesHostDataOfAnotherShape) {
    Buffer<int> buffer({2, 3}, {.name = "small"});
    error_of(ErrorCode::SizeMismatch, [&] { buffer.write(numbers(5)); });
    error_of(ErrorCode::SizeMismatch, [&] { buffer.write(HostArray<int>({3, 2})); });
    error_of(ErrorCode::TypeMismatch, [&] { buffer.AnyBuffer::write_async(HostArray<float>({2, 3})); });
    EXPECT_FALSE(buffer.is_allocated(0)) << "checked before anything is made";
    buffer.fill(0);
    std::vector<int> back(7);
    expect_contains(error_of(ErrorCode::SizeMismatch, [&] { buffer.read_into(back); }), "'small'");
    error_of(ErrorCode::InvalidArgument,
             [&] { buffer.read_into(std::span<int>(static_cast<int*>(nullptr), 6)); });
}

}  // namespace
}  // namespace volley
