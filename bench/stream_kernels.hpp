// The four streams over arrays of 64 MiB, each in Volley and in OpenCL C: c = a; c = s c; c = s a + c;
// c = a + s b. Invariant: all contenders start with c = 3, a = 1 and b = 2, so that `result` holds for each.
#pragma once

#include "huge_array.hpp"
#include "raw_opencl.hpp"

#include <volley/volley.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace volley::bench {

inline constexpr std::size_t stream_count = std::size_t{16} << 20;

/// Of the current context, filled.
struct StreamBuffers {
    StreamBuffers();
    Buffer<float> c{stream_count}, a{stream_count}, b{stream_count};
};

/// The same in the host's memory.
struct StreamArrays {
    HugeArray<float> c{stream_count, 3.0F}, a{stream_count, 1.0F}, b{stream_count, 2.0F};
};

struct Stream {
    std::string_view statement;  // of element i, as it is written in GLSL and in OpenCL C
    int arrays = 0;              // that it has as arguments: c; c and a; c, a and b
    int moved = 0;               // arrays that are read or written
    float s = 0;
    float result = 0;  // in c, when it has run once
    std::function<Event(const StreamBuffers&)> launch;

    /// Bytes that the kernel reads and writes; what a store has to fetch first is not counted.
    [[nodiscard]] double bytes() const { return moved * double{sizeof(float)} * stream_count; }
    /// Runs it once, and throws where the result is another.
    void check_on(const StreamBuffers& buffers) const;
};

[[nodiscard]] Stream copy_stream();
/// By -1, so that the values stay normal however often it runs.
[[nodiscard]] Stream scale_stream();
[[nodiscard]] Stream saxpy_stream();
[[nodiscard]] Stream triad_stream();

/// A stream in OpenCL C with arrays of its own, checked. Without a bounds guard, which would cost PoCL a
/// factor of 4.
class ClStream {
public:
    ClStream(ClDevice& device, const Stream& stream);
    /// A local size of 0 leaves the choice to the driver.
    void run(std::size_t local) const { device_.run(kernel_, stream_count, local); }

private:
    ClDevice& device_;
    StreamArrays arrays_;
    ClBuffer c_, a_, b_;
    ClKernel kernel_;
};

}  // namespace volley::bench
