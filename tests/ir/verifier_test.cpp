// Tests that the verifier refuses each violation, and that no broken function passes or crashes it.
#include "ir/verifier.hpp"

#include "ir/builder.hpp"
#include "ir/hash.hpp"
#include "ir/printer.hpp"
#include "ir/samples.hpp"
#include "support/sanitized.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <volley/error.hpp>

#include <array>
#include <random>

namespace volley::ir {
namespace {

using enum ScalarType;
using ::testing::HasSubstr;

std::string refusal(const Function& fn) {
    try {
        verify(fn);
    } catch (const IrError& e) {
        return e.what();
    }
    return "accepted";
}

class VerifierTest : public ::testing::Test {
protected:
    NodeId append(NodeId id) {
        fn.regions[fn.body].nodes.push_back(id);
        return id;
    }
    NodeId add(Op op, DType type, std::vector<NodeId> args = {}, std::uint64_t imm = 0) {
        return append(fn.add(op, type, args, imm));
    }

    Function fn;
    Builder b{fn};
    NodeId data = b.buffer(F32, "data");
    NodeId input = b.buffer(F32, "input", true);
    NodeId alpha = b.param(F32, "alpha");
    NodeId zero = b.constant_u32(0);
    NodeId yes = b.constant_bool(true);
};

TEST_F(VerifierTest, AcceptsFunctionsOfTheBuilder) {
    EXPECT_EQ(refusal(fn), "accepted");
    EXPECT_EQ(refusal(scale_function()), "accepted");
    EXPECT_EQ(refusal(every_op_function()), "accepted");
    EXPECT_EQ(refusal(Function()), "accepted");
}

TEST_F(VerifierTest, NamesKernelOperationAndSourceLine) {
    fn.name = "broken";
    fn.files = {"broken.cpp"};
    const NodeId id = add(Op::Add, F32, {alpha, zero});
    fn[id].loc = {0, 31};
    EXPECT_THAT(refusal(fn), HasSubstr("kernel 'broken', operation 5 (add), broken.cpp:31"));
}

TEST_F(VerifierTest, RefusesAWrongBody) {
    fn.body = 9;
    EXPECT_THAT(refusal(fn), HasSubstr("no body"));
    fn.regions.clear();
    fn.body = 0;
    EXPECT_THAT(refusal(fn), HasSubstr("no body"));
}

TEST_F(VerifierTest, RefusesAZeroLocalSize) {
    fn.local_size = Dim3{64, 0, 1};
    EXPECT_THAT(refusal(fn), HasSubstr("local size has a zero"));
}

TEST_F(VerifierTest, RefusesExtentsAndStridesOfNoAxis) {
    fn.params[0].rank = 2;
    Builder(fn).layout_param(ParamKind::Stride, U32, 0, 1);
    verify(fn);
    const std::size_t last = fn.params.size() - 1;
    const Function good = fn;
    const auto expect_refused = [&](auto&& change, std::string_view part) {
        fn = good;
        change(fn.params);
        EXPECT_THAT(refusal(fn), HasSubstr(part));
    };
    using Params = std::vector<Param>;
    expect_refused([&](Params& p) { p[last].axis = 2; }, "the stride of axis 2 of a buffer of rank 2");
    expect_refused([&](Params& p) { p[last].axis = 8; }, "of no axis of a buffer");
    expect_refused([&](Params& p) { p[last].buffer = 99; }, "of no axis of a buffer");
    expect_refused([&](Params& p) { p[last].buffer = static_cast<std::uint32_t>(last); },
                   "of no axis of a buffer");
    expect_refused([&](Params& p) { p[last].type = F32; }, "use u32 or u64");
    expect_refused([&](Params& p) { p[last].rank = 1; }, "has the rank 1");
    expect_refused([&](Params& p) { p[0].rank = 9; }, "has the rank 9");
    fn = good;
    Builder(fn).param(F32, "late");
    EXPECT_THAT(refusal(fn), HasSubstr("follows an extent or stride"));
}

TEST_F(VerifierTest, RefusesParametersThatDoNotMatchTheirNodes) {
    const Function good = fn;
    fn.params[2].type = F64;
    EXPECT_THAT(refusal(fn), HasSubstr("parameter 2 and its node disagree"));
    fn = good;
    fn.params[2].kind = ParamKind::Buffer;
    EXPECT_THAT(refusal(fn), HasSubstr("disagree"));
    fn = good;
    fn.params[2].node = 1000;
    EXPECT_THAT(refusal(fn), HasSubstr("disagree"));
    fn = good;
    std::swap(fn.params[0], fn.params[1]);
    EXPECT_THAT(refusal(fn), HasSubstr("disagree"));
    fn = good;
    fn.params[2].read_only = true;
    EXPECT_THAT(refusal(fn), HasSubstr("read-only value"));
    fn = good;
    fn.params[2].kind = static_cast<ParamKind>(9);
    EXPECT_THAT(refusal(fn), HasSubstr("unknown kind"));
    fn = good;
    fn.params[2].type = {};
    EXPECT_THAT(refusal(fn), HasSubstr("has no type"));
    fn = good;
    fn.params.pop_back();
    EXPECT_THAT(refusal(fn), HasSubstr("parameter index 2 belongs to no parameter or another node"));
    fn = good;
    add(Op::Param, F32, {}, 2);
    EXPECT_THAT(refusal(fn), HasSubstr("belongs to no parameter or another node"));
    fn = good;
    fn.params[2].node = none;  // its node is still listed
    EXPECT_THAT(refusal(fn), HasSubstr("belongs to no parameter or another node"));
}

TEST_F(VerifierTest, RefusesDeclarationsInNestedRegions) {
    b.begin_loop();
    const RegionId inner = fn[b.innermost()].regions[0];
    fn.regions[inner].nodes.push_back(fn.add(Op::Shared, F32, {}));
    b.end_loop();
    EXPECT_THAT(refusal(fn), HasSubstr("shared memory is declared in a nested region"));
    auto& body = fn.regions[fn.body].nodes;
    fn.regions[inner].nodes = {alpha};
    std::erase(body, alpha);
    EXPECT_THAT(refusal(fn), HasSubstr("a parameter is declared in a nested region"));
}

TEST_F(VerifierTest, RefusesIdsThatDoNotExist) {
    const Function good = fn;
    append(12345);
    EXPECT_THAT(refusal(fn), HasSubstr("lists the operation 12345"));
    fn = good;
    add(Op::Neg, F32, {12345});
    EXPECT_THAT(refusal(fn), HasSubstr("value 12345, which does not exist"));
    fn = good;
    fn[append(fn.add(Op::Neg, F32, std::array{alpha}))].first = 0xfffffff0u;
    EXPECT_THAT(refusal(fn), HasSubstr("outside the operand pool"));
    fn = good;
    fn[append(fn.add(Op::Neg, F32, std::array{alpha}))].count = 0xffffffffu;
    EXPECT_THAT(refusal(fn), HasSubstr("outside the operand pool"));
    fn = good;
    add(static_cast<Op>(240), F32);
    EXPECT_THAT(refusal(fn), HasSubstr("no operation 240"));
    fn = good;
    fn[zero].loc = {3, 1};
    EXPECT_THAT(refusal(fn), HasSubstr("source file does not exist"));
    fn = good;
    fn[zero].loc = {0, 0, 1};
    EXPECT_THAT(refusal(fn), HasSubstr("comment does not exist"));
}

TEST_F(VerifierTest, RefusesValuesThatAreNotDefinedYet) {
    const NodeId later = fn.add(Op::Neg, F32, std::array{alpha});
    add(Op::Neg, F32, {later});
    append(later);
    EXPECT_THAT(refusal(fn), HasSubstr("not defined yet"));
}

TEST_F(VerifierTest, RefusesAValueThatUsesItself) {
    const NodeId id = add(Op::Neg, F32, {alpha});
    fn.args(id)[0] = id;
    EXPECT_THAT(refusal(fn), HasSubstr("not defined yet"));
}

TEST_F(VerifierTest, RefusesValuesOfRegionsThatHaveEnded) {
    b.begin_if(yes);
    const NodeId inside = b.emit(Op::Neg, {alpha});
    b.begin_else();
    b.emit(Op::Abs, {inside});
    b.end_if();
    EXPECT_THAT(refusal(fn), HasSubstr("whose region has ended"));
}

TEST_F(VerifierTest, RefusesAVariableOutOfItsScope) {
    b.begin_if(yes);
    const NodeId local = b.var(F32);
    b.end_if();
    add(Op::Load, F32, {local});
    EXPECT_THAT(refusal(fn), HasSubstr("whose region has ended"));
}

TEST_F(VerifierTest, RefusesTheIndexOfALoopAfterTheLoop) {
    const NodeId k = b.begin_for(zero, zero, zero);
    b.emit(Op::Add, {k, zero});
    b.end_for();
    EXPECT_EQ(refusal(fn), "accepted");
    add(Op::Add, U32, {k, zero});
    EXPECT_THAT(refusal(fn), HasSubstr("whose region has ended"));
}

TEST_F(VerifierTest, RefusesAnOperationThatIsListedTwice) {
    append(zero);
    EXPECT_THAT(refusal(fn), HasSubstr("listed twice"));
}

TEST_F(VerifierTest, RefusesOperandsWithoutAValue) {
    const NodeId barrier = add(Op::Barrier, {});
    add(Op::Neg, F32, {barrier});
    EXPECT_THAT(refusal(fn), HasSubstr("has no value"));
}

TEST_F(VerifierTest, RefusesMemoryAsAValue) {
    const Function good = fn;
    add(Op::Neg, F32, {data});
    EXPECT_THAT(refusal(fn), HasSubstr("memory and not a value"));
    fn = good;
    add(Op::Store, {}, {data, data, zero});
    EXPECT_THAT(refusal(fn), HasSubstr("memory and not a value"));
    fn = good;
    add(Op::Load, F32, {alpha, zero});
    EXPECT_THAT(refusal(fn), HasSubstr("first operand must be a buffer"));
    fn = good;
    add(Op::BufferSize, U32, {alpha});
    EXPECT_THAT(refusal(fn), HasSubstr("operand of 'buffer_size' is not a buffer"));
    fn = good;
    add(Op::BufferSize, U32, {add(Op::Var, F32)});
    EXPECT_THAT(refusal(fn), HasSubstr("memory and not a value"));
}

TEST_F(VerifierTest, RefusesWritesToReadOnlyBuffers) {
    const Function good = fn;
    add(Op::Store, {}, {input, alpha, zero});
    EXPECT_THAT(refusal(fn), HasSubstr("read-only buffer 'input'"));
    fn = good;
    add(Op::AtomicAdd, F32, {input, alpha, zero});
    EXPECT_THAT(refusal(fn), HasSubstr("read-only buffer 'input'"));
    fn = good;
    add(Op::Load, F32, {input, zero});
    EXPECT_EQ(refusal(fn), "accepted");
}

TEST_F(VerifierTest, RefusesWrongTypes) {
    const Function good = fn;
    add(Op::Add, F32, {alpha, zero});
    EXPECT_THAT(refusal(fn), HasSubstr("'add' cannot take f32, u32"));
    fn = good;
    add(Op::Neg, F64, {alpha});
    EXPECT_THAT(refusal(fn), HasSubstr("returns f32, but f64 is requested"));
    fn = good;
    add(Op::Neg, {}, {alpha});
    EXPECT_THAT(refusal(fn), HasSubstr("its type is void, but its result is f32"));
    fn = good;
    add(Op::Store, F32, {data, alpha, zero});
    EXPECT_THAT(refusal(fn), HasSubstr("but its result is void"));
    fn = good;
    add(Op::Load, F64, {data, zero});
    EXPECT_THAT(refusal(fn), HasSubstr("its type is f64, but its result is f32"));
    fn = good;
    const NodeId branch = add(Op::If, {}, {zero});
    fn[branch].regions[0] = fn.add_region();
    EXPECT_THAT(refusal(fn), HasSubstr("scalar bool"));
    fn = good;
    add(Op::Zero, DType::array(F32, 0));
    EXPECT_THAT(refusal(fn), HasSubstr("no elements"));
}

TEST_F(VerifierTest, RefusesTypesThatNestTooDeep) {
    DType type = F32;
    for (unsigned i = 0; i < max_type_nesting; ++i) type = DType::array(type, 1);
    add(Op::Zero, type);
    EXPECT_EQ(refusal(fn), "accepted");
    add(Op::Zero, DType::array(type, 1));
    EXPECT_THAT(refusal(fn), HasSubstr("nests deeper"));
}

TEST_F(VerifierTest, RefusesWrongImmediates) {
    const Function good = fn;
    add(Op::Const, U8, {}, 256);
    EXPECT_THAT(refusal(fn), HasSubstr("more bits than u8"));
    fn = good;
    add(Op::Const, Bool, {}, 2);
    EXPECT_THAT(refusal(fn), HasSubstr("more bits than bool"));
    fn = good;
    add(Op::Fence, {}, {}, 5);
    EXPECT_THAT(refusal(fn), HasSubstr("no fence scope 5"));
    fn = good;
    add(Op::Neg, F32, {alpha}, 1);
    EXPECT_THAT(refusal(fn), HasSubstr("has an immediate"));
}

TEST_F(VerifierTest, RefusesPrintsWhosePlaceholdersDoNotMatch) {
    const Function good = fn;
    add(Op::Print, {}, {}, 0);
    EXPECT_THAT(refusal(fn), HasSubstr("format does not exist"));
    fn = good;
    add(Op::Print, {}, {alpha}, fn.add_string("{} {}"));
    EXPECT_THAT(refusal(fn), HasSubstr("2 placeholders for 1 operands"));
    fn = good;
    add(Op::Print, {}, {alpha}, fn.add_string("{"));
    EXPECT_THAT(refusal(fn), HasSubstr("unmatched brace"));
}

TEST_F(VerifierTest, RefusesJumpsOutsideLoops) {
    b.begin_if(yes);
    b.jump(Op::Break);
    b.end_if();
    EXPECT_THAT(refusal(fn), HasSubstr("'break' is outside a loop"));
}

TEST_F(VerifierTest, RefusesOperationsAfterAJump) {
    add(Op::Return, {});
    EXPECT_EQ(refusal(fn), "accepted");
    add(Op::Barrier, {});
    EXPECT_THAT(refusal(fn), HasSubstr("operations follow 'return'"));
}

TEST_F(VerifierTest, RefusesWrongRegions) {
    const Function good = fn;
    const NodeId loop = add(Op::Loop, {});
    EXPECT_THAT(refusal(fn), HasSubstr("no body"));
    fn[loop].regions[0] = 99;
    EXPECT_THAT(refusal(fn), HasSubstr("region 99 does not exist"));
    fn[loop].regions[0] = fn.body;
    EXPECT_THAT(refusal(fn), HasSubstr("second owner"));
    fn[loop].regions[0] = fn.add_region();
    EXPECT_EQ(refusal(fn), "accepted");
    fn[loop].regions[1] = fn.add_region();
    EXPECT_THAT(refusal(fn), HasSubstr("two bodies"));
    fn[loop].regions[1] = none;
    fn[add(Op::Loop, {})].regions[0] = fn[loop].regions[0];
    EXPECT_THAT(refusal(fn), HasSubstr("second owner"));
    fn = good;
    fn[add(Op::Barrier, {})].regions[1] = fn.add_region();
    EXPECT_THAT(refusal(fn), HasSubstr("only if, for and loop"));
}

TEST_F(VerifierTest, RefusesRegionsThatNestTooDeep) {
    for (unsigned i = 0; i < max_nesting; ++i) b.begin_if(yes);
    EXPECT_EQ(refusal(fn), "accepted");
    b.begin_loop();
    EXPECT_THAT(refusal(fn), HasSubstr("nest deeper"));
}

// A randomly damaged function is either refused, or safe to print and to hash.
TEST_F(VerifierTest, SurvivesRandomDamage) {
    const unsigned seed = test_seed();
    std::mt19937 random(seed);
    const auto pick = [&](std::size_t n) {
        return static_cast<std::uint32_t>(random() % std::max<std::size_t>(n, 1));
    };
    const Function good = every_op_function();
    unsigned accepted = 0;
    for (int round = 0; round < testing::unless_sanitized(4000, 1500); ++round) {
        fn = good;
        for (unsigned edits = 1 + pick(3); edits > 0; --edits) {
            Node& node = fn.nodes[pick(fn.nodes.size())];
            const std::uint32_t value =
                pick(4) == 0 ? static_cast<std::uint32_t>(random()) : pick(fn.nodes.size());
            switch (pick(10)) {
                case 0: node.op = static_cast<Op>(random()); break;
                case 1: node.type = fn.nodes[pick(fn.nodes.size())].type; break;
                case 2: node.imm = value; break;
                case 3: node.first = value; break;
                case 4: node.count = value; break;
                case 5: node.regions[pick(2)] = pick(2) == 0 ? value : pick(fn.regions.size()); break;
                case 6: fn.operands[pick(fn.operands.size())] = value; break;
                case 7: {
                    auto& nodes = fn.regions[pick(fn.regions.size())].nodes;
                    if (!nodes.empty()) nodes[pick(nodes.size())] = value;
                    break;
                }
                case 8: {
                    auto& nodes = fn.regions[pick(fn.regions.size())].nodes;
                    if (!nodes.empty()) nodes.erase(nodes.begin() + pick(nodes.size()));
                    break;
                }
                default: fn.params[pick(fn.params.size())].node = value; break;
            }
        }
        (void)print(fn);
        if (refusal(fn) != "accepted") continue;
        ++accepted;
        (void)hash(fn);
    }
    EXPECT_GT(accepted, 0u);
}

}  // namespace
}  // namespace volley::ir
