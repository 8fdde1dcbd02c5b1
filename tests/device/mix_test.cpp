// The builtins composed of several operations: fract, mod, mix, smoothstep, radians and degrees.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"
#include "support/edge_values.hpp"

namespace volley {
namespace {

using testing::moderate_values;

template <class T>
void check_mixing() {
    using V = const Value<T>&;
    const auto a = moderate_values<T>(1000, 71);
    const auto b = moderate_values<T>(1000, 72);
    const auto c = moderate_values<T>(1000, 73);
    // Sums of rounded products: an absolute bound, scaled by the size of the terms.
    const auto close = [](T got, T want, T x, T y, T z) {
        const double scale = 1 + std::fabs(double(x)) * std::fabs(double(z)) +
                             std::fabs(double(y)) * std::fabs(double(z)) + std::fabs(double(x)) +
                             std::fabs(double(y));
        return std::fabs(double(got) - double(want)) <= 4 * scale * double(std::numeric_limits<T>::epsilon());
    };
    testing::check_cases<T>(
        close,
        {{"mix", [](V x, V y, V t) { return mix(x, y, t); },
          [](T x, T y, T t) { return static_cast<T>(double(x) * (1 - double(t)) + double(y) * double(t)); }},
         {"fract", [](V x, V, V) { return fract(x); },
          [](T x, T, T) { return static_cast<T>(double(x) - std::floor(double(x))); }},
         {"mod by 3", [](V x, V, V) { return mod(x, 3); },
          [](T x, T, T) { return static_cast<T>(double(x) - 3 * std::floor(double(x) / 3)); }},
         {"radians", [](V x, V, V) { return radians(x); },
          [](T x, T, T) { return static_cast<T>(double(x) * 0.017453292519943295); }},
         {"clip", [](V x, V, V) { return clip(x, -2, 3); },
          [](T x, T, T) { return std::min(std::max(x, T(-2.0f)), T(3.0f)); }}},
        a, b, c);
    testing::check_within<T>(2,
                             {{"degrees", [](V x) { return degrees(x); },
                               [](T x) { return static_cast<T>(double(x) * 57.29577951308232); }}},
                             a);
    testing::check_cases<T>(
        [](T got, T want, T) {
            return std::fabs(double(got) - double(want)) <= 8 * double(std::numeric_limits<T>::epsilon());
        },
        {{"smoothstep", [](V x) { return smoothstep(-1, 2, x); },
          [](T x) {
              const double t = std::clamp((double(x) + 1) / 3, 0.0, 1.0);
              return static_cast<T>(t * t * (3 - 2 * t));
          }}},
        a);
}

VOLLEY_DEVICE_TEST(Mix, InterpolatesAndWraps) {
    each_type<f16, f32, f64>([]<class T>() { check_mixing<T>(); });
}

}  // namespace
}  // namespace volley
