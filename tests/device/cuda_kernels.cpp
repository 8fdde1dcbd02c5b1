// Compiles every kernel of the device suite as CUDA C++. With VOLLEY_TEST_CUDA=1 (and VOLLEY_DUMP=ir, which
// exposes them), kernels are collected as they are traced, and compiled to PTX after the tests.
#include "codegen/text_support.hpp"
#include "core/text.hpp"
#include "ir/parser.hpp"

#include <volley/log.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace volley::test {
namespace {

constexpr std::size_t batch = 40;  // kernels per compiler invocation

class CudaKernels final : public ::testing::Environment {
    void SetUp() override {
        const char* asked = std::getenv("VOLLEY_TEST_CUDA");
        if (asked == nullptr || std::string_view(asked) != "1") return;
        if (!has_nvrtc())
            std::cout << "[  SKIPPED ] NVRTC's part of CUDA kernels: this machine has no libnvrtc.so\n";
        if (!has_clang()) std::cout << "[  SKIPPED ] clang's part of CUDA kernels: built without clang\n";
        collects_ = has_nvrtc() || has_clang();
        if (!collects_) return;
        set_log_level(LogLevel::Info);
        set_log_sink([this](LogLevel, std::string_view message) { take(message); });
    }

    void TearDown() override {
        if (!collects_) return;
        set_log_sink({});
        set_log_level(LogLevel::Off);
        EXPECT_FALSE(kernels_.empty()) << "VOLLEY_DUMP=ir shows kernels; is it set?";
        const std::vector<std::string> texts(kernels_.begin(), kernels_.end());
        for (std::size_t first = 0; first < texts.size(); first += batch) {
            const std::size_t end = std::min(first + batch, texts.size());
            const std::span<const std::string> some = std::span(texts).subspan(first, end - first);
            if (has_clang()) {
                EXPECT_EQ(objections(sources(some, 75), 75), "");
            }
            if (!has_nvrtc()) continue;
            EXPECT_EQ(nvrtc_objections(sources(some, 75)), "");
            EXPECT_EQ(nvrtc_objections(sources(some, 90)), "");
        }
        std::cout << texts.size() << " kernels of the suite became PTX\n";
    }

    void take(std::string_view message) {
        const std::size_t head = message.find('\n');
        constexpr std::string_view end = "---";
        if (head == std::string_view::npos || !message.substr(0, head).ends_with(" as traced")) return;
        kernels_.emplace(message.substr(head + 1, message.size() - head - 1 - end.size()));
    }

    static std::vector<cuda::Source> sources(std::span<const std::string> texts, unsigned architecture) {
        std::vector<cuda::Source> list;
        for (const std::string& text : texts) {
            ir::Function fn = ir::parse(text);
            passes::optimise(fn);
            const ir::Dim3 local = fn.local_size.value_or(ir::Dim3{64, 1, 1});
            list.push_back(cuda::compile(fn, {local, list.size() % 2 == 0}, {"cuda:0", architecture}));
        }
        return list;
    }

    bool collects_ = false;
    std::set<std::string> kernels_;
};

[[maybe_unused]] const ::testing::Environment* const environment =
    ::testing::AddGlobalTestEnvironment(new CudaKernels);

}  // namespace
}  // namespace volley::test
