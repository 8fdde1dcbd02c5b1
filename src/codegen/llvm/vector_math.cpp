// Polynomials are minimax fits on the reduced range. All lanes compute, special lanes are blended in at the
// end, and lanes outside a fast path's range use a library call that is skipped if there are none.
#include "codegen/llvm/vector_math.hpp"

#include "core/text.hpp"
#include "passes/math_coefficients.hpp"

#include <volley/error.hpp>

#include <dlfcn.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace volley::codegen::llvm {
namespace {

using ir::Op;
namespace math = passes::math;

struct LibraryFunction {
    Op op;
    const char* c_name;        // without the f suffix of the f32 form
    const char* sleef_suffix;  // accuracy class
    bool binary;
};
constexpr LibraryFunction named_functions[] = {
    {Op::Sin, "sin", "u10", false},     {Op::Cos, "cos", "u10", false},
    {Op::Tan, "tan", "u10", false},     {Op::Asin, "asin", "u10", false},
    {Op::Acos, "acos", "u10", false},   {Op::Atan, "atan", "u10", false},
    {Op::Atan2, "atan2", "u10", true},  {Op::Sinh, "sinh", "u10", false},
    {Op::Cosh, "cosh", "u10", false},   {Op::Tanh, "tanh", "u10", false},
    {Op::Asinh, "asinh", "u10", false}, {Op::Acosh, "acosh", "u10", false},
    {Op::Atanh, "atanh", "u10", false}, {Op::Exp, "exp", "u10", false},
    {Op::Exp2, "exp2", "u10", false},   {Op::Exp10, "exp10", "u10", false},
    {Op::Expm1, "expm1", "u10", false}, {Op::Log, "log", "u10", false},
    {Op::Log2, "log2", "u10", false},   {Op::Log10, "log10", "u10", false},
    {Op::Log1p, "log1p", "u10", false}, {Op::Pow, "pow", "u10", true},
    {Op::Cbrt, "cbrt", "u10", false},   {Op::Hypot, "hypot", "u05", true},
    {Op::Rem, "fmod", nullptr, true},  // SLEEF's fmod is inexact for large quotients
};

void* sleef_library() noexcept {
    static void* const library = [] {
        void* found = dlopen("libsleef.so.3", RTLD_LAZY | RTLD_LOCAL);
        return found != nullptr ? found : dlopen("libsleef.so", RTLD_LAZY | RTLD_LOCAL);
    }();
    return library;
}

struct SleefForm {
    unsigned lanes;
    const char* suffix;
};

// Returns the vector forms that this instruction set supports, widest first.
std::vector<SleefForm> sleef_forms(const Isa& isa, bool f64) {
    std::vector<SleefForm> forms;
    const unsigned unit = f64 ? 2 : 4;
    if (isa.x86) {
        if (isa.avx512) forms.push_back({unit * 4, "avx512f"});
        if (isa.avx2) forms.push_back({unit * 2, "avx2"});
        forms.push_back({unit, isa.avx2 ? "avx2128" : "sse2"});
    } else {
        forms.push_back({unit, "advsimd"});
    }
    return forms;
}

Val call_c(CodeBuilder& c, const LibraryFunction& f, bool f64, Val x, Val y) {
    const std::string name = cat(f.c_name, f64 ? "" : "f");
    const auto one = [&](Val a, Val b) {
        return f.binary ? c.call_external(name.c_str(), c.L.TypeOf(a), {a, b})
                        : c.call_external(name.c_str(), c.L.TypeOf(a), {a});
    };
    if (!c.is_vector(x)) return one(x, y);
    Val result = c.poison(c.L.TypeOf(x));
    for (unsigned i = 0; i < c.size(x); ++i) {
        result = c.insert(result, one(c.extract(x, i), f.binary ? c.extract(y, i) : nullptr), c.u32(i));
    }
    return result;
}

Val call_library(CodeBuilder& c, Op op, ScalarType type, Val x, Val y) {
    const LibraryFunction* found = nullptr;
    for (const LibraryFunction& f : named_functions) {
        if (f.op == op) found = &f;
    }
    if (found == nullptr)
        throw InternalError(cat("no function for operation ", static_cast<int>(op)), "vector_math");
    const bool f64 = type == ScalarType::F64;
    const unsigned n = c.size(x);
    if (n > 1 && found->sleef_suffix != nullptr && sleef_library() != nullptr) {
        for (const SleefForm& form : sleef_forms(c.isa, f64)) {
            // A narrower vector uses the low lanes of a wider form only if it has no form of its own.
            const bool last = form.suffix == sleef_forms(c.isa, f64).back().suffix;
            if (form.lanes > n && !last) continue;
            const std::string name = cat("Sleef_", found->c_name, f64 ? "d" : "f", form.lanes, "_",
                                         found->sleef_suffix, form.suffix);
            if (external_address(name.c_str()) == nullptr) continue;
            const auto call = [&](Val a, Val b) {
                const Type t = c.L.TypeOf(a);
                return found->binary ? c.call_external(name.c_str(), t, {a, b})
                                     : c.call_external(name.c_str(), t, {a});
            };
            if (form.lanes > n) {
                std::vector<int> widen(form.lanes);
                for (unsigned i = 0; i < form.lanes; ++i) widen[i] = static_cast<int>(i % n);
                const Val r = call(c.shuffle(x, widen), found->binary ? c.shuffle(y, widen) : nullptr);
                return c.slice(r, 0, n);
            }
            std::vector<Val> parts;
            for (unsigned i = 0; i < n; i += form.lanes) {
                parts.push_back(
                    call(c.slice(x, i, form.lanes), found->binary ? c.slice(y, i, form.lanes) : nullptr));
            }
            return c.concat(parts);
        }
    }
    return call_c(c, *found, f64, x, y);
}

// Evaluates an f32 polynomial by Horner's rule.
Val polynomial(CodeBuilder& c, Val x, const math::Table& table) {
    const Type t = c.L.TypeOf(x);
    Val sum = nullptr;
    for (auto k = table.f32.rbegin(); k != table.f32.rend(); ++k) {
        sum = sum == nullptr ? c.cf(t, *k) : c.fma(sum, x, c.cf(t, *k));
    }
    return sum;
}

Val fabs(CodeBuilder& c, Val x) { return c.intrinsic("llvm.fabs", {c.L.TypeOf(x)}, {x}); }

// Replaces the lanes of `fast` for which `special` holds by slow(), which runs only if there are any.
Val patch(CodeBuilder& c, Val special, Val fast, const std::function<Val()>& slow) {
    const Block start = c.here();
    const Block rare = c.block("math.rare");
    const Block end = c.block("math.end");
    Val some = special;
    if (c.is_vector(special)) {
        const Val word = c.bitcast(special, c.L.IntTypeInContext(c.context, c.size(special)));
        some = c.icmp(LLVMIntNE, word, c.zero(c.L.TypeOf(word)));
    }
    c.br(some, rare, end);
    c.at(rare);
    const Val mixed = c.select(special, slow(), fast);
    const Block rare_end = c.here();
    c.br(end);
    c.at(end);
    const Val phi = c.L.BuildPhi(c.b, c.L.TypeOf(fast), "");
    Val values[2] = {fast, mixed};
    Block blocks[2] = {start, rare_end};
    c.L.AddIncoming(phi, values, blocks, 2);
    return phi;
}

Val sin_cos_f32(CodeBuilder& c, Op op, Val x) {
    const Type t = c.L.TypeOf(x);
    const Type it = c.like(x, c.i32);
    // x = q * pi/2 + r with pi/2 in three parts: exact enough while q is below 2^17.
    const Val q = c.intrinsic("llvm.rint", {t}, {c.fmul(x, c.cf(t, math::two_over_pi))});
    Val r = x;
    for (const math::Number& part : math::half_pi_fused) r = c.fma(q, c.cf(t, -part.f32), r);
    const Val large = c.fcmp(LLVMRealUGT, fabs(c, x), c.cf(t, 131072.0));
    const Val safe_q = c.select(large, c.zero(t), q);
    Val quadrant = c.L.BuildFPToSI(c.b, safe_q, it, "");
    if (op == Op::Cos) quadrant = c.add(quadrant, c.c(it, 1));
    const Val r2 = c.fmul(r, r);
    const Val s = c.fma(c.fmul(r, r2), polynomial(c, r2, math::sin_tail), r);
    const Val tail = c.fma(polynomial(c, r2, math::cos_tail), r2, c.cf(t, -0.5));
    const Val k = c.fma(tail, r2, c.cf(t, 1.0));
    const Val odd = c.icmp(LLVMIntNE, c.and_(quadrant, c.c(it, 1)), c.zero(it));
    const Val chosen = c.select(odd, k, s);
    // Quadrants 2 and 3 change the sign: bit 1 of the quadrant becomes the sign bit.
    const Val sign = c.shl(c.and_(quadrant, c.c(it, 2)), c.c(it, 30));
    Val fast = c.bitcast(c.xor_(c.bitcast(chosen, it), sign), t);
    // The sums above lose the sign of zero.
    if (op == Op::Sin) fast = c.select(c.fcmp(LLVMRealOEQ, x, c.zero(t)), x, fast);
    return patch(c, large, fast, [&] { return call_library(c, op, ScalarType::F32, x, nullptr); });
}

// Returns 2^n * x for n in [-252, 254], in two steps, because 2^n may be outside the normal range.
Val scale_by_power(CodeBuilder& c, Val x, Val n) {
    const Type it = c.L.TypeOf(n);
    const Type t = c.L.TypeOf(x);
    const Val half = c.ashr(n, c.c(it, 1));
    const auto power = [&](Val e) { return c.bitcast(c.shl(c.add(e, c.c(it, 127)), c.c(it, 23)), t); };
    return c.fmul(c.fmul(x, power(half)), power(c.sub(n, half)));
}

Val exp_f32(CodeBuilder& c, Op op, Val x) {
    const Type t = c.L.TypeOf(x);
    const Type it = c.like(x, c.i32);
    const bool two = op == Op::Exp2;
    const double low = two ? -151.0 : -105.0;
    const double high = two ? 129.0 : 89.5;
    // Outside these limits the result is 0 or infinity; NaN passes the comparisons unchanged.
    Val a = c.select(c.fcmp(LLVMRealOLT, x, c.cf(t, low)), c.cf(t, low), x);
    a = c.select(c.fcmp(LLVMRealOGT, a, c.cf(t, high)), c.cf(t, high), a);
    const Val n = c.intrinsic("llvm.rint", {t}, {two ? a : c.fmul(a, c.cf(t, math::log2_of_e))});
    Val p = nullptr;
    if (two) {
        const Val r = c.fsub(a, n);
        p = c.fma(polynomial(c, r, math::exp2_slope), r, c.cf(t, 1.0));
    } else {
        Val r = c.fma(n, c.cf(t, -math::ln2.hi.f32), a);
        r = c.fma(n, c.cf(t, -math::ln2.lo.f32), r);
        const Val q = polynomial(c, r, math::exp_tail);
        p = c.fadd(c.fma(q, c.fmul(r, r), r), c.cf(t, 1.0));
    }
    const Val unordered = c.fcmp(LLVMRealUNO, x, x);
    const Val exponent = c.L.BuildFPToSI(c.b, c.select(unordered, c.zero(t), n), it, "");
    return c.select(unordered, c.fadd(x, x), scale_by_power(c, p, exponent));
}

Val log_f32(CodeBuilder& c, Op op, Val x) {
    const Type t = c.L.TypeOf(x);
    const Type it = c.like(x, c.i32);
    // Scales subnormals into the normal range.
    const Val tiny = c.fcmp(LLVMRealOLT, x, c.cf(t, 0x1p-126));
    const Val scaled = c.select(tiny, c.fmul(x, c.cf(t, 0x1p23)), x);
    // x = m * 2^e with m in [sqrt(1/2), sqrt(2)).
    const Val bits = c.bitcast(scaled, it);
    const Val shifted = c.sub(bits, c.c(it, 0x3f3504f3));
    Val e = c.ashr(shifted, c.c(it, 23));
    const Val m = c.bitcast(c.sub(bits, c.shl(e, c.c(it, 23))), t);
    e = c.sub(e, c.select(tiny, c.c(it, 23), c.zero(it)));
    const Val fe = c.L.BuildSIToFP(c.b, e, t, "");
    const Val f = c.fsub(m, c.cf(t, 1.0));
    const Val z = c.fmul(f, f);
    Val y = polynomial(c, f, math::log_tail);
    y = c.fmul(c.fmul(f, z), y);
    Val r = nullptr;
    if (op == Op::Log) {
        y = c.fma(fe, c.cf(t, math::ln2.lo.f32), y);
        y = c.fma(z, c.cf(t, -0.5), y);
        r = c.fma(fe, c.cf(t, math::ln2.hi.f32), c.fadd(f, y));
    } else {
        y = c.fma(z, c.cf(t, -0.5), y);
        // log2(e) = 1 + 0.4427: the large part of the product is exact.
        const double rest = math::log2_of_e - 1;
        r = c.fmul(y, c.cf(t, rest));
        r = c.fma(f, c.cf(t, rest), r);
        r = c.fadd(c.fadd(c.fadd(r, y), f), fe);
    }
    const double infinity = std::numeric_limits<double>::infinity();
    r = c.select(c.fcmp(LLVMRealOEQ, x, c.cf(t, infinity)), x, r);
    r = c.select(c.fcmp(LLVMRealULT, x, c.zero(t)), c.cf(t, std::numeric_limits<double>::quiet_NaN()), r);
    return c.select(c.fcmp(LLVMRealOEQ, x, c.zero(t)), c.cf(t, -infinity), r);
}

// Extends SLEEF's functions whose range ends before that of the type.
Val call_with_wide_range(CodeBuilder& c, Op op, ScalarType type, Val x) {
    const Type t = c.L.TypeOf(x);
    const bool f32 = type == ScalarType::F32;
    const Val magnitude = fabs(c, x);
    const bool hyperbolic = op == Op::Sinh || op == Op::Cosh;
    const double limit = hyperbolic        ? (f32 ? 88.0 : 709.0)
                         : op == Op::Log1p ? (f32 ? 1e37 : 1e300)
                                           : (f32 ? 1e18 : 1e150);
    const bool odd = op == Op::Asinh || op == Op::Sinh;
    const Val large = c.fcmp(LLVMRealOGT, odd || op == Op::Cosh ? magnitude : x, c.cf(t, limit));
    return patch(c, large, call_library(c, op, type, x, nullptr), [&] {
        Val r = nullptr;
        if (hyperbolic) {
            // e^x / 2 as two factors, which do not overflow before the product does.
            const Val root = vector_math(c, Op::Exp, type, c.fmul(magnitude, c.cf(t, 0.5)), nullptr);
            r = c.fmul(c.fmul(root, c.cf(t, 0.5)), root);
        } else {
            r = vector_math(c, Op::Log, type, magnitude, nullptr);
            if (op != Op::Log1p) r = c.fadd(r, c.cf(t, 0.693147180559945309417));  // ln(2 x)
        }
        return odd ? c.intrinsic("llvm.copysign", {t}, {r, x}) : r;
    });
}

Val exact_rsqrt(CodeBuilder& c, Val x) {
    const Type t = c.L.TypeOf(x);
    return c.fdiv(c.cf(t, 1.0), c.intrinsic("llvm.sqrt", {t}, {x}));
}

Val rsqrt_f32(CodeBuilder& c, Val x) {
    const unsigned n = c.size(x);
    const unsigned step = c.isa.avx512 && n % 16 == 0 ? 16 : c.isa.avx && n % 8 == 0 ? 8 : 4;
    if (!c.isa.x86 || n % step != 0) return exact_rsqrt(c, x);
    std::vector<Val> parts;
    for (unsigned i = 0; i < n; i += step) {
        const Val v = c.slice(x, i, step);
        if (step == 16) {
            parts.push_back(
                c.intrinsic("llvm.x86.avx512.rsqrt14.ps.512", {}, {v, c.zero(c.L.TypeOf(v)), c.ones(c.i16)}));
        } else {
            parts.push_back(
                c.intrinsic(step == 8 ? "llvm.x86.avx.rsqrt.ps.256" : "llvm.x86.sse.rsqrt.ps", {}, {v}));
        }
    }
    const Val y = c.concat(parts);
    // One Newton step: y + y/2 * (1 - x y y).
    const Type t = c.L.TypeOf(x);
    const Val error = c.fma(c.fneg(c.fmul(x, y)), y, c.cf(t, 1.0));
    const Val fast = c.fma(c.fmul(y, c.cf(t, 0.5)), error, y);
    // For zero, subnormal, negative, infinite and NaN arguments the step is NaN (0 * inf or inf - inf) or
    // negative.
    const Val special = c.fcmp(LLVMRealULE, fast, c.zero(t));
    return patch(c, special, fast, [&] { return exact_rsqrt(c, x); });
}

}  // namespace

void* external_address(const char* name) noexcept {
    if (void* const library = sleef_library(); library != nullptr) {
        if (void* const found = dlsym(library, name); found != nullptr) return found;
    }
    struct C {
        const char* name;
        void* address;
    };
    using F = float (*)(float);
    using F2 = float (*)(float, float);
    using D = double (*)(double);
    using D2 = double (*)(double, double);
    // Without FMA instructions LLVM calls these for llvm.fma.
    if (std::string_view(name) == "fmaf") {
        return reinterpret_cast<void*>(static_cast<float (*)(float, float, float)>(::fmaf));
    }
    if (std::string_view(name) == "fma") {
        return reinterpret_cast<void*>(static_cast<double (*)(double, double, double)>(::fma));
    }
#define VOLLEY_C(name)                                                 \
    {#name "f", reinterpret_cast<void*>(static_cast<F>(::name##f))}, { \
#name, reinterpret_cast < void*>(static_cast <D>(::name))      \
    }
#define VOLLEY_C2(name)                                                 \
    {#name "f", reinterpret_cast<void*>(static_cast<F2>(::name##f))}, { \
#name, reinterpret_cast < void*>(static_cast <D2>(::name))      \
    }
    static const C functions[] = {
        VOLLEY_C(sin),    VOLLEY_C(cos),   VOLLEY_C(tan),    VOLLEY_C(asin),  VOLLEY_C(acos),
        VOLLEY_C(atan),   VOLLEY_C(sinh),  VOLLEY_C(cosh),   VOLLEY_C(tanh),  VOLLEY_C(asinh),
        VOLLEY_C(acosh),  VOLLEY_C(atanh), VOLLEY_C(exp),    VOLLEY_C(exp2),  VOLLEY_C(exp10),
        VOLLEY_C(expm1),  VOLLEY_C(log),   VOLLEY_C(log2),   VOLLEY_C(log10), VOLLEY_C(log1p),
        VOLLEY_C(cbrt),   VOLLEY_C(floor), VOLLEY_C(ceil),   VOLLEY_C(trunc), VOLLEY_C(rint),
        VOLLEY_C2(atan2), VOLLEY_C2(pow),  VOLLEY_C2(hypot), VOLLEY_C2(fmod),
    };
#undef VOLLEY_C
#undef VOLLEY_C2
    for (const C& f : functions) {
        if (std::string_view(f.name) == name) return f.address;
    }
    return nullptr;
}

Val vector_math(CodeBuilder& c, Op op, ScalarType type, Val x, Val y) {
    const bool f32 = type == ScalarType::F32;
    switch (op) {
        case Op::Rsqrt: return f32 ? rsqrt_f32(c, x) : exact_rsqrt(c, x);
        case Op::Sin:
        case Op::Cos: return f32 ? sin_cos_f32(c, op, x) : call_library(c, op, type, x, y);
        case Op::Exp:
        case Op::Exp2: return f32 ? exp_f32(c, op, x) : call_library(c, op, type, x, y);
        case Op::Log:
        case Op::Log2: return f32 ? log_f32(c, op, x) : call_library(c, op, type, x, y);
        case Op::Sinh:
        case Op::Cosh:
        case Op::Asinh:
        case Op::Acosh:
        case Op::Log1p:
            return c.is_vector(x) ? call_with_wide_range(c, op, type, x) : call_library(c, op, type, x, y);
        default: return call_library(c, op, type, x, y);
    }
}

}  // namespace volley::codegen::llvm
