// Lesson 2: buffers. A buffer has one replica for each queue of every device. Memory is allocated at the
// first use.
#include <volley/volley.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

using namespace volley;

namespace {

bool check(bool right, const char* what) {
    std::printf("%-52s %s\n", what, right ? "ok" : "WRONG");
    return right;
}

}  // namespace

int main() {
    bool good = true;

    // Copy a host container to a buffer, and back.
    std::vector<int> cpu_data(16);
    std::iota(cpu_data.begin(), cpu_data.end(), 0);
    Buffer<int> data = as_buffer(cpu_data);
    good &= check(data.read(0) == cpu_data, "the replica of queue 0 holds the written data");

    // Read all replicas. The default context has one queue on one device.
    std::vector<std::vector<int>> all = data.read();
    good &= check(all.size() == current_context().queue_count(), "there is one replica per queue");

    // Shapes are row-major and have up to 8 dimensions. This buffer would need 4 GB, but nothing is allocated
    // yet.
    Buffer<float> big({1000, 1000, 1000}, {.name = "big"});
    good &=
        check(big.size() == 1'000'000'000 && !big.is_allocated(0), "an unused buffer allocates no memory");

    // Reading a buffer that was never written is an error.
    try {
        (void)big.read(0);
        good = check(false, "reading an unwritten buffer");
    } catch (const Error& error) {
        good &= check(error.code() == ErrorCode::NotAllocated, "reading an unwritten buffer is an error:");
        std::printf("    %s\n", error.what());
    }

    // Set every element of every replica.
    Buffer<vec3> points({10, 10});
    points.fill({1.0f, 2.0f, 3.0f});
    good &= check(points.read(0)[99] == vec3(1.0f, 2.0f, 3.0f), "fill sets every element");

    // A Buffer is a handle: copies refer to the same data.
    Buffer<int> same = data;
    same.write(std::vector<int>(16, 7));
    good &= check(data.read(0)[3] == 7 && same.id() == data.id(), "copies of a buffer share its data");

    // The last argument of a transfer selects one queue, by its index or as a Queue.
    same.write(cpu_data, 0);
    std::vector<int> back(16);
    same.read_into(back, queue(0));
    good &= check(back == cpu_data, "a transfer can use queue 0 only");

    return good ? 0 : 1;
}
