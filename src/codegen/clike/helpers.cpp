// The text of the helper functions.
#include "codegen/clike/helpers.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

namespace volley::codegen::clike {

using ir::Op;

namespace {

ScalarType unsigned_of(ScalarType s) {
    switch (s) {
        case ScalarType::I8: return ScalarType::U8;
        case ScalarType::I16: return ScalarType::U16;
        case ScalarType::I32: return ScalarType::U32;
        case ScalarType::I64: return ScalarType::U64;
        default: return s;
    }
}

std::string_view space_name(Space space) {
    switch (space) {
        case Space::Global: return "global";
        case Space::Shared: return "shared";
        default: return "private";
    }
}

}  // namespace

void Helpers::define(const std::string& name, std::string_view head, std::string_view body) {
    if (!names_.insert(name).second) return;
    text_ += cat(d_.device_function(), ' ', head, " {\n");
    while (!body.empty()) {
        const std::size_t end = body.find('\n');
        text_ += cat("    ", body.substr(0, end), '\n');
        if (end == std::string_view::npos) break;
        body.remove_prefix(end + 1);
    }
    text_ += "}\n\n";
}

std::string Helpers::integer(Op op, ScalarType s) {
    const std::string t = type(s);
    const std::string u = type(unsigned_of(s));
    const bool sign = is_signed_integer(s);
    const bool wide = size_of(s) == 8;
    const unsigned bits = bits_of(s);
    // Unsigned, and wide enough for arithmetic.
    const std::string w = type(wide ? ScalarType::U64 : ScalarType::U32);
    const std::string one = wide ? cat("1", d_.suffix64(true)) : std::string("1u");
    std::string name = cat(ir::mnemonic(op), '_', name_of(s));
    std::string body;
    bool two = false;
    switch (op) {
        case Op::Div:
            two = true;
            body = sign ? cat("if (b == 0) return a;\nif (b == -1) return (", t, ")(0 - (", w,
                              ")a);\nreturn (", t, ")(a / b);")
                        : cat("return b == 0 ? a : (", t, ")(a / b);");
            break;
        case Op::Rem:
            two = true;
            body = sign ? cat("return b == 0 || b == -1 ? (", t, ")0 : (", t, ")(a % b);")
                        : cat("return b == 0 ? (", t, ")0 : (", t, ")(a % b);");
            break;
        case Op::Min:
            two = true;
            body = "return b < a ? b : a;";
            break;
        case Op::Max:
            two = true;
            body = "return a < b ? b : a;";
            break;
        case Op::Abs: body = cat("return a < 0 ? (", t, ")(0 - (", w, ")a) : a;"); break;
        case Op::Sign:
            body = sign ? cat("return (", t, ")((a > 0) - (a < 0));") : cat("return (", t, ")(a != 0);");
            break;
        case Op::PopCount: body = cat("return (", t, ")", d_.popcount(wide), "((", w, ")(", u, ")a);"); break;
        case Op::Clz:
            body = cat("const ", w, " x = (", u, ")a;\nreturn (", t, ")(x == 0 ? ", bits, " : (int)",
                       d_.clz(wide), "(x)", bits < 32 ? cat(" - ", 32 - bits) : std::string(), ");");
            break;
        case Op::Ctz:
            // Counts the ones below the lowest set bit; all bits if x is 0.
            body = cat("const ", w, " x = (", u, ")a;\nreturn (", t, ")", d_.popcount(wide), "((", w, ")(", u,
                       ")(~x & (x - ", one, ")));");
            break;
        case Op::ReverseBits: {
            body = cat(u, " x = (", u, ")a;\n");
            for (unsigned step = 1; step < bits; step *= 2) {
                std::uint64_t mask = 0;
                for (unsigned k = 0; k < bits; ++k) {
                    if (k / step % 2 == 0) mask |= std::uint64_t{1} << k;
                }
                const std::string m = cat("0x", hex(mask, static_cast<int>(bits / 4)),
                                          wide ? d_.suffix64(true) : std::string_view("u"));
                body += cat("x = (", u, ")((x >> ", step, " & ", m, ") | (x & ", m, ") << ", step, ");\n");
            }
            body += cat("return (", t, ")x;");
            break;
        }
        default: fail_internal("no helper for an operation on integers", ir::mnemonic(op));
    }
    define(name, cat(t, ' ', name, '(', t, " a", two ? cat(", ", t, " b") : std::string(), ')'), body);
    return name;
}

std::string Helpers::floating(Op op, ScalarType s) {
    const std::string t = type(s);
    const std::string_view f = s == ScalarType::F32 ? "f" : "";
    std::string name = cat(ir::mnemonic(op), '_', name_of(s));
    switch (op) {
        case Op::Min:
            define(name, cat(t, ' ', name, '(', t, " a, ", t, " b)"), "return a < b || b != b ? a : b;");
            break;
        case Op::Max:
            define(name, cat(t, ' ', name, '(', t, " a, ", t, " b)"), "return a > b || b != b ? a : b;");
            break;
        case Op::Sign:  // NaN and zeros are returned unchanged
            define(name, cat(t, ' ', name, '(', t, " a)"),
                   cat("return a > 0.0", f, " ? 1.0", f, " : a < 0.0", f, " ? -1.0", f, " : a;"));
            break;
        case Op::IsNan: define(name, cat("bool ", name, '(', t, " a)"), "return a != a;"); break;
        case Op::IsInf:
            define(name, cat("bool ", name, '(', t, " a)"),
                   cat("return a == ", d_.infinity(s), " || a == -", d_.infinity(s), ";"));
            break;
        case Op::Neg:
        case Op::Abs: {  // changes the sign bit only
            const ScalarType bits = s == ScalarType::F64 ? ScalarType::U64 : ScalarType::U32;
            const std::string mask =
                s == ScalarType::F64
                    ? cat(op == Op::Neg ? "0x8000000000000000" : "0x7fffffffffffffff", d_.suffix64(true))
                    : std::string(op == Op::Neg ? "0x80000000u" : "0x7fffffffu");
            const std::string changed =
                cat(d_.reinterpret(bits, s, "a"), op == Op::Neg ? " ^ " : " & ", mask);
            define(name, cat(t, ' ', name, '(', t, " a)"),
                   cat("return ", d_.reinterpret(s, bits, changed), ';'));
            break;
        }
        default: fail_internal("no helper for an operation on floats", ir::mnemonic(op));
    }
    return name;
}

// f64 has more than twice the digits of f32 plus two, so rounding the f64 quotient again is harmless. Without
// f64, one correction step is applied in the range where no intermediate can overflow or underflow.
std::string Helpers::exact_quotient(bool f64) {
    std::string name = "div_f32";
    define(name, "float div_f32(float a, float b)",
           f64 ? "return (float)((double)a / (double)b);"
               : "const float q = a / b;\n"
                 "const float x = fabs(a), y = fabs(b);\n"
                 "if (x < 0x1p-80f || x > 0x1p+80f || y < 0x1p-40f || y > 0x1p+40f) return q;\n"
                 "return q + fma(-q, b, a) / b;");
    return name;
}

std::string Helpers::exact_root(bool f64) {
    std::string name = "sqrt_f32";
    define(name, "float sqrt_f32(float a)",
           f64 ? "return (float)sqrt((double)a);"
               : "const float r = sqrt(a);\n"
                 "if (!(a > 0x1p-80f && a < 0x1p+80f)) return r;\n"
                 "return r + fma(-r, r, a) / (2.0f * r);");
    return name;
}

std::string Helpers::float_to_integer(ScalarType from, ScalarType to) {
    std::string name = cat(name_of(to), "_from_", name_of(from));
    const std::string t = type(to);
    const std::string_view f = from == ScalarType::F32 ? "f" : "";
    const bool sign = is_signed_integer(to);
    const unsigned bits = bits_of(to);
    const unsigned magnitude = sign ? bits - 1 : bits;
    const std::uint64_t most = ~std::uint64_t{0} >> (64 - magnitude);
    const std::string_view suffix = bits == 64 ? d_.suffix64(!sign) : sign || bits < 32 ? "" : "u";
    std::string body = cat("if (a >= 0x1p+", magnitude, f, ") return ", most, suffix, ";\n");
    if (sign) {
        body += cat("if (a < -0x1p+", magnitude, f, ") return -", most, suffix, " - 1;\n");
        body += cat("return a == a ? (", t, ")a : (", t, ")0;");
    } else {
        body += cat("return a > 0.0", f, " ? (", t, ")a : (", t, ")0;");
    }
    define(name, cat(t, ' ', name, '(', type(from), " a)"), body);
    return name;
}

std::string Helpers::half_to_float() {
    std::string name = "float_of_half";
    const auto bits = [&](std::string_view x) { return d_.reinterpret(ScalarType::F32, ScalarType::U32, x); };
    const std::string u = type(ScalarType::U32);
    std::string body(d_.half_to_float());
    if (body.empty()) {
        body =
            cat("const ", u, " sign = (", u, ")(x & 0x8000u) << 16;\n", "const ", u,
                " magnitude = x & 0x7fffu;\n"
                "if (magnitude >= 0x7c00u) return ",
                bits("sign | 0x7f800000u | (magnitude & 0x3ffu) << 13"), ";\n", "if (magnitude < 0x400u) {\n",
                "    const float small = (float)magnitude * 0x1p-24f;\n", "    return ",
                bits(cat("sign | ", d_.reinterpret(ScalarType::U32, ScalarType::F32, "small"))), ";\n", "}\n",
                "return ", bits("sign | ((magnitude << 13) + 0x38000000u)"), ";");
    }
    define(name, cat("float ", name, '(', type(ScalarType::U16), " x)"), body);
    return name;
}

std::string Helpers::float_to_half() {
    std::string name = "half_of_float";
    const std::string u = type(ScalarType::U32);
    const std::string h = type(ScalarType::U16);
    std::string body(d_.float_to_half());
    if (body.empty()) {
        const std::string m = d_.reinterpret(ScalarType::F32, ScalarType::U32, "m");
        body = cat("const ", u, " bits = ", d_.reinterpret(ScalarType::U32, ScalarType::F32, "x"), ";\n",
                   "const ", u, " sign = (bits >> 16) & 0x8000u;\n", "const ", u,
                   " m = bits & 0x7fffffffu;\n", "if (m > 0x7f800000u) return (", h, ")(sign | 0x7e00u);\n",
                   "if (m >= 0x477ff000u) return (", h, ")(sign | 0x7c00u);\n",
                   // The last place of 0.5f equals the smallest subnormal half.
                   "if (m < 0x38800000u) return (", h, ")(sign | (",
                   d_.reinterpret(ScalarType::U32, ScalarType::F32, cat(m, " + 0.5f")), " - 0x3f000000u));\n",
                   "return (", h, ")(sign | ((m - 0x38000000u + 0xfffu + (m >> 13 & 1u)) >> 13));");
    }
    define(name, cat(h, ' ', name, "(float x)"), body);
    return name;
}

// Rounds to odd in f32, which prevents double rounding.
std::string Helpers::double_to_half() {
    const std::string half = float_to_half();
    std::string name = "half_of_double";
    const std::string u = type(ScalarType::U32);
    const auto magnitude = [&](std::string_view x) {
        return cat(floating(Op::Abs, ScalarType::F64), '(', x, ')');
    };
    const std::string away = cat(magnitude("back"), " > ", magnitude("x"));
    define(name, cat(type(ScalarType::U16), ' ', name, "(double x)"),
           cat("const float rounded = (float)x;\nconst double back = (double)rounded;\n",
               "if (back == x || x != x) return ", half, "(rounded);\n", u,
               " bits = ", d_.reinterpret(ScalarType::U32, ScalarType::F32, "rounded"), ";\nif (", away,
               ") bits -= 1u;\nreturn ", half, '(',
               d_.reinterpret(ScalarType::F32, ScalarType::U32, "bits | 1u"), ");"));
    return name;
}

std::string Helpers::clamp_index(bool wide) {
    std::string name = wide ? "clamped_u64" : "clamped_u32";
    const std::string t = type(wide ? ScalarType::U64 : ScalarType::U32);
    define(name, cat(t, ' ', name, '(', t, " index, ", t, " last)"), "return index < last ? index : last;");
    return name;
}

std::string Helpers::load_bytes(ScalarType s, Space space) {
    std::string name = cat("load_", name_of(s), '_', space_name(space));
    const std::string t = type(s);
    std::string body = cat("return (", t, ")(");
    const std::string w = type(size_of(s) == 8 ? ScalarType::U64 : ScalarType::U32);
    for (std::size_t k = 0; k < size_of(s); ++k) {
        if (k > 0)
            body += cat(" | (", w, ")at[", k, "] << ", 8 * k);
        else
            body += cat("(", w, ")at[0]");
    }
    define(name, cat(t, ' ', name, "(const ", d_.space(space), type(ScalarType::U8), "* at)"), body + ");");
    return name;
}

std::string Helpers::store_bytes(ScalarType s, Space space) {
    std::string name = cat("store_", name_of(s), '_', space_name(space));
    const std::string byte = type(ScalarType::U8);
    std::string body;
    for (std::size_t k = 0; k < size_of(s); ++k)
        body += cat(k > 0 ? "\n" : "", "at[", k, "] = (", byte, ")(x >> ", 8 * k, ");");
    define(name, cat("void ", name, '(', d_.space(space), byte, "* at, ", type(s), " x)"), body);
    return name;
}

// Once the buffer is full, the byte count is no longer incremented, so it cannot wrap.
std::string Helpers::claim_report() {
    std::string name = "claim_report";
    const std::string u = type(ScalarType::U32);
    const std::string pointer = cat("volatile ", d_.space(Space::Global), u, "*");
    const auto added = [&](std::string_view at, std::string_view x) {
        return d_.atomic(Op::AtomicAdd, ScalarType::U32, at, x, {});
    };
    define(name, cat(u, " claim_report(", pointer, " reports, ", u, " bytes)"),
           cat("const ", u, " capacity = reports[0];\n", u, " at = 0xffffffffu;\n",
               "if (reports[1] < capacity) at = ", added("&reports[1]", "bytes"),
               ";\nif (at < capacity && bytes <= capacity - at) return 4u + at / 4u;\n",
               added("&reports[2]", "1u"), ";\nreturn 0u;"));
    return name;
}

}  // namespace volley::codegen::clike
