// Ends of a process and forks, each in a process of its own: see child/process_child.cpp.
#include "support/backend_test.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

extern char** environ;

namespace volley {
namespace {

namespace files = std::filesystem;
using namespace std::chrono_literals;

/// What a process printed, and how it ended.
struct Ended {
    std::string how;
    std::string output;
    std::chrono::steady_clock::duration time{};
};

class ChildProcess {
public:
    ChildProcess(const std::string& device, const std::string& scenario,
                 std::vector<std::string> settings = {})
        : output_(files::temp_directory_path() /
                  ("volley_process_" + std::to_string(::getpid()) + "_" + scenario + ".txt")) {
        settings.push_back("VOLLEY_DEVICES=" + device);
        std::vector<char*> environment;
        for (std::string& setting : settings) environment.push_back(setting.data());
        for (char** known = environ; *known != nullptr; ++known) {
            const std::string_view name =
                std::string_view(*known).substr(0, std::string_view(*known).find('=') + 1);
            const bool replaced =
                std::any_of(settings.begin(), settings.end(),
                            [&](const std::string& setting) { return setting.starts_with(name); });
            if (!replaced) environment.push_back(*known);
        }
        environment.push_back(nullptr);
        std::string program = VOLLEY_PROCESS_CHILD;
        std::string argument = scenario;
        char* const arguments[] = {program.data(), argument.data(), nullptr};
        posix_spawn_file_actions_t actions{};
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 1, output_.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
        posix_spawn_file_actions_adddup2(&actions, 1, 2);
        pid_t child = 0;
        const auto start = std::chrono::steady_clock::now();
        const int error =
            posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environment.data());
        posix_spawn_file_actions_destroy(&actions);
        if (error != 0) {
            ended_.how = std::strerror(error);
            return;
        }
        int status = 0;
        while (waitpid(child, &status, 0) < 0) {
        }
        ended_.time = std::chrono::steady_clock::now() - start;
        ended_.how = WIFSIGNALED(status) ? std::string(strsignal(WTERMSIG(status)))
                                         : "exit code " + std::to_string(WEXITSTATUS(status));
        std::ostringstream text;
        text << std::ifstream(output_).rdbuf();
        ended_.output = text.str();
    }
    ~ChildProcess() { files::remove(output_); }
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    [[nodiscard]] const Ended& ended() const { return ended_; }

private:
    files::path output_;
    Ended ended_;
};

void expect_success(const std::string& device, const char* scenario, std::vector<std::string> settings = {}) {
    const ChildProcess child(device, scenario, std::move(settings));
    EXPECT_EQ(child.ended().how, "exit code 0") << scenario << ": " << child.ended().output;
}

VOLLEY_BACKEND_TEST(ProcessEnd, ReturningFromMainIsSafeWithPendingWork) {
    expect_success(device().id(), "return_with_pending_work");
    expect_success(device().id(), "leave_the_work_to_a_thread");
}

VOLLEY_BACKEND_TEST(ProcessEnd, IsSafeWithEmptyCachesOfTheDrivers) {
    const files::path folder = files::temp_directory_path() / ("volley_caches_" + std::to_string(::getpid()));
    files::create_directories(folder);
    expect_success(device().id(), "return_with_pending_work",
                   {"POCL_CACHE_DIR=" + folder.string(), "XDG_CACHE_HOME=" + folder.string(),
                    "MESA_SHADER_CACHE_DIR=" + folder.string()});
    files::remove_all(folder);
}

VOLLEY_BACKEND_TEST(ProcessEnd, StaticObjectsMayHoldContextsAndUseThemInTheirDestructors) {
    expect_success(device().id(), "keep_a_static_context");
    expect_success(device().id(), "work_in_a_destructor");
}

VOLLEY_BACKEND_TEST(ProcessEnd, AnyThreadMayCallExit) {
    expect_success(device().id(), "exit_in_another_thread");
    expect_success(device().id(), "exit_in_a_thread_that_works");
}

VOLLEY_BACKEND_TEST(ProcessEnd, ThreadsMayStillBeUsingTheLibrary) {
    expect_success(device().id(), "exit_while_main_works");
    expect_success(device().id(), "return_while_a_thread_works");
}

VOLLEY_BACKEND_TEST(ProcessEnd, CallsPendingCallbacks) {
    expect_success(device().id(), "return_with_pending_callbacks");
}

VOLLEY_BACKEND_TEST(ProcessEnd, DoesNotWaitForASignalThatIsNeverRaised) {
    const ChildProcess child(device().id(), "never_raise_a_signal", {"VOLLEY_LOG=warning"});
    EXPECT_EQ(child.ended().how, "exit code 0") << child.ended().output;
    EXPECT_NE(child.ended().output.find("a signal that was not raised"), std::string::npos)
        << child.ended().output;
}

VOLLEY_BACKEND_TEST(ProcessEnd, AbandonsACallbackThatNeverReturns) {
    const ChildProcess child(device().id(), "never_finish_a_callback",
                             {"VOLLEY_LOG=warning", "VOLLEY_EXIT_SECONDS=1"});
    EXPECT_EQ(child.ended().how, "exit code 0") << child.ended().output;
    EXPECT_NE(child.ended().output.find("it is abandoned"), std::string::npos) << child.ended().output;
}

VOLLEY_BACKEND_TEST(Fork, TheChildUsesTheCpuOrIsToldWhyItCannotUseADriver) {
    expect_success(device().id(), "fork_after_use_and_exit");
    expect_success(device().id(), "fork_after_use_and_leave");
}

VOLLEY_BACKEND_TEST(Fork, BeforeTheFirstUseTheChildMayUseEveryDevice) {
    expect_success(device().id(), "fork_before_use");
}

// Without threads, SwiftShader ends the process and PoCL compiles nothing.
TEST(NoThreads, AreAnErrorOfTheLibraryAndLeaveNothingHalfMade) {
    for (const char* device : {"cpu:0", "reference:0"}) expect_success(device, "run_out_of_threads");
}

}  // namespace
}  // namespace volley
