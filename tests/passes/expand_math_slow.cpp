// Every function of one float, on every 509th float of the whole range; the seed selects the residue.
#include "passes/expand_math_support.hpp"

namespace volley::passes {
namespace {

TEST(ExpandMathSweep, FloatsAreAccurateOverTheFullRange) {
    constexpr std::uint64_t stride = 509;
    constexpr std::size_t batch = 1u << 20;
    for (const bool fused : {false, true}) {
        const MathTarget target{false, false, fused, true};
        for (const MathFunction& f : math_functions()) {
            if (f.is_binary()) continue;
            const CompiledMath<float> compiled(expanded(f, ScalarType::F32, target));
            std::uint64_t bits = testing::seed_or(0) % stride;
            while (bits <= 0xffffffffu) {
                std::vector<float> a;
                for (; a.size() < batch && bits <= 0xffffffffu; bits += stride) {
                    a.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
                }
                expect_promise<float>(f, target, a, a, compiled(a, a));
            }
        }
    }
}

}  // namespace
}  // namespace volley::passes
