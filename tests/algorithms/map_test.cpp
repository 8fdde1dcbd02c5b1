// Mapped arrays, store maps and lazy expressions, evaluated by transform() and evaluate().
#include "support/device_fixture.hpp"
#include "support/expect_error.hpp"

#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/transform.hpp>

#include <numeric>

namespace volley {
namespace {

std::vector<float> counting(std::size_t count, float first = 0) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
}

VOLLEY_DEVICE_TEST(Map, EvaluatesAFunctionOfTheIndex) {
    const Buffer<float> a = as_buffer(counting(1000)), b = as_buffer(counting(1000, 5));
    const auto product =
        map([](Value<u32> i, Buff<const float> x, Buff<const float> y) { return x[i] * y[i]; })(a, b);
    const std::vector<float> got = evaluate(product).read(0);
    for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_EQ(got[i], static_cast<float>(i) * static_cast<float>(i + 5)) << i;
}

VOLLEY_DEVICE_TEST(Map, TakesOneIndexPerAxisAndValues) {
    const auto map_of = map([](Value<u32> y, Value<u32> x, Const<float> scale) {
        return cast<float>(y) * 100.0f + cast<float>(x) * scale;
    });
    const std::vector<float> got = evaluate(map_of.over({3, 7})(2)).read(0);
    for (std::size_t i = 0; i < 21; ++i)
        EXPECT_EQ(got[i], static_cast<float>(i / 7) * 100.0f + static_cast<float>(i % 7) * 2.0f) << i;
}

VOLLEY_DEVICE_TEST(Map, KeepsControlFlowAndVariables) {
    const auto collatz = map([](Value<u32> i, Const<u32> limit) {
        Var<u32> n = i + 1u;
        Var<u32> steps = 0u;
        $while (n != 1u) {
            $if (n % 2u == 0u) {
                n = n / 2u;
            }
            $else { n = n * 3u + 1u; }
            steps += 1u;
            $if (steps == limit) {
                $break;
            }
        }
        return Value<u32>(steps);
    });
    const std::vector<u32> got = evaluate(collatz.over(30)(1000)).read(0);
    for (u32 i = 0; i < 30; ++i) {
        u32 n = i + 1, steps = 0;
        for (; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : n * 3 + 1;
        EXPECT_EQ(got[i], steps) << i;
    }
}

VOLLEY_DEVICE_TEST(Map, StoresThroughAMap) {
    const Buffer<float> a = as_buffer(counting(64));
    Buffer<half> out(64);
    const auto to = store_map(
        [](Value<u32> i, Value<float> x, Buff<half> o, Const<float> s) { o[i] = cast<half>(x * s); });
    transform(to(out, 0.5f), a);
    const std::vector<half> got = out.read(0);
    for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_EQ(static_cast<float>(got[i]), static_cast<float>(i) / 2);
}

VOLLEY_DEVICE_TEST(Lazy, ComputesWholeArrays) {
    const Buffer<float> a = as_buffer(counting(100)), b = as_buffer(counting(100, 1));
    Buffer<float> c(100);
    transform(c, lazy(a) * 2.f + lazy(b));
    const std::vector<float> got = c.read(0);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], static_cast<float>(3 * i + 1)) << i;
    const Buffer<float> d = max(lazy(a), 50) - b;
    EXPECT_EQ(d.read(0)[99], -1.0f);
    EXPECT_EQ(d.read(0)[0], 49.0f);
    const std::vector<float> chosen = evaluate(select(lazy(a) > 50.f, -1.f, a)).read(0);
    EXPECT_EQ(chosen[50], 50.0f);
    EXPECT_EQ(chosen[51], -1.0f);
}

VOLLEY_DEVICE_TEST(Lazy, BroadcastsShapes) {
    const Buffer<float> rows = as_buffer(counting(3), Shape{3, 1});
    const Buffer<float> columns = as_buffer(counting(5, 10));
    const Buffer<float> sum = lazy(rows) * 100.f + columns;
    ASSERT_EQ(sum.shape(), (Shape{3, 5}));
    const std::vector<float> got = sum.read(0);
    for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_EQ(got[i], static_cast<float>(i / 5) * 100.f + static_cast<float>(10 + i % 5)) << i;
}

VOLLEY_DEVICE_TEST(Lazy, ReadsAndWritesViewsOfFourAxes) {
    const Buffer<float> whole = as_buffer(counting(4 * 5 * 6 * 7), Shape{4, 5, 6, 7});
    const Buffer<float> part = whole.sub({slice(0, 4, 2), slice(1, 4), all, slice(0, 7, 3)});
    Buffer<float> out(Shape{2, 3, 6, 3}, {.padded_shape = Shape{2, 4, 6, 5}});
    transform(out, lazy(part) + 1.f);
    const std::vector<float> from = part.read(0), got = out.read(0);
    for (std::size_t i = 0; i < from.size(); ++i) EXPECT_EQ(got[i], from[i] + 1.f) << i;
}

TEST(MapCode, IsCachedByItsCode) {
    const auto make = [](float factor) {
        return trace_function([factor](Value<u32> i) { return cast<float>(i) * factor; });
    };
    EXPECT_EQ(make(2).hash(), make(2).hash());
    EXPECT_NE(make(2).hash(), make(3).hash());
}

TEST(MapCode, RefusesWhatCannotBeCalled) {
    const std::string text = testing::error_of(ErrorCode::TraceError, [] {
        static_cast<void>(trace_function([](Value<u32> i) {
            $if (i > 3u) {
                $return;
            }
            return i;
        }));
    });
    testing::expect_contains(text, "$return");
}

}  // namespace
}  // namespace volley
