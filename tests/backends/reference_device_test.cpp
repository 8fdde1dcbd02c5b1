// The reference device through the common backend interface.
#include "backends/reference/reference_device.hpp"
#include "backends/queue_support.hpp"
#include "backends/reference/reference_driver.hpp"
#include "backends/reference_support.hpp"

#include <volley/error.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace volley::backends::reference {
namespace {

using ir::Op;
using testing::copy_at;
using testing::fill_at;
using testing::read_at;
using testing::write_at;
using S = ScalarType;

ir::Function scale_kernel() {
    return make_kernel([](ir::Builder& b) {
        const auto data = b.buffer(S::F32, "data");
        const auto alpha = b.param(S::F32, "alpha");
        const auto i = global_x(b);
        store(b, data, b.emit(Op::Mul, {load(b, data, {i}), alpha}), {i});
    });
}

TEST(ReferenceDevice, WritesLaunchesAndReads) {
    const auto device = make_driver()->open(0, {});
    const auto queue = device->make_queue();
    const auto memory = device->allocate(16);
    const auto program = device->compile(scale_kernel());
    const float in[] = {1, 2, 3, 4};
    float out[4];
    const float alpha = 2;
    write_at(*queue, *memory, 0, std::as_bytes(std::span(in)));
    const backends::Argument args[] = {{.memory = memory.get(), .elements = 4}, {.value = &alpha}};
    queue->launch({.program = program.get(), .global = {4, 1, 1}, .local = {4, 1, 1}, .args = args});
    const auto point = read_at(*queue, *memory, 0, std::as_writable_bytes(std::span(out)));
    queue->timeline().wait(point);
    EXPECT_EQ(queue->last(), point);
    EXPECT_EQ(queue->timeline().completed(), point);
    EXPECT_EQ(out[3], 8);
}

TEST(ReferenceDevice, FillsRepeatAPatternAndCopiesMoveIt) {
    ReferenceDevice device;
    const auto queue = device.make_queue();
    const auto a = device.allocate(8);
    const auto b = device.allocate(8);
    const std::byte pattern[] = {std::byte{1}, std::byte{2}};
    fill_at(*queue, *a, 1, 4, pattern);
    copy_at(*queue, *b, 0, *a, 1, 4);
    std::byte out[4];
    read_at(*queue, *b, 0, out);
    EXPECT_EQ(std::memcmp(out, "\1\2\1\2", 4), 0);
}

TEST(ReferenceDevice, AFailedKernelFailsTheWaitOnceAndTheQueueContinues) {
    ReferenceDevice device;
    const auto queue = device.make_queue();
    const auto memory = device.allocate(16);
    const auto program = device.compile(scale_kernel());
    const float alpha = 2;
    const backends::Argument args[] = {{.memory = memory.get(), .elements = 3}, {.value = &alpha}};
    const auto before = queue->call([] {});
    const auto point =
        queue->launch({.program = program.get(), .global = {4, 1, 1}, .local = {4, 1, 1}, .args = args});
    EXPECT_NO_THROW(queue->timeline().wait(before));
    EXPECT_THROW(queue->timeline().wait(point), Error);
    EXPECT_NO_THROW(queue->timeline().wait(point));
    bool called = false;
    queue->timeline().wait(queue->call([&] { called = true; }));
    EXPECT_TRUE(called);
}

TEST(ReferenceDevice, EnforcesTheMemoryLimitAndReturnsFreedBytes) {
    const auto device = make_driver()->open(0, {.memory_limit = 100});
    auto first = device->allocate(60);
    EXPECT_THROW((void)device->allocate(60), MemoryError);
    first.reset();
    EXPECT_NO_THROW((void)device->allocate(60));
}

TEST(ReferenceDevice, UsesTheContextsWidthAsSubgroupSize) {
    EXPECT_EQ(make_driver()->open(0, {.cpu_width = 16})->info().subgroup_size, 16u);
    EXPECT_EQ(make_driver()->devices().at(0).backend, "reference");
    EXPECT_THROW((void)make_driver()->open(1, {}), Error);
}

}  // namespace
}  // namespace volley::backends::reference
