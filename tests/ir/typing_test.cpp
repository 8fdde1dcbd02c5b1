// The typing rules of each form: operand types, result types and error messages.
#include "ir/typing.hpp"

#include "ir/builder.hpp"
#include "ir/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <volley/error.hpp>

#include <array>

namespace volley::ir {
namespace {

using enum ScalarType;
using ::testing::HasSubstr;

const DType vec2 = DType::vector(F32, 2);
const DType vec3 = DType::vector(F32, 3);
const DType ivec3 = DType::vector(I32, 3);
const DType bvec3 = DType::vector(Bool, 3);
const DType c32 = DType::complex(F32);
const DType mat = DType::matrix(F32, 2, 3);

DType typed(Op op, std::vector<DType> operands, DType wanted = {}) {
    return result_type(op, operands, wanted);
}

std::string refusal(Op op, std::vector<DType> operands, DType wanted = {}) {
    try {
        (void)result_type(op, operands, wanted);
    } catch (const IrError& e) {
        return e.what();
    }
    return "accepted";
}

bool refuses(Op op, std::vector<DType> operands, DType wanted = {}) {
    return refusal(op, std::move(operands), wanted) != "accepted";
}

TEST(Typing, ArithmeticTakesNumbersOfOneType) {
    for (const Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Rem, Op::Min, Op::Max}) {
        for (const DType t : {DType(I8), DType(U64), DType(F16), vec3, ivec3})
            EXPECT_EQ(typed(op, {t, t}), t);
        EXPECT_TRUE(refuses(op, {Bool, Bool}));
        EXPECT_TRUE(refuses(op, {F32, F64}));
        EXPECT_TRUE(refuses(op, {F32, vec2}));
        EXPECT_TRUE(refuses(op, {F32}));
        EXPECT_TRUE(refuses(op, {F32, F32, F32}));
        EXPECT_TRUE(refuses(op, {particle_type(), particle_type()}));
        EXPECT_TRUE(refuses(op, {DType(), DType()}));
    }
}

TEST(Typing, OnlyAddSubAndNegTakeComplexNumbersAndMatrices) {
    for (const DType t : {c32, mat}) {
        EXPECT_EQ(typed(Op::Neg, {t}), t);
        EXPECT_EQ(typed(Op::Add, {t, t}), t);
        EXPECT_EQ(typed(Op::Sub, {t, t}), t);
        for (const Op op : {Op::Mul, Op::Div, Op::Rem, Op::Min, Op::Max, Op::Eq, Op::Ne}) {
            EXPECT_TRUE(refuses(op, {t, t}));
        }
        EXPECT_TRUE(refuses(Op::Abs, {t}));
        EXPECT_TRUE(refuses(Op::Fma, {t, t, t}));
    }
}

TEST(Typing, FunctionsTakeFloatsOnly) {
    for (const Op op : {Op::Sin, Op::Sqrt, Op::Floor, Op::RoundEven, Op::Log1p, Op::Cbrt}) {
        EXPECT_EQ(typed(op, {F16}), F16);
        EXPECT_EQ(typed(op, {vec3}), vec3);
        EXPECT_TRUE(refuses(op, {I32}));
        EXPECT_TRUE(refuses(op, {Bool}));
        EXPECT_TRUE(refuses(op, {c32}));
    }
    EXPECT_EQ(typed(Op::Atan2, {F64, F64}), F64);
    EXPECT_TRUE(refuses(Op::Pow, {I32, I32}));
    EXPECT_EQ(typed(Op::Fma, {I32, I32, I32}), I32);
    EXPECT_EQ(typed(Op::Abs, {U8}), U8);
}

TEST(Typing, BitwiseTakesIntegersAndBool) {
    for (const Op op : {Op::And, Op::Or, Op::Xor}) {
        for (const DType t : {DType(Bool), DType(U16), bvec3, ivec3}) EXPECT_EQ(typed(op, {t, t}), t);
        EXPECT_TRUE(refuses(op, {F32, F32}));
    }
    EXPECT_EQ(typed(Op::Not, {Bool}), Bool);
    EXPECT_TRUE(refuses(Op::Not, {F32}));
    for (const Op op : {Op::Shl, Op::Shr}) {
        EXPECT_EQ(typed(op, {I64, I64}), I64);
        EXPECT_TRUE(refuses(op, {I64, U32}));
        EXPECT_TRUE(refuses(op, {Bool, Bool}));
        EXPECT_TRUE(refuses(op, {F32, F32}));
    }
    EXPECT_EQ(typed(Op::PopCount, {ivec3}), ivec3);
    EXPECT_TRUE(refuses(Op::Clz, {F32}));
    EXPECT_TRUE(refuses(Op::ReverseBits, {Bool}));
}

TEST(Typing, ComparisonGivesBoolOfTheSameShape) {
    EXPECT_EQ(typed(Op::Lt, {F32, F32}), Bool);
    EXPECT_EQ(typed(Op::Ge, {vec3, vec3}), bvec3);
    EXPECT_EQ(typed(Op::Eq, {Bool, Bool}), Bool);
    EXPECT_EQ(typed(Op::Ne, {bvec3, bvec3}), bvec3);
    EXPECT_TRUE(refuses(Op::Lt, {Bool, Bool}));
    EXPECT_TRUE(refuses(Op::Eq, {particle_type(), particle_type()}));
    EXPECT_EQ(typed(Op::IsNan, {vec3}), bvec3);
    EXPECT_TRUE(refuses(Op::IsInf, {I32}));
}

TEST(Typing, SelectPicksWholeValuesOrComponents) {
    for (const DType t : {DType(F32), vec3, c32, mat, particle_type()}) {
        EXPECT_EQ(typed(Op::Select, {Bool, t, t}), t);
    }
    EXPECT_EQ(typed(Op::Select, {bvec3, vec3, vec3}), vec3);
    EXPECT_TRUE(refuses(Op::Select, {bvec3, vec2, vec2}));
    EXPECT_TRUE(refuses(Op::Select, {bvec3, F32, F32}));
    EXPECT_TRUE(refuses(Op::Select, {I32, F32, F32}));
    EXPECT_TRUE(refuses(Op::Select, {Bool, F32, I32}));
    EXPECT_TRUE(refuses(Op::Select, {Bool, DType(), DType()}));
}

TEST(Typing, ConvertKeepsTheShape) {
    EXPECT_EQ(typed(Op::Convert, {F32}, Bool), Bool);
    EXPECT_EQ(typed(Op::Convert, {Bool}, U8), U8);
    EXPECT_EQ(typed(Op::Convert, {vec3}, ivec3), ivec3);
    EXPECT_EQ(typed(Op::Convert, {c32}, DType::complex(F64)), DType::complex(F64));
    EXPECT_EQ(typed(Op::Convert, {mat}, DType::matrix(F64, 2, 3)), DType::matrix(F64, 2, 3));
    EXPECT_TRUE(refuses(Op::Convert, {mat}, DType::matrix(F32, 2, 2)));
    EXPECT_TRUE(refuses(Op::Convert, {vec3}, vec2));
    EXPECT_TRUE(refuses(Op::Convert, {F32}, c32));
    EXPECT_TRUE(refuses(Op::Convert, {c32}, vec2));
    EXPECT_TRUE(refuses(Op::Convert, {F32}));
    EXPECT_TRUE(refuses(Op::Convert, {particle_type()}, particle_type()));
}

TEST(Typing, BitcastKeepsTheSize) {
    EXPECT_EQ(typed(Op::Bitcast, {F32}, U32), U32);
    EXPECT_EQ(typed(Op::Bitcast, {U64}, vec2), vec2);
    EXPECT_EQ(typed(Op::Bitcast, {c32}, F64), F64);
    EXPECT_TRUE(refuses(Op::Bitcast, {F32}, U64));
    EXPECT_TRUE(refuses(Op::Bitcast, {Bool}, U8));
    EXPECT_TRUE(refuses(Op::Bitcast, {U8}, Bool));
    EXPECT_TRUE(refuses(Op::Bitcast, {F32}, DType::array(U8, 4)));
    EXPECT_TRUE(refuses(Op::Bitcast, {F32}));
}

TEST(Typing, ConstructTakesOneOperandForEachPart) {
    EXPECT_EQ(typed(Op::Construct, {F32, F32}, c32), c32);
    EXPECT_EQ(typed(Op::Construct, {vec3, vec3}, mat), mat);
    EXPECT_EQ(typed(Op::Construct, {vec3, F32, DType::array(U8, 4)}, particle_type()), particle_type());
    EXPECT_TRUE(refuses(Op::Construct, {F32}, vec2));
    EXPECT_TRUE(refuses(Op::Construct, {F32, F32, F32}, vec2));
    EXPECT_TRUE(refuses(Op::Construct, {F32, F64}, vec2));
    EXPECT_TRUE(refuses(Op::Construct, {vec2, vec2}, mat));
    EXPECT_TRUE(refuses(Op::Construct, {F32}, F32));
    EXPECT_TRUE(refuses(Op::Construct, {}));
}

TEST(Typing, IdsHaveFixedTypes) {
    EXPECT_EQ(typed(Op::GlobalId, {}), DType::vector(U32, 3));
    EXPECT_EQ(typed(Op::GroupCount, {}), DType::vector(U32, 3));
    EXPECT_EQ(typed(Op::LocalIndex, {}), U32);
    EXPECT_EQ(typed(Op::SubgroupLane, {}), U32);
    EXPECT_TRUE(refuses(Op::GlobalId, {U32}));
    EXPECT_TRUE(refuses(Op::GlobalId, {}, U32));
}

TEST(Typing, DeclarationsHaveTheRequestedType) {
    EXPECT_EQ(typed(Op::Zero, {}, particle_type()), particle_type());
    EXPECT_EQ(typed(Op::Var, {}, mat), mat);
    EXPECT_TRUE(refuses(Op::Var, {}));
    EXPECT_TRUE(refuses(Op::Const, {}, vec2));
    EXPECT_EQ(typed(Op::BufferSize, {F32}), U32);
    EXPECT_EQ(typed(Op::BufferSize, {F32}, U64), U64);
    EXPECT_TRUE(refuses(Op::BufferSize, {F32}, I32));
}

TEST(Typing, FoldsFollowTheirOperation) {
    EXPECT_EQ(typed(Op::SubgroupAdd, {c32}), c32);
    EXPECT_EQ(typed(Op::SubgroupExclusiveAdd, {vec3}), vec3);
    EXPECT_TRUE(refuses(Op::SubgroupMul, {c32}));
    EXPECT_TRUE(refuses(Op::SubgroupMin, {c32}));
    EXPECT_TRUE(refuses(Op::SubgroupAdd, {Bool}));
    EXPECT_TRUE(refuses(Op::SubgroupAdd, {mat}));
    EXPECT_EQ(typed(Op::SubgroupInclusiveXor, {Bool}), Bool);
    EXPECT_EQ(typed(Op::SubgroupAnd, {ivec3}), ivec3);
    EXPECT_TRUE(refuses(Op::SubgroupOr, {F32}));
}

TEST(Typing, LanesVotesAndBallots) {
    EXPECT_EQ(typed(Op::SubgroupShuffle, {c32, U32}), c32);
    EXPECT_EQ(typed(Op::SubgroupBroadcast, {Bool, U32}), Bool);
    EXPECT_TRUE(refuses(Op::SubgroupShuffle, {F32, I32}));
    EXPECT_TRUE(refuses(Op::SubgroupShuffle, {particle_type(), U32}));
    EXPECT_EQ(typed(Op::SubgroupAny, {Bool}), Bool);
    EXPECT_EQ(typed(Op::SubgroupBallot, {Bool}), DType::vector(U32, 4));
    EXPECT_TRUE(refuses(Op::SubgroupAll, {bvec3}));
    EXPECT_EQ(typed(Op::SubgroupElect, {}), Bool);
}

TEST(Typing, StatementsHaveNoValue) {
    EXPECT_TRUE(typed(Op::Barrier, {}).is_void());
    EXPECT_TRUE(typed(Op::If, {Bool}).is_void());
    EXPECT_TRUE(refuses(Op::If, {bvec3}));
    EXPECT_TRUE(refuses(Op::If, {I32}));
    EXPECT_EQ(typed(Op::For, {I16, I16, I16}), I16);
    EXPECT_TRUE(refuses(Op::For, {I16, I16, U16}));
    EXPECT_TRUE(refuses(Op::For, {F32, F32, F32}));
    EXPECT_TRUE(refuses(Op::For, {ivec3, ivec3, ivec3}));
    EXPECT_TRUE(typed(Op::Print, {F32, vec3, c32, Bool}).is_void());
    EXPECT_TRUE(refuses(Op::Print, {mat}));
    EXPECT_TRUE(refuses(Op::Print, {particle_type()}));
    EXPECT_TRUE(refuses(Op::Return, {F32}));
}

TEST(Typing, ErrorsNameTheOperationAndTheTypes) {
    EXPECT_THAT(refusal(Op::Add, {F32, I32}), HasSubstr("'add' cannot take f32, i32"));
    EXPECT_THAT(refusal(Op::Construct, {F32, F64}, vec2), HasSubstr("f64 for part 1; that part must be f32"));
    EXPECT_THAT(refusal(static_cast<Op>(255), {}), HasSubstr("no operation 255"));
}

class AccessTyping : public ::testing::Test {
protected:
    std::string refusal(Op op, std::vector<NodeId> operands) {
        try {
            (void)access_type(fn, op, operands);
        } catch (const IrError& e) {
            return e.what();
        }
        return "accepted";
    }
    DType reached(std::vector<NodeId> operands) { return access_type(fn, Op::Load, operands); }

    Function fn;
    Builder b{fn};
    NodeId particles = b.buffer(particle_type(), "particles");
    NodeId input = b.buffer(U32, "input", true);
    NodeId words = b.buffer(U32, "words");
    NodeId bytes = b.buffer(U8, "bytes");
    NodeId floats = b.buffer(F32, "floats");
    NodeId tile = b.shared(DType::array(mat, 4));
    NodeId local = b.var(c32);
    NodeId u = b.constant_u32(1);
    NodeId i = b.constant(I8, 0xff);
    NodeId f = b.constant_f32(1);
    NodeId lane = b.emit(Op::SubgroupLane, {});
};

TEST_F(AccessTyping, PathsMayStopAtAnyType) {
    const NodeId position = b.constant_u32(0);
    EXPECT_EQ(reached({particles, lane}), particle_type());
    EXPECT_EQ(reached({particles, lane, position}), vec3);
    EXPECT_EQ(reached({particles, lane, position, lane}), F32);
    EXPECT_EQ(reached({tile}), DType::array(mat, 4));
    EXPECT_EQ(reached({tile, lane, lane, lane}), F32);
    EXPECT_EQ(reached({local}), c32);
    EXPECT_EQ(reached({local, u}), F32);
}

TEST_F(AccessTyping, WrongPathsAreRefused) {
    EXPECT_THAT(refusal(Op::Load, {particles}), HasSubstr("has no element index"));
    EXPECT_THAT(refusal(Op::Load, {particles, f}), HasSubstr("indexed by f32"));
    EXPECT_THAT(refusal(Op::Load, {particles, u, lane}), HasSubstr("computed number"));
    EXPECT_THAT(refusal(Op::Load, {particles, u, b.constant_u32(3)}), HasSubstr("selects field 3"));
    EXPECT_THAT(refusal(Op::Load, {particles, u, i}), HasSubstr("selects field -1"));
    EXPECT_THAT(refusal(Op::Load, {words, u, u}), HasSubstr("past u32"));
    EXPECT_THAT(refusal(Op::Load, {u}), HasSubstr("accesses the value of 'const'"));
    EXPECT_THAT(refusal(Op::Load, {}), HasSubstr("0 operands"));
    EXPECT_THAT(refusal(Op::Load, {9999}), HasSubstr("does not exist"));
    EXPECT_THAT(refusal(Op::Extract, {local, u}), HasSubstr("load from it"));
    EXPECT_THAT(refusal(Op::Extract, {u, u}), HasSubstr("past u32"));
    EXPECT_THAT(refusal(Op::Extract, {b.emit(Op::GlobalId, {})}), HasSubstr("no path"));
}

TEST_F(AccessTyping, AConstantPastTheEndOfAnArrayIsLegal) {
    EXPECT_EQ(reached({tile, b.constant_u32(100)}), mat);
    EXPECT_EQ(reached({local, i}), F32);
}

TEST_F(AccessTyping, StoredValuesMustHaveTheTypeOfTheMemory) {
    EXPECT_EQ(refusal(Op::Store, {words, u, lane}), "accepted");
    EXPECT_THAT(refusal(Op::Store, {words, f, lane}), HasSubstr("value of type f32 for memory of type u32"));
    EXPECT_THAT(refusal(Op::Store, {input, u, lane}), HasSubstr("read-only buffer 'input'"));
}

TEST_F(AccessTyping, AtomicsActOnWideScalarsOfBuffersAndSharedMemory) {
    EXPECT_EQ(refusal(Op::AtomicAdd, {floats, f, lane}), "accepted");
    EXPECT_EQ(refusal(Op::AtomicCas, {floats, f, f, lane}), "accepted");
    EXPECT_EQ(refusal(Op::AtomicMax, {tile, f, lane, u, u}), "accepted");
    EXPECT_EQ(refusal(Op::AtomicXor, {words, u, lane}), "accepted");
    EXPECT_THAT(refusal(Op::AtomicXor, {floats, f, lane}), HasSubstr("acts on integers"));
    EXPECT_THAT(refusal(Op::AtomicAdd, {bytes, i, lane}), HasSubstr("cannot act on u8"));
    EXPECT_THAT(refusal(Op::AtomicAdd, {tile, f, lane, u}), HasSubstr("cannot act on vec3<f32>"));
    EXPECT_THAT(refusal(Op::AtomicAdd, {local, f, u}), HasSubstr("cannot act on a variable"));
    EXPECT_THAT(refusal(Op::AtomicAdd, {input, u, lane}), HasSubstr("read-only"));
    EXPECT_THAT(refusal(Op::AtomicAdd, {words, f, lane}), HasSubstr("value of type f32"));
}

}  // namespace
}  // namespace volley::ir
