// Support for tests of expand_math: each function as a kernel, expanded for a target, run by the interpreter
// or as compiled code on this thread, and compared with the C library in a wider format.
#pragma once

#include "backends/reference/interpreter.hpp"
#include "codegen/llvm/compiler.hpp"
#include "ir/builder.hpp"
#include "ir/verifier.hpp"
#include "passes/eliminate_common.hpp"
#include "passes/eliminate_dead.hpp"
#include "passes/expand_math.hpp"
#include "passes/fold_constants.hpp"
#include "support/edge_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace volley::passes {

/// The format of reference values.
template <class T>
using Wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

/// One function with its accuracy in docs/ir.md section 4.
struct MathFunction {
    ir::Op op;
    double ulps;
    double (*f32)(double, double);
    long double (*f64)(long double, long double);

    template <class T>
    [[nodiscard]] Wider<T> operator()(T x, T y) const {
        if constexpr (std::is_same_v<T, float>)
            return f32(static_cast<double>(x), static_cast<double>(y));
        else
            return f64(static_cast<long double>(x), static_cast<long double>(y));
    }
    [[nodiscard]] bool is_binary() const {
        return op == ir::Op::Atan2 || op == ir::Op::Pow || op == ir::Op::Hypot || op == ir::Op::Rem;
    }
    [[nodiscard]] std::string name() const { return std::string(ir::mnemonic(op)); }
};

inline std::vector<MathFunction> math_functions() {
#define VOLLEY_UNARY(Name, ulps, call)                                       \
    MathFunction {                                                           \
        ir::Op::Name, ulps, [](double x, double) -> double { return call; }, \
            [](long double x, long double) -> long double { return call; }   \
    }
#define VOLLEY_BINARY(Name, ulps, call)                                        \
    MathFunction {                                                             \
        ir::Op::Name, ulps, [](double x, double y) -> double { return call; }, \
            [](long double x, long double y) -> long double { return call; }   \
    }
    return {VOLLEY_UNARY(Rsqrt, 2, 1 / std::sqrt(x)),
            VOLLEY_UNARY(Sin, 2, std::sin(x)),
            VOLLEY_UNARY(Cos, 2, std::cos(x)),
            VOLLEY_UNARY(Tan, 4, std::tan(x)),
            VOLLEY_UNARY(Asin, 4, std::asin(x)),
            VOLLEY_UNARY(Acos, 4, std::acos(x)),
            VOLLEY_UNARY(Atan, 4, std::atan(x)),
            VOLLEY_BINARY(Atan2, 4, std::atan2(x, y)),
            VOLLEY_UNARY(Sinh, 4, std::sinh(x)),
            VOLLEY_UNARY(Cosh, 4, std::cosh(x)),
            VOLLEY_UNARY(Tanh, 4, std::tanh(x)),
            VOLLEY_UNARY(Asinh, 4, std::asinh(x)),
            VOLLEY_UNARY(Acosh, 4, std::acosh(x)),
            VOLLEY_UNARY(Atanh, 4, std::atanh(x)),
            VOLLEY_UNARY(Exp, 2, std::exp(x)),
            VOLLEY_UNARY(Exp2, 2, std::exp2(x)),
            VOLLEY_UNARY(Exp10, 4, std::pow(decltype(x)(10), x)),
            VOLLEY_UNARY(Expm1, 4, std::expm1(x)),
            VOLLEY_UNARY(Log, 2, std::log(x)),
            VOLLEY_UNARY(Log2, 2, std::log2(x)),
            VOLLEY_UNARY(Log10, 4, std::log10(x)),
            VOLLEY_UNARY(Log1p, 4, std::log1p(x)),
            VOLLEY_BINARY(Pow, 4, std::pow(x, y)),
            VOLLEY_UNARY(Cbrt, 4, std::cbrt(x)),
            VOLLEY_BINARY(Hypot, 4, std::hypot(x, y)),
            VOLLEY_BINARY(Rem, 0, std::fmod(x, y))};
#undef VOLLEY_UNARY
#undef VOLLEY_BINARY
}

/// The targets for every kind of device.
inline std::vector<MathTarget> math_targets() {
    std::vector<MathTarget> targets;
    for (unsigned bits = 0; bits < 16; ++bits) {
        const bool f64 = (bits & 8) != 0;
        targets.push_back({f64, (bits & 4) != 0, (bits & 1) != 0, (bits & 2) == 0, f64});
    }
    return targets;
}

inline std::string text(const MathTarget& t) {
    return std::string(t.fused_fma ? "fused fma" : "no fma") + (t.i64 ? ", i64" : "") +
           (t.f64 ? ", f64" : "") + (t.keeps_subnormals ? "" : ", no subnormals");
}

/// out[i] = f(a[i]) or f(a[i], b[i]); three buffers of the type in all cases.
inline ir::Function math_kernel(const MathFunction& f, DType type) {
    ir::Function fn;
    fn.name = f.name();
    ir::Builder b(fn);
    const ir::NodeId a = b.buffer(type, "a", true);
    const ir::NodeId c = b.buffer(type, "b", true);
    const ir::NodeId out = b.buffer(type, "out");
    const ir::NodeId i = b.extract(b.emit(ir::Op::GlobalId, {}), 0);
    const ir::NodeId x = b.load(a, std::span(&i, 1));
    const ir::NodeId y = b.load(c, std::span(&i, 1));
    const ir::NodeId result = f.is_binary() ? b.emit(f.op, {x, y}) : b.emit(f.op, {x});
    b.store(out, result, std::span(&i, 1));
    return fn;
}

/// Returns the kernel, expanded and cleaned as in a backend.
inline ir::Function expanded(ir::Function fn, const MathTarget& target) {
    expand_math(fn, target);
    ir::verify(fn);
    fold_constants(fn);
    eliminate_common(fn);
    eliminate_dead(fn);
    ir::verify(fn);
    return fn;
}

inline ir::Function expanded(const MathFunction& f, DType type, const MathTarget& target) {
    return expanded(math_kernel(f, type), target);
}

/// Makes the host flush subnormal numbers to zero during its lifetime, if supported.
class Flushing {
public:
#if defined(__SSE__)
    static constexpr bool possible = true;
    explicit Flushing(bool on) : before_(_mm_getcsr()) {
        if (on) _mm_setcsr(before_ | 0x8040u);
    }
    ~Flushing() { _mm_setcsr(before_); }

private:
    unsigned before_;
#else
    static constexpr bool possible = false;
    explicit Flushing(bool) {}
#endif
public:
    Flushing(const Flushing&) = delete;
    Flushing& operator=(const Flushing&) = delete;
};

/// Runs the kernel on all elements, of `parts` scalars each.
template <class T>
std::vector<T> interpreted(const ir::Function& fn, std::vector<T> a, std::vector<T> b, unsigned parts = 1) {
    std::vector<T> out(a.size());
    const std::size_t count = a.size() / parts;
    const std::vector<backends::reference::Arg> args = {
        {a.data(), count}, {b.data(), count}, {out.data(), count}};
    backends::reference::LaunchShape shape;
    shape.global = {static_cast<std::uint32_t>(count), 1, 1};
    shape.local = {64, 1, 1};
    backends::reference::interpret(fn, shape, args);
    return out;
}

/// A kernel that is compiled once, for many calls.
template <class T>
class CompiledMath {
public:
    explicit CompiledMath(const ir::Function& fn, unsigned parts = 1)
        : code_(codegen::llvm::compile(fn, {}, codegen::llvm::host_target(8))),
          layout_(codegen::llvm::layout_args(fn)),
          parts_(parts) {}

    [[nodiscard]] std::vector<T> operator()(const std::vector<T>& a, const std::vector<T>& b,
                                            bool flush = false) const {
        std::vector<T> out(a.size());
        const std::size_t count = a.size() / parts_;
        // The block is only read; buffers have only one pointer type.
        void* const data[3] = {const_cast<T*>(a.data()), const_cast<T*>(b.data()), out.data()};
        std::vector<std::byte> args(layout_.size);
        for (std::size_t k = 0; k < 3; ++k) {
            const codegen::llvm::BufferArg buffer{data[k], count};
            std::memcpy(args.data() + layout_.offsets[k], &buffer, sizeof buffer);
        }
        codegen::llvm::Work work;
        work.args = args.data();
        work.end = count;
        work.global_size[0] = work.group_count[0] = static_cast<std::uint32_t>(count);
        const Flushing flushing(flush);
        code_->entry()(&work);
        return out;
    }

private:
    std::unique_ptr<codegen::llvm::CompiledKernel> code_;
    codegen::llvm::ArgLayout layout_;
    unsigned parts_;
};

/// Returns the distance from the exact value in ulps of the result; infinite if only one of them is NaN, or
/// if zeros or infinities have different signs. An infinite result counts as the number after the largest
/// finite one.
template <class T>
double error_in_ulps(T got, Wider<T> exact, bool flushed) {
    using limits = std::numeric_limits<T>;
    using W = Wider<T>;
    constexpr double wrong = std::numeric_limits<double>::infinity();
    if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0 : wrong;
    const T rounded = static_cast<T>(exact);
    if (flushed && std::fabs(got) <= limits::min() && std::fabs(exact) < W(limits::min()) * W(1.000001))
        return 0;
    if (got == 0 && rounded == 0) return std::signbit(got) == std::signbit(rounded) ? 0 : wrong;
    const W limit = std::ldexp(W(1), limits::max_exponent);
    const W value = std::isinf(got) ? std::copysign(limit, W(got)) : W(got);
    const W wanted = std::fabs(exact) > limit ? std::copysign(limit, exact) : exact;
    int exponent = 0;
    (void)std::frexp(wanted, &exponent);
    exponent = std::clamp(exponent, limits::min_exponent, limits::max_exponent) - limits::digits;
    return static_cast<double>(std::fabs(value - wanted) / std::ldexp(W(1), exponent));
}

template <class T>
T flushed(T x) {
    return std::fabs(x) < std::numeric_limits<T>::min() ? std::copysign(T(0), x) : x;
}

/// Adds a failure for the largest error above the specified accuracy. If subnormal numbers may be flushed,
/// both the flushed and the exact results are accepted.
template <class T>
void expect_promise(const MathFunction& f, const MathTarget& target, const std::vector<T>& a,
                    const std::vector<T>& b, const std::vector<T>& out) {
    const bool flush = !target.keeps_subnormals;
    double worst = f.ulps;
    std::size_t at = a.size();
    for (std::size_t i = 0; i < a.size(); ++i) {
        double error = error_in_ulps<T>(out[i], f(a[i], b[i]), flush);
        if (flush && error > worst) {
            error = std::min(error, error_in_ulps<T>(out[i], f(flushed(a[i]), flushed(b[i])), true));
        }
        if (error > worst) {
            worst = error;
            at = i;
        }
    }
    if (at == a.size()) return;
    ADD_FAILURE() << f.name() << " (" << text(target) << "): " << worst << " ulp at " << std::hexfloat
                  << a[at] << ", " << b[at] << ": " << out[at] << std::defaultfloat << " = " << out[at]
                  << ", not " << f(a[at], b[at]);
}

/// Returns numbers of all magnitudes, denser where functions curve, near 1 and near multiples of pi/2.
template <class T>
std::vector<T> math_samples(std::size_t count, std::uint64_t seed) {
    testing::Random random(testing::seed_or(seed));
    std::vector<T> values;
    for (std::size_t i = 0; i < count; ++i) {
        const double unit = random.uniform(-1, 1);
        switch (random.below(8)) {
            case 0:
            case 1: values.push_back(testing::random_value<T>(random)); break;
            case 2: values.push_back(static_cast<T>(unit)); break;
            case 3: values.push_back(static_cast<T>(unit * 16)); break;
            case 4: values.push_back(static_cast<T>(unit * 1000)); break;
            case 5:
                values.push_back(static_cast<T>(1 + std::ldexp(unit, -static_cast<int>(random.below(40)))));
                break;
            case 6:
                values.push_back(static_cast<T>(std::floor(std::ldexp(unit, 14)) * 1.5707963267948966));
                break;
            default:
                values.push_back(static_cast<T>(std::ldexp(unit, static_cast<int>(random.below(160)) - 80)));
        }
    }
    return values;
}

}  // namespace volley::passes
