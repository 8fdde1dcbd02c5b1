// Measurements that need a new process: the program runs itself again with a hidden argument, and the child
// prints one number.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace volley::bench {

using ChildFunction = double (*)(std::chrono::steady_clock::time_point main_began);

struct ChildRegistration {
    ChildRegistration(std::string_view name, ChildFunction run);
};

/// Runs the registered child `name` of this program, with these variables ("NAME=value") added to the
/// environment, and returns the number that it printed. Throws if it fails.
[[nodiscard]] double run_child(const std::string& name, const std::vector<std::string>& environment);

/// In the child: runs the function, prints its number, and returns the exit status.
[[nodiscard]] int be_child(std::string_view name, std::chrono::steady_clock::time_point main_began);

/// A new empty directory. The destructor removes it with its contents.
class TemporaryDirectory {
public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
};

}  // namespace volley::bench

/// VOLLEY_CHILD(startup_volley) { ...; return milliseconds; }: the body can use `main_began`.
#define VOLLEY_CHILD(id)                                                                 \
    static double id([[maybe_unused]] std::chrono::steady_clock::time_point main_began); \
    static const ::volley::bench::ChildRegistration child_##id(#id, id);                 \
    static double id([[maybe_unused]] std::chrono::steady_clock::time_point main_began)
