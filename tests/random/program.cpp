// Text and data of random programs.
#include "random/program.hpp"

#include "core/text.hpp"
#include "ir/leaves.hpp"
#include "ir/printer.hpp"

#include <volley/half.hpp>

#include <bit>
#include <cmath>
#include <limits>

namespace volley::testing {
namespace {

std::uint64_t float_bits(ScalarType type, double v) {
    switch (type) {
        case ScalarType::F16: return half(v).bits();
        case ScalarType::F32: return std::bit_cast<std::uint32_t>(static_cast<float>(v));
        default: return std::bit_cast<std::uint64_t>(v);
    }
}

std::uint64_t random_float(Random& random, ScalarType type) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const unsigned mantissa = type == ScalarType::F16 ? 10 : type == ScalarType::F32 ? 23 : 52;
    const unsigned width = bits_of(type);
    switch (random.below(12)) {
        case 0: return float_bits(type, random.pick({0.0, -0.0, 1.0, -1.0, 0.5, 2.0}));
        case 1: return float_bits(type, random.pick({inf, -inf, std::numeric_limits<double>::quiet_NaN()}));
        case 2: return random.below(4) | (random.bits() % 2) << (width - 1);  // the smallest subnormals
        case 3: {                                                             // the largest finite numbers
            const std::uint64_t exponent = ((std::uint64_t{1} << (width - 1 - mantissa)) - 2) << mantissa;
            const std::uint64_t top = (std::uint64_t{1} << mantissa) - 1 - random.below(3);
            return exponent | top | (random.bits() % 2) << (width - 1);
        }
        case 4: return float_bits(type, static_cast<double>(random.between(-20, 20)));
        case 5: return float_bits(type, static_cast<double>(random.between(-40, 40)) / 2);  // halves
        case 6:
            return float_bits(type,
                              std::ldexp(random.uniform(-2, 2), static_cast<int>(random.between(-40, 70))));
        case 7: {
            // Any pattern except NaN: devices disagree about signalling ones.
            std::uint64_t bits =
                width == 64 ? random.bits() : random.bits() & ((std::uint64_t{1} << width) - 1);
            const std::uint64_t exponent = ((std::uint64_t{1} << (width - 1 - mantissa)) - 1) << mantissa;
            if ((bits & exponent) == exponent) bits &= ~(std::uint64_t{1} << mantissa);
            return bits;
        }
        default: return float_bits(type, random.uniform(-10, 10));
    }
}

}  // namespace

std::uint64_t random_scalar(Random& random, ScalarType type) {
    if (type == ScalarType::Bool) return random.below(2);
    if (is_float(type)) return random_float(random, type);
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits_of(type));
    switch (random.below(8)) {
        case 0:
            return random.pick({std::uint64_t{0}, std::uint64_t{1}, mask, mask >> 1, mask / 2 + 1}) & mask;
        case 1: return (std::uint64_t{1} << random.below(bits_of(type))) & mask;
        case 2: return random.bits() & mask;
        case 3: return static_cast<std::uint64_t>(random.between(-8, 8)) & mask;
        default: return random.below(40) & mask;
    }
}

void fill_random(Random& random, DType type, std::vector<std::byte>& bytes) {
    const auto leaves = ir::leaves_of(type);
    for (std::size_t at = 0; at + type.size() <= bytes.size(); at += type.size()) {
        for (const auto& leaf : leaves) {
            // Any nonzero byte is true.
            const std::uint64_t bits = leaf.scalar == ScalarType::Bool
                                           ? random.pick<std::uint64_t>({0, 0, 1, 1, 2, 255})
                                           : random_scalar(random, leaf.scalar);
            ir::store_scalar(leaf.scalar, bytes.data() + at + leaf.offset, bits);
        }
    }
}

std::string describe(const Program& program) {
    std::string text = cat("seed ", program.seed, ", global");
    for (const std::uint32_t n : program.global) text += cat(" ", n);
    text += ", local";
    for (const std::uint32_t n : program.local) text += cat(" ", n);
    for (std::size_t i = 0; i < program.args.size(); ++i) {
        const ProgramArg& arg = program.args[i];
        text += cat("\n  argument ", i, ": ", arg.type.name());
        if (arg.elements != 0) text += cat(" x ", arg.elements);
        if (arg.function) text += cat(" (results of ", ir::mnemonic(*arg.function), ")");
    }
    return cat(text, "\n", ir::print(program.fn, {.locations = false}));
}

}  // namespace volley::testing
