// The shared functions, built with ir::Builder.
#include "ir/samples.hpp"

#include "ir/builder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <random>

namespace volley::ir {
namespace {

using enum ScalarType;

void emit_arithmetic(Builder& b) {
    const NodeId i = b.constant_i32(-7);
    const NodeId u = b.constant_u32(9);
    const NodeId f = b.constant_f32(0.1f);
    const NodeId t = b.constant_bool(true);
    for (const Op op :
         {Op::Neg, Op::Abs, Op::Sign, Op::Not, Op::PopCount, Op::Clz, Op::Ctz, Op::ReverseBits}) {
        b.emit(op, {i});
    }
    for (const Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Rem, Op::Min, Op::Max, Op::And, Op::Or,
                        Op::Xor, Op::Shl, Op::Shr, Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge}) {
        b.emit(op, {u, u});
    }
    for (const Op op :
         {Op::Floor, Op::Ceil,  Op::Trunc, Op::Round, Op::RoundEven, Op::Sqrt,  Op::Rsqrt, Op::Sin,
          Op::Cos,   Op::Tan,   Op::Asin,  Op::Acos,  Op::Atan,      Op::Sinh,  Op::Cosh,  Op::Tanh,
          Op::Asinh, Op::Acosh, Op::Atanh, Op::Exp,   Op::Exp2,      Op::Exp10, Op::Expm1, Op::Log,
          Op::Log2,  Op::Log10, Op::Log1p, Op::Cbrt,  Op::IsNan,     Op::IsInf}) {
        b.emit(op, {f});
    }
    for (const Op op : {Op::Atan2, Op::Pow, Op::Hypot}) b.emit(op, {f, f});
    b.emit(Op::Fma, {f, f, f});
    b.emit(Op::Select, {t, f, f});
    b.convert(f, F16);
    b.emit(Op::Bitcast, {f}, DType::vector(U16, 2));
}

void emit_constants(Builder& b) {
    b.constant(I8, 0x80);
    b.constant(U8, 0xff);
    b.constant(I16, 0x8000);
    b.constant(U16, 0xffff);
    b.constant(I64, std::uint64_t{1} << 63);
    b.constant(U64, ~std::uint64_t{0});
    b.constant_number(F16, 65504);
    b.constant(F32, 0x7fc00001);
    b.constant(F32, 0xff800000);
    b.constant(F32, 1);
    b.constant(F64, 0x7ff4000000000001);
    b.constant_f64(-0.0);
    b.constant_f64(1e300);
    b.constant_bool(false);
}

void emit_ids(Builder& b) {
    for (const Op op :
         {Op::GlobalId, Op::LocalId, Op::GroupId, Op::GlobalSize, Op::LocalSize, Op::GroupCount,
          Op::LocalIndex, Op::SubgroupId, Op::SubgroupCount, Op::SubgroupSize, Op::SubgroupLane}) {
        b.emit(op, {});
    }
}

void emit_composites(Builder& b) {
    const DType vec = DType::vector(F32, 2);
    const DType mat = DType::matrix(F32, 3, 2);
    const NodeId f = b.constant_f32(2.5f);
    const NodeId v = b.construct(vec, std::array{f, f});
    const NodeId m = b.construct(mat, std::array{v, v, v});
    b.emit(Op::Add, {m, m});
    b.emit(Op::Neg, {b.construct(DType::complex(F32), std::array{f, f})});
    b.emit(Op::Extract, {m, b.constant_u32(2), b.constant(U8, 1)});
    b.extract(v, 1);
    b.extract_at(v, b.emit(Op::SubgroupLane, {}));
    b.construct(DType::array(vec, 2), std::array{v, v});
    b.zero(particle_type());
}

void emit_memory(Builder& b, NodeId data, NodeId particles) {
    const NodeId i = b.constant(I64, 3);
    const NodeId word = b.emit(Op::Load, {data, i});
    for (const Op op : {Op::AtomicAdd, Op::AtomicSub, Op::AtomicMin, Op::AtomicMax, Op::AtomicAnd,
                        Op::AtomicOr, Op::AtomicXor, Op::AtomicExchange}) {
        b.emit(op, {data, word, i});
    }
    b.emit(Op::AtomicCas, {data, word, word, i});
    b.emit(Op::BufferSize, {data}, U64);
    b.emit(Op::BufferSize, {particles}, U32);
    b.emit(Op::Load, {particles, i});
    b.emit(Op::Load, {particles, i, b.constant_u32(0), b.constant_u32(2)});
    const NodeId tile = b.shared(DType::array(F32, 16));
    const NodeId x = b.var(F32);
    b.emit(Op::Store, {tile, b.emit(Op::Load, {x}), b.constant_u32(4)});
    b.emit(Op::Store, {x, b.constant_f32(1)});
}

void emit_subgroup(Builder& b) {
    const NodeId u = b.constant_u32(1);
    const NodeId t = b.constant_bool(true);
    for (auto op = static_cast<unsigned>(Op::SubgroupAdd); form(static_cast<Op>(op)) == Form::SubgroupFold;
         ++op) {
        b.emit(static_cast<Op>(op), {u});
    }
    for (const Op op : {Op::SubgroupBroadcast, Op::SubgroupShuffle, Op::SubgroupShuffleXor})
        b.emit(op, {u, u});
    for (const Op op : {Op::SubgroupAny, Op::SubgroupAll, Op::SubgroupBallot}) b.emit(op, {t});
    b.emit(Op::SubgroupElect, {});
    b.emit(Op::Barrier, {});
    b.emit(Op::SubgroupBarrier, {});
    b.emit(Op::Fence, {}, {}, static_cast<std::uint64_t>(FenceScope::Shared));
}

void emit_control(Builder& b) {
    const NodeId t = b.constant_bool(true);
    const NodeId zero = b.constant(U16, 0);
    const NodeId one = b.constant(U16, 1);
    const NodeId k = b.begin_for(zero, one, one);
    b.begin_if(t);
    b.print("k = {} of {{1}}\n\t\"\x01\"", std::array{k});
    b.jump(Op::Continue);
    b.begin_else();
    b.jump(Op::Break);
    b.end_if();
    b.end_for();
    b.begin_loop();
    b.begin_if(t);
    b.jump(Op::Return);
    b.end_if();
    b.end_loop();
}

}  // namespace

DType particle_type() {
    const StructField fields[] = {
        {"position", DType::vector(F32, 3), 0}, {"mass", F32, 12}, {"tags", DType::array(U8, 4), 16}};
    return DType::structure("Particle", fields, 20, 4);
}

unsigned test_seed() {
    const auto given = static_cast<unsigned>(GTEST_FLAG_GET(random_seed));
    const unsigned seed = given != 0 ? given : std::random_device()() % 99999 + 1;
    std::cout << "repeat with --gtest_random_seed=" << seed << std::endl;
    return seed;
}

Function scale_function() {
    Function fn;
    fn.name = "scale";
    fn.local_size = Dim3{64, 1, 1};
    Builder b(fn);
    const NodeId data = b.buffer(F32, "data");
    const NodeId alpha = b.param(F32, "alpha");
    const std::uint32_t file = fn.add_file("scale.cpp");
    b.set_loc({file, 4});
    const NodeId i = b.extract(b.emit(Op::GlobalId, {}), 0);
    b.set_loc({file, 5});
    b.store(data, b.emit(Op::Mul, {b.load(data, std::array{i}), alpha}), std::array{i});
    return fn;
}

Function every_op_function() {
    Function fn;
    fn.name = "every \"op\"";
    fn.local_size = Dim3{8, 4, 2};
    Builder b(fn);
    const NodeId data = b.buffer(U32, "data");
    const NodeId particles = b.buffer(particle_type(), "particles", true);
    b.param(F64, "alpha");
    b.param(DType::vector(I32, 4), "beta");
    fn.params[0].rank = 3;
    b.layout_param(ParamKind::Stride, U32, 0, 2);
    b.layout_param(ParamKind::Extent, U64, 1, 7);
    b.set_loc({fn.add_file("a dir/every op.cpp"), 12});
    emit_arithmetic(b);
    emit_constants(b);
    b.set_loc({fn.add_file("odd\nname\".cpp"), 7});
    emit_ids(b);
    emit_composites(b);
    b.set_loc({});
    emit_memory(b, data, particles);
    emit_subgroup(b);
    emit_control(b);
    return fn;
}

}  // namespace volley::ir
