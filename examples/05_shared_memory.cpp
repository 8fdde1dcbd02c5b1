// Lesson 5: shared memory and barriers. Sums an array with a tree reduction in each workgroup.
#include <volley/volley.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

using namespace volley;

int main() {
    constexpr unsigned group = 256;
    constexpr unsigned count = 1 << 20;

    // The algorithm depends on the workgroup size, so the kernel declares it.
    auto sum = kernel("sum", {.local = {group}}, [](Buff<const int> data, Buff<int> sums) {
        Shared<int> tile(group);  // one array per workgroup
        auto l = local_id().x;
        tile[l] = data[global_id().x];
        barrier();  // all invocations have stored their element
        // A host loop, unrolled while the kernel is traced: group / 2, group / 4, ..., 1.
        for (unsigned half_size = group / 2; half_size > 0; half_size /= 2) {
            $if (l < half_size) {
                tile[l] = tile[l] + tile[l + half_size];
            }
            barrier();  // valid, because all invocations of the workgroup reach it
        }
        $if (l == 0u) {
            sums[group_id().x] = tile[0];
        }
    });

    std::vector<int> numbers(count);
    for (unsigned i = 0; i < count; ++i) numbers[i] = static_cast<int>(i % 10);
    Buffer<int> data = as_buffer(numbers);
    Buffer<int> sums(count / group);
    sum(data, sums);

    const std::vector<int> parts = sums.read(0);
    const int total = std::accumulate(parts.begin(), parts.end(), 0);
    const int expected = std::accumulate(numbers.begin(), numbers.end(), 0);
    std::printf("sum of %u numbers: %d (expected %d)\n", count, total, expected);

    // A kernel with a barrier needs whole workgroups, so this launch is an error.
    try {
        sum.over(1000)(data, sums);
        return 1;
    } catch (const LaunchError& error) {
        std::printf("over(1000) is an error:\n    %s\n", error.what());
    }
    return total == expected ? 0 : 1;
}
