// Runs programs on the interpreter, and compares results.
#include "random/execution.hpp"

#include "backends/reference/interpreter.hpp"
#include "core/text.hpp"
#include "ir/leaves.hpp"
#include "support/ulp.hpp"

#include <algorithm>
#include <cstring>

namespace volley::testing {
namespace {

constexpr std::byte guard_byte{0xee};
constexpr std::uint64_t max_steps = 2'000'000;

using ir::Leaf;

template <class T>
T value_of(std::uint64_t bits) {
    if constexpr (std::is_same_v<T, half>) {
        return half::from_bits(static_cast<std::uint16_t>(bits));
    } else if constexpr (std::is_same_v<T, float>) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    } else {
        return std::bit_cast<double>(bits);
    }
}

double as_double(ScalarType type, std::uint64_t bits) {
    switch (type) {
        case ScalarType::F16: return value_of<half>(bits);
        case ScalarType::F32: return value_of<float>(bits);
        default: return value_of<double>(bits);
    }
}

double distance(ScalarType type, std::uint64_t a, std::uint64_t b) {
    switch (type) {
        case ScalarType::F16: return ulp_distance(value_of<half>(a), value_of<half>(b));
        case ScalarType::F32: return ulp_distance(value_of<float>(a), value_of<float>(b));
        default: return ulp_distance(value_of<double>(a), value_of<double>(b));
    }
}

// The table of docs/ir.md section 4, plus half an ulp for the rounding of the reference.
double bound_in_ulp(ir::Op function, ScalarType type) {
    using ir::Op;
    if (type == ScalarType::F16) return 1;  // computed in f32
    switch (function) {
        case Op::Rsqrt:
        case Op::Exp:
        case Op::Exp2:
        case Op::Log:
        case Op::Log2: return 2.5;
        default: return 4.5;
    }
}

bool agree(const ProgramArg& arg, ScalarType type, std::uint64_t expected, std::uint64_t actual) {
    if (expected == actual) return true;
    if (!is_float(type)) return false;
    const double x = as_double(type, expected);
    const double y = as_double(type, actual);
    if (std::isnan(x) && std::isnan(y)) return true;
    if (!arg.function) return false;
    if (distance(type, expected, actual) <= bound_in_ulp(*arg.function, type)) return true;
    const bool periodic = *arg.function == ir::Op::Sin || *arg.function == ir::Op::Cos;
    const double absolute = periodic ? type == ScalarType::F64 ? 0x1p-52 : 0x1p-23 : 0;
    return std::fabs(x - y) <= absolute;
}

std::string text_of(ScalarType type, std::uint64_t bits) {
    std::string text = cat("0x", hex(bits, static_cast<int>(size_of(type)) * 2));
    if (is_float(type)) text += cat(" (", as_double(type, bits), ")");
    return text;
}

}  // namespace

ProgramMemory::ProgramMemory(const Program& program) : program_(program) {
    for (const ProgramArg& arg : program.args) {
        std::vector<std::byte> block(arg.bytes.size() + 2 * guard, guard_byte);
        std::copy(arg.bytes.begin(), arg.bytes.end(), block.begin() + guard);
        blocks_.push_back(std::move(block));
    }
}

Execution ProgramMemory::finish() const {
    Execution result;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const auto& block = blocks_[i];
        const auto clean = [&](std::size_t from) {
            return std::all_of(block.begin() + static_cast<std::ptrdiff_t>(from),
                               block.begin() + static_cast<std::ptrdiff_t>(from + guard),
                               [](std::byte b) { return b == guard_byte; });
        };
        if (!clean(0)) throw GuardError(cat("a write before argument ", i));
        if (!clean(block.size() - guard)) throw GuardError(cat("a write past the end of argument ", i));
        const bool buffer = program_.args[i].elements != 0;
        result.emplace_back(buffer ? block.begin() + guard : block.end(),
                            buffer ? block.end() - static_cast<std::ptrdiff_t>(guard) : block.end());
    }
    return result;
}

Execution run_reference(const Program& program, const ir::Function& fn, unsigned subgroup_size) {
    ProgramMemory memory(program);
    std::vector<backends::reference::Arg> args;
    for (std::size_t i = 0; i < program.args.size(); ++i)
        args.push_back({memory.data(i), program.args[i].elements});
    backends::reference::interpret(fn,
                                   {.global = program.global,
                                    .local = program.local,
                                    .subgroup_size = subgroup_size,
                                    .max_steps = max_steps},
                                   args);
    return memory.finish();
}

std::optional<std::string> difference(const Program& program, const Execution& expected,
                                      const Execution& actual) {
    for (std::size_t i = 0; i < program.args.size(); ++i) {
        const ProgramArg& arg = program.args[i];
        if (expected[i] == actual[i] || arg.elements == 0) continue;
        const auto leaves = ir::leaves_of(arg.type);
        for (std::uint64_t e = 0; e < arg.elements; ++e) {
            for (std::size_t l = 0; l < leaves.size(); ++l) {
                const std::size_t at = e * arg.type.size() + leaves[l].offset;
                const auto x = ir::load_scalar(leaves[l].scalar, expected[i].data() + at);
                const auto y = ir::load_scalar(leaves[l].scalar, actual[i].data() + at);
                if (agree(arg, leaves[l].scalar, x, y)) continue;
                return cat("argument ", i, " (", arg.type.name(), "), element ", e, ", leaf ", l, " (",
                           name_of(leaves[l].scalar), "): expected ", text_of(leaves[l].scalar, x), ", got ",
                           text_of(leaves[l].scalar, y));
            }
        }
    }
    return std::nullopt;
}

}  // namespace volley::testing
