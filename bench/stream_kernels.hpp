// The four streams over arrays of 64 MiB, each in Volley and in OpenCL C: c = a; c = s c; c = s a + c;
// c = a + s b. Invariant: all contenders start with c = 3, a = 1 and b = 2, so `result` is the same for each.
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

/// Filled buffers of the current context.
struct StreamBuffers {
    StreamBuffers();
    Buffer<float> c{stream_count}, a{stream_count}, b{stream_count};
};

/// The same arrays in host memory.
struct StreamArrays {
    HugeArray<float> c{stream_count, 3.0F}, a{stream_count, 1.0F}, b{stream_count, 2.0F};
};

struct Stream {
    std::string_view statement;  // for element i, in GLSL and OpenCL C
    int arrays = 0;              // number of arguments: c; c and a; c, a and b
    int moved = 0;               // number of arrays read or written
    float s = 0;
    float result = 0;  // value of c after one run
    std::function<Event(const StreamBuffers&)> launch;

    /// Returns the bytes that the kernel reads and writes, without the lines that a store fetches first.
    [[nodiscard]] double bytes() const { return moved * double{sizeof(float)} * stream_count; }
    /// Runs the kernel once. Throws if the result is wrong.
    void check_on(const StreamBuffers& buffers) const;
};

[[nodiscard]] Stream copy_stream();
/// Scales by -1, so that values stay normal after any number of runs.
[[nodiscard]] Stream scale_stream();
[[nodiscard]] Stream saxpy_stream();
[[nodiscard]] Stream triad_stream();

/// A checked stream in OpenCL C with separate arrays. It has no bounds guard, which would slow PoCL down by a
/// factor of 4.
class ClStream {
public:
    ClStream(ClDevice& device, const Stream& stream);
    /// With a local size of 0, the driver chooses.
    void run(std::size_t local) const { device_.run(kernel_, stream_count, local); }

private:
    ClDevice& device_;
    StreamArrays arrays_;
    ClBuffer c_, a_, b_;
    ClKernel kernel_;
};

}  // namespace volley::bench
