// What matmul() refuses, before anything is written.
#include "support/backend_test.hpp"

#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/matmul.hpp>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;

VOLLEY_BACKEND_TEST(MatmulErrors, ChecksShapesAndTypes) {
    const Buffer<float> a({2, 3}), b({4, 5});
    Buffer<float> c({2, 5});
    c.fill(1.F);
    expect_contains(error_of(ErrorCode::SizeMismatch, [&] { matmul(c, a, b); }),
                    "(2, 3) and (4, 5) cannot be multiplied");
    expect_contains(error_of(ErrorCode::SizeMismatch,
                             [&] {
                                 matmul(c, a, Buffer<float>({3, 5}), {.transpose_a = true});
                             }),
                    "(2, 3) (transposed)");
    expect_contains(error_of(ErrorCode::SizeMismatch,
                             [&] {
                                 matmul(c, a, Buffer<float>({3, 4}));
                             }),
                    "the output has the shape (2, 5), but the result has (2, 4)");
    expect_contains(error_of(ErrorCode::TypeMismatch,
                             [&] {
                                 matmul(c, a, Buffer<double>({3, 5}));
                             }),
                    "f32 and f64");
    error_of(ErrorCode::TypeMismatch, [&] { matmul(Buffer<int>({2, 5}), a, Buffer<float>({3, 5})); });
    error_of(ErrorCode::TypeMismatch, [&] {
        matmul(Buffer<bool>({2, 2}), Buffer<bool>({2, 2}), Buffer<bool>({2, 2}));
    });
    expect_contains(
        error_of(ErrorCode::InvalidShape,
                 [&] {
                     static_cast<void>(matmul(Buffer<float>({2, 3, 4}), Buffer<float>({3, 4, 5})));
                 }),
        "cannot be broadcast together");
    error_of(ErrorCode::InvalidShape, [&] { static_cast<void>(matmul(a, Buffer<float>(Shape{}))); });
    EXPECT_EQ(c.read(0), std::vector<float>(10, 1.F)) << "nothing was written";
}

VOLLEY_BACKEND_TEST(MatmulErrors, ChecksFactorsAndTuning) {
    const Buffer<float> a({3, 3});
    const Buffer<u8> bytes({3, 3});
    Buffer<float> c({3, 3});
    Buffer<u8> d({3, 3});
    expect_contains(
        error_of(ErrorCode::InvalidArgument, [&] { matmul(c, a, a, {.alpha = std::complex<float>(0, 1)}); }),
        "a complex factor");
    error_of(ErrorCode::InvalidArgument, [&] { matmul(d, bytes, bytes, {.alpha = 256}); });
    error_of(ErrorCode::InvalidArgument, [&] { matmul(d, bytes, bytes, {.alpha = 0.5}); });
    error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(matmul(a, a, {.beta = 1})); });
    const auto store = store_map([](Value<u32> i, Value<float> x, Buff<float> out) { out[i] = x; })(c);
    expect_contains(error_of(ErrorCode::InvalidArgument, [&] { matmul(store, a, a, {.beta = 1}); }),
                    "a store map");
    error_of(ErrorCode::InvalidArgument, [&] { matmul(c, a, a, {.tuning = {.rows = 17}}); });
    error_of(ErrorCode::InvalidArgument, [&] { matmul(c, a, a, {.tuning = {.lanes = 12}}); });
    const auto dynamic = [&] { return record([&] { matmul(c, a, a, {.alpha = dyn<double>("alpha")}); }); };
    expect_contains(error_of(ErrorCode::TypeMismatch, [&] { static_cast<void>(dynamic()); }),
                    "accumulated in f32");
}

VOLLEY_BACKEND_TEST(MatmulErrors, RefusesOverlapsAndForeignBuffers) {
    Buffer<float> a({4, 4});
    a.fill(1.F);
    expect_contains(error_of(ErrorCode::InvalidView,
                             [&] {
                                 matmul(a, a, Buffer<float>({4, 4}));
                             }),
                    "the output overlaps the input");
    error_of(ErrorCode::InvalidView, [&] {
        matmul(a.sub({slice(0, 2), all}), Buffer<float>({2, 4}), lazy(a) + 1.F);
    });
    Buffer<float> gone({4, 4});
    gone.destroy();
    EXPECT_THROW(static_cast<void>(matmul(a, gone)), Error);
    const Context other = make_context({.devices = {"cpu:0"}});
    Buffer<float> theirs;
    {
        const auto use = other.use();
        theirs = Buffer<float>({4, 4});
        theirs.fill(1.F);
    }
    error_of(ErrorCode::WrongContext, [&] { static_cast<void>(matmul(a, theirs)); });
    EXPECT_EQ(matmul(a, a).read(0)[5], 4.F) << "the context goes on";
}

}  // namespace
}  // namespace volley
