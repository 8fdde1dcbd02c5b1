// Runs functions of Values over host arrays on the current device and compares them with host functions: most
// tests of operators and builtins are tables of such pairs.
#pragma once

#include "support/compare.hpp"

#include <volley/volley.hpp>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace volley::testing {

/// A device function and its host counterpart. Plain pointers keep tables of them cheap to compile.
template <class R, class... A>
struct Case {
    const char* name;
    Value<R> (*device)(const Value<A>&...);
    R (*host)(A...);
};

/// Runs all cases as one kernel: the result of case k for element i is element k * n + i.
template <class R, class... A>
[[nodiscard]] std::vector<R> run_cases(const std::vector<Case<R, A...>>& cases,
                                       const std::vector<A>&... inputs) {
    const std::size_t n = std::get<0>(std::tie(inputs...)).size();
    auto run = kernel("map", [&cases](Buff<const A>... x, Buff<R> out, Const<u32> count) {
        const auto i = global_id().x;
        u32 k = 0;
        for (const Case<R, A...>& one : cases) out[i + count * k++] = one.device(x[i]...);
    });
    Buffer<R> out(n * cases.size());
    run.over(n)(as_buffer(inputs)..., out, static_cast<u32>(n));
    return out.read(0);
}

/// Returns whether the current device keeps f32 subnormals. If not, each operation may flush or keep them.
[[nodiscard]] inline bool keeps_subnormals() { return current_context().devices()[0].keeps_subnormals; }

/// Returns whether fits(got, want) holds for host(input...), or for a result that a device that flushes
/// subnormals may compute instead: the result of flushed inputs, and for a subnormal result any subnormal or
/// a zero of either sign.
template <class R, class Fits, class Host, class... A>
[[nodiscard]] bool agrees(const R& got, const Fits& fits, const Host& host, const A&... input) {
    const auto want = host(input...);
    if (fits(got, want)) return true;
    if (keeps_subnormals()) return false;
    return fits(got, settled(got, want)) || fits(got, settled(got, host(flushed(input)...)));
}

/// Runs all cases and compares each with the host by `fits(got, want, input...)`.
template <class R, class Fits, class... A>
void check_cases(const Fits& fits, std::type_identity_t<std::initializer_list<Case<R, A...>>> list,
                 const std::vector<A>&... inputs) {
    const std::vector<Case<R, A...>> cases = list;
    const std::size_t n = std::get<0>(std::tie(inputs...)).size();
    const std::vector<R> got = run_cases(cases, inputs...);
    ASSERT_EQ(got.size(), n * cases.size());
    for (std::size_t k = 0; k < cases.size(); ++k) {
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const R g = got[k * n + i];
            const auto right = [&](const R& one, const R& want) { return fits(one, want, A(inputs[i])...); };
            if (agrees(g, right, cases[k].host, A(inputs[i])...) || ++wrong > 3) continue;
            std::string given;
            ((given += (given.empty() ? "" : " | ") + show(A(inputs[i]))), ...);
            ADD_FAILURE() << cases[k].name << " of (" << given << "): got " << show(g) << ", not "
                          << show(cases[k].host(inputs[i]...));
        }
        if (wrong > 3) ADD_FAILURE() << cases[k].name << ": " << wrong << " of " << n << " results are wrong";
    }
}

/// Compares by bits.
template <class R, class... A>
void check_exact(std::type_identity_t<std::initializer_list<Case<R, A...>>> cases,
                 const std::vector<A>&... inputs) {
    const auto fits = [](const R& got, const R& want, const A&...) { return same(got, want); };
    check_cases<R>(fits, cases, inputs...);
}

/// Compares within units in the last place.
template <class R, class... A>
void check_within(double bound, std::type_identity_t<std::initializer_list<Case<R, A...>>> cases,
                  const std::vector<A>&... inputs) {
    const auto fits = [=](const R& got, const R& want, const A&...) { return ulps(got, want) <= bound; };
    check_cases<R>(fits, cases, inputs...);
}

/// Returns f(x[i]...) for all i.
template <class R, class... A>
[[nodiscard]] std::vector<R> map(Value<R> (*function)(const Value<A>&...), const std::vector<A>&... inputs) {
    return run_cases<R, A...>({{"", function, nullptr}}, inputs...);
}

}  // namespace volley::testing
