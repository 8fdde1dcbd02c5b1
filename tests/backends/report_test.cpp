// Printing from kernels, on every driver whose code cannot call the host.
#include "backends/queue_support.hpp"
#include "backends/subjects.hpp"

#include <volley/print_sink.hpp>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace volley::testing {
namespace {

using backends::Point;

class ReportTest : public SubjectTest {};
VOLLEY_SUBJECT_SUITE(ReportTest);

/// Captures what kernels print during its lifetime.
class PrintedText {
public:
    PrintedText() {
        set_print_sink([this](std::string_view line) {
            const std::scoped_lock lock(mutex_);
            lines_.emplace_back(line);
        });
    }
    ~PrintedText() { set_print_sink({}); }
    std::vector<std::string> sorted() {
        const std::scoped_lock lock(mutex_);
        std::sort(lines_.begin(), lines_.end());
        return lines_;
    }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

ir::Function print_index() {
    ir::Function fn;
    fn.name = "print_index";
    ir::Builder b(fn);
    const ir::NodeId i = b.extract(b.emit(ir::Op::GlobalId, {}), 0);
    b.print("index {}", std::span(&i, 1));
    return fn;
}

TEST_P(ReportTest, PrintsFromEveryInvocation) {
    for (const bool mapped : {true, false}) {
        use(mapped);
        PrintedText printed;
        const auto program = device->compile(print_index());
        for (int k = 0; k < 3; ++k) queue->launch({program.get(), {10'000, 1, 1}, {64, 1, 1}, {}});
        queue->timeline().wait(queue->last());
        const std::vector<std::string> lines = printed.sorted();
        ASSERT_EQ(lines.size(), 30'000u);
        EXPECT_EQ(lines[0], "index 0");
        EXPECT_EQ(lines[29'999], "index 9999");
    }
}

TEST_P(ReportTest, PrintsWithoutAWait) {
    PrintedText printed;
    const auto program = device->compile(print_index());
    queue->launch({program.get(), {5, 1, 1}, {64, 1, 1}, {}});
    while (printed.sorted().size() < 5) std::this_thread::yield();
}

TEST_P(ReportTest, AnExceptionOfTheSinkFailsTheWait) {
    set_print_sink([](std::string_view) { throw std::runtime_error("no more paper"); });
    const auto program = device->compile(print_index());
    const Point point = queue->launch({program.get(), {5, 1, 1}, {64, 1, 1}, {}});
    EXPECT_THROW(queue->timeline().wait(point), std::runtime_error);
    EXPECT_NO_THROW(queue->timeline().wait(point));
    set_print_sink({});
}

TEST_P(ReportTest, PrintsAfterACallback) {
    PrintedText printed;
    const auto program = device->compile(print_index());
    Gate gate;
    queue->call([&] { gate.pass(); });
    const Point point = queue->launch({program.get(), {3, 1, 1}, {64, 1, 1}, {}});
    EXPECT_TRUE(printed.sorted().empty());
    gate.open();
    queue->timeline().wait(point);
    EXPECT_EQ(printed.sorted(), (std::vector<std::string>{"index 0", "index 1", "index 2"}));
}

}  // namespace
}  // namespace volley::testing
