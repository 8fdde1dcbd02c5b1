#include "soak/storm.hpp"

#include "support/random.hpp"

#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

namespace volley::soak {
namespace {

using testing::Random;

/// Uses objects of a context until it is closed. Throws that error.
[[noreturn]] void use_until_closed(Random random, Buffer<u32> y, const Buffer<u32>& x, CommandGraph graph,
                                   const Queue& queue, const Kernels& kernels) {
    Event last;
    for (;;) {
        switch (random.below(10)) {
            case 0: last = y.fill(1); break;
            case 1: last = y.copy_from(x); break;
            case 2: last = kernels.axpy.on(queue)(y, x, 100u, 3u); break;
            case 3: last.wait(); break;
            case 4: last = graph.submit(); break;
            case 5: (void)y.read(queue); break;
            case 6: last = last.then([] {}); break;
            case 7: queue.wait(); break;
            case 8: y.write(Numbers(100, 2u), queue); break;
            default: (void)last.wait_for(std::chrono::microseconds(50)); break;
        }
        // Events of a closed context are completed and throw nothing.
        (void)y.is_allocated(queue);
    }
}

}  // namespace

void storm(std::uint64_t seed, const std::vector<std::string>& devices, const Kernels& kernels) {
    Random random(seed);
    const std::string device = random.pick(devices);
    std::optional<Context> context = make_context({.devices = {device}, .queues_per_device = 2});
    std::vector<std::thread> threads;
    std::mutex mutex;
    std::string unexpected;
    {
        const ContextScope scope = context->use();
        for (unsigned t = 0; t < 3; ++t) {
            Buffer<u32> y = as_buffer(Numbers(100, 1u)), x = as_buffer(Numbers(100, 2u));
            CommandGraph graph = record([&] { kernels.axpy(y, x, 100u, 1u); });
            threads.emplace_back(
                [=, &kernels, &mutex, &unexpected, queue = queue(t % 2), own = Random(random.bits())] {
                    try {
                        use_until_closed(own, y, x, graph, queue, kernels);
                    } catch (const Error& error) {
                        if (error.code() == ErrorCode::WrongContext) return;
                        const std::scoped_lock lock(mutex);
                        unexpected = error.what();
                    } catch (const std::exception& error) {
                        const std::scoped_lock lock(mutex);
                        unexpected = error.what();
                    }
                });
        }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(3000)));
    context.reset();
    for (std::thread& thread : threads) thread.join();
    if (!unexpected.empty()) throw std::runtime_error("while " + device + " was closed: " + unexpected);
}

}  // namespace volley::soak
