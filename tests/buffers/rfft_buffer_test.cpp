// RfftBuffer: one storage as real values and as their half spectrum.
#include "buffers/buffer_support.hpp"

#include <complex>

namespace volley {
namespace {

using testing::error_of;
using testing::numbers;

VOLLEY_BACKEND_TEST(RfftBuffer, HasTwoFaces) {
    RfftBuffer<float> buffer({3, 7});
    EXPECT_EQ(buffer.shape(), Shape({3, 7}));
    EXPECT_EQ(buffer.spectrum_shape(), Shape({3, 4}));
    EXPECT_EQ(buffer.real().storage_id(), buffer.spectrum().storage_id());
    EXPECT_EQ(buffer.real().strides().to_string(), "(32, 4)");
    EXPECT_TRUE(buffer.spectrum().is_contiguous());
    buffer.write_real(numbers<float>(21));
    EXPECT_EQ(buffer.read_real(0), numbers<float>(21));
    const std::vector<std::complex<float>> spectrum = buffer.read_fourier(1);
    EXPECT_EQ(spectrum[0], std::complex<float>(0, 1));
    EXPECT_EQ(spectrum[4], std::complex<float>(7, 8)) << "a row begins where the real one does";
    std::vector<std::complex<float>> other(12, {1, -1});
    buffer.write_fourier(other);
    EXPECT_EQ(buffer.read_real(1)[1], -1);
    EXPECT_EQ(buffer.read_fourier(0), other);
}

VOLLEY_BACKEND_TEST(RfftBuffer, OfEvenLengthHasRoomForOneMore) {
    const auto buffer = as_rfft_buffer(numbers<double>(8), {8});
    EXPECT_EQ(buffer.spectrum_shape(), Shape({5}));
    EXPECT_EQ(buffer.real().window_bytes(), 80u);
    EXPECT_EQ(buffer.read_real(0), numbers<double>(8));
    EXPECT_EQ(RfftBuffer<float>({8}).spectrum_shape(), Shape({5}));
}

VOLLEY_BACKEND_TEST(RfftBuffer, NeedsALastAxis) {
    error_of(ErrorCode::InvalidShape, [] { static_cast<void>(RfftBuffer<float>{Shape()}); });
    error_of(ErrorCode::InvalidShape, [] { RfftBuffer<float>({4, 0}); });
}

}  // namespace
}  // namespace volley
