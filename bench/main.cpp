// volley_bench [filter] [--json FILE] [--markdown FILE] [--list]: runs the benchmarks whose names contain the
// filter.
#include "child.hpp"
#include "harness.hpp"
#include "raw_opencl.hpp"

#include <volley/volley.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace volley::bench {
namespace {

struct Arguments {
    std::string filter, json, markdown;
    bool list = false;
};

/// Throws for an unknown option.
Arguments parse(int argc, char** argv) {
    Arguments arguments;
    for (int k = 1; k < argc; ++k) {
        const std::string text = argv[k];
        const auto value = [&] {
            if (k + 1 >= argc) throw std::runtime_error(text + " needs a file name");
            return std::string(argv[++k]);
        };
        if (text == "--json")
            arguments.json = value();
        else if (text == "--markdown")
            arguments.markdown = value();
        else if (text == "--list")
            arguments.list = true;
        else if (text.starts_with("-"))
            throw std::runtime_error("unknown option " + text + "; use --json, --markdown or --list");
        else
            arguments.filter = text;
    }
    return arguments;
}

std::string processor() {
    std::ifstream info("/proc/cpuinfo");
    std::string line;
    while (std::getline(info, line)) {
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return "unknown processor";
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
    return text;
}

std::string compiler() {
#if defined(__clang__)
    return "clang++ " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#else
    return "g++ " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#endif
}

std::vector<Setting> settings(const DeviceInfo& device) {
    const std::string cores = std::to_string(std::thread::hardware_concurrency());
    const std::string lanes = std::to_string(device.subgroup_size);
    return {
        {"date", today()},
        {"machine", processor() + ", " + cores + " cores"},
        {"volley", VOLLEY_VERSION ", " + device.id() + ", " + lanes + " lanes"},
        {"plain-c++", compiler() + " -O3 -march=native, for n-body -ffast-math too; " + cores + " threads"},
        {"std", "the same compiler and flags, the C library's functions"},
        {"pocl", pocl() != nullptr ? pocl()->version() : std::string(missing_pocl())}};
}

/// Returns whether all selected benchmarks succeeded.
bool run(const Arguments& arguments) {
    const Context context = make_context({.devices = {"cpu:0"}});
    const auto scope = context.use();
    const DeviceInfo device = context.devices().front();
    Report report;
    report.set_settings(settings(device));
    report.print_settings();
    bool good = true;
    for (const Bench& bench : benches()) {
        if (bench.name.find(arguments.filter) == std::string_view::npos) continue;
        report.begin(bench.name, device.backend, device.id());
        try {
            bench.run(report);
        } catch (const std::exception& error) {
            std::printf("%-42s failed: %s\n", std::string(bench.name).c_str(), error.what());
            good = false;
        }
    }
    if (good && report.rows().empty())
        throw std::runtime_error("no benchmark's name contains '" + arguments.filter + "'");
    if (!arguments.json.empty()) report.write_json(arguments.json);
    if (!arguments.markdown.empty()) report.write_markdown(arguments.markdown);
    return good;
}

}  // namespace
}  // namespace volley::bench

int main(int argc, char** argv) {
    const auto began = std::chrono::steady_clock::now();
    using namespace volley::bench;
    if (argc == 3 && std::string_view(argv[1]) == "--child") return be_child(argv[2], began);
    try {
        const Arguments arguments = parse(argc, argv);
        if (arguments.list) {
            for (const Bench& bench : benches()) std::printf("%s\n", std::string(bench.name).c_str());
            return 0;
        }
        // Use an empty PoCL cache, deleted after the run, instead of the user's.
        const TemporaryDirectory cache;
        ::setenv("POCL_CACHE_DIR", cache.path().c_str(), 1);
        return run(arguments) ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "volley_bench: %s\n", error.what());
        return 1;
    }
}
