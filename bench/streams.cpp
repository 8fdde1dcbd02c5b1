// Stream kernels over arrays of 64 MiB: the memory's speed, with nothing of ours in the way. Bytes are those
// that the kernel reads and writes; what a store has to fetch first is not counted.
#include "harness.hpp"
#include "huge_array.hpp"
#include "peers.hpp"
#include "raw_opencl.hpp"

#include <volley/volley.hpp>

#include <memory>

namespace volley::bench {
namespace {

constexpr std::size_t count = std::size_t{16} << 20;
constexpr double seconds = 15;  // memory is shared with other machines: the best run takes a while to come
constexpr double plain_goal = 0.9;
constexpr double pocl_goal = 0.95;

const char* const source = R"(
kernel void copy(global float* restrict c, global const float* restrict a) {
    size_t i = get_global_id(0);
    c[i] = a[i];
}
kernel void scale(global float* c, float alpha) {
    size_t i = get_global_id(0);
    c[i] = c[i] * alpha;
}
kernel void saxpy(global float* restrict y, global const float* restrict x, float a) {
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}
kernel void triad(global float* restrict c, global const float* restrict a, global const float* restrict b, float s) {
    size_t i = get_global_id(0);
    c[i] = a[i] + s * b[i];
}
)";

/// Three arrays, the same for every contender.
struct Arrays {
    HugeArray<float> c{count, 3.0F};
    HugeArray<float> a{count, 1.0F};
    HugeArray<float> b{count, 2.0F};
};

struct ClArrays : Arrays {
    explicit ClArrays(ClDevice& device)
        : cl_c(device.wrap(c.data(), c.bytes())),
          cl_a(device.wrap(a.data(), a.bytes())),
          cl_b(device.wrap(b.data(), b.bytes())) {}
    ClBuffer cl_c, cl_a, cl_b;
};

struct VolleyArrays {
    VolleyArrays() {
        c.fill(3.0F);
        a.fill(1.0F);
        b.fill(2.0F);
    }
    Buffer<float> c{count}, a{count}, b{count};
};

/// The race of one stream: `bind` gives PoCL's kernel its arguments.
template <class Volley, class Plain, class Bind>
void compare(Report& report, const char* name, double arrays_moved, const Volley& run_volley,
             const Plain& run_plain, const Bind& bind) {
    std::vector<Contender> contenders;
    contenders.push_back({"volley", run_volley});
    contenders.push_back({"plain-c++", run_plain});

    std::unique_ptr<ClArrays> memory;
    ClKernel kernel;
    if (ClDevice* device = pocl()) {
        memory = std::make_unique<ClArrays>(*device);
        kernel = device->kernel(source, name);
        bind(kernel, *memory);
        std::vector<Contender> sizes;
        for (const std::size_t local : {0, 64, 256, 1024, 4096}) {
            sizes.push_back({"pocl", [device, local, &kernel] { device->run(kernel, count, local); }});
        }
        contenders.push_back(sizes[fastest(sizes, 0.3)]);
    }

    const std::vector<double> best = race(contenders, seconds);
    const auto speed = [&](std::size_t k) { return arrays_moved * sizeof(float) * count / best[k] * 1e-9; };
    report.add(gigabytes, speed(0), "plain-c++", speed(1), plain_goal);
    if (memory != nullptr) {
        report.add(gigabytes, speed(0), "pocl", speed(2), pocl_goal);
    } else {
        report.add(gigabytes, speed(0), "pocl", std::nullopt, pocl_goal, missing_pocl());
    }
}

void check_value(const Buffer<float>& buffer, float expected) {
    const std::vector<float> values = buffer.read(0);
    check(values.front() == expected && values.back() == expected, "a stream kernel");
}

}  // namespace

VOLLEY_BENCH(stream_copy, "foundation/stream_copy") {
    const auto copy = kernel("copy", [](Buff<float> c, Buff<const float> a) {
        auto i = global_id().x;
        c[i] = a[i];
    });
    const VolleyArrays ours;
    const Arrays plain;
    copy(ours.c, ours.a);
    check_value(ours.c, 1.0F);
    compare(
        report, "copy", 2, [&] { copy(ours.c, ours.a).wait(); },
        [&] {
            workers().split(count, [&](std::size_t begin, std::size_t end) {
                peer::copy(plain.c.data(), plain.a.data(), begin, end);
            });
        },
        [](ClKernel& k, ClArrays& m) { k.bind(m.cl_c, m.cl_a); });
}

VOLLEY_BENCH(stream_scale, "foundation/stream_scale") {
    // By -1, so that the values stay normal however often it runs.
    const auto scale = kernel("scale", [](Buff<float> c, Const<float> alpha) {
        auto i = global_id().x;
        c[i] = c[i] * alpha;
    });
    const VolleyArrays ours;
    const Arrays plain;
    scale(ours.c, -1.0F);
    check_value(ours.c, -3.0F);
    compare(
        report, "scale", 2, [&] { scale(ours.c, -1.0F).wait(); },
        [&] {
            workers().split(count, [&](std::size_t begin, std::size_t end) {
                peer::scale(plain.c.data(), -1.0F, begin, end);
            });
        },
        [](ClKernel& k, ClArrays& m) { k.bind(m.cl_c, -1.0F); });
}

VOLLEY_BENCH(stream_saxpy, "foundation/stream_saxpy") {
    const auto saxpy = kernel("saxpy", [](Buff<float> y, Buff<const float> x, Const<float> a) {
        auto i = global_id().x;
        y[i] = a * x[i] + y[i];
    });
    const VolleyArrays ours;
    const Arrays plain;
    saxpy(ours.c, ours.a, 0.5F);
    check_value(ours.c, 3.5F);
    compare(
        report, "saxpy", 3, [&] { saxpy(ours.c, ours.a, 0.5F).wait(); },
        [&] {
            workers().split(count, [&](std::size_t begin, std::size_t end) {
                peer::saxpy(plain.c.data(), plain.a.data(), 0.5F, begin, end);
            });
        },
        [](ClKernel& k, ClArrays& m) { k.bind(m.cl_c, m.cl_a, 0.5F); });
}

VOLLEY_BENCH(stream_triad, "foundation/stream_triad") {
    const auto triad =
        kernel("triad", [](Buff<float> c, Buff<const float> a, Buff<const float> b, Const<float> s) {
            auto i = global_id().x;
            c[i] = a[i] + s * b[i];
        });
    const VolleyArrays ours;
    const Arrays plain;
    triad(ours.c, ours.a, ours.b, 0.5F);
    check_value(ours.c, 2.0F);
    compare(
        report, "triad", 3, [&] { triad(ours.c, ours.a, ours.b, 0.5F).wait(); },
        [&] {
            workers().split(count, [&](std::size_t begin, std::size_t end) {
                peer::triad(plain.c.data(), plain.a.data(), plain.b.data(), 0.5F, begin, end);
            });
        },
        [](ClKernel& k, ClArrays& m) { k.bind(m.cl_c, m.cl_a, m.cl_b, 0.5F); });
}

}  // namespace volley::bench
