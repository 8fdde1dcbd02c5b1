// volley_random: runs random programs until the time is up or one fails (usage() lists the options). Prints
// the seed and the minimised program of each failure.
#include "random/differential.hpp"
#include "random/generator.hpp"
#include "random/isolated.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using namespace volley::testing;
using Clock = std::chrono::steady_clock;

struct Arguments {
    double minutes = 1;
    std::uint64_t seed = 1'000'000;
    std::uint64_t count = ~std::uint64_t{0};
    bool keep_going = false;
    bool functions = true;
    bool short_programs = false;
    bool show = false;
    DifferentialOptions options;
};

int usage() {
    std::fputs(
        "usage: volley_random [--minutes N] [--seed S] [--count N] [--widths 1,4,8,16] [--processor NAME]\n"
        "                     [--no-cpu] [--no-passes] [--no-functions] [--short] [--show] [--keep-going]\n",
        stderr);
    return 2;
}

bool parse(int argc, char** argv, Arguments& arguments) {
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        const bool more = i + 1 < argc;
        if (name == "--minutes" && more) {
            arguments.minutes = std::strtod(argv[++i], nullptr);
        } else if (name == "--seed" && more) {
            arguments.seed = std::strtoull(argv[++i], nullptr, 0);
        } else if (name == "--count" && more) {
            arguments.count = std::strtoull(argv[++i], nullptr, 0);
        } else if (name == "--widths" && more) {
            arguments.options.widths.clear();
            for (char* text = std::strtok(argv[++i], ","); text != nullptr;
                 text = std::strtok(nullptr, ",")) {
                arguments.options.widths.push_back(static_cast<unsigned>(std::strtoul(text, nullptr, 10)));
            }
        } else if (name == "--processor" && more) {
            arguments.options.processor = argv[++i];
        } else if (name == "--short") {
            arguments.short_programs = true;
        } else if (name == "--no-cpu") {
            arguments.options.cpu = false;
        } else if (name == "--no-passes") {
            arguments.options.passes = false;
        } else if (name == "--no-functions") {
            arguments.functions = false;
        } else if (name == "--show") {
            arguments.show = true;
        } else if (name == "--keep-going") {
            arguments.keep_going = true;
        } else {
            return false;
        }
    }
    return true;
}

Program program_of(std::uint64_t seed, const Arguments& arguments) {
    GeneratorOptions options = arguments.short_programs ? short_options_for(seed) : options_for(seed);
    options.functions = options.functions && arguments.functions;
    return generate(seed, options);
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    if (!parse(argc, argv, arguments)) return usage();
    const auto end = Clock::now() + std::chrono::duration<double>(arguments.minutes * 60);
    std::uint64_t seed = arguments.seed;
    const std::uint64_t last = arguments.count > ~seed ? ~std::uint64_t{0} : seed + arguments.count;
    unsigned failures = 0;
    while (Clock::now() < end && seed < last) {
        constexpr std::uint64_t batch = 200;
        const Outcome outcome = run_in_child(
            [&](volatile std::uint64_t& progress) {
                for (std::uint64_t k = seed; k < seed + batch && k < last && Clock::now() < end; ++k) {
                    progress = k;
                    const Program program = program_of(k, arguments);
                    if (arguments.show) std::printf("%s\n", describe(program).c_str());
                    if (check(program, arguments.options)) throw std::runtime_error("found one");
                }
                std::fflush(stdout);
            },
            1200);
        seed = outcome.progress + 1;
        if (outcome.ended_well) continue;
        ++failures;
        const Program program = program_of(outcome.progress, arguments);
        if (const auto failure = check_isolated(program, arguments.options)) {
            std::printf("%s\n", report_isolated(program, *failure, arguments.options).c_str());
        } else {
            std::printf("seed %llu: %s, but not when it runs alone\n",
                        static_cast<unsigned long long>(outcome.progress), outcome.how.c_str());
        }
        std::fflush(stdout);
        if (!arguments.keep_going) break;
    }
    std::printf("%llu programs, %u failures\n", static_cast<unsigned long long>(seed - arguments.seed),
                failures);
    return failures == 0 ? 0 : 1;
}
