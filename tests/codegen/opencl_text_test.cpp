// The generated OpenCL C: valid for every target with only the features that the target has, readable, and
// rejected with a clear message if the target lacks a feature.
#include "codegen/operations.hpp"
#include "codegen/text_support.hpp"
#include "core/text.hpp"
#include "ir/parser.hpp"
#include "ir/samples.hpp"
#include "random/generator.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace volley::test {
namespace {

using opencl::ArgumentKind;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(const ir::Function& fn, const opencl::Target& target) {
    try {
        static_cast<void>(opencl::compile(fn, line_of_64, target));
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.code(), ErrorCode::Unsupported);
        EXPECT_FALSE(error.advice().empty());
        return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return {};
}

std::ptrdiff_t count_parameters(const opencl::Source& source, ArgumentKind kind) {
    return std::count_if(source.parameters.begin(), source.parameters.end(),
                         [&](const opencl::Parameter& parameter) { return parameter.kind == kind; });
}

// Compiles every kernel that the target supports and checks them all in one run of clang.
class Batch {
public:
    explicit Batch(opencl::Target target) : target_(std::move(target)) {}
    void add(const ir::Function& fn, const opencl::Variant& variant = line_of_64) {
        try {
            sources_.push_back(opencl::compile(fn, variant, target_));
        } catch (const DeviceError& error) {
            ASSERT_EQ(error.code(), ErrorCode::Unsupported) << error.what();
            ++refused_;
        }
    }
    void check() {
        if (sources_.empty()) return;
        EXPECT_EQ(objections(sources_, target_), "") << target_.device;
        sources_.clear();
    }
    [[nodiscard]] unsigned refused() const { return refused_; }

private:
    opencl::Target target_;
    std::vector<opencl::Source> sources_;
    unsigned refused_ = 0;
};

class OpenClText : public ::testing::TestWithParam<std::size_t> {
protected:
    void SetUp() override {
        if (!has_clang()) GTEST_SKIP() << "built without clang: text is written, but not checked";
    }
    [[nodiscard]] opencl::Target target() const { return all_opencl()[GetParam()]; }
};

TEST_P(OpenClText, EveryOperationOnEveryTypeCompiles) {
    Batch batch(target());
    for (const ScalarType s : all_scalars()) {
        batch.add(operations_on(s));
        batch.add(operations_on(DType::vector(s, 3)));
        batch.add(conversions_from(s));
        batch.add(subgroup_operations_on(s));
        batch.add(subgroup_operations_on(DType::vector(s, 2)), full_64);
        if (s != ScalarType::Bool && s != ScalarType::F16 && size_of(s) >= 4)
            batch.add(atomics_on(s), {{8, 1, 1}, true});
        if (is_float(s)) {
            batch.add(operations_on(DType::complex(s)));
            batch.add(operations_on(DType::matrix(s, 2, 3)));
        }
    }
    batch.add(ir::every_op_function(), {{8, 4, 2}, true});
    batch.check();
    if (!target().f64) return;
    EXPECT_EQ(batch.refused(), 0u);
}

TEST_P(OpenClText, SubgroupResultsAreIndexedByComputedSteps) {
    Batch batch(target());
    batch.add(ir::parse(R"(kernel "parts" {
  %data = buffer u32 "data"
  %lane = subgroup_lane : u32
  %value = load %data[%lane] : u32
  %vote = eq %value, %lane : bool
  %ballot = subgroup_ballot %vote : vec4<u32>
  %word = extract %ballot[%lane] : u32
  %pair = construct %word, %value : vec2<u32>
  %sum = subgroup_add %pair : vec2<u32>
  %part = extract %sum[%lane] : u32
  %other = subgroup_shuffle %pair, %part : vec2<u32>
  %mine = extract %other[%lane] : u32
  store %data[%lane], %mine
}
)"),
              full_64);
    batch.check();
}

TEST_P(OpenClText, AVariableMayBeStoredToItself) {
    Batch batch(target());
    batch.add(ir::parse(R"(kernel "same" {
  %data = buffer u32 "data"
  %x = var u32
  %lane = subgroup_lane : u32
  %value = load %data[%lane] : u32
  store %x, %value
  %again = load %x : u32
  store %x, %again
  %last = load %x : u32
  store %data[%lane], %last
}
)"));
    batch.check();
}

TEST_P(OpenClText, EveryLayoutIsReadAndWritten) {
    Batch batch(target());
    for (const ScalarType s : all_scalars()) {
        const auto size = size_of(s);
        const StructField packed[] = {{"tag", ScalarType::U8, 0}, {"value", DType::vector(s, 2), 1}};
        const StructField padded[] = {{"tag", ScalarType::Bool, 0},
                                      {"value", s, 8},
                                      {"rows", DType::array(DType::vector(s, 3), 2), 16}};
        for (const DType type :
             {DType(s), DType::vector(s, 3), DType::array(DType::vector(s, 2), 3), DType::array(s, 40),
              DType::structure(cat("Packed", name_of(s)), packed, 1 + 2 * size, 1),
              DType::structure(cat("Padded", name_of(s)), padded, 64, 8)})
            batch.add(accesses_to(type), {{4, 1, 1}, true});
        if (is_float(s)) batch.add(accesses_to(DType::array(DType::matrix(s, 3, 2), 2)), {{4, 1, 1}, true});
    }
    batch.check();
    EXPECT_EQ(batch.refused(), 0u);  // doubles can be copied on targets that cannot compute with them
}

TEST_P(OpenClText, RandomProgramsCompile) {
    Batch batch(target());
    constexpr std::uint64_t programs = 60;
    const std::uint64_t first = 1 + programs * GetParam();  // a different range for each target
    for (std::uint64_t seed = first; seed < first + programs; ++seed) {
        const testing::Program program = testing::generate(seed, testing::options_for(seed));
        ir::Function fn = program.fn;
        passes::optimise(fn);
        batch.add(fn, {program.local, seed % 3 == 0});
    }
    batch.check();
    EXPECT_LT(batch.refused(), programs / 2);
}

INSTANTIATE_TEST_SUITE_P(Target, OpenClText, ::testing::Range<std::size_t>(0, 3));

TEST(OpenClSource, ReadsLikeTheKernel) {
    const opencl::Source source = opencl::compile(ir::scale_function(), full_64, cpu_opencl());
    EXPECT_EQ(source.entry, "scale_kernel");
    EXPECT_EQ(line_with(source, "data[global_id_x] ="), "data[global_id_x] = data[global_id_x] * alpha;");
    EXPECT_TRUE(has(source, "// scale.cpp:5\n"));
    EXPECT_TRUE(has(source, "reqd_work_group_size(64, 1, 1)"));
    EXPECT_THAT(source.text,
                ::testing::StartsWith("// scale: OpenCL C 1.2 by Volley, for workgroups of 64 x 1 x 1"));
}

TEST(OpenClSource, SourceLinesAppearOnlyWhenTheyChange) {
    const opencl::Source source = opencl::compile(text_traced([](Buff<float> data) {
                                                      const auto i = global_id().x;
                                                      data[i] = data[i] + 1.0f;
                                                      data[i + 1u] = 2.0f;
                                                  }),
                                                  full_64, cpu_opencl());
    std::size_t lines = 0;
    for (std::size_t at = 0; (at = source.text.find("opencl_text_test.cpp:", at)) != std::string::npos; ++at)
        ++lines;
    EXPECT_EQ(lines, 2u) << source.text;
}

TEST(OpenClSource, CommentsPrecedeTheirStatements) {
    const auto commented = [](Buff<float> data) {
        const auto i = global_id().x;
        comment("add one\nto each \\");
        data[i] = data[i] + 1.0f;
        comment("and a mark */ /* behind");
        data[i + 1u] = 2.0f;
    };
    const opencl::Source source = opencl::compile(text_traced(commented), full_64, cpu_opencl());
    const std::size_t add = source.text.find("// add one\n    // to each  \n    // opencl_text_test.cpp:");
    const std::size_t sum = source.text.find("+ 1.0f");
    const std::size_t mark = source.text.find("// and a mark */ /* behind\n");
    const std::size_t last = source.text.find("= 2.0f");
    EXPECT_TRUE(add < sum && sum < mark && mark < last && last != std::string::npos) << source.text;
    EXPECT_THAT(cuda::compile(text_traced(commented), full_64, {}).text,
                HasSubstr("// and a mark */ /* behind\n"));
    if (has_clang()) {
        EXPECT_EQ(objections({source}, cpu_opencl()), "");
    }
}

TEST(OpenClSource, ValuesThatAreUsedTwiceHaveNames) {
    const opencl::Source source = opencl::compile(text_traced([](Buff<float> data) {
                                                      const auto i = global_id().x;
                                                      const auto x = data[i] * 3.0f;
                                                      data[i] = x * x;
                                                  }),
                                                  full_64, cpu_opencl());
    EXPECT_EQ(line_with(source, "const float v0"), "const float v0 = arg0[global_id_x] * 3.0f;");
    EXPECT_EQ(line_with(source, "arg0[global_id_x] = "), "arg0[global_id_x] = v0 * v0;");
}

TEST(OpenClSource, LoadsStayBeforeTheStoresThatMayChangeThem) {
    const opencl::Source source = opencl::compile(text_traced([](Buff<int> a, Buff<int> b) {
                                                      const auto i = global_id().x;
                                                      const auto old = a[i];
                                                      b[i] = 7;
                                                      a[i + 1u] = old;
                                                  }),
                                                  full_64, cpu_opencl());
    const std::size_t load = source.text.find("= arg0[global_id_x];");
    const std::size_t store = source.text.find("arg1[global_id_x] = 7;");
    ASSERT_NE(load, std::string::npos) << source.text;
    ASSERT_NE(store, std::string::npos) << source.text;
    EXPECT_LT(load, store) << source.text;
}

TEST(OpenClSource, FullVariantsHaveNoGuard) {
    const ir::Function fn = text_traced([](Buff<float> data) { data[global_id().x] += 1.0f; });
    const opencl::Source guarded = opencl::compile(fn, line_of_64, cpu_opencl());
    EXPECT_TRUE(has(guarded, "if (global_id_x >= global_size_x) return;"));
    EXPECT_EQ(count_parameters(guarded, ArgumentKind::GlobalSize), 1);
    const opencl::Source full = opencl::compile(fn, full_64, cpu_opencl());
    EXPECT_FALSE(has(full, "return"));
    EXPECT_EQ(count_parameters(full, ArgumentKind::GlobalSize), 0);
}

TEST(OpenClSource, EveryDimensionIsGuarded) {
    const ir::Function fn = text_traced([](Buff<float> data) { data[global_id().x] += 1.0f; });
    const opencl::Source source = opencl::compile(fn, {{8, 4, 2}, false}, cpu_opencl());
    EXPECT_TRUE(has(source,
                    "if (global_id_x >= global_size_x || global_id_y >= global_size_y || global_id_z >= "
                    "global_size_z) return;"));
}

TEST(OpenClSource, KernelsWithBarriersHaveNoGuard) {
    const opencl::Source source = opencl::compile(text_traced([](Buff<float> data) {
                                                      Shared<float> tile(64);
                                                      tile[local_index()] = data[global_id().x];
                                                      barrier();
                                                      data[global_id().x] = tile[63u - local_index()];
                                                  }),
                                                  line_of_64, cpu_opencl());
    EXPECT_FALSE(has(source, "return;"));
    EXPECT_EQ(source.shared_bytes, 256u);
    EXPECT_TRUE(has(source, "__local float shared0[64];"));
    EXPECT_TRUE(has(source, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"));
}

TEST(OpenClSource, UnusedArgumentsAreNotPassed) {
    const ir::Function fn = text_traced(
        [](Buff<float> used, Buff<float>, Const<int>, Const<float> alpha) { used[global_id().x] = alpha; });
    const opencl::Source source = opencl::compile(fn, full_64, cpu_opencl());
    ASSERT_EQ(source.parameters.size(), 3u);
    EXPECT_EQ(source.parameters[0].kind, ArgumentKind::Memory);
    EXPECT_EQ(source.parameters[0].index, 0u);
    EXPECT_EQ(source.parameters[0].size, 0u);
    EXPECT_EQ(source.parameters[1].kind, ArgumentKind::Offset);
    EXPECT_EQ(source.parameters[1].size, 8u);
    EXPECT_EQ(source.parameters[2].kind, ArgumentKind::Value);
    EXPECT_EQ(source.parameters[2].index, 3u);
    EXPECT_EQ(source.parameters[2].size, 4u);
}

TEST(OpenClSource, AnyNameBecomesAValidOne) {
    std::vector<opencl::Source> sources;
    for (const char* name :
         {"float", "1st", "data memory", "sqrt", "global_id_x", "reports", "__x", "", "v0", "kernel", "M_PI",
          "data_memory", "as_float", "i32", "\\n", "v0_x", "k0_next", "div_i32"}) {
        ir::Function fn = ir::scale_function();
        fn.name = name;
        fn.params[0].name = name;
        fn.params[1].name = name;
        sources.push_back(opencl::compile(fn, line_of_64, cpu_opencl()));
    }
    if (!has_clang()) GTEST_SKIP() << "built without clang";
    EXPECT_EQ(objections(sources, cpu_opencl()), "");
}

TEST(OpenClSource, TheSameKernelGivesTheSameText) {
    const ir::Function fn = ir::every_op_function();
    EXPECT_EQ(opencl::compile(fn, {{8, 4, 2}, true}, rich_opencl()).text,
              opencl::compile(fn, {{8, 4, 2}, true}, rich_opencl()).text);
}

TEST(OpenClSource, PrintsAreListedWithTheirTypes) {
    const ir::Function fn = text_traced([](Buff<const float> data) {
        print("x {} at {}", data[global_id().x], global_id());
        print("done");
    });
    const opencl::Source source = opencl::compile(fn, line_of_64, cpu_opencl());
    ASSERT_EQ(source.prints.size(), 2u);
    EXPECT_TRUE(source.reports);
    EXPECT_EQ(count_parameters(source, ArgumentKind::Reports), 1);
    EXPECT_EQ(source.prints[0].format, "x {} at {}");
    ASSERT_EQ(source.prints[0].types.size(), 2u);
    EXPECT_EQ(source.prints[0].types[1].name(), "vec3<u32>");
    EXPECT_TRUE(source.prints[1].types.empty());
}

TEST(OpenClSource, MissingFeaturesAreReportedWithTheirSourceLine) {
    const std::string f64 =
        refusal(text_traced([](Buff<double> data) { data[global_id().x] *= 2.0; }), poor_opencl());
    EXPECT_THAT(f64, HasSubstr("poor:0"));
    EXPECT_THAT(f64, HasSubstr("f64"));
    EXPECT_THAT(f64, HasSubstr("opencl_text_test.cpp:"));
    const ir::Function asks = text_traced([](Buff<std::int64_t> sum, Buff<std::int64_t> old) {
        old[global_id().x] = sum.atomic(0).add(std::int64_t{1});
    });
    const std::string atomic = refusal(asks, poor_opencl());
    EXPECT_THAT(atomic, HasSubstr("64-bit atomics"));
    EXPECT_THAT(atomic, HasSubstr("opencl_text_test.cpp:"));
}

TEST(OpenClSource, SumsOf64BitsWorkWithout64BitAtomics) {
    const ir::Function adds = text_traced([](Buff<std::int64_t> sum, Buff<std::uint64_t> bits) {
        sum.atomic(0).add(std::int64_t{-1});
        sum.atomic(1).sub(std::int64_t{1});
        bits.atomic(0).bit_xor(std::uint64_t{7});
    });
    const opencl::Source source = opencl::compile(adds, line_of_64, poor_opencl());
    EXPECT_TRUE(has(source, "atomic_add_words_global(")) << source.text;
    if (!has_clang()) GTEST_SKIP() << "built without clang";
    EXPECT_EQ(objections({source}, poor_opencl()), "");
}

TEST(OpenClSource, OptionsRequestExactDivisionIfSupported) {
    const ir::Function fn = text_traced([](Buff<float> data) { data[0] = data[1] / data[2]; });
    EXPECT_THAT(opencl::compile(fn, {}, cpu_opencl()).options,
                HasSubstr("-cl-fp32-correctly-rounded-divide-sqrt"));
    const opencl::Source poor = opencl::compile(fn, {}, poor_opencl());
    EXPECT_THAT(poor.options, Not(HasSubstr("correctly")));
    EXPECT_TRUE(has(poor, "div_f32(arg0[1], arg0[2])"));
}

TEST(OpenClSource, LoopsCountTripsIfTheIndexCouldWrap) {
    const ir::Function fn = text_traced([](Buff<unsigned> data, Const<unsigned> n) {
        $for (k, 0u, n, 3u) {
            data[k] = 1u;
        }
        $for (k, 0u, 100u, 3u) {
            data[k] = 2u;
        }
        $for (k, 0u, n) {
            data[k] = 3u;
        }
    });
    const opencl::Source source = opencl::compile(fn, full_64, cpu_opencl());
    EXPECT_TRUE(has(source, "!= 0; --")) << source.text;
    EXPECT_TRUE(has(source, " < 100u; ")) << source.text;
    EXPECT_TRUE(has(source, " < arg1; ++")) << source.text;
}

TEST(OpenClSource, DeeplyNestedConditionsStayWithinTheLimitsOfCompilers) {
    std::string text =
        "kernel \"deep\" {\n  %0 = buffer i32 \"data\"\n  %1 = global_id : vec3<u32>\n"
        "  %2 = extract %1[0] : u32\n";
    constexpr int depth = 250;
    for (int k = 0; k < depth; ++k) {
        text += cat("  %c", k, " = const ", k, " : i32\n  %l", k, " = load %0[", k, "] : i32\n  %b", k,
                    " = lt %l", k, ", %c", k, " : bool\n  if %b", k, " {\n");
    }
    text += "  store %0[%2], %c0\n";
    for (int k = 0; k < depth; ++k) text += "  }\n";
    const opencl::Source source = opencl::compile(ir::parse(text + "}\n"), full_64, cpu_opencl());
    if (!has_clang()) GTEST_SKIP() << "built without clang";
    EXPECT_EQ(objections({source}, cpu_opencl()), "");
}

}  // namespace
}  // namespace volley::test
