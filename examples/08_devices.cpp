// Lesson 8: devices and contexts. What there is to compute on, and how to say where.
#include <volley/volley.hpp>

#include <cstdio>
#include <iostream>
#include <vector>

using namespace volley;

int main() {
    std::cout << "devices of this machine:\n";
    for (const DeviceInfo& device : devices()) std::cout << "  " << device << '\n';

    // The first call that needs a context makes the default one. VOLLEY_DEVICES=... chooses others from
    // outside.
    std::cout << "\nthe default context uses:\n" << current_context().devices()[0].describe();

    // A context of our own: the CPU twice over, as two queues. Contexts are values, and several can live at
    // once.
    const Context two_queues = make_context({.devices = {"cpu:0"}, .queues_per_device = 2});
    const auto scope = two_queues.use();  // current in this scope

    auto add = kernel(
        "add", [](Buff<int> data, Const<int> value) { data[global_id().x] = data[global_id().x] + value; });
    Buffer<int> data = as_buffer(std::vector<int>(8, 0));  // in both replicas
    add(data, 1);                                          // on both queues
    add.on(queue(1))(data, 10);                            // on the second alone
    wait();
    const int first = data.read(0)[0];
    const int second = data.read(1)[0];
    std::cout << "\nqueue 0 has " << first << ", queue 1 has " << second << '\n';

    // A name that no device has is an error that lists the names there are.
    try {
        (void)make_context({.devices = {"quantum:0"}});
        return 1;
    } catch (const DeviceError& error) {
        std::cout << "\n" << error.what() << '\n';
    }
    return first == 1 && second == 11 ? 0 : 1;
}
