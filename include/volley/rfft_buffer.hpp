// The two faces of an array that is transformed in place from real values to half of its spectrum and back.
#pragma once

#include <volley/buffer.hpp>

#include <complex>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace volley {

namespace detail {

/// The shape of the spectrum's half: the last axis has n / 2 + 1 entries. Throws ArgumentError (InvalidShape)
/// for a shape without axes or with an empty last one, naming the buffer that was to have it.
[[nodiscard]] VOLLEY_API Shape half_spectrum_shape(const Shape& real, std::string_view name = {});
/// The rows of reals that hold it: the last axis has 2 (n / 2 + 1) entries.
[[nodiscard]] VOLLEY_API Shape padded_real_shape(const Shape& real, std::string_view name = {});

}  // namespace detail

/// One storage, seen as real values (rows padded to an even length with room for one more complex number) and
/// as the n / 2 + 1 complex numbers of each row's half spectrum. What vkdispatch calls an RFFTBuffer. T is
/// float, double or half.
///
///     RfftBuffer<float> signal({64, 1000});
///     signal.write_real(samples);                  // 64 x 1000 floats
///     Buffer<std::complex<float>> f = signal.spectrum();   // 64 x 501, the same memory
template <class T>
class RfftBuffer {
public:
    using Complex = std::complex<T>;

    RfftBuffer() noexcept = default;
    /// The shape of the real values. The options' padded shape is not looked at.
    explicit RfftBuffer(const Shape& shape, BufferOptions options = {})
        : real_(shape, padded(std::move(options), shape)),
          spectrum_(real_.view(0, real_.window_elements())
                        .template view_as<Complex>()
                        .reshape(detail::half_spectrum_shape(shape))) {}
    // NOLINTNEXTLINE(google-explicit-constructor): the numbers are a shape, not the elements
    explicit RfftBuffer(std::initializer_list<Extent> shape, BufferOptions options = {})
        : RfftBuffer{detail::shape_of_buffer(shape, options.name), std::move(options)} {}

    /// The real values: an array with padded rows. Kernels see the padding; `strides()` tells the rows'
    /// distance.
    [[nodiscard]] Buffer<T> real() const { return real_; }
    /// The half spectrum, contiguous.
    [[nodiscard]] Buffer<Complex> spectrum() const { return spectrum_; }
    /// Of the real values.
    [[nodiscard]] const Shape& shape() const noexcept { return real_.shape(); }
    [[nodiscard]] const Shape& spectrum_shape() const noexcept { return spectrum_.shape(); }

    // See Buffer::write and Buffer::read.
    template <class R>
    void write_real(const R& data) {
        real_.write(data);
    }
    template <class R>
    void write_fourier(const R& data) {
        spectrum_.write(data);
    }
    [[nodiscard]] std::vector<T> read_real(unsigned k) const { return real_.read(k); }
    [[nodiscard]] std::vector<Complex> read_fourier(unsigned k) const { return spectrum_.read(k); }

private:
    [[nodiscard]] static BufferOptions padded(BufferOptions options, const Shape& shape) {
        options.padded_shape = detail::padded_real_shape(shape, options.name);
        return options;
    }

    Buffer<T> real_;
    Buffer<Complex> spectrum_;
};

/// Real data of that shape in such a buffer.
template <class R>
[[nodiscard]] auto as_rfft_buffer(const R& data, const Shape& shape, BufferOptions options = {}) {
    RfftBuffer<detail::element_of<R>> buffer(shape, std::move(options));
    buffer.write_real(data);
    return buffer;
}

}  // namespace volley
