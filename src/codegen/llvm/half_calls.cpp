// Converts with integer arithmetic, to nearest, ties to even.
#include "codegen/llvm/half_calls.hpp"

#include <volley/half.hpp>

#include <bit>
#include <cstdint>

namespace volley::codegen::llvm {

#if defined(__x86_64__)
namespace {

float in_register(std::uint16_t half) noexcept { return std::bit_cast<float>(std::uint32_t{half}); }

float extend(float half) noexcept {
    const auto bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(half));
    return volley::detail::half_to_float(bits);
}

float truncate_float(float value) noexcept { return in_register(volley::detail::half_bits(value)); }

float truncate_double(double value) noexcept { return in_register(volley::detail::half_bits(value)); }

}  // namespace

std::span<const HalfCall> half_calls() noexcept {
    static const HalfCall calls[] = {
        {"__extendhfsf2", reinterpret_cast<void*>(&extend)},
        {"__truncsfhf2", reinterpret_cast<void*>(&truncate_float)},
        {"__truncdfhf2", reinterpret_cast<void*>(&truncate_double)},
    };
    return calls;
}
#else
std::span<const HalfCall> half_calls() noexcept { return {}; }
#endif

}  // namespace volley::codegen::llvm
