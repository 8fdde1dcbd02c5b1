// Lesson 17: Monte Carlo. Random numbers inside kernels: pi from points in a square, and the price of an
// option, whose error falls as one over the root of the number of paths.
#include <volley/volley.hpp>

#include <cmath>
#include <iomanip>
#include <iostream>

using namespace volley;

namespace {

// The price of a call option by the formula of Black and Scholes, to compare with.
double black_scholes(double price, double strike, double rate, double volatility, double years) {
    const auto normal = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
    const double spread = volatility * std::sqrt(years);
    const double d = (std::log(price / strike) + (rate + volatility * volatility / 2) * years) / spread;
    return price * normal(d) - strike * std::exp(-rate * years) * normal(d - spread);
}

}  // namespace

int main() {
    // A map that throws four darts at a square: philox() is a pure function of a key and a counter, so any
    // element of any device computes its own random numbers. Returns how many hit the quarter circle.
    const auto darts = map([](Value<u32> i, Const<u32> seed) {
        Var<u32> hits(0u);
        $for (k, 0u, 2u) {
            const auto words = random::philox(make<vec<u32, 2>>(seed, 0u), make<vec<u32, 4>>(i, k, 0u, 0u));
            const auto hit = [](const Value<u32>& a, const Value<u32>& b) {
                const auto x = random::unit_float(a), y = random::unit_float(b);
                return select(x * x + y * y < 1.F, Value<u32>(1u), Value<u32>(0u));
            };
            hits += hit(words.x, words.y) + hit(words.z, words.w);
        }
        return Value<u32>(hits);
    });
    constexpr u32 throwers = 1 << 20;
    const auto hits = static_cast<double>(reduce::sum(darts.over(throwers)(314u)).item());
    const double pi = 4 * hits / (4.0 * throwers);
    std::cout << std::fixed << std::setprecision(5) << "pi is about " << pi << ", from " << 4 * throwers
              << " points\n\n";

    // The price of a share follows a random walk; the option pays what it exceeds the strike by after a year.
    // The reduction evaluates a path per element and keeps none of them.
    const double price = 100, strike = 105, rate = 0.03, volatility = 0.2, years = 1;
    const auto payoffs = map([](Value<u32> i, Const<float> drift, Const<float> spread, Const<float> ratio) {
        const auto words = random::philox(make<vec<u32, 2>>(2u, 0u), make<vec<u32, 4>>(i, 0u, 0u, 0u));
        const auto z = random::normal_floats(words.xy()).x;
        return max(exp(drift + spread * z) - ratio, 0.F);
    });
    const double exact = black_scholes(price, strike, rate, volatility, years);
    const double discount = price * std::exp(-rate * years);
    std::cout << "    paths    price  +/-      error\n";
    bool good = std::abs(pi - 3.14159265) < 0.005;
    for (u32 paths = 1 << 10; paths <= 1 << 22; paths <<= 4) {
        const auto payoff = payoffs.over(paths)(
            static_cast<float>((rate - volatility * volatility / 2) * years),
            static_cast<float>(volatility * std::sqrt(years)), static_cast<float>(strike / price));
        const double mean = discount * reduce::mean(payoff).item();
        const double deviation = discount * reduce::stddev(payoff).item() / std::sqrt(paths);
        std::cout << std::setw(9) << paths << std::setw(9) << std::setprecision(3) << mean << std::setw(7)
                  << deviation << std::setw(9) << mean - exact << '\n';
        good = good && std::abs(mean - exact) < 4 * deviation + 1e-3;
    }
    std::cout << "    exact" << std::setw(9) << exact << '\n';
    return good ? 0 : 1;
}
