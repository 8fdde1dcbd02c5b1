// Lesson 11: arrays. Padding for the sake of kernels, page-locked host memory for the sake of transfers,
// views and regions, and what a transfer costs.
#include <volley/volley.hpp>

#include <iostream>
#include <vector>

using namespace volley;

int main() {
    // 17 x 13 numbers that lie in memory as 32 x 16: a kernel needs no special case at the edges.
    Buffer<float> dev({17, 13}, {.name = "image", .padded_shape = {32, 16}});
    std::cout << "shape " << dev.shape().to_string() << ", strides " << dev.strides().to_string()
              << " bytes\n";

    // Page-locked, with the same padding: the transfer is one piece.
    const HostArray<float> host = dev.empty_like();
    for (int y = 0; y < 17; ++y) {
        for (int x = 0; x < 13; ++x) host(y, x) = static_cast<float>(100 * y + x);
    }
    std::cout << "the fast path: " << transfer_plan(host, dev) << '\n';
    dev.write_async(host).wait();

    // Another padding takes rows; one can see that before it hurts.
    const HostArray<float> dense({17, 13});
    std::cout << "another padding: " << transfer_plan(dense, dev) << '\n';

    // A part of the array is a buffer too. It shares the storage, and kernels take it.
    auto negate = kernel("negate", [](Buff<float> row) {
        auto i = global_id().x;
        row[i] = -row[i];
    });
    const Buffer<float> row = dev.sub({3});  // the fourth row
    negate(row);
    std::cout << "row 3 begins with " << read_region(dev, {3, slice(0, 3)}, 0)[1]
              << ", shares storage: " << (row.storage_id() == dev.storage_id() ? "yes" : "no") << '\n';

    // Regions: slices, integers, steps.
    Buffer<float> thumbnail({5, 4});
    copy_region(thumbnail, {}, dev, {slice(0, 17, 4), slice(0, 13, 4)});
    zero_region(dev, {all, slice(0, 4)});
    std::cout << "thumbnail(1, 1) = " << thumbnail.sub({1, 1}).item()
              << ", image(1, 1) = " << dev.sub({1, 1}).item() << '\n';

    // Where the host shares the memory, nothing need be copied at all.
    if (current_context().devices()[0].host_memory) {
        const Mapping<float> mapped = dev.map();
        mapped(0, 0) = 7;
    }
    std::cout << memory_stats() << '\n';
    return thumbnail.sub({1, 1}).item() == 404 && dev.sub({1, 1}).item() == 0 ? 0 : 1;
}
