// The stream kernels.
#include "stream_kernels.hpp"

#include "harness.hpp"

namespace volley::bench {

StreamBuffers::StreamBuffers() {
    c.fill(3.0F);
    a.fill(1.0F);
    b.fill(2.0F);
}

void Stream::check_on(const StreamBuffers& buffers) const {
    launch(buffers).wait();
    const std::vector<float> values = buffers.c.read(0);
    check(values.front() == result && values.back() == result, "a stream kernel");
}

Stream copy_stream() {
    const auto copy = kernel("copy", [](Buff<float> c, Buff<const float> a) {
        auto i = global_id().x;
        c[i] = a[i];
    });
    return {"c[i] = a[i];", 2, 2, 0.0F, 1.0F, [copy](const StreamBuffers& on) { return copy(on.c, on.a); }};
}

Stream scale_stream() {
    const auto scale = kernel("scale", [](Buff<float> c, Const<float> s) {
        auto i = global_id().x;
        c[i] = c[i] * s;
    });
    return {"c[i] = c[i] * s;",
            1,
            2,
            -1.0F,
            -3.0F,
            [scale](const StreamBuffers& on) { return scale(on.c, -1.0F); }};
}

Stream saxpy_stream() {
    const auto saxpy = kernel("saxpy", [](Buff<float> c, Buff<const float> a, Const<float> s) {
        auto i = global_id().x;
        c[i] = s * a[i] + c[i];
    });
    return {"c[i] = s * a[i] + c[i];", 2, 3, 0.5F, 3.5F, [saxpy](const StreamBuffers& on) {
                return saxpy(on.c, on.a, 0.5F);
            }};
}

Stream triad_stream() {
    const auto triad =
        kernel("triad", [](Buff<float> c, Buff<const float> a, Buff<const float> b, Const<float> s) {
            auto i = global_id().x;
            c[i] = a[i] + s * b[i];
        });
    return {"c[i] = a[i] + s * b[i];", 3, 3, 0.5F, 2.0F, [triad](const StreamBuffers& on) {
                return triad(on.c, on.a, on.b, 0.5F);
            }};
}

ClStream::ClStream(ClDevice& device, const Stream& stream)
    : device_(device),
      c_(device.wrap(arrays_.c.data(), arrays_.c.bytes())),
      a_(device.wrap(arrays_.a.data(), arrays_.a.bytes())),
      b_(device.wrap(arrays_.b.data(), arrays_.b.bytes())) {
    const char* const parameters[] = {"global float* restrict c", ", global const float* restrict a",
                                      ", global const float* restrict b"};
    std::string source = "kernel void stream(";
    for (int k = 0; k < stream.arrays; ++k) source += parameters[k];
    source += ", float s) { size_t i = get_global_id(0); ";
    source += stream.statement;
    source += " }";
    kernel_ = device.kernel(source, "stream");
    if (stream.arrays == 1) kernel_.bind(c_, stream.s);
    if (stream.arrays == 2) kernel_.bind(c_, a_, stream.s);
    if (stream.arrays == 3) kernel_.bind(c_, a_, b_, stream.s);
    run(0);
    check(arrays_.c[0] == stream.result && arrays_.c[stream_count - 1] == stream.result,
          "a stream kernel by hand");
}

}  // namespace volley::bench
