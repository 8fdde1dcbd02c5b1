// The program of the process tests: process_child SCENARIO, on the device of VOLLEY_DEVICES. Each scenario
// ends the process, or forks it, in one of the ways that must be safe. Exit code 0: as expected; the first
// line of the output says what was not.
#include <volley/volley.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace volley;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t elements = 1 << 10;

/// The kernels are never destroyed: destructors of static objects use them.
const auto& add_one() {
    static const auto& made = *new auto(kernel("add_one", [](Buff<float> data) {
        auto i = global_id().x;
        data[i] = data[i] + 1.0f;
    }));
    return made;
}

const auto& sum_up() {
    static const auto& made = *new auto(kernel("sum_up", [](Buff<float> data) {
        auto i = global_id().x;
        Var<float> sum = 0.0f;
        $for (k, 0u, 100u) {
            sum += sqrt(data[i] + cast<float>(k));
        }
        data[i] = sum;
    }));
    return made;
}

[[noreturn]] void give_up(const std::string& why) {
    std::printf("%s\n", why.c_str());
    std::fflush(stdout);
    _exit(1);
}

void expect(bool condition, const char* what) {
    if (!condition) give_up(what);
}

void launch_many(const Buffer<float>& data) {
    for (int k = 0; k < 20; ++k) add_one()(data);
    for (int k = 0; k < 20; ++k) sum_up()(data);
}

/// Uses the device, and checks that it works.
void work_and_check() {
    Buffer<float> data(elements, {.zeroed = true});
    for (int k = 0; k < 3; ++k) add_one()(data);
    expect(data.read(0) == std::vector<float>(elements, 3.0f), "wrong values");
}

// ---- ends of a process ----

void return_with_pending_work() { launch_many(Buffer<float>(elements, {.zeroed = true})); }

struct Statics {
    Context context = make_context();
    Buffer<float> data;
    Statics() {
        const ContextScope scope = context.use();
        data = Buffer<float>(elements, {.zeroed = true});
    }
};

void keep_a_static_context() {
    static Statics statics;
    const ContextScope scope = statics.context.use();
    launch_many(statics.data);
}

template <class F>
void expect_wrong_context(F&& f) {
    try {
        f();
    } catch (const LaunchError& error) {
        expect(error.code() == ErrorCode::WrongContext, error.what());
        return;
    }
    give_up("WrongContext was expected");
}

bool uses_driver(const Context& context) {
    const std::string backend = context.devices().front().backend;
    return backend != "cpu" && backend != "reference";
}

struct WorksAtTheEnd : Statics {
    ~WorksAtTheEnd() {
        const ContextScope scope = context.use();
        if (uses_driver(context)) {
            expect_wrong_context([&] { add_one()(data); });
            expect_wrong_context([&] { static_cast<void>(data.read(0)); });
            expect_wrong_context([&] { context.wait(); });
            return;
        }
        try {
            launch_many(data);
            expect(data.read(0).size() == elements, "nothing was read");
            launch_many(data);  // not waited for
        } catch (const Error& error) {
            give_up(error.what());
        }
        try {
            kernel("never_compiled", [](Buff<float> x) { x[global_id().x] = 2.0f; })(data);
        } catch (const LaunchError& error) {  // compilers cannot be used any more
            expect(error.code() == ErrorCode::WrongContext, error.what());
        }
    }
};

void work_in_a_destructor() {
    static WorksAtTheEnd statics;
    const ContextScope scope = statics.context.use();
    launch_many(statics.data);
}

void exit_in_another_thread() {
    Buffer<float> data(elements, {.zeroed = true});
    launch_many(data);
    std::thread([] { std::exit(0); }).detach();
    for (;;) std::this_thread::sleep_for(1s);
}

void exit_in_a_thread_that_works() {
    std::thread([] {
        launch_many(Buffer<float>(elements, {.zeroed = true}));
        std::exit(0);
    }).detach();
    for (;;) std::this_thread::sleep_for(1s);
}

void exit_while_main_works() {
    const Buffer<float> data(elements, {.zeroed = true});
    launch_many(data);
    wait();
    std::thread([] {
        std::this_thread::sleep_for(20ms);
        std::exit(0);
    }).detach();
    for (;;) {
        launch_many(data);
        wait();
    }
}

void return_while_a_thread_works() {
    static std::atomic<bool> started{false};
    std::thread([] {
        const Buffer<float> data(elements, {.zeroed = true});
        for (;;) {
            launch_many(data);
            started = true;
            wait();
        }
    }).detach();
    while (!started) std::this_thread::yield();
}

void leave_the_work_to_a_thread() {
    std::thread([] { launch_many(Buffer<float>(elements, {.zeroed = true})); }).join();
}

void return_with_pending_callbacks() {
    static std::atomic<int> called{0};
    static const struct Check {
        ~Check() { expect(called == 2, "a callback was not called"); }
    } check;
    const Buffer<float> data(elements, {.zeroed = true});
    launch_many(data);
    host_call([] {
        std::this_thread::sleep_for(50ms);
        ++called;
    });
    mark().then([data] {
        std::this_thread::sleep_for(50ms);
        add_one()(data);
        ++called;
    });
}

void never_raise_a_signal() {
    static Signal signal;
    const Buffer<float> data(elements, {.zeroed = true});
    add_one()(data);
    queue(0).depends_on(signal.event());
    launch_many(data);
}

void never_finish_a_callback() {
    static const Buffer<float> data(elements, {.zeroed = true});
    add_one()(data);
    host_call([] {
        for (;;) std::this_thread::sleep_for(1s);
    });
    launch_many(data);
}

// ---- forks ----

void expect_child(const std::function<void()>& body, bool calls_exit) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(30);
        try {
            body();
        } catch (const std::exception& error) {
            give_up(error.what());
        }
        calls_exit ? std::exit(0) : _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
    }
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0,
           WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "the child failed");
}

template <class F>
void expect_refusal(F&& f) {
    try {
        f();
    } catch (const Error& error) {
        expect(std::strstr(error.what(), "fork") != nullptr, error.what());
        return;
    }
    give_up("the child could use the driver");
}

/// In the child: everything works, or everything says why not.
void use_after_fork(const Context& context, Buffer<float> data, const Event& event) {
    if (!uses_driver(context)) {
        expect(data.read(0) == std::vector<float>(elements, 1.0f), "wrong values after the fork");
        add_one()(data);
        expect(data.read(0) == std::vector<float>(elements, 2.0f), "wrong values of a kernel");
        bool called = false;
        host_call([&] { called = true; }).then([] {}).wait();
        expect(called, "a callback was not called");
        work_and_check();
        const Context another = make_context();
        const ContextScope scope = another.use();
        work_and_check();
        return;
    }
    expect_refusal([&] { add_one()(data); });
    expect_refusal([&] { static_cast<void>(data.read(0)); });
    expect_refusal([&] { event.wait(); });
    expect_refusal([&] { context.wait(); });
    expect_refusal([&] { static_cast<void>(make_context()); });
    const Context cpu = make_context({.devices = {"cpu:0"}});
    const ContextScope scope = cpu.use();
    work_and_check();
}

void fork_after_use(bool calls_exit) {
    {
        // Released in the child, too.
        const Context context = make_context();
        const ContextScope scope = context.use();
        const Buffer<float> data(elements, {.zeroed = true});
        const Event event = add_one()(data);
        add_one()(Buffer<float>(elements, {.zeroed = true}));
        host_call([] {}).then([] {}).wait();
        wait();
        expect_child([&] { use_after_fork(context, data, event); }, calls_exit);
        work_and_check();
        expect_child([&] { use_after_fork(context, data, event); }, calls_exit);
    }
    work_and_check();
    expect_child([] {}, calls_exit);  // with a default context
}

void fork_before_use() {
    expect_child([] { work_and_check(); }, true);
    expect_child([] { launch_many(Buffer<float>(elements, {.zeroed = true})); }, true);
    work_and_check();
}

// ---- no threads ----

template <class F>
void expect_no_thread(const char* what, F&& f) {
    try {
        f();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::OutOfMemory) give_up(std::string(what) + ": " + error.what());
    } catch (const std::exception& error) {
        give_up(std::string(what) + ": not a volley::Error: " + error.what());
    }
}

void run_out_of_threads() {
    // A kernel that needs workers must not fail half-way, and all must work again with threads.
    Buffer<float> data(elements, {.zeroed = true});
    data.ensure_allocated();
    add_one().over(1)(data);
    wait();
    const auto limit_threads = [](bool on) {
        rlimit limit{};
        getrlimit(RLIMIT_NPROC, &limit);
        limit.rlim_cur = on ? 0 : limit.rlim_max;
        setrlimit(RLIMIT_NPROC, &limit);
    };
    // The superuser has no limit. The process keeps the right to become it again, so that files stay
    // accessible.
    if (geteuid() == 0) expect(setresuid(65534, 65534, 0) == 0, "the user could not be changed");
    limit_threads(true);
    bool refused = false;
    try {
        std::thread([] {}).join();
    } catch (const std::system_error&) {
        refused = true;
    }
    expect(refused, "threads could still be started");
    int called = 0;
    for (int round = 0; round < 3; ++round) {
        expect_no_thread("host_call", [&] { host_call([&] { ++called; }).wait(); });
        expect_no_thread("then", [&] { mark().then([&] { ++called; }).wait(); });
        expect_no_thread("launch", [&] { add_one()(data); });
        expect_no_thread("wait", [] { wait(); });
        try {
            const Context context = make_context();
            const ContextScope scope = context.use();
            add_one()(Buffer<float>(elements, {.zeroed = true}));
        } catch (const Error&) {  // OutOfMemory, or what a driver says
        }
    }
    limit_threads(false);
    called = 0;
    data.fill(0.0f);
    for (int round = 0; round < 3; ++round) {
        host_call([&] { ++called; }).wait();
        mark().then([&] { ++called; }).wait();
        add_one()(data);
    }
    expect(called == 6, "callbacks were not called");
    expect(data.read(0) == std::vector<float>(elements, 3.0f), "wrong values");
    work_and_check();
}

const std::map<std::string, std::function<void()>> scenarios = {
    {"return_with_pending_work", return_with_pending_work},
    {"keep_a_static_context", keep_a_static_context},
    {"work_in_a_destructor", work_in_a_destructor},
    {"exit_in_another_thread", exit_in_another_thread},
    {"exit_in_a_thread_that_works", exit_in_a_thread_that_works},
    {"exit_while_main_works", exit_while_main_works},
    {"return_while_a_thread_works", return_while_a_thread_works},
    {"leave_the_work_to_a_thread", leave_the_work_to_a_thread},
    {"return_with_pending_callbacks", return_with_pending_callbacks},
    {"never_raise_a_signal", never_raise_a_signal},
    {"never_finish_a_callback", never_finish_a_callback},
    {"fork_after_use_and_exit", [] { fork_after_use(true); }},
    {"fork_after_use_and_leave", [] { fork_after_use(false); }},
    {"fork_before_use", fork_before_use},
    {"run_out_of_threads", run_out_of_threads},
};

}  // namespace

int main(int argc, char** argv) {
    const auto found = argc == 2 ? scenarios.find(argv[1]) : scenarios.end();
    if (found == scenarios.end()) return 2;
    alarm(120);
    try {
        found->second();
    } catch (const std::exception& error) {
        give_up(error.what());
    }
    return 0;
}
