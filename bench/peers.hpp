// The plain C++ peers. They are compiled for this machine's processor, so they use no inline functions of the
// library: the linker could otherwise pick their machine-specific code for other files.
#pragma once

#include <cstddef>

namespace volley::bench::peer {

// Streams over [begin, end).
void copy(float* to, const float* from, std::size_t begin, std::size_t end);
void scale(float* data, float alpha, std::size_t begin, std::size_t end);
void saxpy(float* y, const float* x, float a, std::size_t begin, std::size_t end);
void triad(float* to, const float* a, const float* b, float s, std::size_t begin, std::size_t end);

// Copies bytes; the ranges must not overlap.
void copy_bytes(void* to, const void* from, std::size_t bytes);
/// Copies with non-temporal stores.
void stream_bytes(void* to, const void* from, std::size_t bytes);

/// Equal blocks of two arrays of floats: planes of rows with gaps. Strides are in floats.
struct Block {
    std::size_t columns, rows, planes;
    std::size_t to_row, to_plane, from_row, from_plane;
};
// Copy the planes [begin, end): each row by memcpy, or float by float.
void copy_block_by_rows(float* to, const float* from, const Block& block, std::size_t begin, std::size_t end);
void copy_block_by_floats(float* to, const float* from, const Block& block, std::size_t begin,
                          std::size_t end);

/// Computes std::sin of each element.
void sine(float* to, const float* from, std::size_t begin, std::size_t end);

/// Computes the rows [begin, end) of a step of heat conduction, except their first and last cells.
void heat(float* to, const float* from, std::size_t width, std::size_t begin, std::size_t end);
/// Computes one step of the heat equation for the rows [begin, end), without the first and last column.
void heat_rows(float* to, const float* from, std::size_t side, std::size_t begin, std::size_t end);

/// The bodies of an n-body problem, one array per component.
struct Bodies {
    const float *x, *y, *z, *mass;
    float *ax, *ay, *az;
    std::size_t count;
};
/// Computes the accelerations of the bodies [begin, end) by all bodies.
void accelerate(const Bodies& bodies, float softening, std::size_t begin, std::size_t end);

/// The position of a Mandelbrot image in the plane.
struct Picture {
    unsigned width, height, limit;
    float left, top, step;
};
/// Computes the iterations of each point of the rows [begin, end).
void mandelbrot(unsigned* iterations, const Picture& picture, std::size_t begin, std::size_t end);

/// Counts how often each byte occurs; bins has 256 elements.
void histogram(unsigned* bins, const unsigned char* data, std::size_t count);

}  // namespace volley::bench::peer
