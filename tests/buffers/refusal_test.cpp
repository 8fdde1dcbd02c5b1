// Errors that buffers report before they do anything: null pointers, impossible shapes and sizes.
#include "buffers/buffer_support.hpp"

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;
using testing::numbers;

VOLLEY_BACKEND_TEST(Refusal, OfNullPointersNamesTheBuffer) {
    Buffer<int> buffer(4, {.name = "target"});
    const std::span<int> null(static_cast<int*>(nullptr), 4);
    const std::span<const int> null_source = null;
    const auto refused = [](auto&& f) {
        expect_contains(error_of(ErrorCode::InvalidArgument, f), "'target'");
    };
    refused([&] { buffer.write(null_source); });
    refused([&] { buffer.write(null_source, queue(1)); });
    refused([&] { buffer.write_async(null_source); });
    refused([&] { static_cast<AnyBuffer&>(buffer).write_bytes(std::as_bytes(null)); });
    EXPECT_FALSE(buffer.is_allocated(0)) << "checked before anything is allocated";
    buffer.write(numbers(4));
    refused([&] { buffer.read_into(null, 1); });
    refused([&] { buffer.read_async(null, 0); });
    EXPECT_EQ(buffer.read(0), numbers(4));
    Buffer<int> empty(0);
    EXPECT_NO_THROW(empty.write(std::span<const int>())) << "an empty transfer needs no memory";
    EXPECT_NO_THROW(empty.read_into(std::span<int>()));
}

VOLLEY_BACKEND_TEST(Refusal, OfShapesNamesTheBuffer) {
    constexpr std::int64_t huge = std::int64_t{1} << 40;
    const auto refused = [](ErrorCode code, auto&& f) { expect_contains(error_of(code, f), "'target'"); };
    refused(ErrorCode::Overflow, [] { Buffer<float>({huge, huge}, {.name = "target"}); });
    refused(ErrorCode::Overflow, [] { Buffer<double>({std::int64_t{1} << 61}, {.name = "target"}); });
    refused(ErrorCode::Overflow, [] {
        Buffer<float>({2, 2}, {.name = "target", .padded_shape = {huge, huge}});
    });
    refused(ErrorCode::InvalidShape, [] {
        Buffer<float>({2, 2}, {.name = "target", .padded_shape = {2, 1}});
    });
    refused(ErrorCode::InvalidShape, [] { Buffer<float>({2, 2}, {.name = "target", .padded_shape = {2}}); });
    refused(ErrorCode::InvalidShape, [] { RfftBuffer<float>({3, 0}, {.name = "target"}); });
    refused(ErrorCode::Overflow, [] { RfftBuffer<float>({huge, huge}, {.name = "target"}); });
    const Buffer<int> buffer(4, {.name = "target"});
    refused(ErrorCode::Overflow, [&] { static_cast<void>(buffer.reshape({huge, huge})); });
    refused(ErrorCode::SizeMismatch, [&] { static_cast<void>(buffer.reshape({5})); });
    expect_contains(error_of(ErrorCode::Overflow, [] { HostArray<float>({huge, huge}); }), "a host array");
    refused(ErrorCode::InvalidShape, [] { Buffer<float>(-4, {.name = "target"}); });
    refused(ErrorCode::InvalidShape, [] { Buffer<float>({3, -4}, {.name = "target"}); });
    refused(ErrorCode::InvalidShape, [] { RfftBuffer<float>({3, -4}, {.name = "target"}); });
    refused(ErrorCode::Overflow, [] { Buffer<float>(~std::size_t{0}, {.name = "target"}); });
    refused(ErrorCode::InvalidShape, [] { Buffer<float>({1, 1, 1, 1, 1, 1, 1, 1, 1}, {.name = "target"}); });
    error_of(ErrorCode::InvalidShape, [] { Buffer<float>({-4}); });
}

VOLLEY_BACKEND_TEST(Refusal, OfEnormousSizesLeavesTheDeviceUsable) {
    constexpr std::int64_t size = std::int64_t{1} << 46;
    Buffer<char> enormous(size, {.name = "enormous"});
    EXPECT_EQ(enormous.bytes(), std::size_t{1} << 46);
    const auto refused = [](auto&& f) {
        expect_contains(error_of(ErrorCode::OutOfMemory, f), std::to_string(size));
    };
    refused([&] { enormous.fill('a'); });
    refused([&] { enormous.ensure_allocated(); });
    error_of(ErrorCode::OutOfMemory, [&] { static_cast<void>(HostArray<char>(Shape(size))); });
    EXPECT_FALSE(enormous.is_allocated(0));
    EXPECT_EQ(as_buffer(numbers(4)).read(1), numbers(4));
}

}  // namespace
}  // namespace volley
