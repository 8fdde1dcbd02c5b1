// Host access to a buffer's memory: spans, arrays, mappings and single values; the checks and their order.
#include "buffers/buffer_support.hpp"
#include "support/held_queue.hpp"

namespace volley {

struct alignas(1024) OverAligned {
    float value;
};
VOLLEY_STRUCT(OverAligned, value)

namespace {

using testing::error_of;
using testing::expect_contains;
using testing::HeldQueue;
using testing::make_twice;
using testing::numbers;

/// Skips the test if the host cannot address the device's memory; every access throws then.
#define NEEDS_HOST_MEMORY() \
    if (!device().host_memory) GTEST_SKIP() << device_name() << " has memory of its own"

VOLLEY_BACKEND_TEST(HostAccess, IsTheMemoryItself) {
    NEEDS_HOST_MEMORY();
    Buffer<int> buffer = as_buffer(numbers(100));
    buffer.as_span(0)[7] = -7;
    EXPECT_EQ(buffer.read(0)[7], -7);
    EXPECT_EQ(buffer.read(1)[7], 7) << "the other replica";
    EXPECT_EQ(buffer.as_span(0).data(), std::as_const(buffer).as_span(0).data());
    const auto twice = make_twice();
    twice(buffer);
    EXPECT_EQ(std::as_const(buffer).as_span(0)[7], -14) << "it waits for the kernel";
    EXPECT_EQ(buffer.view(10, 5).as_span(1)[0], 20);
    EXPECT_EQ(buffer.as_host_bytes(0).size(), 400u);
}

VOLLEY_BACKEND_TEST(HostAccess, ChecksTypeThenReachThenMemory) {
    const AnyBuffer any(dtype_of<float>(), {4}, {.name = "never"});
    error_of(ErrorCode::TypeMismatch, [&] { static_cast<void>(Buffer<int>(any).as_span()); });
    const Buffer<float> typed(any);
    if (device().host_memory) {
        expect_contains(error_of(ErrorCode::NotAllocated, [&] { static_cast<void>(typed.as_span()); }),
                        "'never'");
        Buffer<float> writable = typed;
        error_of(ErrorCode::NotAllocated, [&] { static_cast<void>(writable.as_span()); });
        writable.ensure_allocated();
        writable.as_span()[0] = 5;
        EXPECT_EQ(typed.as_span()[0], 5);
    } else {
        expect_contains(error_of(ErrorCode::NotHostAccessible, [&] { static_cast<void>(typed.as_span()); }),
                        "read()");
    }
    error_of(ErrorCode::IndexError, [&] { static_cast<void>(typed.as_span(2)); });
}

VOLLEY_BACKEND_TEST(HostAccess, OfNothingIsEmpty) {
    Buffer<int> buffer(0);
    buffer.write(std::vector<int>());
    EXPECT_TRUE(buffer.read(0).empty());
    if (device().host_memory) {
        EXPECT_TRUE(buffer.as_span().empty());
    }
}

VOLLEY_BACKEND_TEST(HostAccess, IsAlignedOrRefused) {
    NEEDS_HOST_MEMORY();
    std::vector<Buffer<OverAligned>> buffers;
    for (unsigned i = 0; i < 8; ++i) {
        Buffer<OverAligned>& buffer = buffers.emplace_back(i + 1, BufferOptions{.name = "wide"});
        buffer.fill({float(i)});
        EXPECT_EQ(buffer.read(1).back().value, float(i));
        try {
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.as_span().data()) % alignof(OverAligned), 0u);
        } catch (const ArgumentError& error) {
            EXPECT_EQ(error.code(), ErrorCode::InvalidView);
            expect_contains(error.what(), "'wide'");
            error_of(ErrorCode::InvalidView, [&] { static_cast<void>(buffer.map()); });
            EXPECT_EQ(buffer.view_as<std::uint8_t>().view(0, 4).as_host_bytes(0).size(), 4u);
        }
    }
}

VOLLEY_BACKEND_TEST(HostAccess, SeesShapesAndPadding) {
    NEEDS_HOST_MEMORY();
    Buffer<int> buffer({3, 5}, {.padded_shape = {4, 8}});
    buffer.write(numbers(15));
    const ArrayView<int> array = buffer.as_array(1);
    EXPECT_EQ(array(2, 3), 13);
    EXPECT_EQ(array.strides()[0], 8);
    EXPECT_EQ(buffer.as_host_bytes(1).size(), 4u * 8 * 4);
    error_of(ErrorCode::InvalidView, [&] { static_cast<void>(buffer.as_span()); });
    EXPECT_EQ(buffer.sub({1}).as_span(0)[4], 9);
}

VOLLEY_BACKEND_TEST(HostAccess, AGuardKeepsTheDeviceAway) {
    NEEDS_HOST_MEMORY();
    const auto twice = make_twice();
    Buffer<int> buffer = Buffer<int>(8, {.name = "mapped"});
    buffer.write(numbers(8));
    {
        const Mapping<int> mapped = buffer.map(0);
        mapped(3) = 100;
        EXPECT_EQ(mapped.size(), 8u);
        expect_contains(error_of(ErrorCode::InvalidArgument, [&] { twice(buffer); }), "'mapped'");
        error_of(ErrorCode::InvalidArgument, [&] { buffer.fill(1); });
        error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(buffer.read(0)); });
        twice.on(current_context().queue(1))(buffer);  // the other replica is not mapped
    }
    twice(buffer);
    EXPECT_EQ(buffer.read(0)[3], 200);
    EXPECT_EQ(buffer.read(1)[3], 12);
    Mapping<const int> first = std::as_const(buffer).map(0);
    Mapping<const int> moved = std::move(first);
    EXPECT_EQ(moved(3), 200);
}

VOLLEY_BACKEND_TEST(HostAccess, WaitsForItsOwnBytesAlone) {
    NEEDS_HOST_MEMORY();
    Buffer<int> buffer = as_buffer(numbers(1000));
    Buffer<int> first = buffer.view(0, 500), second = buffer.view(500, 500);
    wait();
    HeldQueue held(queue(0));
    const Event doubled = make_twice().on(queue(0))(first);
    EXPECT_EQ(second.as_span(0)[7], 507);
    EXPECT_EQ(std::as_const(second).as_span(0)[7], 507);
    EXPECT_EQ(second.as_array(0)(8), 508);
    EXPECT_EQ(second.map(0)(9), 509);
    second.as_span(0)[10] = -1;
    EXPECT_FALSE(doubled.ready());
    EXPECT_FALSE(held.released_by_itself());
    held.release();
    EXPECT_EQ(first.as_span(0)[7], 14);
    EXPECT_EQ(buffer.read(0)[510], -1);
}

VOLLEY_BACKEND_TEST(HostAccess, ForReadingPassesReaders) {
    NEEDS_HOST_MEMORY();
    const Buffer<int> source = as_buffer(numbers(100));
    Buffer<int> target(100);
    wait();
    HeldQueue held(queue(0));
    const Event copied = target.copy_from(source);
    EXPECT_EQ(source.as_span(0)[7], 7);
    EXPECT_EQ(source.map(0)(8), 8);
    EXPECT_FALSE(copied.ready());
    EXPECT_FALSE(held.released_by_itself());
    held.release();
    EXPECT_EQ(target.as_span(0)[9], 9);
}

VOLLEY_BACKEND_TEST(HostAccess, ItemIsOneValueOnAnyDevice) {
    EXPECT_EQ(as_buffer({42}).item(), 42);
    EXPECT_EQ(as_buffer(numbers(9)).view(4, 1).item(1), 4);
    Buffer<float> scalar{Shape()};
    scalar.write({2.5f});
    EXPECT_EQ(scalar.item(), 2.5f);
    error_of(ErrorCode::SizeMismatch, [] { static_cast<void>(as_buffer({1, 2}).item()); });
    error_of(ErrorCode::SizeMismatch, [] { static_cast<void>(Buffer<int>(0).item()); });
}

}  // namespace
}  // namespace volley
