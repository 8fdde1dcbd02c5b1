// Lesson 8: devices and contexts. Lists the devices, and selects those that a program uses.
#include <volley/volley.hpp>

#include <cstdio>
#include <iostream>
#include <vector>

using namespace volley;

int main() {
    std::cout << "devices of this machine:\n";
    for (const DeviceInfo& device : devices()) std::cout << "  " << device << '\n';

    // The first call that needs a context creates the default one. The environment variable VOLLEY_DEVICES
    // selects its devices.
    std::cout << "\nthe default context uses:\n" << current_context().devices()[0].describe();

    // A context with two queues on the CPU. Contexts are values, and several can exist at the same time.
    const Context two_queues = make_context({.devices = {"cpu:0"}, .queues_per_device = 2});
    const auto scope = two_queues.use();  // the current context until the end of the scope

    auto add = kernel(
        "add", [](Buff<int> data, Const<int> value) { data[global_id().x] = data[global_id().x] + value; });
    Buffer<int> data = as_buffer(std::vector<int>(8, 0));  // writes both replicas
    add(data, 1);                                          // runs on both queues
    add.on(queue(1))(data, 10);                            // runs on the second queue only
    wait();
    const int first = data.read(0)[0];
    const int second = data.read(1)[0];
    std::cout << "\nqueue 0 has " << first << ", queue 1 has " << second << '\n';

    // An unknown device name is an error. The message lists the available devices.
    try {
        (void)make_context({.devices = {"quantum:0"}});
        return 1;
    } catch (const DeviceError& error) {
        std::cout << "\n" << error.what() << '\n';
    }
    return first == 1 && second == 11 ? 0 : 1;
}
