// Reserved names, and the choice of a free one.
#include "codegen/clike/names.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>

namespace volley::codegen::clike {
namespace {

// Keywords and types of the languages, and functions that the emitter calls under names a user might choose.
constexpr std::string_view reserved[] = {
    "alignas",     "alignof",       "and",          "and_eq",      "asm",          "auto",
    "bitand",      "bitor",         "bool",         "break",       "case",         "catch",
    "char",        "class",         "compl",        "complex",     "const",        "constant",
    "constexpr",   "continue",      "decltype",     "default",     "delete",       "do",
    "double",      "else",          "enum",         "explicit",    "export",       "extern",
    "false",       "float",         "for",          "friend",      "generic",      "global",
    "goto",        "half",          "if",           "image1d_t",   "image2d_t",    "image3d_t",
    "imaginary",   "inline",        "int",          "kernel",      "local",        "long",
    "mutable",     "namespace",     "new",          "noexcept",    "not",          "not_eq",
    "nullptr",     "operator",      "or",           "or_eq",       "pipe",         "private",
    "protected",   "public",        "quad",         "read_only",   "read_write",   "register",
    "restrict",    "return",        "sampler_t",    "short",       "signed",       "sizeof",
    "static",      "static_assert", "static_cast",  "struct",      "switch",       "template",
    "this",        "thread_local",  "throw",        "true",        "try",          "typedef",
    "typeid",      "typename",      "typeof",       "uchar",       "uint",         "ulong",
    "uniform",     "union",         "unsigned",     "ushort",      "using",        "virtual",
    "void",        "volatile",      "wchar_t",      "while",       "write_only",   "xor",
    "xor_eq",      "barrier",       "ceil",         "clz",         "fabs",         "fabsf",
    "floor",       "floorf",        "ceilf",        "truncf",      "roundf",       "rintf",
    "fma",         "fmaf",          "mem_fence",    "popcount",    "rint",         "round",
    "sqrt",        "trunc",         "reports",      "blockIdx",    "blockDim",     "threadIdx",
    "gridDim",     "warpSize",      "i8",           "u8",          "i16",          "u16",
    "i32",         "u32",           "i64",          "u64",         "claim_report", "linux",
    "unix",        "main",          "report",       "global_id_x", "global_id_y",  "global_id_z",
    "local_id_x",  "local_id_y",    "local_id_z",   "group_id_x",  "group_id_y",   "group_id_z",
    "local_index", "subgroup_id",   "subgroup_lane"};

// Prefixes that the emitter numbers for its own names.
constexpr std::string_view counted[] = {"v", "x", "k", "t", "parts", "shared", "report", "trips"};

// Prefixes of functions and macros.
constexpr std::string_view prefixes[] = {
    "__",         "as_",   "atom_",  "atomic", "convert_", "get_",    "cl_",          "CL",
    "sub_group_", "load_", "store_", "vload",  "vstore",   "ballot_", "global_size_", "group_count_"};

bool is_counted(std::string_view name) {
    return std::any_of(std::begin(counted), std::end(counted), [&](std::string_view prefix) {
        return name.starts_with(prefix) && name.size() > prefix.size() && name[prefix.size()] >= '0' &&
               name[prefix.size()] <= '9';
    });
}

bool may_clash(std::string_view name) {
    if (is_counted(name)) return true;
    if (std::find(std::begin(reserved), std::end(reserved), name) != std::end(reserved)) return true;
    for (const std::string_view prefix : prefixes) {
        if (name.starts_with(prefix)) return true;
    }
    // Macros such as INFINITY and M_PI, and helpers such as div_i32 and u8_from_f32.
    const bool lower = std::any_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    if (!lower && name.size() > 1) return true;
    const std::size_t bar = name.rfind('_');
    if (bar == std::string_view::npos) return false;
    constexpr std::array<std::string_view, 19> ends = {
        "i8",   "u8",    "i16",    "u16", "i32",    "u32",    "i64",      "u64",   "f32",   "f64",
        "half", "float", "kernel", "t",   "memory", "offset", "elements", "bytes", "double"};
    return std::find(ends.begin(), ends.end(), name.substr(bar + 1)) != ends.end();
}

}  // namespace

std::string valid_name(std::string_view requested) {
    constexpr std::size_t longest = 63;  // significant characters that C guarantees
    std::string name;
    for (const char c : requested.substr(0, longest)) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool digit = c >= '0' && c <= '9';
        if (digit && name.empty()) name += '_';
        name += letter || digit ? c : '_';
    }
    return name.empty() ? "_" : name;
}

std::string Names::unique(std::string_view requested) {
    std::string name = valid_name(requested);
    // Names that begin with two underscores, or an underscore and a capital, are reserved for the compiler.
    if (name[0] == '_') name = cat('a', name);
    if (may_clash(name)) name = cat("a_", name, "_a");
    if (taken_.insert(name).second) return name;
    for (unsigned k = 2;; ++k) {
        std::string other = cat(name, '_', k);
        if (taken_.insert(other).second) return other;
    }
}

std::string Names::numbered(std::string_view prefix) {
    unsigned& next = next_[std::string(prefix)];
    for (;;) {
        std::string name = cat(prefix, next++);
        if (taken_.insert(name).second) return name;
    }
}

}  // namespace volley::codegen::clike
