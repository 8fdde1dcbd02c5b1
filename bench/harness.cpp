// The race between contenders, and the registry of benchmarks.
#include "harness.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>

namespace volley::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto settling = std::chrono::microseconds(400);  // longer than any contender's threads spin
constexpr double turn = 8e-3;                              // seconds; a single run may be longer

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double best_of_turn(const Contender& contender) {
    contender.run();
    double best = std::numeric_limits<double>::infinity();
    const auto begin = Clock::now();
    do {
        const auto start = Clock::now();
        contender.run();
        best = std::min(best, since(start));
    } while (since(begin) < turn);
    return best;
}

std::vector<Bench>& registry() {
    static std::vector<Bench> all;
    return all;
}

}  // namespace

std::vector<double> race(const std::vector<Contender>& contenders, double seconds) {
    std::vector<double> best(contenders.size(), std::numeric_limits<double>::infinity());
    for (const Contender& contender : contenders) contender.run();  // work that is done only once
    const auto begin = Clock::now();
    for (int round = 0; round < 3 || since(begin) < seconds; ++round) {
        for (std::size_t k = 0; k < contenders.size(); ++k) {
            std::this_thread::sleep_for(settling);
            best[k] = std::min(best[k], best_of_turn(contenders[k]));
        }
    }
    return best;
}

std::size_t fastest(const std::vector<Contender>& contenders, double seconds) {
    const std::vector<double> best = race(contenders, seconds);
    return static_cast<std::size_t>(std::min_element(best.begin(), best.end()) - best.begin());
}

Duel duel(const std::function<void()>& volley, const std::vector<std::function<void()>>& ways,
          double seconds) {
    std::vector<Contender> contenders{{"volley", volley}};
    for (const std::function<void()>& way : ways) contenders.push_back({"peer", way});
    const std::vector<double> best = race(contenders, seconds);
    return {best[0], *std::min_element(best.begin() + 1, best.end())};
}

void check(bool right, std::string_view what) {
    if (!right) throw std::runtime_error("wrong result: " + std::string(what));
}

Registration::Registration(std::string_view name, BenchFunction run) { registry().push_back({name, run}); }

std::vector<Bench> benches() {
    std::vector<Bench> all = registry();
    std::stable_sort(all.begin(), all.end(), [](const Bench& a, const Bench& b) { return a.name < b.name; });
    return all;
}

}  // namespace volley::bench
