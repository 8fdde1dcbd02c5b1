// The device that runs nothing: its log names rects, and its host memory is memory.
#include "backends/null/null_driver.hpp"
#include "backends/null/null_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace volley::backends::null {
namespace {

TEST(NullDevice, WritesDownRectsAsOneCommandEach) {
    const auto log = std::make_shared<NullLog>();
    const auto device = make_driver(log)->open(0, {});
    const auto queue = device->make_queue();
    const auto memory = device->allocate(1000);
    const backend::Rect rect{40, {3, 4}};
    const backend::RectPlace at{0, {60, 240}};
    std::array<std::byte, 1000> data;
    data.fill(std::byte{1});
    queue->write_rect(*memory, at, data.data(), at, rect);
    queue->read_rect(*memory, at, data.data(), at, rect);
    queue->copy_rect(*memory, at, *memory, {40, at.stride}, rect);
    queue->fill_rect(*memory, at, rect, std::vector<std::byte>(4));
    const std::vector<std::string> expected = {
        "q0 write_rect 3x4 rows of 40 -> 1", "q0 read_rect 3x4 rows of 40 -> 2",
        "q0 copy_rect 3x4 rows of 40 -> 3", "q0 fill_rect 3x4 rows of 40 -> 4"};
    EXPECT_EQ(log->lines(), expected);
    EXPECT_EQ(data[39], std::byte{0}) << "zeros are read";
    EXPECT_EQ(data[40], std::byte{1});
    EXPECT_EQ(queue->rect_calls(at, at, rect), 1u);
}

TEST(NullDevice, HasHostMemoryEvenWhereItsOwnIsOutOfReach) {
    const auto log = std::make_shared<NullLog>();
    const auto device = make_driver(log)->open(0, {});
    EXPECT_EQ(device->allocate(100)->host(), nullptr);
    const auto memory = device->allocate_host(5000);
    ASSERT_NE(memory->host(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->host()) % 4096, 0u);
    std::memset(memory->host(), 1, 5000);
    EXPECT_EQ(log->live_bytes, 5000u);
}

}  // namespace
}  // namespace volley::backends::null
