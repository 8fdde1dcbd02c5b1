// What mapped arrays, store maps, lazy expressions and transform() refuse, before anything runs.
#include "support/backend_test.hpp"

#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/transform.hpp>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;

VOLLEY_BACKEND_TEST(MapErrors, TransformChecksTypesAndShapes) {
    Buffer<float> out({2, 3});
    out.fill(5);
    const Buffer<float> row = as_buffer({1.F, 2.F, 3.F});
    expect_contains(error_of(ErrorCode::TypeMismatch,
                             [&] {
                                 transform(out, as_buffer({1, 2, 3}));
                             }),
                    "the output takes f32, but the result is i32");
    expect_contains(error_of(ErrorCode::InvalidShape,
                             [&] {
                                 transform(out, as_buffer({1.F, 2.F}));
                             }),
                    "cannot be broadcast to (2, 3)");
    error_of(ErrorCode::InvalidShape, [&] { transform(out.reshape({6}), out); });
    error_of(ErrorCode::InvalidShape, [&] { transform(Buffer<float>(3), Buffer<float>({1, 3})); });
    EXPECT_EQ(out.read(0)[5], 5.F) << "nothing was written";
    transform(out, row);
    EXPECT_EQ(out.read(0)[5], 3.F);
}

VOLLEY_BACKEND_TEST(MapErrors, TransformRefusesOverlaps) {
    Buffer<int> data = as_buffer({0, 1, 2, 3, 4, 5, 6, 7});
    const auto refused = [&](const AnySink& to, const AnySource& from) {
        expect_contains(error_of(ErrorCode::InvalidView, [&] { transform(to, from); }),
                        "the output overlaps the input");
    };
    refused(data.view(1, 4), data.view(0, 4));
    refused(data.view(0, 4), lazy(data.view(0, 1)) + 1);
    refused(data.view(0, 4), lazy(data.view(4, 4)) + data.view(3, 4));
    refused(data.view_as<u32>(), map([](Value<u32> i, Buff<const int> x) { return cast<u32>(x[i]); })(data));
    transform(data.view(0, 4), data.view(4, 4));
    EXPECT_EQ(data.read(0), (std::vector<int>{4, 5, 6, 7, 4, 5, 6, 7}));
}

VOLLEY_BACKEND_TEST(MapErrors, RefuseBuffersWithoutStorage) {
    const Buffer<int> none;
    Buffer<int> out(3);
    error_of(ErrorCode::InvalidArgument, [&] { transform(out, none); });
    error_of(ErrorCode::InvalidArgument, [&] { transform(none, out); });
    EXPECT_THROW(static_cast<void>(map([](Value<u32> i, Buff<const int> x) { return x[i]; })(none)),
                 ArgumentError);
    Buffer<int> gone = as_buffer({1, 2, 3});
    gone.destroy();
    EXPECT_THROW(transform(out, gone), Error);
    transform(out, as_buffer({1, 2, 3}));
    EXPECT_EQ(out.read(0)[2], 3);
}

VOLLEY_BACKEND_TEST(MapErrors, RefuseBuffersOfOtherContexts) {
    const Buffer<int> mine = as_buffer({1, 2, 3});
    const Context other = make_context({.devices = {"cpu:0"}});
    Buffer<int> theirs;
    {
        const auto use = other.use();
        theirs = as_buffer({4, 5, 6});
        error_of(ErrorCode::WrongContext, [&] { static_cast<void>(evaluate(lazy(mine) + 1)); });
    }
    error_of(ErrorCode::WrongContext, [&] { static_cast<void>(evaluate(lazy(mine) + theirs)); });
    error_of(ErrorCode::WrongContext, [&] { transform(theirs, mine); });
    error_of(ErrorCode::WrongContext, [&] { transform(mine, theirs); });
    EXPECT_EQ(evaluate(lazy(mine) + 1).read(0)[2], 4);
}

TEST(MapChecks, BroadcastOnlyEqualOrSingleExtents) {
    expect_contains(error_of(ErrorCode::InvalidShape,
                             [] {
                                 static_cast<void>(broadcast_shape({2, 3}, {2, 4}));
                             }),
                    "(2, 3) and (2, 4) cannot be broadcast together");
    EXPECT_EQ(broadcast_shape({2, 1}, {5, 1, 3}), (Shape{5, 2, 3}));
    EXPECT_EQ(broadcast_shape({}, {0}), Shape(0));
    EXPECT_EQ(broadcast_shape({1}, {0}), Shape(0));
    const Buffer<int> a({2, 3}), b({2, 4});
    error_of(ErrorCode::InvalidShape, [&] { static_cast<void>(lazy(a) + b); });
    error_of(ErrorCode::InvalidShape, [&] { static_cast<void>(lazy(a).broadcast_to({3})); });
    error_of(ErrorCode::SizeMismatch, [&] { static_cast<void>(lazy(a).reshape({5})); });
    error_of(ErrorCode::SizeMismatch, [&] { static_cast<void>(AnySink(a).reshape({5})); });
}

TEST(MapChecks, CountTheirElements) {
    const Shape huge{1 << 16, 1 << 16};
    const auto index = map([](Value<u32> i) { return i; });
    expect_contains(error_of(ErrorCode::Overflow, [&] { static_cast<void>(index.over(huge)()); }),
                    "4294967296");
    EXPECT_NO_THROW(static_cast<void>(index.over({65535, 65537})()));
    error_of(ErrorCode::Overflow, [&] { static_cast<void>(AnySource(Buffer<u8>(huge))); });
    error_of(ErrorCode::Overflow, [&] { static_cast<void>(AnySink(Buffer<u8>(huge))); });
    error_of(ErrorCode::Overflow, [&] { static_cast<void>(AnySource::filled(huge, 1)); });
    error_of(ErrorCode::Overflow, [&] {
        static_cast<void>(AnySource(Buffer<u8>({1 << 16, 1})).broadcast_to(huge));
    });
}

TEST(MapChecks, NeedAShapeThatFitsTheirIndices) {
    const Buffer<int> a({2, 3}), strided = Buffer<int>({4, 6}).sub({all, slice(0, 6, 2)});
    const auto one = map([](Value<u32> i, Buff<const int> x) { return x[i]; });
    const auto three =
        map([](Value<u32> z, Value<u32> y, Value<u32> x, Buff<const int> b) { return b[z + y + x]; });
    expect_contains(error_of(ErrorCode::InvalidView, [&] { static_cast<void>(one(strided)); }), "one index");
    EXPECT_NO_THROW(static_cast<void>(one.over(strided.shape())(strided)));
    expect_contains(error_of(ErrorCode::InvalidShape, [&] { static_cast<void>(three(a)); }),
                    "a map with 3 indices is used over the shape (2, 3)");
    EXPECT_NO_THROW(static_cast<void>(three.over({1, 2, 3})(a)));
    expect_contains(
        error_of(ErrorCode::InvalidShape, [] { static_cast<void>(map([](Value<u32> i) { return i; })()); }),
        "the shape of a map without buffers is unknown");
}

TEST(MapChecks, RefuseNumbersThatDoNotFit) {
    const auto shift = map([](Value<u32> i, Const<u8> by) { return i + cast<u32>(by); }).over(4);
    error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(shift(256)); });
    error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(shift(-1)); });
    EXPECT_NO_THROW(static_cast<void>(shift(255)));
    const Buffer<u8> bytes(4);
    error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(lazy(bytes) + 300); });
    error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(-1 * lazy(bytes)); });
    EXPECT_NO_THROW(static_cast<void>(lazy(bytes) + 255));
}

TEST(MapChecks, CheckFunctionsOfRunTimeTypes) {
    const Buffer<float> a(4);
    const AnyFunction load = trace_function([](Value<u32> i, Buff<const float> x) { return x[i]; });
    const auto source = [](ErrorCode code, const AnyFunction& f, unsigned indices,
                           std::vector<AnyArgument> arguments) {
        return error_of(code, [&] { static_cast<void>(AnySource::mapped(f, indices, {2, 2}, arguments)); });
    };
    expect_contains(source(ErrorCode::InvalidArgument, load, 1, {}),
                    "2 parameters was called with 0 arguments");
    source(ErrorCode::InvalidArgument, load, 1, {a, a});
    expect_contains(source(ErrorCode::TypeMismatch, load, 1, {Buffer<int>(4)}),
                    "argument 1 of a map is a buffer of i32, but the parameter is a buffer of f32");
    source(ErrorCode::TypeMismatch, load, 1, {1.F});
    expect_contains(source(ErrorCode::TypeMismatch, load, 2, {}), "parameter 2 of a map is a buffer of f32");
    source(ErrorCode::InvalidShape, load, 3, {a});
    source(ErrorCode::TypeMismatch, trace_function([](Value<float> x) { return x; }), 1, {});
    source(ErrorCode::InvalidArgument, trace_function([](Value<u32> x) { return x; }), 2, {});
    const AnyFunction store =
        trace_function([](Value<u32> i, Value<float> v, Buff<float> out) { out[i] = v; });
    expect_contains(source(ErrorCode::TypeMismatch, store, 1, {1.F, a}), "returns nothing");
    error_of(ErrorCode::TypeMismatch, [&] { static_cast<void>(AnySink::mapped(load, 1, 4, {})); });
    error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(AnySink::mapped(store, 1, 4, {})); });
    error_of(ErrorCode::TypeMismatch, [&] {
        static_cast<void>(
            AnySink::mapped(trace_function([](Value<u32> i, Value<u32> v) { return i + v; }), 1, 4, {}));
    });
    const AnyFunction add = trace_function([](Value<float> x, Value<float> y) { return x + y; });
    error_of(ErrorCode::TypeMismatch, [&] { static_cast<void>(AnySource::computed(add, {AnySource(a)})); });
    expect_contains(error_of(ErrorCode::TypeMismatch,
                             [&] {
                                 static_cast<void>(AnySource::computed(add, {a, Buffer<int>(4)}));
                             }),
                    "(f32, i32)");
}

TEST(MapChecks, RefuseConversionsThatDoNotExist) {
    const Buffer<std::complex<float>> a(4);
    EXPECT_THROW(static_cast<void>(detail::evaluate(AnySource(a).convert(dtype_of<float>()), {})), Error);
    EXPECT_FALSE(lang::tracing());
}

TEST(MapChecks, ReportWhatALambdaThrows) {
    expect_contains(error_of(ErrorCode::TraceError,
                             [] {
                                 static_cast<void>(map([](Value<u32> i) {
                                     if (lang::tracing()) throw std::runtime_error("no such table");
                                     return i;
                                 }));
                             }),
                    "no such table");
    error_of(ErrorCode::TraceError, [] {
        static_cast<void>(store_map([](Value<u32> i, Value<int> x, Buff<int> out) {
            out[i] = x;
            barrier();
        }));
    });
    EXPECT_FALSE(lang::tracing());
}

}  // namespace
}  // namespace volley
