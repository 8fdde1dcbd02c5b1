// Children are spawned, not forked, because the parent has threads.
#include "child.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace volley::bench {
namespace {

std::map<std::string_view, ChildFunction>& children() {
    static std::map<std::string_view, ChildFunction> all;
    return all;
}

std::vector<std::string> with(const std::vector<std::string>& added) {
    std::vector<std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const std::string name = text.substr(0, text.find('=') + 1);
        bool replaced = false;
        for (const std::string& one : added) replaced = replaced || one.starts_with(name);
        if (!replaced) all.push_back(text);
    }
    all.insert(all.end(), added.begin(), added.end());
    return all;
}

std::string read_all(int file) {
    std::string text;
    std::array<char, 256> part{};
    for (;;) {
        const ssize_t got = ::read(file, part.data(), part.size());
        if (got <= 0) return text;
        text.append(part.data(), static_cast<std::size_t>(got));
    }
}

}  // namespace

ChildRegistration::ChildRegistration(std::string_view name, ChildFunction run) {
    children().emplace(name, run);
}

double run_child(const std::string& name, const std::vector<std::string>& environment) {
    std::vector<std::string> variables = with(environment);
    std::vector<char*> envp;
    for (std::string& variable : variables) envp.push_back(variable.data());
    envp.push_back(nullptr);
    std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    std::string flag = "--child";
    std::string child = name;
    char* const argv[] = {program.data(), flag.data(), child.data(), nullptr};

    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    pid_t pid = 0;
    const int failed = posix_spawn(&pid, program.c_str(), &actions, nullptr, argv, envp.data());
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    const std::string text = failed == 0 ? read_all(ends[0]) : std::string();
    ::close(ends[0]);
    if (failed != 0) throw std::system_error(failed, std::generic_category(), "could not start " + program);
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (status != 0 || text.empty())
        throw std::runtime_error("the process that measures " + name + " failed: " + text);
    return std::stod(text);
}

int be_child(std::string_view name, std::chrono::steady_clock::time_point main_began) {
    try {
        std::printf("%.9g\n", children().at(name)(main_began));
        std::fflush(stdout);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

TemporaryDirectory::TemporaryDirectory() {
    path_ = (std::filesystem::temp_directory_path() / "volley-bench-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), path_);
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace volley::bench
