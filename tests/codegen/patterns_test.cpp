// Code patterns that must be compiled well: a miss costs a factor of up to five. The tests check the assembly
// for instructions that must and must not occur.
#include "code_of.hpp"

#include <gtest/gtest.h>

namespace volley::test {
namespace {

#if !defined(__x86_64__)
#define VOLLEY_NEEDS_X86() \
    GTEST_SKIP() << "the patterns are read from x86-64 assembly; this machine is another"
#else
#define VOLLEY_NEEDS_X86() (void)0
#endif

constexpr std::string_view gather = "gather";
constexpr std::string_view mask_move = "maskmov";

TEST(Patterns, ContiguousAccessesAreVectorLoadsAndStores) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of([](Buff<const float> in, Buff<float> out) {
        const auto i = global_id().x;
        out[i] = in[i] * 2.0f;
    });
    EXPECT_FALSE(has(code, gather)) << code;
    EXPECT_FALSE(has(code, mask_move)) << code;
    EXPECT_TRUE(has(code, "%ymm")) << code;
}

TEST(Patterns, ProcessorsWithoutWideVectorsHaveFourLanes) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of(
        [](Buff<const float> in, Buff<float> out) {
            const auto i = global_id().x;
            out[i] = in[i] * 3.0f;
        },
        {.cpu = "x86-64", .features = "", .width = 4});
    EXPECT_TRUE(has(code, "mulps")) << code;
    EXPECT_FALSE(has(code, "%ymm")) << code;
}

TEST(Patterns, FullGridsHaveNoMasks) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of([](Buff<float> data) { data[global_id().x] += 1.0f; }, avx512());
    EXPECT_FALSE(has(code, "%k1")) << code;
    EXPECT_TRUE(has(code, "%zmm")) << code;
}

TEST(Patterns, OffsetsKeepAccessesContiguous) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of([](Buff<const float> in, Buff<float> out, Const<unsigned> shift) {
        const auto i = global_id().x;
        out[i] = in[i + 1u] - in[i + shift];
    });
    EXPECT_FALSE(has(code, gather)) << code;
}

TEST(Patterns, PositionsAlongTheLastAxisAreContiguous) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of([](Buff<const float> in, Buff<float> out) {
        const auto x = global_id().x, y = global_id().y;
        out(y, x) = in(y, x + 1u) - in(y + 1u, x);
    });
    EXPECT_FALSE(has(code, gather)) << code;
    EXPECT_FALSE(has(code, mask_move)) << code;
    EXPECT_TRUE(has(code, "%ymm")) << code;
}

TEST(Patterns, SumsOfIndicesAreAddedByTheAccess) {
    VOLLEY_NEEDS_X86();
    const std::string blocks = code_of([](Buff<const float> in, Buff<float> out, Const<unsigned> first) {
        const auto i = global_id().x;
        out[i] = in[first + i] + in[first + i + 64u] + in[first + 128u + i];
    });
    EXPECT_TRUE(has(blocks, "256(%r")) << blocks;
    EXPECT_TRUE(has(blocks, "512(%r")) << blocks;
    // The starts of rows are computed once, outside of the loop over the lanes.
    const std::string rows = code_of([](Buff<const float> in, Buff<float> out, Const<unsigned> width) {
        const auto i = global_id().x;
        out[i] = in[width * 3u + i] + in[width * 5u + i];
    });
    EXPECT_EQ(count(rows, "movslq"), 2u) << rows;
    EXPECT_LT(rows.find("movslq"), rows.find("vmov")) << rows;
}

TEST(Patterns, AMaskedPowerOfTwoIndexIsContiguous) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of([](Buff<const float> table, Buff<float> out) {
        const auto i = global_id().x;
        out[i] = table[i & 255u];
    });
    EXPECT_FALSE(has(code, gather)) << code;
}

TEST(Patterns, RowsOfARavelledIndexAreUniform) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of([](Buff<const float> row_scale, Buff<float> out) {
        const auto i = global_id().x;
        out[i] = out[i] * row_scale[i / 64u];
    });
    EXPECT_FALSE(has(code, gather)) << code;
}

TEST(Patterns, SignedIndexArithmeticIsAnalysed) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of([](Buff<const float> row_scale, Buff<float> out) {
        const auto i = cast<int>(global_id().x);
        out[i] = out[i % 4096] * row_scale[i / 64];
    });
    EXPECT_FALSE(has(code, gather)) << code;
    EXPECT_FALSE(has(code, mask_move)) << code;
}

TEST(Patterns, AUniformLoadIsABroadcastFromMemoryWhereverItIsUsed) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of([](Buff<const float> weights, Buff<float> out) {
        const auto i = global_id().x;
        Var<float> sum = 0.0f;
        $for (k, 0u, 100u) {
            const auto weight = weights[k];
            $if (out[i] > 0.0f) {
                sum += weight;
            }
        }
        out[i] = sum;
    });
    EXPECT_TRUE(has(code, "vbroadcastss\t(")) << code;
    EXPECT_FALSE(has(code, "vbroadcastss\t%xmm")) << code;
}

TEST(Patterns, InterleavedComplexIsLoadedWholeAndShuffled) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of([](Buff<complex<float>> data, Const<complex<float>> by) {
        const auto i = global_id().x;
        data[i] = data[i] * by;
    });
    EXPECT_FALSE(has(code, gather)) << code;
    EXPECT_FALSE(has(code, "vextractps")) << code;
    EXPECT_FALSE(has(code, "vmovss\t%")) << code;
}

TEST(Patterns, StridedLoadsAreLoadsAndShuffles) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of([](Buff<const float> in, Buff<float> out) {
        const auto i = global_id().x;
        out[i] = in[2u * i] + in[2u * i + 1u];
    });
    EXPECT_FALSE(has(code, gather)) << code;
}

TEST(Patterns, ConsecutiveItemsStoredOneByOneAreATransposeToo) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of([](Buff<const float> in, Buff<float> out) {
        const auto i = global_id().x;
        const auto first = 4u * i;
        const auto a = in[first];
        const auto b = in[first + 1u];
        const auto c = in[first + 2u];
        const auto d = in[first + 3u];
        out[first] = a + b;
        out[first + 1u] = a - b;
        out[first + 3u] = c - d;
        out[first + 2u] = c + d;
    });
    EXPECT_FALSE(has(code, "vextractps")) << code;
    EXPECT_FALSE(has(code, "scatter")) << code;
    EXPECT_EQ(count(code, "vmovups\t%ymm"), 4u) << code;
}

TEST(Patterns, ConsecutiveItemsOfALaneAreATranspose) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of([](Buff<const float> in, Buff<vec4> out) {
        const auto i = global_id().x;
        const auto x = in[i];
        out[i] = make_vec(x, x * 2.0f, x * 3.0f, x * 4.0f);
    });
    EXPECT_FALSE(has(code, "vextractps")) << code;
    EXPECT_FALSE(has(code, "scatter")) << code;
    EXPECT_GE(count(code, "vmovups\t%ymm"), 4u) << code;
}

TEST(Patterns, StreamingStoresAreUsedOnRequest) {
    VOLLEY_NEEDS_X86();
    const ir::Function fn = optimised([](Buff<const float> in, Buff<float> out, Buff<float> both) {
        const auto i = global_id().x;
        out[i] = in[i];
        both[i] += 1.0f;
    });
    const std::string code = codegen::llvm::assembly(fn, {.full = true, .streaming = true}, avx2());
    EXPECT_EQ(count(code, "vmovntps"), 1u) << code;
    EXPECT_EQ(count(code, "sfence"), 1u) << code;
    EXPECT_FALSE(has(code_of([](Buff<float> out) { out[global_id().x] = 1.0f; }), "vmovnt"));
}

TEST(Patterns, ConsecutiveItemsOfALaneAreStreamedToo) {
    VOLLEY_NEEDS_X86();
    const ir::Function fn = optimised([](Buff<const float> in, Buff<float> out) {
        const auto i = global_id().x;
        const auto x = in[i];
        for (unsigned k = 0; k < 4; ++k) out[i * 4u + k] = x + static_cast<float>(k);
    });
    const std::string code = codegen::llvm::assembly(fn, {.full = true, .streaming = true}, avx512());
    EXPECT_EQ(count(code, "vmovntp"), 4u) << code;
    EXPECT_FALSE(has(code, "scatter")) << code;
}

TEST(Patterns, MultiplyAddsAreFused) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of([](Buff<const float> x, Buff<float> y, Const<float> a) {
        const auto i = global_id().x;
        y[i] = a * x[i] + y[i];
    });
    EXPECT_TRUE(has(code, "vfmadd")) << code;
    EXPECT_FALSE(has(code, "vmulps")) << code;
}

TEST(Patterns, UniformLoadsInALoopAreScalarBroadcasts) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of([](Buff<const float> in, Buff<float> out, Const<unsigned> n) {
        const auto i = global_id().x;
        Var<float> sum = 0.0f;
        $for (k, 0u, n) {
            sum += in[k];
        }
        out[i] = sum;
    });
    EXPECT_FALSE(has(code, gather)) << code;
    EXPECT_FALSE(has(code, mask_move)) << code;
}

TEST(Patterns, IdsAreNotKeptAcrossBarriers) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of(
        [](Buff<const float> in, Buff<float> out) {
            Shared<float> tile(64);
            const auto l = local_id().x;
            tile[l] = in[global_id().x];
            barrier();
            out[global_id().x] = tile[63u - l];
        },
        avx2(), {64, 1, 1});
    EXPECT_FALSE(has(code, gather)) << code;  // the reversed tile is a load and a shuffle
}

TEST(Patterns, KernelsRealignTheirStack) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of([](Buff<float> data) {
        const auto i = global_id().x;
        Var<std::array<float, 16>> local;
        $for (k, 0u, 16u) {
            local[k] = data[i + k];
        }
        Var<float> sum = 0.0f;
        $for (k, 0u, 16u) {
            sum += local[15u - k] * cast<float>(k);
        }
        data[i] = sum;
    });
    EXPECT_TRUE(has(code, "andq\t$-64, %rsp")) << code;
}

TEST(Patterns, GuardsCostNothingInTheInterior) {
    VOLLEY_NEEDS_X86();
    const auto stencil = [](Buff<const float> in, Buff<float> out, Const<unsigned> n) {
        const auto i = global_id().x;
        const auto left = select(i > 0u, in[i - 1u], 0.0f);
        const auto right = select(i + 1u < n, in[i + 1u], 0.0f);
        out[i] = left + right;
    };
    const std::string code = code_of(stencil);
    EXPECT_FALSE(has(code, gather)) << code;
    EXPECT_EQ(count(code, mask_move), 2u) << code;  // at the border
    EXPECT_TRUE(has(code, "vaddps\t4(%")) << code;  // a plain load, folded into the addition
    EXPECT_TRUE(has(code, "vmovups\t-4(%")) << code;
    EXPECT_FALSE(has(code_of(stencil, avx512()), gather));
}

TEST(Patterns, GuardsInLoopsAreMaskedLoads) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of([](Buff<const float> in, Buff<float> out, Const<int> n) {
        const auto i = cast<int>(global_id().x);
        Var<float> sum = 0.0f;
        $for (k, -2, 3) {
            sum += select(i + k >= 0 && i + k < n, in[i + k], 0.0f);
        }
        out[i] = sum;
    });
    EXPECT_FALSE(has(code, gather)) << code;
    EXPECT_TRUE(has(code, mask_move)) << code;
}

TEST(Patterns, SharedAtomicsArePlainOperationsWithoutBranches) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of(
        [](Buff<const std::uint8_t> in, Buff<unsigned> out) {
            Shared<unsigned> bins(256);
            const auto l = local_id().x;
            bins[l] = 0u;
            barrier();
            bins.atomic(in[global_id().x]).add(1u);
            barrier();
            out[global_id().x] = bins[l];
        },
        avx2(), {256, 1, 1});
    EXPECT_FALSE(has(code, "lock")) << code;
    EXPECT_GE(count(code, "addl\t$1, (%"), 8u) << code;
}

template <class T>
void select_positive(Buff<const T> in, Buff<T> out, Buff<const unsigned> begins) {
    const auto x = in[global_id().x];
    const auto positive = x > T{};
    const auto at = begins[group_id().x] + subgroup_exclusive_add(select(positive, 1u, 0u));
    $if (positive) {
        out[at] = x;
    }
}

TEST(Patterns, LanesThatStoreSideBySideAreCompressed) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of(select_positive<float>, avx512(), {16, 1, 1});
    EXPECT_EQ(count(code, "vcompressps"), 1u) << code;
    EXPECT_EQ(count(code, "popcnt"), 1u) << code;
    EXPECT_FALSE(has(code, "scatter")) << code;
    EXPECT_FALSE(has(code, "vpermd")) << code;  // the sums of the lanes are not computed
    EXPECT_EQ(count(code_of(select_positive<double>, avx512(), {16, 1, 1}), "vcompresspd"), 2u);
    EXPECT_EQ(count(code_of(select_positive<short>, avx512(), {16, 1, 1}), "vpcompressd"), 1u);
    const std::string narrow = code_of(select_positive<float>, avx2(), {8, 1, 1});
    EXPECT_EQ(count(narrow, "vmaskmovps"), 1u) << narrow;
    EXPECT_EQ(count(narrow, "vextractps"), 6u) << narrow;  // the lowest lanes of both halves need none
}

TEST(Patterns, LanesThatAreCountedOtherwiseAreScattered) {
    VOLLEY_NEEDS_X86();
    const std::string code = code_of(
        [](Buff<const float> in, Buff<float> out) {
            const auto x = in[global_id().x];
            const auto at = subgroup_exclusive_add(select(x > 0.0f, 1u, 0u));
            $if (x > 1.0f) {
                out[at] = x;
            }
        },
        avx512(), {16, 1, 1});
    EXPECT_TRUE(has(code, "scatter")) << code;
    EXPECT_FALSE(has(code, "vcompressps")) << code;
}

}  // namespace
}  // namespace volley::test
