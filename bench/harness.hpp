// The tools for writing a benchmark: a macro that registers it, a race that times Volley and its peers in
// turns, and the report for its rows. Invariant: every figure is the best of many, and the contenders of a
// row were measured in the same run, alternating, on the same data.
#pragma once

#include "report.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace volley::bench {

/// One side of a comparison. `run` does all the work once and returns when it is done.
struct Contender {
    std::string name;
    std::function<void()> run;
};

/// Returns the seconds of each contender's fastest run. They take turns for about `seconds`, at least three
/// each; before each turn the threads of the others have time to fall asleep, and its first run is not
/// counted.
[[nodiscard]] std::vector<double> race(const std::vector<Contender>& contenders, double seconds);

/// Returns the index of the fastest contender, for example to choose the best local size of a peer.
[[nodiscard]] std::size_t fastest(const std::vector<Contender>& contenders, double seconds);

/// Returns the seconds of Volley's fastest run, and of the fastest of all methods of a peer.
struct Duel {
    double volley = 0;
    double peer = 0;
};
[[nodiscard]] Duel duel(const std::function<void()>& volley, const std::vector<std::function<void()>>& ways,
                        double seconds);

/// Throws if a result is wrong.
void check(bool right, std::string_view what);

using BenchFunction = void (*)(Report&);

struct Bench {
    std::string_view name;  // group/name
    BenchFunction run;
};

/// Returns all registered benchmarks, sorted by name.
[[nodiscard]] std::vector<Bench> benches();

struct Registration {
    Registration(std::string_view name, BenchFunction run);
};

}  // namespace volley::bench

/// VOLLEY_BENCH(stream_copy, "foundation/stream_copy") { report.add(...); }
#define VOLLEY_BENCH(id, name)                                              \
    static void id(::volley::bench::Report& report);                        \
    static const ::volley::bench::Registration registration_##id(name, id); \
    static void id(::volley::bench::Report& report)
