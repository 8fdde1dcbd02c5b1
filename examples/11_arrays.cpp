// Lesson 11: arrays. Padding for kernels, page-locked host memory for fast transfers, views and regions, and
// the cost of a transfer.
#include <volley/volley.hpp>

#include <iostream>
#include <vector>

using namespace volley;

int main() {
    // 17 x 13 elements, padded to 32 x 16 in memory, so that a kernel needs no special case at the edges.
    Buffer<float> dev({17, 13}, {.name = "image", .padded_shape = {32, 16}});
    std::cout << "shape " << dev.shape().to_string() << ", strides " << dev.strides().to_string()
              << " bytes\n";

    // A page-locked host array with the same padding, which is copied in one piece.
    const HostArray<float> host = dev.empty_like();
    for (int y = 0; y < 17; ++y) {
        for (int x = 0; x < 13; ++x) host(y, x) = static_cast<float>(100 * y + x);
    }
    std::cout << "same padding: " << transfer_plan(host, dev) << '\n';
    dev.write_async(host).wait();

    // A different padding requires a copy by rows. transfer_plan() shows this without copying.
    const HostArray<float> dense({17, 13});
    std::cout << "different padding: " << transfer_plan(dense, dev) << '\n';

    // A part of an array is also a buffer. It shares the storage and can be passed to kernels.
    auto negate = kernel("negate", [](Buff<float> row) {
        auto i = global_id().x;
        row[i] = -row[i];
    });
    const Buffer<float> row = dev.sub({3});  // the fourth row
    negate(row);
    std::cout << "row 3 begins with " << read_region(dev, {3, slice(0, 3)}, 0)[1]
              << ", shares storage: " << (row.storage_id() == dev.storage_id() ? "yes" : "no") << '\n';

    // Regions select elements by slices, indices and steps.
    Buffer<float> thumbnail({5, 4});
    copy_region(thumbnail, {}, dev, {slice(0, 17, 4), slice(0, 13, 4)});
    zero_region(dev, {all, slice(0, 4)});
    std::cout << "thumbnail(1, 1) = " << thumbnail.sub({1, 1}).item()
              << ", image(1, 1) = " << dev.sub({1, 1}).item() << '\n';

    // If the device shares memory with the host, map() gives access without a copy.
    if (current_context().devices()[0].host_memory) {
        const Mapping<float> mapped = dev.map();
        mapped(0, 0) = 7;
    }
    std::cout << memory_stats() << '\n';
    return thumbnail.sub({1, 1}).item() == 404 && dev.sub({1, 1}).item() == 0 ? 0 : 1;
}
