// Encodes integers by moving the least value to zero, and floats by reversing the order of the negative ones
// and then moving -inf to zero, which moves the NaNs with a sign past all others.
#include "algorithms/sort_keys.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/operators.hpp>
#include <volley/types.hpp>

namespace volley::algorithms {
namespace {

constexpr unsigned word_bits = 32;

template <class W>
W mask_of(unsigned bits) {
    return static_cast<W>(~W{0}) >> (sizeof(W) * 8 - bits);
}
template <class W>
W sign_of(unsigned bits) {
    return W{1} << (bits - 1);
}
/// The number of NaNs with a sign.
template <class W>
W nans_of(ScalarType type) {
    const unsigned mantissa = type == ScalarType::F16 ? 10 : type == ScalarType::F32 ? 23 : 52;
    return (W{1} << mantissa) - 1;
}

template <class W>
Value<W> bits_of_key(const AnyValue& key) {
    switch (key.dtype().scalar()) {
        case ScalarType::F16: return cast<W>(bit_cast<u16>(key.as<half>()));
        case ScalarType::F32: return cast<W>(bit_cast<u32>(key.as<float>()));
        case ScalarType::F64: return cast<W>(bit_cast<u64>(key.as<double>()));
        default: return convert(key, dtype_of<W>()).template as<W>();
    }
}

template <class W>
AnyValue key_of_bits(const Value<W>& bits, DType type) {
    switch (type.scalar()) {
        case ScalarType::F16: return bit_cast<half>(cast<u16>(bits));
        case ScalarType::F32: return bit_cast<float>(cast<u32>(bits));
        case ScalarType::F64: return bit_cast<double>(cast<u64>(bits));
        default: return convert(bits, type);
    }
}

template <class W>
AnyValue encode_as(const KeyCode& code, const AnyValue& key) {
    const unsigned bits = code.bits();
    const ScalarType type = code.type.scalar();
    const W mask = mask_of<W>(bits);
    const Value<W> raw = bits_of_key<W>(key);
    const auto ordered = [&]() -> Value<W> {
        if (is_float(type)) {
            // All bits of a negative number, the sign of a positive one.
            const Value<W> flips = (W{0} - (raw >> W{bits - 1})) | sign_of<W>(bits);
            return ((raw ^ flips) - nans_of<W>(type)) & mask;
        }
        if (is_signed_integer(type)) return (raw + sign_of<W>(bits)) & mask;
        return raw;
    }();
    if (!code.descending) return ordered;
    return ordered ^ mask;
}

template <class W>
AnyValue decode_as(const KeyCode& code, const AnyValue& word) {
    const unsigned bits = code.bits();
    const ScalarType type = code.type.scalar();
    const W mask = mask_of<W>(bits);
    const Value<W> ordered = code.descending ? word.as<W>() ^ mask : word.as<W>();
    if (is_float(type)) {
        const Value<W> flipped = (ordered + nans_of<W>(type)) & mask;
        const Value<W> flips = ((flipped >> W{bits - 1}) - W{1}) | sign_of<W>(bits);
        return key_of_bits<W>((flipped ^ flips) & mask, code.type);
    }
    if (is_signed_integer(type)) return key_of_bits<W>((ordered - sign_of<W>(bits)) & mask, code.type);
    return key_of_bits<W>(ordered, code.type);
}

}  // namespace

DType KeyCode::word() const {
    if (!encoded) return type;
    return bits() > word_bits ? ScalarType::U64 : ScalarType::U32;
}

bool KeyCode::is_identity() const noexcept {
    return !encoded ||
           (!descending && (type.scalar() == ScalarType::U32 || type.scalar() == ScalarType::U64));
}

AnyValue KeyCode::encode(const AnyValue& key) const {
    if (!encoded) return key;
    return bits() > word_bits ? encode_as<u64>(*this, key) : encode_as<u32>(*this, key);
}

AnyValue KeyCode::decode(const AnyValue& word) const {
    if (!encoded) return word;
    return bits() > word_bits ? decode_as<u64>(*this, word) : decode_as<u32>(*this, word);
}

void check_sortable(DType type, std::string_view algorithm) {
    if (type.is_scalar()) return;
    fail(ErrorCode::TypeMismatch, cat("elements of type ", type.name(), " have no order"), algorithm,
         "sort numbers or bool, or pass a comparison: sort(x, [](Value<T> a, Value<T> b) { return ...; })");
}

void check_order(DType type, const std::optional<AnyFunction>& less, std::string_view algorithm) {
    if (!less) {
        if (type.is_scalar()) return;
        fail(ErrorCode::TypeMismatch, cat("elements of type ", type.name(), " have no order"), algorithm,
             "use numbers or bool, or pass a comparison: [](Value<T> a, Value<T> b) { return ...; }");
    }
    const std::span<const FunctionParameter> parameters = less->parameters();
    const bool fits = parameters.size() == 2 && !parameters[0].is_buffer && !parameters[1].is_buffer &&
                      parameters[0].type == type && parameters[1].type == type &&
                      less->result() == dtype_of<bool>();
    if (fits) return;
    fail(ErrorCode::TypeMismatch, cat("the comparison does not take two values of ", type.name()), algorithm,
         "use a function of two elements that returns a bool");
}

}  // namespace volley::algorithms
