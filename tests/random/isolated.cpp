// fork, wait, and a page shared by parent and child.
#include "random/isolated.hpp"

#include "core/text.hpp"
#include "random/minimise.hpp"

#include <csignal>
#include <cstring>
#include <new>
#include <stdexcept>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace volley::testing {
namespace {

// Memory in which the parent sees the child's writes.
class SharedPage {
public:
    static constexpr std::size_t size = 4096;
    SharedPage() : data_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
        if (data_ == MAP_FAILED) throw std::bad_alloc();
    }
    ~SharedPage() { munmap(data_, size); }
    SharedPage(const SharedPage&) = delete;
    SharedPage& operator=(const SharedPage&) = delete;
    [[nodiscard]] char* data() const { return static_cast<char*>(data_); }

private:
    void* data_;
};

std::string wait_for(pid_t child, bool& ended_well) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
    }
    ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (WIFSIGNALED(status)) {
        return WTERMSIG(status) == SIGALRM ? std::string("out of time") : cat("signal ", WTERMSIG(status));
    }
    return cat("exit code ", WEXITSTATUS(status));
}

}  // namespace

Outcome run_in_child(const std::function<void(volatile std::uint64_t&)>& work, unsigned seconds) {
    const SharedPage page;
    auto* const progress = reinterpret_cast<volatile std::uint64_t*>(page.data());
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("fork failed");
    if (child == 0) {
        alarm(seconds);
        try {
            work(*progress);
        } catch (...) {
            _exit(1);
        }
        _exit(0);
    }
    Outcome outcome;
    outcome.how = wait_for(child, outcome.ended_well);
    outcome.progress = *progress;
    return outcome;
}

std::optional<Failure> check_isolated(const Program& program, const DifferentialOptions& options,
                                      unsigned seconds) {
    const SharedPage page;
    constexpr std::size_t where_at = 16;
    constexpr std::size_t what_at = 256;
    const Outcome outcome = run_in_child(
        [&](volatile std::uint64_t&) {
            const auto failure = check(program, options);
            if (!failure) return;
            auto* const header = reinterpret_cast<unsigned*>(page.data());
            header[0] = 1;
            header[1] = failure->width;
            std::strncpy(page.data() + where_at, failure->where.c_str(), what_at - where_at - 1);
            std::strncpy(page.data() + what_at, failure->what.c_str(), SharedPage::size - what_at - 1);
        },
        seconds);
    if (!outcome.ended_well) {
        // Only compiled code crashes or hangs; finds the width by trying one at a time.
        if (options.widths.size() <= 1 || !options.cpu) {
            return Failure{"crash", outcome.how, options.cpu ? options.widths.at(0) : 0};
        }
        for (const unsigned width : options.widths) {
            DifferentialOptions one = options;
            one.widths = {width};
            if (auto failure = check_isolated(program, one, seconds)) return failure;
        }
        return Failure{"crash", outcome.how, options.widths.at(0)};
    }
    const auto* const header = reinterpret_cast<const unsigned*>(page.data());
    if (header[0] == 0) return std::nullopt;
    return Failure{page.data() + where_at, page.data() + what_at, header[1]};
}

std::string report_isolated(const Program& program, const Failure& failure,
                            const DifferentialOptions& options) {
    DifferentialOptions narrow = options;
    narrow.cpu = failure.width != 0;
    narrow.passes = failure.width == 0;
    if (narrow.cpu) narrow.widths = {failure.width};
    const bool crash = failure.where == "crash";
    const Program small = minimise(program, [&](const Program& candidate) {
        const auto now = check_isolated(candidate, narrow, 5);
        return now && now->width == failure.width && (now->where == "crash") == crash;
    });
    const auto left = check_isolated(small, narrow, 5);
    return cat("seed ", program.seed, ", ", failure.where, ": ", failure.what,
               "\nminimised: ", left ? left->where + ": " + left->what : "it does not fail alone", "\n",
               describe(small));
}

}  // namespace volley::testing
