// Kernels over whole arrays, in sizes and locations that a device may treat specially: long and short, with
// odd tails, in place, and through misaligned views.
#include "support/device_fixture.hpp"

namespace volley::testing {
namespace {

template <class T>
std::vector<T> numbers(std::size_t n) {
    std::vector<T> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(i % 1000);
    return values;
}

VOLLEY_DEVICE_TEST(Stream, OfEverySizeTouchesEachElementOnce) {
    const auto next = kernel("next", [](Buff<i32> out, Buff<const i32> in, Const<i32> step) {
        const auto i = global_id().x;
        out[i] = in[i] + step;
    });
    for (const std::size_t n : {1u, 511u, 512u, 513u, 1023u, 4096u, 4099u, 5000u, 100'001u}) {
        const std::vector<i32> start = numbers<i32>(n);
        const Buffer<i32> in = as_buffer(start);
        const Buffer<i32> out = as_buffer(std::vector<i32>(n + 16, -7));
        next.over(n)(out, in, 3);
        const std::vector<i32> got = out.read(0);
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], start[i] + 3) << "of " << n << " at " << i;
        for (std::size_t i = n; i < n + 16; ++i) ASSERT_EQ(got[i], -7) << "past the end of " << n;
    }
}

VOLLEY_DEVICE_TEST(Stream, InPlaceAndBoundTwice) {
    const auto twice = kernel("twice", [](Buff<f32> data, Buff<f32> same) {
        const auto i = global_id().x;
        data[i] = same[i] + data[i];
    });
    const std::vector<f32> start = numbers<f32>(3001);
    const Buffer<f32> data = as_buffer(start);
    twice(data, data);
    const std::vector<f32> got = data.read(0);
    for (std::size_t i = 0; i < start.size(); ++i) ASSERT_EQ(got[i], 2 * start[i]) << i;
}

VOLLEY_DEVICE_TEST(Stream, KeepsConstantsIndicesAndOtherLoads) {
    const auto mix = kernel("mix", [](Buff<f32> out, Buff<const f32> in, Buff<const u32> table) {
        const auto i = global_id().x;
        out[i] = in[i] * 0.5F + cast<f32>(i) + cast<f32>(table[i % 7u]) + in[0u];
    });
    const std::vector<f32> start = numbers<f32>(2050);
    const std::vector<u32> table = {1, 20, 300, 4000, 5, 60, 700};
    const Buffer<f32> out(start.size());
    mix(out, as_buffer(start), as_buffer(table));
    const std::vector<f32> got = out.read(0);
    for (std::size_t i = 0; i < start.size(); ++i) {
        ASSERT_EQ(got[i], start[i] * 0.5F + static_cast<f32>(i) + static_cast<f32>(table[i % 7]) + start[0])
            << i;
    }
}

}  // namespace
}  // namespace volley::testing
