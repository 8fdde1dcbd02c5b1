// What Volley is measured against, as plain functions on plain memory. They are compiled for this machine's
// processor, so they use nothing whose code another file could share by accident (no inline functions of the
// library).
#pragma once

#include <cstddef>

namespace volley::bench::peer {

// Streams over [begin, end).
void copy(float* to, const float* from, std::size_t begin, std::size_t end);
void scale(float* data, float alpha, std::size_t begin, std::size_t end);
void saxpy(float* y, const float* x, float a, std::size_t begin, std::size_t end);
void triad(float* to, const float* a, const float* b, float s, std::size_t begin, std::size_t end);

// Bytes from one place to another that does not overlap it.
void copy_bytes(void* to, const void* from, std::size_t bytes);
/// With stores that go past the caches.
void stream_bytes(void* to, const void* from, std::size_t bytes);

/// A block of an array of floats, and its like in another: planes of rows that lie apart. Strides in floats.
struct Block {
    std::size_t columns, rows, planes;
    std::size_t to_row, to_plane, from_row, from_plane;
};
// The planes [begin, end): each row by memcpy, or float by float.
void copy_block_by_rows(float* to, const float* from, const Block& block, std::size_t begin, std::size_t end);
void copy_block_by_floats(float* to, const float* from, const Block& block, std::size_t begin,
                          std::size_t end);

/// std::sin of each element.
void sine(float* to, const float* from, std::size_t begin, std::size_t end);

/// The bodies of an n-body problem, one array a component.
struct Bodies {
    const float *x, *y, *z, *mass;
    float *ax, *ay, *az;
    std::size_t count;
};
/// Accelerations of the bodies [begin, end) by all.
void accelerate(const Bodies& bodies, float softening, std::size_t begin, std::size_t end);

/// Where a Mandelbrot picture lies in the plane.
struct Picture {
    unsigned width, height, limit;
    float left, top, step;
};
/// Iterations of each point of the rows [begin, end).
void mandelbrot(unsigned* iterations, const Picture& picture, std::size_t begin, std::size_t end);

}  // namespace volley::bench::peer
