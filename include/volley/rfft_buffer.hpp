// RfftBuffer<T>: one storage for real values and for the half spectrum that an in-place transform computes
// from them.
#pragma once

#include <volley/buffer.hpp>

#include <complex>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace volley {

namespace detail {

/// Returns the shape of the half spectrum, whose last axis has n / 2 + 1 entries. Throws ArgumentError
/// (InvalidShape) for a shape without axes or with an empty last one; `name` names the buffer in the error.
[[nodiscard]] VOLLEY_API Shape half_spectrum_shape(const Shape& real, std::string_view name = {});
/// Returns the shape of the reals that hold it, whose last axis has 2 (n / 2 + 1) entries.
[[nodiscard]] VOLLEY_API Shape padded_real_shape(const Shape& real, std::string_view name = {});

}  // namespace detail

/// One storage with two views: real values, whose rows are padded to 2 (n / 2 + 1), and the n / 2 + 1 complex
/// numbers of each row's half spectrum. Corresponds to vkdispatch's RFFTBuffer. T is float, double or half.
///
///     RfftBuffer<float> signal({64, 1000});
///     signal.write_real(samples);                  // 64 x 1000 floats
///     Buffer<std::complex<float>> f = signal.spectrum();   // 64 x 501, the same memory
template <class T>
class RfftBuffer {
public:
    using Complex = std::complex<T>;

    RfftBuffer() noexcept = default;
    /// Creates a buffer for real values of the given shape. Ignores the options' padded shape.
    explicit RfftBuffer(const Shape& shape, BufferOptions options = {})
        : real_(shape, padded(std::move(options), shape)),
          spectrum_(real_.view(0, real_.window_bytes() / sizeof(T))
                        .template view_as<Complex>()
                        .reshape(detail::half_spectrum_shape(shape))) {}
    // NOLINTNEXTLINE(google-explicit-constructor): the numbers are a shape, not the elements
    explicit RfftBuffer(std::initializer_list<Extent> shape, BufferOptions options = {})
        : RfftBuffer{detail::shape_of_buffer(shape, options.name), std::move(options)} {}

    /// Returns the real values, an array with padded rows. Kernels see the padding; the distance of rows is
    /// in `strides()`.
    [[nodiscard]] Buffer<T> real() const { return real_; }
    /// Returns the half spectrum, which is contiguous.
    [[nodiscard]] Buffer<Complex> spectrum() const { return spectrum_; }
    /// Returns the shape of the real values.
    [[nodiscard]] const Shape& shape() const noexcept { return real_.shape(); }
    [[nodiscard]] const Shape& spectrum_shape() const noexcept { return spectrum_.shape(); }

    // Transfers: see Buffer::write and Buffer::read.
    template <class R>
    void write_real(const R& data, std::optional<QueueRef> queue = {}) {
        real_.write(data, queue);
    }
    template <class R>
    void write_fourier(const R& data, std::optional<QueueRef> queue = {}) {
        spectrum_.write(data, queue);
    }
    [[nodiscard]] std::vector<T> read_real(QueueRef queue) const { return real_.read(queue); }
    [[nodiscard]] std::vector<Complex> read_fourier(QueueRef queue) const { return spectrum_.read(queue); }

private:
    [[nodiscard]] static BufferOptions padded(BufferOptions options, const Shape& shape) {
        options.padded_shape = detail::padded_real_shape(shape, options.name);
        return options;
    }

    Buffer<T> real_;
    Buffer<Complex> spectrum_;
};

/// Returns an RfftBuffer of the given shape with the real data in every replica.
template <class R>
[[nodiscard]] auto as_rfft_buffer(const R& data, const Shape& shape, BufferOptions options = {}) {
    RfftBuffer<detail::element_of<R>> buffer(shape, std::move(options));
    buffer.write_real(data);
    return buffer;
}

}  // namespace volley
