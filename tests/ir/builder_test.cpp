// The builder: insertion of nodes, constants, and nesting of regions.
#include "ir/builder.hpp"

#include "ir/printer.hpp"
#include "ir/samples.hpp"
#include "ir/verifier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <volley/error.hpp>

#include <array>
#include <cmath>
#include <limits>

namespace volley::ir {
namespace {

using enum ScalarType;
using ::testing::HasSubstr;

TEST(Builder, DeclarationsAreAddedAtTheStartInOrder) {
    Function fn;
    Builder b(fn);
    const NodeId first = b.buffer(F32, "first");
    const NodeId one = b.constant_u32(1);
    b.begin_loop();
    const NodeId second = b.param(F32, "second");
    const NodeId tile = b.shared(F32);
    b.jump(Op::Break);
    b.end_loop();
    const std::vector<NodeId>& body = fn.nodes_of(fn.body);
    ASSERT_EQ(body.size(), 5u);
    EXPECT_EQ(std::vector(body.begin(), body.begin() + 4), (std::vector{first, second, tile, one}));
    EXPECT_EQ(fn.params[1].node, second);
    EXPECT_EQ(fn[second].imm, 1u);
    verify(fn);
}

TEST(Builder, ContinuesAFunctionThatHasDeclarations) {
    Function fn = scale_function();
    Builder b(fn);
    const NodeId extra = b.shared(F32);
    EXPECT_EQ(fn.nodes_of(fn.body)[2], extra);
    verify(fn);
}

TEST(Builder, NumbersBecomeConstantsOfEveryType) {
    Function fn;
    Builder b(fn);
    const auto bits = [&](ScalarType type, double v) { return fn[b.constant_number(type, v)].imm; };
    EXPECT_EQ(bits(I32, -1.9), 0xffffffffu);
    EXPECT_EQ(bits(I8, 1000), 127u);
    EXPECT_EQ(bits(I8, -1000), 0x80u);
    EXPECT_EQ(bits(U8, -5), 0u);
    EXPECT_EQ(bits(U16, 1e9), 0xffffu);
    EXPECT_EQ(bits(U64, 1e30), ~std::uint64_t{0});
    EXPECT_EQ(bits(I64, 1e30), ~std::uint64_t{0} >> 1);
    EXPECT_EQ(bits(I64, -1e30), std::uint64_t{1} << 63);
    EXPECT_EQ(bits(U64, 0x1p63), std::uint64_t{1} << 63);
    EXPECT_EQ(bits(I32, std::nan("")), 0u);
    EXPECT_EQ(bits(Bool, 0.5), 1u);
    EXPECT_EQ(bits(F16, 1), 0x3c00u);
    EXPECT_EQ(bits(F32, 1), 0x3f800000u);
    EXPECT_EQ(bits(F64, 1), 0x3ff0000000000000u);
    EXPECT_EQ(fn[b.constant(U8, 0x1ff)].imm, 0xffu);
}

TEST(Builder, ConstantsReadBackAsIntegers) {
    Function fn;
    Builder b(fn);
    EXPECT_EQ(fn.constant_int(b.constant(I8, 0x80)), -128);
    EXPECT_EQ(fn.constant_int(b.constant(U8, 0x80)), 128);
    EXPECT_EQ(fn.constant_int(b.constant_i32(-5)), -5);
    EXPECT_EQ(fn.constant_int(b.constant_bool(true)), 1);
    EXPECT_EQ(fn.constant_int(b.constant_f32(1)), std::nullopt);
    EXPECT_EQ(fn.constant_int(b.emit(Op::GlobalId, {})), std::nullopt);
    EXPECT_EQ(fn.constant_int(12345), std::nullopt);
}

TEST(Builder, NodesAfterAJumpAreCreatedButNotListed) {
    Function fn;
    Builder b(fn);
    const NodeId data = b.buffer(F32, "data");
    const NodeId zero = b.constant_u32(0);
    b.begin_loop();
    b.jump(Op::Break);
    const NodeId dead = b.load(data, std::array{zero});
    b.begin_if(b.emit(Op::Gt, {dead, dead}));
    b.store(data, dead, std::array{zero});
    b.end_if();
    b.end_loop();
    EXPECT_EQ(fn.nodes_of(1).size(), 1u);
    verify(fn);
}

TEST(Builder, RegionsNest) {
    Function fn;
    Builder b(fn);
    const NodeId one = b.constant_i32(1);
    EXPECT_EQ(b.depth(), 0u);
    EXPECT_EQ(b.innermost(), none);
    const NodeId k = b.begin_for(one, one, one);
    EXPECT_EQ(fn.type(k), I32);
    b.begin_if(b.emit(Op::Lt, {k, one}));
    EXPECT_EQ(b.depth(), 2u);
    EXPECT_EQ(fn[b.innermost()].op, Op::If);
    EXPECT_THROW(b.end_for(), IrError);
    b.begin_else();
    EXPECT_THROW(b.begin_else(), IrError);
    b.end_if();
    b.end_for();
    EXPECT_THROW(b.end_for(), IrError);
    EXPECT_THROW(b.end_if(), IrError);
    EXPECT_THROW(b.end_loop(), IrError);
    EXPECT_THROW(b.begin_else(), IrError);
    verify(fn);
}

TEST(Builder, ConvertingToTheSameTypeAddsNothing) {
    Function fn;
    Builder b(fn);
    const NodeId one = b.constant_i32(1);
    EXPECT_EQ(b.convert(one, I32), one);
    EXPECT_NE(b.convert(one, F32), one);
}

TEST(Builder, ErrorsNameTheKernelAndTheLine) {
    Function fn;
    fn.name = "mix";
    Builder b(fn);
    b.set_loc({fn.add_file("mix.cpp"), 9});
    try {
        b.emit(Op::Add, {b.constant_i32(1), b.constant_f32(1)});
        FAIL();
    } catch (const IrError& e) {
        EXPECT_THAT(e.what(), HasSubstr("kernel 'mix', mix.cpp:9"));
        EXPECT_EQ(e.code(), ErrorCode::IrError);
    }
}

TEST(Builder, MisuseIsAnErrorAndNotACrash) {
    Function fn;
    Builder b(fn);
    const NodeId v = b.emit(Op::GlobalId, {});
    EXPECT_THROW(b.emit(Op::If, {}), IrError);
    EXPECT_THROW(b.emit(Op::Buffer, {}, F32), IrError);
    EXPECT_THROW(b.emit(Op::Const, {}, DType::vector(F32, 2)), IrError);
    EXPECT_THROW(b.emit(Op::Neg, {77}), IrError);
    EXPECT_THROW(b.convert(77, F32), IrError);
    EXPECT_THROW(b.extract(77, 0), IrError);
    EXPECT_THROW(b.extract(v, 3), IrError);
    EXPECT_THROW(b.begin_if(v), IrError);
    EXPECT_THROW(b.begin_for(v, v, v), IrError);
    EXPECT_THROW(b.jump(Op::Barrier), IrError);
    EXPECT_THROW(b.print("{}", {}), IrError);
    EXPECT_THROW(b.print("{", {}), IrError);
    EXPECT_THROW(b.print("{:d}", std::array{v}), IrError);
    EXPECT_THROW(b.var({}), IrError);
    EXPECT_THROW(b.zero({}), IrError);
    EXPECT_EQ(b.depth(), 0u);
    verify(fn);
}

TEST(Builder, StringsAndFilesAreInterned) {
    Function fn;
    EXPECT_EQ(fn.add_string("a"), fn.add_string("a"));
    EXPECT_NE(fn.add_string("a"), fn.add_string("b"));
    EXPECT_EQ(fn.add_file("a"), fn.add_file("a"));
    EXPECT_EQ(fn.where({0, 3}), "a:3");
    EXPECT_EQ(fn.where({0, 0}), "");
    EXPECT_EQ(fn.where({8, 3}), "");
}

TEST(PrintPlaces, AreCountedAndBracesMayBeDoubled) {
    EXPECT_EQ(print_places(""), 0u);
    EXPECT_EQ(print_places("{} and {}"), 2u);
    EXPECT_EQ(print_places("{{{}}}"), 1u);
    EXPECT_EQ(print_places("{{}}"), 0u);
    for (const char* bad : {"{", "}", "{0}", "{{}", "a}b", "{}}"})
        EXPECT_EQ(print_places(bad), std::nullopt) << bad;
}

TEST(Operations, HaveMnemonicsThatReadBack) {
    for (unsigned i = 0; i < op_count; ++i) {
        const auto op = static_cast<Op>(i);
        EXPECT_EQ(op_from_mnemonic(mnemonic(op)), op);
    }
    EXPECT_EQ(op_from_mnemonic("nothing"), std::nullopt);
    EXPECT_EQ(mnemonic(static_cast<Op>(255)), "?");
}

TEST(Operations, HaveTheExpectedEffects) {
    EXPECT_TRUE(traits(Op::Add).pure);
    EXPECT_FALSE(traits(Op::Var).pure);
    EXPECT_TRUE(traits(Op::Load).reads);
    EXPECT_FALSE(traits(Op::Load).writes);
    EXPECT_TRUE(traits(Op::Store).writes);
    EXPECT_TRUE(traits(Op::AtomicCas).reads && traits(Op::AtomicCas).writes);
    EXPECT_TRUE(traits(Op::SubgroupElect).convergent);
    EXPECT_TRUE(traits(Op::Barrier).convergent && traits(Op::Barrier).writes);
    EXPECT_TRUE(traits(Op::Break).control);
    EXPECT_TRUE(traits(Op::Print).writes);
}

}  // namespace
}  // namespace volley::ir
