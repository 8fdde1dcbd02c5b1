// Parts, mirrored, rotated, padded, repeated and joined arrays, against plain loops on the host.
#include "support/backend_test.hpp"
#include "support/random.hpp"

#include <volley/algorithms/map.hpp>
#include <volley/algorithms/rearrange.hpp>
#include <volley/algorithms/reduce.hpp>
#include <volley/algorithms/transpose.hpp>

#include <complex>
#include <functional>
#include <numeric>
#include <thread>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;
using testing::Random;

using HostIndex = std::vector<std::int64_t>;

std::vector<int> numbered(std::int64_t count) {
    std::vector<int> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), 1);
    return values;
}

Buffer<int> numbers(const Shape& shape) { return as_buffer(numbered(shape.elements()), shape); }

/// The array whose element at an index is that of `from` at place(index); -1 outside, where it is empty.
std::vector<int> arranged(const Buffer<int>& from, const Shape& shape,
                          const std::function<HostIndex(HostIndex)>& place) {
    const std::vector<int> data = from.read(0);
    std::vector<int> to;
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
        const Index at = unravel_index(i, shape);
        const HostIndex source = place(HostIndex(at.begin(), at.end()));
        const Index index{std::span<const std::int64_t>(source)};
        const bool none = source.empty() && from.shape().rank() > 0;
        to.push_back(none ? -1 : data[static_cast<std::size_t>(ravel_index(index, from.shape()))]);
    }
    return to;
}

/// As NumPy's pad: the index of the source, or -1.
std::int64_t padded_index(std::int64_t i, std::int64_t n, PadMode mode) {
    const auto modulo = [](std::int64_t a, std::int64_t b) { return (a % b + b) % b; };
    switch (mode) {
        case PadMode::Constant: return i < 0 || i >= n ? -1 : i;
        case PadMode::Edge: return std::clamp<std::int64_t>(i, 0, n - 1);
        case PadMode::Wrap: return modulo(i, n);
        case PadMode::Symmetric: {
            const std::int64_t phase = modulo(i, 2 * n);
            return phase < n ? phase : 2 * n - 1 - phase;
        }
        case PadMode::Reflect: {
            if (n == 1) return 0;
            const std::int64_t phase = modulo(i, 2 * n - 2);
            return phase < n ? phase : 2 * n - 2 - phase;
        }
    }
    return -1;
}

constexpr PadMode pad_modes[] = {PadMode::Constant, PadMode::Edge, PadMode::Reflect, PadMode::Symmetric,
                                 PadMode::Wrap};

/// Both forms of a pad, against the host.
void expect_padded(const Buffer<int>& from, const std::vector<PadWidth>& widths, PadMode mode) {
    const Shape& shape = from.shape();
    std::vector<std::int64_t> extents;
    for (int k = 0; k < shape.rank(); ++k) {
        const PadWidth& width = widths[widths.size() == 1 ? 0 : static_cast<std::size_t>(k)];
        extents.push_back(shape[k] + width.before + width.after);
    }
    const Shape to_shape{std::span<const std::int64_t>(extents)};
    const std::vector<int> expected = arranged(from, to_shape, [&](HostIndex at) {
        for (int k = 0; k < shape.rank(); ++k) {
            std::int64_t& i = at[static_cast<std::size_t>(k)];
            i = padded_index(i - widths[widths.size() == 1 ? 0 : static_cast<std::size_t>(k)].before,
                             shape[k], mode);
            if (i < 0) return HostIndex{};
        }
        return at;
    });
    Buffer<int> out(to_shape);
    pad(out, from, {.widths = widths, .mode = mode, .value = -1});
    EXPECT_EQ(out.read(0), expected) << shape.to_string() << ", mode " << static_cast<int>(mode);
    const Lazy<int> lazily = mode == PadMode::Constant ? pad(from, widths, -1) : pad(from, widths, mode);
    const Buffer<int> twice = lazily * 2;  // in one kernel, without parts
    const std::vector<int> got = twice.read(0);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], 2 * expected[i]) << i;
}

VOLLEY_DEVICE_TEST(Rearrangement, FlipsAxes) {
    for (const Shape& shape : {Shape{1}, Shape{2}, Shape{17}, Shape{64}, Shape{5, 33}, Shape{3, 2, 7}}) {
        const Buffer<int> a = numbers(shape);
        for (int axis = 0; axis < shape.rank(); ++axis) {
            const Buffer<int> got = flip(a, {axis - shape.rank()});
            EXPECT_EQ(got.read(0), arranged(a, shape, [&](HostIndex at) {
                          std::int64_t& i = at[static_cast<std::size_t>(axis)];
                          i = shape[axis] - 1 - i;
                          return at;
                      }));
        }
        std::vector<int> all_reversed = a.read(0);
        std::reverse(all_reversed.begin(), all_reversed.end());
        Buffer<int> out(shape);
        flip(out, a);
        EXPECT_EQ(out.read(0), all_reversed);
    }
}

VOLLEY_DEVICE_TEST(Rearrangement, RollsAxes) {
    const Shape shape{4, 3, 9};
    const Buffer<int> a = numbers(shape);
    for (const std::vector<std::int64_t>& shifts :
         {std::vector<std::int64_t>{1, 0, -2}, {-1, 2, 9}, {400, -301, 12345678901}, {0, 0, 0}}) {
        const Buffer<int> got = roll(a, shifts, {0, 1, 2});
        EXPECT_EQ(got.read(0), arranged(a, shape, [&](HostIndex at) {
                      for (std::size_t k = 0; k < 3; ++k) {
                          const std::int64_t n = shape[static_cast<int>(k)];
                          at[k] = ((at[k] - shifts[k]) % n + n) % n;
                      }
                      return at;
                  }));
    }
    const Buffer<int> line = numbers(257);
    std::vector<int> expected = line.read(0);
    std::rotate(expected.begin(), expected.end() - 100, expected.end());
    EXPECT_EQ(evaluate(roll(line, 100)).read(0), expected);
}

VOLLEY_DEVICE_TEST(Rearrangement, PadsWithEveryMode) {
    for (const PadMode mode : pad_modes) {
        expect_padded(numbers(7), {{3, 2}}, mode);
        expect_padded(numbers(Shape{5, 4}), {{0, 3}, {2, 0}}, mode);
        expect_padded(numbers(Shape{3, 1, 6}), {{2, 1}}, mode);
        expect_padded(numbers(3), {{20, 11}}, mode);  // several periods
        expect_padded(numbers(1), {{4, 4}}, mode);
        expect_padded(numbers(2), {{2, 2}}, mode);
    }
}

VOLLEY_DEVICE_TEST(Rearrangement, EvaluatesLargeArraysInParts) {
    const Buffer<int> image = numbers(Shape{180, 200});
    for (const PadMode mode : pad_modes) expect_padded(image, {{1, 2}, {5, 3}}, mode);
    const Buffer<int> line = numbers(40000);
    std::vector<int> expected = line.read(0);
    std::rotate(expected.begin(), expected.begin() + 123, expected.end());
    EXPECT_EQ(evaluate(roll(line, -123)).read(0), expected);
    const Buffer<int> rows = roll(numbers(Shape{200, 90, 2}), 7, 0);  // as one axis
    const std::vector<int> got = rows.read(0);
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i], static_cast<int>((i + 36000 - 7 * 180) % 36000 + 1)) << i;
}

VOLLEY_DEVICE_TEST(Rearrangement, EvaluatesLargeExpressionsInParts) {
    const Shape shape{170, 200};
    const Buffer<int> a = numbers(shape);
    const auto columns = map([](Value<u32> i) { return cast<int>(i); }).over(200);
    const Lazy<int> narrow = sub(a, {all, slice(0, 190)});
    const Buffer<int> got =
        lazy(a) + roll(a, 3) * 2 - flip(roll(a, -4), {1}) + pad(narrow, {{0, 0}, {4, 6}}, PadMode::Edge) +
        columns() + concatenate({narrow, sub(a, {all, slice(0, 10)})}, 1) + tile(sub(a, {1, 2}), {200});
    std::vector<int> expected;
    for (int y = 0; y < 170; ++y) {
        const auto at = [&](int x) { return y * 200 + (x + 200) % 200 + 1; };
        for (int x = 0; x < 200; ++x) {
            expected.push_back(at(x) + 2 * at(x - 3) - at(199 - x + 4) + at(std::clamp(x - 4, 0, 189)) + x +
                               at(x < 190 ? x : x - 190) + 203);
        }
    }
    EXPECT_EQ(got.read(0), expected);
    const Buffer<float> converted = convert<float>(roll(a, 70));
    EXPECT_EQ(converted.read(0)[70], 1.F);
    EXPECT_EQ(converted.read(0)[69], 200.F);
}

VOLLEY_DEVICE_TEST(Rearrangement, RepeatsAndTiles) {
    const Buffer<int> a = numbers(Shape{3, 5});
    EXPECT_EQ(evaluate(repeat(a, 3)).read(0), arranged(a, {3, 15}, [](const HostIndex& at) {
                  return HostIndex{at[0], at[1] / 3};
              }));
    Buffer<int> rows({6, 5});
    repeat(rows, a, {.count = 2, .axis = 0});
    EXPECT_EQ(rows.read(0), arranged(a, {6, 5}, [](const HostIndex& at) {
                  return HostIndex{at[0] / 2, at[1]};
              }));
    EXPECT_EQ(evaluate(tile(a, {4})).read(0), arranged(a, {3, 20}, [](const HostIndex& at) {
                  return HostIndex{at[0], at[1] % 5};
              }));
    Buffer<int> blocks({2, 6, 10});
    tile(blocks, a, {.counts = {2, 2, 2}});
    EXPECT_EQ(blocks.read(0), arranged(a, {2, 6, 10}, [](const HostIndex& at) {
                  return HostIndex{at[1] % 3, at[2] % 5};
              }));
    EXPECT_EQ(evaluate(tile(numbers(1), {9})).read(0), std::vector<int>(9, 1));
    const Buffer<int> wide = numbers(Shape{2, 70});
    EXPECT_EQ(evaluate(tile(wide, {3})).read(0), arranged(wide, {2, 210}, [](const HostIndex& at) {
                  return HostIndex{at[0], at[1] % 70};
              }));
    EXPECT_EQ(evaluate(repeat(a, 66)).read(0), arranged(a, {3, 330}, [](const HostIndex& at) {
                  return HostIndex{at[0], at[1] / 66};
              }));
    EXPECT_EQ(evaluate(repeat(a, 65, 0)).read(0), arranged(a, {195, 5}, [](const HostIndex& at) {
                  return HostIndex{at[0] / 65, at[1]};
              }));
    EXPECT_EQ(evaluate(repeat(a, 0)).shape(), (Shape{3, 0}));
}

VOLLEY_DEVICE_TEST(Rearrangement, JoinsArrays) {
    const Buffer<int> a = numbers(Shape{2, 3, 4}), b = numbers(Shape{2, 1, 4}), none({2, 0, 4});
    const Buffer<int> c = numbers(Shape{2, 5, 8}).sub({all, all, slice(1, 8, 2)});
    const std::vector<int> x = a.read(0), y = b.read(0), z = c.read(0);
    std::vector<int> expected;
    for (std::size_t outer = 0; outer < 2; ++outer) {
        const auto append = [&](const std::vector<int>& from, std::size_t count) {
            const auto first = from.begin() + static_cast<std::ptrdiff_t>(outer * count);
            expected.insert(expected.end(), first, first + static_cast<std::ptrdiff_t>(count));
        };
        append(x, 12);
        append(y, 4);
        append(z, 20);
    }
    const Buffer<int> joined = concatenate({a, none, b, c}, 1);
    EXPECT_EQ(joined.shape(), (Shape{2, 9, 4}));
    EXPECT_EQ(joined.read(0), expected);
    Buffer<int> padded({2, 9, 4}, {.padded_shape = {2, 10, 5}});
    concatenate(padded, {a, b, lazy(c) + 0}, {.axis = -2});
    EXPECT_EQ(padded.read(0), expected);
    const Buffer<int> fused = concatenate({a, b, c}, 1) + 1;
    std::vector<int> more = expected;
    for (int& value : more) ++value;
    EXPECT_EQ(fused.read(0), more);

    const Buffer<int> p = numbers(5), q = lazy(p) * 10;
    EXPECT_EQ(evaluate(stack({p, q})).read(0), (std::vector{1, 2, 3, 4, 5, 10, 20, 30, 40, 50}));
    EXPECT_EQ(evaluate(stack({p, q}, -1)).read(0), (std::vector{1, 10, 2, 20, 3, 30, 4, 40, 5, 50}));
    Buffer<int> out({5, 2});
    stack(out, {p, lazy(q) - p}, {.axis = 1});
    EXPECT_EQ(out.read(0), (std::vector{1, 9, 2, 18, 3, 27, 4, 36, 5, 45}));
}

VOLLEY_DEVICE_TEST(Rearrangement, SelectsPartsOfLazyArrays) {
    const Buffer<int> a = numbers(Shape{4, 5, 6});
    const std::vector<int> data = a.read(0);
    const auto cases = {Selection{1},
                        Selection{all, -1},
                        Selection{slice(1, 3), all, slice(none, none, 2)},
                        Selection{newaxis, slice(2, none), newaxis, 0},
                        Selection{ellipsis, slice(1, 2)},
                        Selection{ellipsis, slice(0, 4)},
                        Selection{}};
    for (const Selection& selection : cases) {
        const Buffer<int> part = a.sub(selection);
        const Buffer<int> got = sub(lazy(a) + 1, selection);
        EXPECT_EQ(got.shape(), part.shape()) << selection.to_string();
        std::vector<int> expected = part.read(0);
        for (int& value : expected) ++value;
        EXPECT_EQ(got.read(0), expected) << selection.to_string();
    }
    EXPECT_EQ(AnySource(sub(a, {slice(1, 2)})).buffer()->storage_id(), a.storage_id()) << "not a copy";
    EXPECT_EQ(evaluate(sub(broadcast_to(sub(a, {0, 0}), {3, 6}), {1})).read(0),
              (std::vector{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(evaluate(reshape(sub(a, {ellipsis, 0}), {20})).read(0)[19], 115);
    const Lazy<int> again = flip(sub(lazy(a) + 0, {slice(0, 3)}));
    EXPECT_EQ(evaluate(flip(sub(again, {slice(0, 2)}))).read(0), a.sub({slice(1, 3)}).read(0));
}

VOLLEY_DEVICE_TEST(Rearrangement, MovesElementsOfAnyType) {
    every_type<i8, u16, f16, float, u64, double, bool>([&]<class T>() {
        std::vector<T> data;
        for (int i = 0; i < 9; ++i) data.push_back(static_cast<T>(static_cast<float>(i % 3)));
        const Buffer<T> line = as_buffer(data);
        const Buffer<T> got = pad(flip(line), {{1, 0}}, T(1));
        std::vector<T> expected(data.rbegin(), data.rend());
        expected.insert(expected.begin(), T(1));
        EXPECT_EQ(got.read(0), expected);
        EXPECT_EQ(evaluate(concatenate({line, line})).read(0).size(), 18U);
    });
    using C = std::complex<float>;
    const std::vector<C> data{{1, 2}, {3, 4}, {5, 6}};
    EXPECT_EQ(evaluate(pad(as_buffer(data), {{1, 1}}, 7)).read(0),
              (std::vector<C>{7, {1, 2}, {3, 4}, {5, 6}, 7}));
    using V = vec<float, 3>;
    const Buffer<V> vectors = as_buffer(std::vector<V>{{1, 2, 3}, {4, 5, 6}});
    EXPECT_EQ(evaluate(pad(roll(vectors, 1), {{0, 1}}, V{7, 8, 9})).read(0),
              (std::vector<V>{{4, 5, 6}, {1, 2, 3}, {7, 8, 9}}));
    EXPECT_EQ(evaluate(pad(vectors, {{0, 1}})).read(0)[2], V{});
}

VOLLEY_DEVICE_TEST(Rearrangement, FusesWithMapsViewsAndAlgorithms) {
    const Buffer<int> whole = numbers(Shape{12, 30});
    const Buffer<int> view = whole.sub({slice(1, 11, 3), slice(2, 29, 2)});  // 4 x 14
    Buffer<int> rows({8, 40});
    rows.fill(-5);
    flip(rows.sub({slice(1, 8, 2), slice(3, 31, 2)}), view, {.axes = {1}});
    EXPECT_EQ(rows.sub({slice(1, 8, 2), slice(3, 31, 2)}).read(0),
              arranged(view, {4, 14}, [](const HostIndex& at) {
                  return HostIndex{at[0], 13 - at[1]};
              }));
    EXPECT_EQ(rows.sub({slice(0, 8, 2)}).read(0), std::vector<int>(160, -5));

    // A map that must not be called outside of its array.
    const auto steps = map([](Value<u32> i, Buff<const int> x) { return x[i + 1U] - x[i]; }).over(9);
    const Buffer<int> line = numbers(10);
    const Buffer<int> bordered = pad(steps(line), {{70, 1}}, 0);
    EXPECT_EQ(reduce::sum(bordered).item(), 9);

    const auto negated = store_map([](Value<u32> i, Value<int> x, Buff<int> to) { to[i] = -x; });
    Buffer<int> out(20);
    concatenate(negated(out), {flip(line), line});
    EXPECT_EQ(out.read(0)[0], -10);
    EXPECT_EQ(out.read(0)[19], -10);
    EXPECT_EQ(out.read(0)[10], -1);

    // A sum of a transposed, rolled, padded array: 1 + 2 + ... + 360, and 84 borders.
    EXPECT_EQ(reduce::sum(pad(roll(transpose(whole), 5, 0), {{1, 0}, {2, 2}}, 1)).item(),
              360 * 361 / 2 + (31 * 16 - 360));
}

VOLLEY_DEVICE_TEST(Rearrangement, ComposesAtRandom) {
    const std::uint64_t seed = testing::seed_or(20261119);
    Random random(seed);
    for (int round = 0; round < 6; ++round) {
        const ::testing::ScopedTrace trace(__FILE__, __LINE__, "VOLLEY_SEED=" + std::to_string(seed));
        Buffer<int> done = numbers(Shape{random.between(1, 4), random.between(1, 5), random.between(1, 6)});
        Lazy<int> lazily = lazy(done);
        for (int step = 0; step < 4; ++step) {
            const int axis = static_cast<int>(random.between(-3, 2));
            const PadWidth width{random.between(0, 4), random.between(0, 3)};
            const PadMode mode =
                random.pick<PadMode>({PadMode::Edge, PadMode::Reflect, PadMode::Symmetric, PadMode::Wrap});
            const std::int64_t shift = random.between(-9, 9);
            switch (random.below(4)) {
                case 0: lazily = flip(lazily, {axis}), done = flip(done, {axis}); break;
                case 1: lazily = roll(lazily, shift, axis), done = roll(done, shift, axis); break;
                case 2: lazily = pad(lazily, {width}, mode), done = pad(done, {width}, mode); break;
                default: lazily = swap_axes(lazily, axis, 0), done = swap_axes(done, axis, 0); break;
            }
        }
        EXPECT_EQ(evaluate(lazily).read(0), done.read(0));  // one kernel for all steps, and one for each
    }
}

VOLLEY_BACKEND_TEST(RearrangementViews, AreNotCopiedForNothing) {
    const Buffer<int> a = numbers(Shape{2, 3});
    for (const AnySource& same :
         {AnySource(roll(a, 6)), AnySource(flip(a.sub({slice(0, 2), all}), {0})), AnySource(pad(a, {{0, 0}})),
          AnySource(repeat(a, 1)), AnySource(tile(a, {1})), AnySource(concatenate({a}))}) {
        EXPECT_EQ(same.shape(), a.shape());
    }
    EXPECT_EQ(AnySource(roll(a, 6)).buffer()->id(), a.id());
    EXPECT_EQ(AnySource(tile(a, {1, 1})).buffer()->id(), a.id());
    EXPECT_EQ(evaluate(tile(a, {1, 1, 1})).shape(), (Shape{1, 2, 3}));
}

VOLLEY_BACKEND_TEST(RearrangementViews, TakeFewAxesAndNoElements) {
    Buffer<int> scalar(Shape{});
    scalar.fill(5);
    EXPECT_EQ(evaluate(flip(scalar)).item(), 5);
    EXPECT_EQ(evaluate(tile(scalar, {3})).read(0), (std::vector{5, 5, 5}));
    EXPECT_EQ(evaluate(stack({scalar, scalar})).read(0), (std::vector{5, 5}));
    const Buffer<int> none({3, 0});
    EXPECT_EQ(evaluate(flip(none)).shape(), (Shape{3, 0}));
    EXPECT_EQ(evaluate(roll(none, 1)).shape(), (Shape{3, 0}));
    EXPECT_EQ(evaluate(pad(none, {{1, 0}, {1, 1}}, 4)).read(0), std::vector<int>(8, 4));
    EXPECT_EQ(evaluate(concatenate({none, none}, 1)).shape(), (Shape{3, 0}));
    EXPECT_EQ(evaluate(tile(none, {2, 3})).shape(), (Shape{6, 0}));
}

VOLLEY_BACKEND_TEST(RearrangementViews, RunInGraphsAndOnQueues) {
    Buffer<int> a = numbers(40000), b(40010);
    CommandGraph graph = record([&] {
        pad(b, a, {.widths = {{4, 6}}, .value = dyn<int>("border")});
        transform(a, sub(b, {slice(0, 40000)}));
    });
    graph.bind("border", {-1, -2, -3});
    graph.submit({.instances = 3, .queue = queue(1)});
    EXPECT_EQ(a.read(1)[0], -3);
    EXPECT_EQ(a.read(1)[4], -2);
    EXPECT_EQ(a.read(1)[39999], 40000 - 12);
    EXPECT_EQ(b.read(1)[40009], -3);
    EXPECT_EQ(a.read(0)[0], 1);
    Buffer<int> there(30000, {.placement = Placement::on(queue(1))});
    there.fill(3);
    const Buffer<int> one = concatenate({there, a});
    EXPECT_EQ(one.placement(), Placement::on(queue(1)));
    EXPECT_EQ(one.read(1)[30004], -2);
    std::thread other([&, context = current_context()] {
        const auto scope = context.use();
        EXPECT_EQ(evaluate(flip(a)).read(1)[39999], -3);
    });
    EXPECT_EQ(evaluate(roll(a, 1)).read(1)[1], -3);
    other.join();
}

VOLLEY_BACKEND_TEST(RearrangementErrors, NameWhatDoesNotFit) {
    Buffer<int> a({3, 4}), out({3, 4});
    out.fill(7);
    const auto ignore = [](const AnySource&) {};
    const auto refused = [](ErrorCode code, auto call) { return error_of(code, call); };
    expect_contains(refused(ErrorCode::IndexError, [&] { ignore(flip(a, {2})); }), "axis 2");
    expect_contains(refused(ErrorCode::InvalidArgument, [&] { ignore(flip(a, {1, -1})); }), "repeated");
    refused(ErrorCode::IndexError, [&] { ignore(roll(a, 1, -3)); });
    expect_contains(refused(ErrorCode::InvalidArgument,
                            [&] {
                                ignore(roll(a, {1, 2, 3}, {0, 1}));
                            }),
                    "3 shifts were given for 2 axes");
    refused(ErrorCode::InvalidArgument, [&] { ignore(roll(a, std::vector<std::int64_t>{}, {0})); });
    expect_contains(refused(ErrorCode::InvalidArgument,
                            [&] {
                                ignore(pad(a, {{1, 1}, {1, 1}, {0, 0}}));
                            }),
                    "3 widths were given");
    expect_contains(refused(ErrorCode::InvalidArgument, [&] { ignore(pad(a, {{-1, 1}})); }), "{-1, 1}");
    expect_contains(refused(ErrorCode::InvalidShape,
                            [&] {
                                ignore(pad(Buffer<int>(0), {{1, 1}}, PadMode::Edge));
                            }),
                    "no elements to extend");
    refused(ErrorCode::TypeMismatch, [&] { ignore(pad(a, {{1, 1}}, 1.5)); });
    refused(ErrorCode::InvalidArgument, [&] { ignore(pad(Buffer<u8>(3), {{1, 1}}, 256)); });
    refused(ErrorCode::InvalidArgument, [&] { ignore(pad(Buffer<u8>(3), {{1, 1}}, -1)); });
    EXPECT_NO_THROW(ignore(pad(Buffer<i8>(3), {{1, 1}}, -128)));
    refused(ErrorCode::InvalidArgument, [&] { ignore(repeat(a, -1)); });
    refused(ErrorCode::InvalidArgument, [&] { ignore(tile(a, {2, -1})); });
    refused(ErrorCode::Overflow, [&] { ignore(tile(a, {1 << 20, 1 << 20})); });
    refused(ErrorCode::InvalidArgument, [&] { ignore(concatenate(std::vector<Buffer<int>>{})); });
    expect_contains(refused(ErrorCode::InvalidShape,
                            [&] {
                                ignore(concatenate({a, Buffer<int>({3, 5})}));
                            }),
                    "array 2 has the shape");
    refused(ErrorCode::InvalidShape, [&] { ignore(stack({a, Buffer<int>({3, 5})}, 1)); });
    refused(ErrorCode::TypeMismatch, [&] { concatenate(out, {a, Buffer<float>({3, 4})}); });
    refused(ErrorCode::IndexError, [&] { ignore(stack({a, a}, 3)); });
    refused(ErrorCode::SizeMismatch, [&] { pad(out, a, {.widths = {{1, 1}}}); });
    refused(ErrorCode::TypeMismatch, [&] { flip(out, Buffer<float>({3, 4})); });
    expect_contains(refused(ErrorCode::InvalidView, [&] { flip(out, out); }), "overlaps");
    refused(ErrorCode::InvalidView, [&] {
        concatenate(out, {out.sub({slice(0, 2)}), a.sub({slice(0, 1)})});
    });
    refused(ErrorCode::InvalidView, [&] { transform(out, lazy(out) + roll(out, 1)); });
    refused(ErrorCode::IndexError, [&] { ignore(sub(lazy(a) + 1, {3})); });
    EXPECT_EQ(out.read(0), std::vector<int>(12, 7)) << "nothing was written";
}

}  // namespace
}  // namespace volley
