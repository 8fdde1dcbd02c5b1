// Lesson 3: kernels. Their parameters, the number of invocations, and the queue that runs them.
#include <volley/volley.hpp>

#include <cstdio>
#include <vector>

using namespace volley;

namespace {

bool check(bool right, const char* what) {
    std::printf("%-60s %s\n", what, right ? "ok" : "WRONG");
    return right;
}

// A plain function of Values is inlined into every kernel that calls it.
Value<float> square(Value<float> x) { return x * x; }

}  // namespace

int main() {
    bool good = true;

    // Buff<const T> is a read-only buffer, Buff<T> a buffer to read and write, and Const<T> a value. Host
    // numbers (0.5f, 2) adopt the type of the Value that they are combined with.
    auto axpy = kernel("axpy", [](Buff<const float> x, Buff<float> y, Const<float> a) {
        auto i = global_id().x;
        y[i] = a * x[i] + y[i];
    });
    Buffer<float> x = as_buffer(std::vector<float>(1000, 3.0f));
    Buffer<float> y = as_buffer(std::vector<float>(1000, 1.0f));
    axpy(x, y, 2.0f);  // runs one invocation for each element of the first buffer
    good &= check(y.read(0)[999] == 7.0f, "y = 2 x + y for all elements");

    axpy.over(10)(x, y, 2.0f);  // runs ten invocations
    good &= check(y.read(0)[9] == 13.0f && y.read(0)[10] == 7.0f, "over(10) changes ten elements");

    // Two dimensions: over(image) runs one invocation per element, with x along the last axis. image(y, x)
    // uses the strides of the buffer, so it also works for padded arrays and views.
    auto distance_from_corner = kernel("distance", [](Buff<float> image) {
        auto p = global_id();
        image(p.y, p.x) = sqrt(square(cast<float>(p.x)) + square(cast<float>(p.y)));
    });
    Buffer<float> image({48, 64});
    distance_from_corner.over(image)(image);
    good &= check(image.read(0)[4 * 64 + 3] == 5.0f, "over(image): the distance of pixel (3, 4) is 5");

    // groups() sets the number of workgroups, local() their size.
    auto who = kernel("who", [](Buff<u32> out) { out[global_id().x] = group_id().x * 1000u + local_id().x; });
    Buffer<u32> out(4 * 32);
    who.groups(4).local(32)(out);
    good &= check(out.read(0)[3 * 32 + 5] == 3005, "groups(4).local(32): invocation 5 of workgroup 3");

    // on() selects a queue. Without it, a kernel runs on every queue of the context.
    Event done = axpy.on(queue(0))(x, y, 0.0f);
    done.wait();
    good &= check(done.ready(), "an event is ready when its work is done");

    // Invalid launches throw.
    try {
        axpy.over(-5)(x, y, 1.0f);
        good = check(false, "a negative size");
    } catch (const LaunchError& error) {
        std::printf("a negative size is an error:\n    %s\n", error.what());
    }
    return good ? 0 : 1;
}
