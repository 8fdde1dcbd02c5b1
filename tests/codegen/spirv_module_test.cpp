// The generated modules: valid on every target, with exactly the arguments in use, and rejected with a clear
// message if the target lacks a feature.
#include "codegen/spirv_support.hpp"
#include "ir/parser.hpp"
#include "ir/samples.hpp"
#include "ir/verifier.hpp"

namespace volley::test {
namespace {

using spirv::FieldKind;

std::string refusal(const ir::Function& fn, const spirv::Target& target,
                    const spirv::Variant& variant = {{64, 1, 1}, false, false}) {
    try {
        static_cast<void>(spirv::compile(fn, variant, target));
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.code(), ErrorCode::Unsupported);
        EXPECT_FALSE(error.advice().empty());
        return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return {};
}

TEST(SpirvModule, IsCheckedBySpirvTools) {
    if (!can_validate()) GTEST_SKIP() << "built without SPIRV-Tools: modules are made, but not validated";
    EXPECT_NE(objections({0, 1, 2, 3, 4}), "");
}

TEST(SpirvModule, EveryOperationAndTypeIsValid) {
    const ir::Function fn = ir::every_op_function();
    for (const spirv::Target& target : {rich_target(), limited_target()})
        static_cast<void>(valid_module(fn, target, {{8, 2, 1}, true, false}));
}

TEST(SpirvModule, TheSameKernelGivesTheSameModule) {
    const ir::Function fn = ir::every_op_function();
    EXPECT_EQ(spirv::compile(fn, {}, rich_target()).words, spirv::compile(fn, {}, rich_target()).words);
}

TEST(SpirvModule, EmptyKernelsNeedNothing) {
    const ir::Function fn = traced([] {});
    for (const spirv::Target& target : all_targets()) {
        const spirv::Module module = valid_module(fn, target, {{1, 1, 1}, false, false});
        EXPECT_TRUE(module.fields.empty());
        EXPECT_EQ(module.argument_bytes, 0u);
        EXPECT_FALSE(module.reports);
    }
}

TEST(SpirvModule, UnusedArgumentsAreNotPassed) {
    const ir::Function fn = traced(
        [](Buff<float> used, Buff<float>, Const<int>, Const<float> alpha) { used[global_id().x] = alpha; });
    const spirv::Module module = valid_module(fn, rich_target(), {{64, 1, 1}, true, false});
    ASSERT_EQ(module.fields.size(), 2u);
    EXPECT_EQ(module.fields[0].kind, FieldKind::Address);
    EXPECT_EQ(module.fields[0].parameter, 0u);
    EXPECT_EQ(module.fields[1].kind, FieldKind::Value);
    EXPECT_EQ(module.fields[1].parameter, 3u);
    EXPECT_EQ(module.argument_bytes, 12u);
}

TEST(SpirvModule, OnlyPartialGridsReceiveTheirSize) {
    const ir::Function fn = traced([](Buff<float> data) { data[global_id().x] += 1.0f; });
    EXPECT_EQ(count_fields(valid_module(fn, rich_target()), FieldKind::GlobalSize), 1);
    const spirv::Module full = valid_module(fn, rich_target(), {{64, 1, 1}, true, false});
    EXPECT_EQ(count_fields(full, FieldKind::GlobalSize), 0);
}

TEST(SpirvModule, PiecesOfGridsReceiveTheirFirstWorkgroup) {
    const ir::Function fn = traced([](Buff<float> data) { data[global_id().x] += 1.0f; });
    const spirv::Module module = valid_module(fn, rich_target(), {{64, 1, 1}, true, true});
    EXPECT_EQ(count_fields(module, FieldKind::GroupBase), 1);
}

TEST(SpirvModule, ArgumentsBeyondThePushConstantsGoThroughMemory) {
    const ir::Function fn = traced([](Buff<float> a, Buff<float> b, Buff<float> c, Const<float> d) {
        const auto i = global_id().x;
        a[i] = b[i] + c[i] * d;
    });
    EXPECT_FALSE(valid_module(fn, rich_target()).indirect);
    EXPECT_TRUE(valid_module(fn, poor_target()).indirect);
}

TEST(SpirvModule, SeparateValuesHaveTheirOwnBlock) {
    const ir::Function fn = traced([](Buff<float> a, Const<float> b, Buff<float> c, Const<unsigned> d) {
        const auto i = global_id().x + d;
        a[i] = c[i] * b;
    });
    const spirv::Variant apart = {.local = {64, 1, 1}, .full = true, .values_apart = true};
    const spirv::Module module = valid_module(fn, rich_target(), apart);
    EXPECT_FALSE(module.indirect);
    EXPECT_EQ(module.argument_bytes, 24u) << "two buffers and the block's address";
    EXPECT_EQ(module.value_bytes, 8u);
    EXPECT_EQ(count_fields(module, FieldKind::ValueBlock), 1);
    ASSERT_EQ(count_fields(module, FieldKind::Value), 2);
    EXPECT_EQ(module.fields[3].offset, 0u);
    EXPECT_EQ(module.fields[4].offset, 4u);

    // If there is no room for the address, the whole block is in memory.
    const spirv::Module poor = valid_module(fn, poor_target(), apart);
    EXPECT_TRUE(poor.indirect);
    EXPECT_EQ(poor.value_bytes, 0u);
    EXPECT_EQ(count_fields(poor, FieldKind::ValueBlock), 0);
}

TEST(SpirvModule, KernelsWithoutValuesHaveNoValueBlock) {
    const ir::Function fn = traced([](Buff<float> a, Const<float>) { a[global_id().x] += 1.0f; });
    const spirv::Variant apart = {.local = {64, 1, 1}, .full = true, .values_apart = true};
    for (const spirv::Target& target : all_targets()) {
        const spirv::Module module = valid_module(fn, target, apart);
        EXPECT_FALSE(module.indirect);
        EXPECT_EQ(module.value_bytes, 0u);
        EXPECT_EQ(module.fields.size(), 1u);
    }
}

TEST(SpirvModule, WorkgroupsAreOneDimensional) {
    const ir::Function fn = traced([](Buff<unsigned> data) { data[global_id().x] = local_id().y; });
    EXPECT_TRUE(says(valid_module(fn, rich_target(), {{8, 4, 2}, true, false}), " 17 64 1 1\n"));
}

TEST(SpirvModule, BuffersOfEveryTypeAreReadAndWritten) {
    for (const char* type :
         {"bool", "i8", "u16", "i32", "u64", "f16", "f32", "vec3<u8>", "vec4<f16>", "vec3<f32>", "vec2<i64>",
          "complex<f16>", "complex<f32>", "mat3x2<f32>", "array<u8, 3>", "array<vec3<i16>, 2>"}) {
        const std::string text = std::string("kernel \"copy\" {\n  %0 = buffer ") + type +
                                 " \"from\" read_only\n  %1 = buffer " + type +
                                 " \"to\"\n  %2 = local_index : u32\n  %3 = load %0[%2] : " + type +
                                 "\n  store %1[%2], %3\n}\n";
        const ir::Function fn = ir::parse(text);
        for (const spirv::Target& target : all_targets()) {
            SCOPED_TRACE(type);
            static_cast<void>(valid_module(fn, target));
        }
    }
}

TEST(SpirvModule, DoublesAreCopiedOnTargetsWithoutF64) {
    const ir::Function copies =
        traced([](Buff<const double> from, Buff<double> to) { to[global_id().x] = from[global_id().x]; });
    static_cast<void>(valid_module(copies, plain_target()));
    const ir::Function computes = traced([](Buff<double> data) { data[global_id().x] *= 2.0; });
    const std::string text = refusal(computes, plain_target());
    EXPECT_NE(text.find("plain:0"), std::string::npos) << text;
    EXPECT_NE(text.find("f64"), std::string::npos) << text;
    EXPECT_NE(text.find("spirv_module_test.cpp:"), std::string::npos) << text;
}

TEST(SpirvModule, SumsOf64BitsWorkWithout64BitAtomics) {
    const ir::Function adds = traced([](Buff<std::int64_t> sum) { sum.atomic(0).add(std::int64_t{1}); });
    static_cast<void>(valid_module(adds, plain_target()));
    const ir::Function asks = traced([](Buff<std::int64_t> sum, Buff<std::int64_t> old) {
        old[global_id().x] = sum.atomic(0).add(std::int64_t{1});
    });
    static_cast<void>(valid_module(asks, rich_target()));
    EXPECT_NE(refusal(asks, plain_target()).find("64-bit atomics"), std::string::npos);
}

TEST(SpirvModule, SubgroupOperationsUseSharedMemoryIfAllLanesTakePart) {
    const ir::Function fn = traced([](Buff<float> data) {
        const auto i = global_id().x;
        data[i] = subgroup_add(data[i]);
    });
    const spirv::Module module = valid_module(fn, poor_target(), {{64, 1, 1}, true, false});
    EXPECT_GT(module.shared_bytes, 0u);
    EXPECT_TRUE(says(module, "OpControlBarrier"));
    EXPECT_NE(refusal(fn, poor_target()).find("subgroup"),
              std::string::npos);  // the last workgroup may be partial
}

TEST(SpirvModule, SubgroupOperationsThatNeedAllLanesAreRejectedInDivergentFlow) {
    const ir::Function fn = traced([](Buff<float> data) {
        const auto i = global_id().x;
        $if (data[i] > 0.0f) {
            data[i] = subgroup_add(data[i]);
        }
    });
    static_cast<void>(valid_module(fn, plain_target()));
    EXPECT_NE(refusal(fn, poor_target(), {{64, 1, 1}, true, false}).find("subgroup"), std::string::npos);
}

TEST(SpirvModule, KernelsWithSubgroupsRequireFullOnes) {
    EXPECT_TRUE(valid_module(traced([](Buff<unsigned> data) { data[0] = subgroup_lane(); }), rich_target())
                    .needs_full_subgroups);
    EXPECT_FALSE(valid_module(traced([](Buff<unsigned> data) { data[0] = local_index(); }), rich_target())
                     .needs_full_subgroups);
}

TEST(SpirvModule, SharedMemoryIsCounted) {
    const ir::Function fn = traced([](Buff<float> data) {
        Shared<float> tile(256);
        tile[local_index()] = data[global_id().x];
        barrier();
        data[global_id().x] = tile[255u - local_index()];
    });
    EXPECT_EQ(valid_module(fn, rich_target(), {{256, 1, 1}, true, false}).shared_bytes, 1024u);
}

TEST(SpirvModule, PrintsAreListedWithTheirTypes) {
    const ir::Function fn = traced([](Buff<const float> data) {
        print("x {} at {}", data[global_id().x], global_id());
        print("done");
    });
    for (const spirv::Target& target : all_targets()) {
        const spirv::Module module = valid_module(fn, target);
        ASSERT_EQ(module.prints.size(), 2u);
        EXPECT_TRUE(module.reports);
        EXPECT_EQ(count_fields(module, FieldKind::Reports), 1);
        EXPECT_EQ(module.prints[0].format, "x {} at {}");
        ASSERT_EQ(module.prints[0].types.size(), 2u);
        EXPECT_EQ(module.prints[0].types[1].name(), "vec3<u32>");
        EXPECT_TRUE(module.prints[1].types.empty());
    }
}

TEST(SpirvModule, ContractedSumsMayRoundTwiceAndOthersMayNot) {
    const auto module = [](const char* imm) {
        ir::Function fn = ir::parse(R"(kernel "fma" {
  %0 = buffer f32 "data"
  %1 = local_index : u32
  %2 = load %0[%1] : f32
  %3 = fma %2, %2, %2 : f32
  store %0[%1], %3
}
)");
        for (ir::Node& node : fn.nodes) {
            if (node.op == ir::Op::Fma) node.imm = imm[0] == '1' ? 1 : 0;
        }
        return valid_module(fn, plain_target());
    };
    EXPECT_LT(module("1").words.size() * 2, module("0").words.size());
}

TEST(SpirvModule, ListsItsInstructions) {
    const std::string text = spirv::disassemble(
        valid_module(traced([](Buff<float> data) { data[global_id().x] += 1.0f; }), rich_target()).words);
    for (const char* part : {"OpEntryPoint 5 %", "\"main\"", "OpFAdd", "OpAccessChain", "\"GLSL.std.450\""})
        EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
    EXPECT_EQ(spirv::disassemble({1, 2, 3}), "not a SPIR-V module\n");
}

// ---- loops that the driver would terminate ----

TEST(SpirvLoops, WithFewIterationsAreNotCounted) {
    const ir::Function fn = traced([](Buff<float> data) {
        Var<float> sum = 0.0f;
        $for (k, 0u, 100u) {
            $for (j, 0u, 100u) {
                sum += data[k + j];
            }
        }
        data[global_id().x] = sum;
    });
    EXPECT_FALSE(valid_module(fn, limited_target()).reports);
}

TEST(SpirvLoops, OfUnknownLengthAreCountedIfTheDriverLimitsThem) {
    const ir::Function fn = traced([](Buff<float> data, Const<unsigned> n) {
        Var<float> sum = 0.0f;
        $for (k, 0u, n) {
            sum += data[k];
        }
        data[global_id().x] = sum;
    });
    EXPECT_TRUE(valid_module(fn, limited_target()).reports);
    EXPECT_FALSE(valid_module(fn, rich_target()).reports);
}

TEST(SpirvLoops, WithEveryKindOfExitAreValidWhenCounted) {
    const ir::Function fn = traced([](Buff<unsigned> data, Const<unsigned> n) {
        const auto i = global_id().x;
        Var<unsigned> x = data[i];
        $while (x > 1u) {
            $for (k, 0u, n) {
                $if (data[k] == x) {
                    $break;
                }
                $if (data[k] > x) {
                    $continue;
                }
                $for (j, 0u, 4u) {
                    x += data[j];
                }
                $if (x == 7u) {
                    $return;
                }
            }
            x = x / 2u;
        }
        data[i] = x;
    });
    for (const spirv::Target& target : all_targets()) static_cast<void>(valid_module(fn, target));
}

}  // namespace
}  // namespace volley::test
