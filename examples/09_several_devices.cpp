// Lesson 9: several devices in one context. A buffer has a replica on each device, a launch runs on all
// devices, and read() returns every replica. Software Vulkan devices are used only if they are named, as
// here.
#include <volley/volley.hpp>

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

using namespace volley;

int main() {
    std::vector<std::string> names = {"cpu:0"};
    for (const DeviceInfo& device : devices()) {
        if (device.backend == "vulkan") names.push_back(device.id());
    }
    if (names.size() == 1) std::cout << "no Vulkan device here: install mesa-vulkan-drivers for one\n\n";

    const Context everything = make_context({.devices = names});
    const auto scope = everything.use();

    // The same lambda is compiled to vector code for the CPU and to SPIR-V for Vulkan devices.
    auto logistic = kernel("logistic", [](Buff<float> x, Const<float> r) {
        auto i = global_id().x;
        Var<float> v = x[i];
        $for (k, 0u, 100u) {
            v = r * v * (1.0F - v);
        }
        x[i] = v;
    });

    std::vector<float> start(1000);
    for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<float>(i + 1) / 1002.0F;
    const Buffer<float> x = as_buffer(start);  // writes the replica of every device
    logistic(x, 3.2F);                         // runs on every device
    const std::vector<std::vector<float>> all = x.read();

    bool agree = true;
    for (std::size_t k = 0; k < all.size(); ++k) {
        std::cout << everything.devices()[k].id() << " (" << everything.devices()[k].name
                  << "): x[500] = " << all[k][500] << '\n';
        agree = agree && std::abs(all[k][500] - all[0][500]) < 1e-3F;
    }
    return agree ? 0 : 1;
}
