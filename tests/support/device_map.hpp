// Runs functions of Values over host arrays on the current device and compares them with functions of the host: most
// tests of operators and builtins are tables of such pairs.
#pragma once

#include "support/compare.hpp"

#include <volley/volley.hpp>

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

namespace volley::testing {

/// f_k(x[i]...) for each of the functions, in one kernel: element k * n + i of the result.
template <class R, class... A, class... F>
[[nodiscard]] std::vector<R> run_all(const std::tuple<const std::vector<A>&...>& inputs, const F&... functions) {
    const std::size_t n = std::get<0>(inputs).size();
    auto run = kernel("map", [functions...](Buff<const A>... x, Buff<R> out, Const<u32> count) {
        const auto i = global_id().x;
        u32 k = 0;
        ((out[i + count * k++] = functions(Value<A>(x[i])...)), ...);
    });
    Buffer<R> out(n * sizeof...(F));
    std::apply([&](const auto&... in) { run.over(n)(as_buffer(in)..., out, static_cast<u32>(n)); }, inputs);
    return out.read(0);
}

template <class R, class F, class... A>
[[nodiscard]] std::vector<R> map(const F& function, const std::vector<A>&... inputs) {
    return run_all<R>(std::tuple<const std::vector<A>&...>(inputs...), function);
}

/// One function in both worlds.
template <class D, class H>
struct Case {
    const char* name;
    D device;
    H host;
};
template <class D, class H>
Case(const char*, D, H) -> Case<D, H>;

/// Runs all cases as one kernel and compares each with the host's by `fits(got, want, input...)`.
template <class R, class Fits, class... A, class... C>
void check_cases(const Fits& fits, const std::tuple<const std::vector<A>&...>& inputs, const C&... cases) {
    const std::size_t n = std::get<0>(inputs).size();
    const std::vector<R> got = run_all<R>(inputs, cases.device...);
    ASSERT_EQ(got.size(), n * sizeof...(C));
    std::size_t k = 0;
    const auto check = [&](const auto& one) {
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const R g = got[k * n + i];
            std::apply(
                [&](const auto&... in) {
                    const R want = static_cast<R>(one.host(A(in[i])...));
                    if (fits(g, want, A(in[i])...) || ++wrong > 3) return;
                    std::string given;
                    ((given += (given.empty() ? "" : " | ") + show(A(in[i]))), ...);
                    ADD_FAILURE() << one.name << " of (" << given << "): got " << show(g) << ", not " << show(want);
                },
                inputs);
        }
        if (wrong > 3) ADD_FAILURE() << one.name << ": " << wrong << " of " << n << " results are wrong";
        ++k;
    };
    (check(cases), ...);
}

/// By bits.
template <class R, class... A, class... C>
void check_exact(const std::tuple<const std::vector<A>&...>& inputs, const C&... cases) {
    check_cases<R>([](const R& got, const R& want, const A&...) { return same(got, want); }, inputs, cases...);
}

/// Within units of the last place.
template <class R, class... A, class... C>
void check_within(double bound, const std::tuple<const std::vector<A>&...>& inputs, const C&... cases) {
    check_cases<R>([=](const R& got, const R& want, const A&...) { return ulps(got, want) <= bound; }, inputs, cases...);
}

template <class... A>
[[nodiscard]] std::tuple<const std::vector<A>&...> inputs(const std::vector<A>&... in) {
    return std::tuple<const std::vector<A>&...>(in...);
}

}  // namespace volley::testing
