// Floats are printed as the shortest decimal that reads back exactly in their type; f16 is converted through
// f32, which represents all its values.
#include "ir/literal.hpp"

#include "core/text.hpp"

#include <volley/half.hpp>

#include <bit>
#include <charconv>
#include <cmath>

namespace volley::ir {
namespace {

std::string hex_bits(ScalarType type, std::uint64_t bits) {
    return cat("0x", hex(bits, static_cast<int>(size_of(type)) * 2));
}

template <class F>
std::string float_text(ScalarType type, F value, std::uint64_t bits) {
    if (std::isnan(value)) return hex_bits(type, bits);
    std::string text = cat(value);
    // "1" would parse as well; "1.0" is recognisable as a float.
    if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
    return text;
}

template <class F>
std::optional<F> read_float(std::string_view text) {
    F value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

template <class I>
std::optional<I> read_integer(std::string_view text, int base = 10) {
    I value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<std::uint64_t> integer_bits(ScalarType type, std::string_view text) {
    if (!is_signed_integer(type)) {
        const auto value = read_integer<std::uint64_t>(text);
        if (!value || *value > mask_of(type)) return std::nullopt;
        return value;
    }
    const auto value = read_integer<std::int64_t>(text);
    const auto top = static_cast<std::int64_t>(mask_of(type) >> 1);
    if (!value || *value > top || *value < -top - 1) return std::nullopt;
    return static_cast<std::uint64_t>(*value) & mask_of(type);
}

std::optional<std::uint64_t> float_bits(ScalarType type, std::string_view text) {
    if (type == ScalarType::F64) {
        const auto value = read_float<double>(text);
        if (!value) return std::nullopt;
        return std::bit_cast<std::uint64_t>(*value);
    }
    const auto value = read_float<float>(text);
    if (!value) return std::nullopt;
    if (type == ScalarType::F32) return std::bit_cast<std::uint32_t>(*value);
    const half rounded(*value);
    if (std::isfinite(*value) && !std::isfinite(float(rounded))) return std::nullopt;
    return rounded.bits();
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

}  // namespace

std::string constant_text(ScalarType type, std::uint64_t bits) {
    switch (type) {
        case ScalarType::Bool: return bits != 0 ? "true" : "false";
        case ScalarType::F16:
            return float_text(type, float(half::from_bits(static_cast<std::uint16_t>(bits))), bits);
        case ScalarType::F32:
            return float_text(type, std::bit_cast<float>(static_cast<std::uint32_t>(bits)), bits);
        case ScalarType::F64: return float_text(type, std::bit_cast<double>(bits), bits);
        default: break;
    }
    if (!is_signed_integer(type)) return cat(bits);
    const unsigned unused = 64 - bits_of(type);
    return cat(static_cast<std::int64_t>(bits << unused) >> unused);
}

std::optional<std::uint64_t> constant_bits(ScalarType type, std::string_view text) {
    if (type == ScalarType::Bool) {
        if (text == "true") return 1;
        if (text == "false") return 0;
        return std::nullopt;
    }
    if (text.starts_with("0x")) {
        const auto bits = read_integer<std::uint64_t>(text.substr(2), 16);
        if (!bits || *bits > mask_of(type)) return std::nullopt;
        return bits;
    }
    if (!is_float(type)) return integer_bits(type, text);
    // from_chars accepts more spellings ("nan(7)", "INFINITY"); the IR allows one per value.
    const bool infinite = text == "inf" || text == "-inf";
    if (!infinite && text.find_first_not_of("-+.0123456789eE") != std::string_view::npos) return std::nullopt;
    return float_bits(type, text);
}

std::string quote(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        switch (c) {
            case '"': out += "\\\""; break;
            case '\\': out += "\\\\"; break;
            case '\n': out += "\\n"; break;
            case '\t': out += "\\t"; break;
            case '\r': out += "\\r"; break;
            default: {
                const auto byte = static_cast<unsigned char>(c);
                if (byte < 0x20 || byte == 0x7f) {
                    out += cat("\\x", hex(byte, 2));
                } else {
                    out += c;
                }
            }
        }
    }
    out += '"';
    return out;
}

std::optional<std::string> unquote(std::string_view text) {
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
    text = text.substr(1, text.size() - 2);
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') return std::nullopt;
        if (text[i] != '\\') {
            out += text[i];
            continue;
        }
        if (++i == text.size()) return std::nullopt;
        switch (text[i]) {
            case '"': out += '"'; break;
            case '\\': out += '\\'; break;
            case 'n': out += '\n'; break;
            case 't': out += '\t'; break;
            case 'r': out += '\r'; break;
            case 'x': {
                if (text.size() - i < 3) return std::nullopt;
                const int high = hex_digit(text[i + 1]);
                const int low = hex_digit(text[i + 2]);
                if (high < 0 || low < 0) return std::nullopt;
                out += static_cast<char>(high * 16 + low);
                i += 2;
                break;
            }
            default: return std::nullopt;
        }
    }
    return out;
}

}  // namespace volley::ir
