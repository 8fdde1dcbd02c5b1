// Output of print() in kernels, and the print sink.
#include "backends/common/print.hpp"
#include "runtime/runtime_support.hpp"

#include <algorithm>
#include <stdexcept>

namespace volley {
namespace {

class PrintTest : public ::testing::TestWithParam<const char*> {
protected:
    PrintTest() {
        set_print_sink([this](std::string_view line) { lines.emplace_back(line); });
    }
    ~PrintTest() override { set_print_sink({}); }

    std::vector<std::string> lines;
    Context context = make_context({.devices = {GetParam()}});
    ContextScope scope = context.use();
};
INSTANTIATE_TEST_SUITE_P(Backends, PrintTest, ::testing::Values("cpu", "reference"));

TEST_P(PrintTest, PrintsALinePerInvocationThatReachesIt) {
    auto speak = kernel("speak", [](Buff<float> data) {
        auto i = global_id().x;
        $if (i % 2u == 0u) {
            print("i={} x={}", i, data[i]);
        }
    });
    Buffer<float> data = as_buffer({0.5f, 1.5f, 2.5f});
    speak(data).wait();
    std::sort(lines.begin(), lines.end());
    EXPECT_EQ(lines, (std::vector<std::string>{"i=0 x=0.5", "i=2 x=2.5"}));
}

TEST_P(PrintTest, FormatsEveryType) {
    auto speak = kernel("speak", [](Buff<vec3> v, Const<complex<double>> c, Const<bool> b, Const<i8> small) {
        print("{} {} {} {} {{}}", v[0], c, b, small);
        print("{}", small);
        print("{}", b);
    });
    Buffer<vec3> v = as_buffer({vec3(1, 2.5f, -3)});
    speak(v, std::complex<double>(0.1, 2), true, -7).wait();
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[0], "(1, 2.5, -3) (0.1, 2) true -7 {}");
    EXPECT_EQ(lines[1], "-7");
    EXPECT_EQ(lines[2], "true") << "the same format with another type";
}

TEST_P(PrintTest, ASinkThatThrowsFailsTheWait) {
    set_print_sink([](std::string_view) { throw std::runtime_error("full"); });
    auto speak = kernel("speak", [](Buff<int> data) {
        data[global_id().x] = 1;
        print("hello");
    });
    Buffer<int> data(100);
    const Event event = speak(data);
    EXPECT_THROW(event.wait(), std::runtime_error);
    EXPECT_NO_THROW(event.wait()) << "thrown only once";
    set_print_sink({});
    EXPECT_NO_THROW(wait());
}

TEST(PrintFormat, LeavesUnmatchedPlaceholders) {
    const int value = 5;
    const DType type = ScalarType::I32;
    EXPECT_EQ(backends::format_print("{} {} {", std::span(&type, 1), &value), "5 {} {");
    EXPECT_EQ(backends::format_print("}}{{", {}, nullptr), "}{");
}

}  // namespace
}  // namespace volley
