// Lesson 7: atomics. Computes a histogram, first with global counters, then with counters for each workgroup.
#include <volley/volley.hpp>

#include <cstdio>
#include <vector>

using namespace volley;

int main() {
    constexpr unsigned bins = 64;
    constexpr unsigned count = 1 << 20;
    std::vector<u32> numbers(count);
    u32 state = 1;
    for (u32& n : numbers) n = (state = state * 1664525u + 1013904223u) >> 8;
    std::vector<u32> expected(bins, 0);
    for (const u32 n : numbers) ++expected[n % bins];

    auto simple = kernel("simple", [](Buff<const u32> data, Buff<u32> histogram) {
        histogram.atomic(data[global_id().x] % bins).add(1u);
    });

    // Each workgroup counts in shared memory, then adds each bin to the buffer with one atomic operation.
    auto grouped = kernel("grouped", {.local = {256}}, [](Buff<const u32> data, Buff<u32> histogram) {
        Shared<u32> mine(bins);
        auto l = local_id().x;
        $if (l < bins) {
            mine[l] = 0u;
        }
        barrier();
        mine.atomic(data[global_id().x] % bins).add(1u);
        barrier();
        $if (l < bins) {
            histogram.atomic(l).add(mine[l]);
        }
    });

    Buffer<u32> data = as_buffer(numbers);
    Buffer<u32> histogram(bins);
    bool good = true;

    histogram.fill(0u);
    simple(data, histogram);
    good &= histogram.read(0) == expected;
    std::printf("global counters:                 %s\n", good ? "ok" : "WRONG");

    histogram.fill(0u);
    grouped(data, histogram);
    const bool grouped_good = histogram.read(0) == expected;
    std::printf("counters for each workgroup:     %s\n", grouped_good ? "ok" : "WRONG");
    return good && grouped_good ? 0 : 1;
}
