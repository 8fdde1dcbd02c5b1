// A histogram of bytes with atomics on shared memory, against a loop of plain C++ on one thread.
#include "harness.hpp"
#include "peers.hpp"

#include <volley/volley.hpp>

#include <random>

namespace volley::bench {
namespace {

constexpr u32 local = 64;
constexpr u32 per_invocation = 1024;
constexpr u32 block = local * per_invocation;
constexpr u32 count = 10'000'000;
constexpr double seconds = 3;
constexpr double goal = 1.5;

VOLLEY_BENCH(histogram_shared, "foundation/histogram_shared") {
    const auto clear = kernel("clear", [](Buff<u32> bins) { bins[global_id().x] = 0U; });
    const auto histogram =
        kernel("histogram", {.local = {local}}, [](Buff<u32> bins, Buff<const u8> data, Const<u32> n) {
            Shared<u32> mine(256);
            const auto l = local_id().x;
            for (u32 k = 0; k < 256; k += local) mine[l + k] = 0U;
            barrier();
            const auto first = group_id().x * block + l;
            $for (k, 0U, per_invocation) {
                const auto i = first + k * local;
                $if (i < n) {
                    mine.atomic(data[i]).add(1U);
                }
            }
            barrier();
            for (u32 k = 0; k < 256; k += local) bins.atomic(l + k).add(mine[l + k]);
        });
    std::vector<u8> values(count);
    std::minstd_rand random(1);  // NOLINT(cert-msc51-cpp): the same bytes in every run
    for (u8& value : values) value = static_cast<u8>(random() >> 8U);
    Buffer<u8> data(count);
    Buffer<u32> bins(256);
    data.write(values);
    const u32 grid = (count + block - 1) / block * local;
    const auto run = [&] {
        clear.over(256)(bins);
        histogram.over(grid)(bins, data, count).wait();
    };
    std::vector<u32> expected(256);
    const auto plain = [&] { peer::histogram(expected.data(), values.data(), values.size()); };
    run();
    plain();
    check(bins.read(0) == expected, "a histogram");
    const std::vector<double> best = race({{"volley", run}, {"plain C++", plain}}, seconds);
    report.add(giga_elements, 1e-9 * count / best[0], "plain C++, one thread", 1e-9 * count / best[1], goal);
}

}  // namespace
}  // namespace volley::bench
