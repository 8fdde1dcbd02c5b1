// Lesson 12: graphs. record() records kernels, copies, fills and host functions instead of running them.
// Submitting the graph costs about as much as one launch, regardless of its size. Arguments that change
// between runs have names.
#include <volley/volley.hpp>

#include <cmath>
#include <iostream>
#include <vector>

using namespace volley;

int main() {
    // Computes one step of the heat equation on a rod.
    auto diffuse = kernel("diffuse", [](Buff<float> to, Buff<const float> from, Const<float> rate) {
        const auto i = global_id().x;
        const auto n = cast<u32>(from.size());
        const auto left = from[select(i == 0u, i, i - 1u)];
        const auto right = from[select(i == n - 1u, i, i + 1u)];
        to[i] = from[i] + rate * (left + right - from[i] * 2.0F);
    });
    auto heat = kernel("heat", [](Buff<float> rod, Const<float> temperature) {
        $if (global_id().x == 0u) {
            rod[0u] = temperature;
        }
    });

    constexpr std::size_t n = 1000;
    Buffer<float> rod = as_buffer(std::vector<float>(n, 20.0F));
    auto graph = record([&] {
        heat.over(1)(rod, dyn<float>("flame"));                  // a different value for each run
        const Buffer<float> other = temporary<float>(Shape(n));  // memory of the graph
        for (int step = 0; step < 50; ++step) {
            diffuse(other, rod, 0.25F);
            diffuse(rod, other, 0.25F);
        }
    });
    std::cout << graph.size() << " commands, " << graph.memory().planned << " bytes of temporaries\n";

    // Run the graph three times with three values. submit() does not block.
    graph.bind("flame", {300.0F, 500.0F, 100.0F});
    const Event done = graph.submit({.instances = 3});
    done.then([] { std::cout << "the graph has run\n"; }).wait();

    const std::vector<float> after = rod.read(0);
    std::cout << "near the flame " << after[1] << ", far from it " << after[n - 1] << '\n';

    // The same computation without a graph.
    Buffer<float> plain = as_buffer(std::vector<float>(n, 20.0F)), other(n);
    for (const float flame : {300.0F, 500.0F, 100.0F}) {
        heat.over(1)(plain, flame);
        for (int step = 0; step < 50; ++step) {
            diffuse(other, plain, 0.25F);
            diffuse(plain, other, 0.25F);
        }
    }
    return plain.read(0) == after ? 0 : 1;
}
