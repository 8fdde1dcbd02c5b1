// The table of IR operations. docs/ir.md defines their semantics; the verifier checks the rules.
//
// VOLLEY_IR_OPS(X) expands to X(Name, mnemonic, form) for each operation. The form determines the result type
// (ir::result_type) and the effects of the operation (ir::traits).
#pragma once

#include <cstdint>

namespace volley::ir {

/// The operands and the result of an operation.
enum class Form : std::uint8_t {
    Constant,      // no operands; imm holds the bits of a scalar
    Zero,          // no operands; the zero of any type
    Parameter,     // no operands; imm is the parameter's index
    Root,          // no operands; declares memory: a buffer, shared array or local variable
    Builtin,       // no operands; an id or size, u32 or vec3<u32>
    Unary,         // T -> T, elementwise
    Binary,        // T, T -> T, elementwise
    Compare,       // T, T -> bool of the same shape, elementwise
    Shift,         // T, T -> T, integers
    Ternary,       // T, T, T -> T, elementwise
    Select,        // bool (scalar, or a vector as wide as T), T, T -> T
    Classify,      // float T -> bool of the same shape
    BitCount,      // integer T -> T
    Convert,       // T -> any type of the same shape, by value
    Bitcast,       // T -> any numeric type of the same size, by bits
    Construct,     // one operand for each part -> composite
    Extract,       // composite, path... -> part
    BufferSize,    // root -> u32 or u64, elements in the bound buffer
    Load,          // root, path... -> T
    Store,         // root, value, path...
    Atomic,        // root, value, path... -> old value
    AtomicCas,     // root, expected, desired, path... -> old value
    SubgroupFold,  // T -> T over the active lanes of a subgroup
    SubgroupLane,  // T, u32 lane -> T
    SubgroupVote,  // bool -> bool
    Ballot,        // bool -> vec4<u32>
    Elect,         // -> bool
    Sync,          // barrier or fence
    If,            // bool; regions: then, else
    For,           // begin, end, step; region: body, in which the node's value is the index
    Loop,          // region: body, repeated until break or return
    Jump,          // break, continue, return
    Print,         // any operands; imm is the index of the format string
};

// clang-format off
#define VOLLEY_IR_OPS(X)                                                                                     \
    /* constants, parameters and memory */                                                                   \
    X(Const, "const", Constant)            X(Zero, "zero", Zero)                                             \
    X(Param, "param", Parameter)           X(Buffer, "buffer", Root)                                         \
    X(Shared, "shared", Root)              X(Var, "var", Root)                                               \
    /* ids and sizes: vec3<u32>, then u32 */                                                                 \
    X(GlobalId, "global_id", Builtin)      X(LocalId, "local_id", Builtin)                                   \
    X(GroupId, "group_id", Builtin)        X(GlobalSize, "global_size", Builtin)                             \
    X(LocalSize, "local_size", Builtin)    X(GroupCount, "group_count", Builtin)                             \
    X(LocalIndex, "local_index", Builtin)  X(SubgroupId, "subgroup_id", Builtin)                             \
    X(SubgroupCount, "subgroup_count", Builtin)                                                              \
    X(SubgroupSize, "subgroup_size", Builtin)                                                                \
    X(SubgroupLane, "subgroup_lane", Builtin)                                                                \
    /* arithmetic, elementwise */                                                                            \
    X(Neg, "neg", Unary)                   X(Abs, "abs", Unary)                                              \
    X(Sign, "sign", Unary)                 X(Add, "add", Binary)                                             \
    X(Sub, "sub", Binary)                  X(Mul, "mul", Binary)                                             \
    X(Div, "div", Binary)                  X(Rem, "rem", Binary)                                             \
    X(Min, "min", Binary)                  X(Max, "max", Binary)                                             \
    X(Fma, "fma", Ternary)                                                                                   \
    /* bits; and, or, xor and not take bool too */                                                           \
    X(And, "and", Binary)                  X(Or, "or", Binary)                                               \
    X(Xor, "xor", Binary)                  X(Not, "not", Unary)                                              \
    X(Shl, "shl", Shift)                   X(Shr, "shr", Shift)                                              \
    X(PopCount, "popcount", BitCount)      X(Clz, "clz", BitCount)                                           \
    X(Ctz, "ctz", BitCount)                X(ReverseBits, "reverse_bits", BitCount)                          \
    /* comparison and selection */                                                                           \
    X(Eq, "eq", Compare)                   X(Ne, "ne", Compare)                                              \
    X(Lt, "lt", Compare)                   X(Le, "le", Compare)                                              \
    X(Gt, "gt", Compare)                   X(Ge, "ge", Compare)                                              \
    X(Select, "select", Select)                                                                              \
    X(IsNan, "isnan", Classify)            X(IsInf, "isinf", Classify)                                       \
    /* rounding */                                                                                           \
    X(Floor, "floor", Unary)               X(Ceil, "ceil", Unary)                                            \
    X(Trunc, "trunc", Unary)               X(Round, "round", Unary)                                          \
    X(RoundEven, "round_even", Unary)                                                                        \
    /* functions; accuracy per function in docs/ir.md */                                                     \
    X(Sqrt, "sqrt", Unary)                 X(Rsqrt, "rsqrt", Unary)                                          \
    X(Sin, "sin", Unary)                   X(Cos, "cos", Unary)                                              \
    X(Tan, "tan", Unary)                   X(Asin, "asin", Unary)                                            \
    X(Acos, "acos", Unary)                 X(Atan, "atan", Unary)                                            \
    X(Atan2, "atan2", Binary)              X(Sinh, "sinh", Unary)                                            \
    X(Cosh, "cosh", Unary)                 X(Tanh, "tanh", Unary)                                            \
    X(Asinh, "asinh", Unary)               X(Acosh, "acosh", Unary)                                          \
    X(Atanh, "atanh", Unary)               X(Exp, "exp", Unary)                                              \
    X(Exp2, "exp2", Unary)                 X(Exp10, "exp10", Unary)                                          \
    X(Expm1, "expm1", Unary)               X(Log, "log", Unary)                                              \
    X(Log2, "log2", Unary)                 X(Log10, "log10", Unary)                                          \
    X(Log1p, "log1p", Unary)               X(Pow, "pow", Binary)                                             \
    X(Cbrt, "cbrt", Unary)                 X(Hypot, "hypot", Binary)                                         \
    /* types */                                                                                              \
    X(Convert, "convert", Convert)         X(Bitcast, "bitcast", Bitcast)                                    \
    X(Construct, "construct", Construct)   X(Extract, "extract", Extract)                                    \
    /* memory */                                                                                             \
    X(BufferSize, "buffer_size", BufferSize)                                                                 \
    X(Load, "load", Load)                  X(Store, "store", Store)                                          \
    X(AtomicAdd, "atomic_add", Atomic)     X(AtomicSub, "atomic_sub", Atomic)                                \
    X(AtomicMin, "atomic_min", Atomic)     X(AtomicMax, "atomic_max", Atomic)                                \
    X(AtomicAnd, "atomic_and", Atomic)     X(AtomicOr, "atomic_or", Atomic)                                  \
    X(AtomicXor, "atomic_xor", Atomic)     X(AtomicExchange, "atomic_exchange", Atomic)                      \
    X(AtomicCas, "atomic_cas", AtomicCas)                                                                    \
    /* subgroups */                                                                                          \
    X(SubgroupAdd, "subgroup_add", SubgroupFold)                                                             \
    X(SubgroupMul, "subgroup_mul", SubgroupFold)                                                             \
    X(SubgroupMin, "subgroup_min", SubgroupFold)                                                             \
    X(SubgroupMax, "subgroup_max", SubgroupFold)                                                             \
    X(SubgroupAnd, "subgroup_and", SubgroupFold)                                                             \
    X(SubgroupOr, "subgroup_or", SubgroupFold)                                                               \
    X(SubgroupXor, "subgroup_xor", SubgroupFold)                                                             \
    X(SubgroupInclusiveAdd, "subgroup_inclusive_add", SubgroupFold)                                          \
    X(SubgroupInclusiveMul, "subgroup_inclusive_mul", SubgroupFold)                                          \
    X(SubgroupInclusiveMin, "subgroup_inclusive_min", SubgroupFold)                                          \
    X(SubgroupInclusiveMax, "subgroup_inclusive_max", SubgroupFold)                                          \
    X(SubgroupInclusiveAnd, "subgroup_inclusive_and", SubgroupFold)                                          \
    X(SubgroupInclusiveOr, "subgroup_inclusive_or", SubgroupFold)                                            \
    X(SubgroupInclusiveXor, "subgroup_inclusive_xor", SubgroupFold)                                          \
    X(SubgroupExclusiveAdd, "subgroup_exclusive_add", SubgroupFold)                                          \
    X(SubgroupExclusiveMul, "subgroup_exclusive_mul", SubgroupFold)                                          \
    X(SubgroupExclusiveMin, "subgroup_exclusive_min", SubgroupFold)                                          \
    X(SubgroupExclusiveMax, "subgroup_exclusive_max", SubgroupFold)                                          \
    X(SubgroupExclusiveAnd, "subgroup_exclusive_and", SubgroupFold)                                          \
    X(SubgroupExclusiveOr, "subgroup_exclusive_or", SubgroupFold)                                            \
    X(SubgroupExclusiveXor, "subgroup_exclusive_xor", SubgroupFold)                                          \
    X(SubgroupBroadcast, "subgroup_broadcast", SubgroupLane)                                                 \
    X(SubgroupShuffle, "subgroup_shuffle", SubgroupLane)                                                     \
    X(SubgroupShuffleXor, "subgroup_shuffle_xor", SubgroupLane)                                              \
    X(SubgroupAny, "subgroup_any", SubgroupVote)                                                             \
    X(SubgroupAll, "subgroup_all", SubgroupVote)                                                             \
    X(SubgroupBallot, "subgroup_ballot", Ballot)                                                             \
    X(SubgroupElect, "subgroup_elect", Elect)                                                                \
    /* synchronisation; the imm of a fence is an ir::FenceScope */                                           \
    X(Barrier, "barrier", Sync)            X(SubgroupBarrier, "subgroup_barrier", Sync)                      \
    X(Fence, "fence", Sync)                                                                                  \
    /* control */                                                                                            \
    X(If, "if", If)                        X(For, "for", For)                                                \
    X(Loop, "loop", Loop)                  X(Break, "break", Jump)                                           \
    X(Continue, "continue", Jump)          X(Return, "return", Jump)                                         \
    X(Print, "print", Print)
// clang-format on

enum class Op : std::uint8_t {
#define VOLLEY_IR_ENUM(name, text, form) name,
    VOLLEY_IR_OPS(VOLLEY_IR_ENUM)
#undef VOLLEY_IR_ENUM
};

/// The memory accesses that a fence orders.
enum class FenceScope : std::uint8_t { All, Buffer, Shared, Group };

}  // namespace volley::ir
