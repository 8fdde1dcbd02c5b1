// Indices along one axis. All arithmetic is modulo 2^32, so that differences may be negative in between.
#include "algorithms/axis_rule.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/math.hpp>
#include <volley/lang/operators.hpp>

#include <algorithm>

namespace volley::algorithms {
namespace {

using Kind = AxisRule::Kind;

bool has_first(Kind kind) { return kind != Kind::Whole && kind != Kind::Tiled && kind != Kind::Repeated; }
bool has_second(Kind kind) {
    return kind != Kind::Whole && kind != Kind::Fixed && kind != Kind::Shifted && kind != Kind::Reversed;
}

}  // namespace

void AxisRule::identify(KernelKey& key) const { key.add(kind).add(from); }

void AxisRule::add_arguments(std::vector<AnyArgument>& arguments) const {
    if (has_first(kind)) arguments.emplace_back(first);
    if (has_second(kind)) arguments.emplace_back(kind == Kind::Stepped ? step : count);
}

DeclaredRule::DeclaredRule(ParameterList& parameters, const AxisRule& rule)
    : kind_(rule.kind), from_(rule.from) {
    if (has_first(kind_)) numbers_.push_back(parameters.value<u32>());
    if (has_second(kind_)) numbers_.push_back(parameters.value<u32>());
}

Value<u32> DeclaredRule::index(const Value<u32>& i) const {
    if (kind_ == Kind::Whole) return i;
    if (kind_ == Kind::Tiled) return i % numbers_[0];
    if (kind_ == Kind::Repeated) return i / numbers_[0];
    const Value<u32>& first = numbers_[0];
    if (kind_ == Kind::Fixed) return first;
    if (kind_ == Kind::Shifted) return first + i;
    if (kind_ == Kind::Reversed) return first - i;
    if (kind_ == Kind::Stepped) return first + i * numbers_[1];
    const Value<u32>& count = numbers_[1];
    const Value<u32> inner = i - first;
    switch (kind_) {
        case Kind::Rolled: return select(i < first, inner + count, inner);
        case Kind::Edge: return select(i < first, Value<u32>(0U), min(inner, count - 1U));
        case Kind::Wrapped:
            return select(i < first, inner + count, select(inner >= count, inner - count, inner));
        case Kind::WrappedFar: return select(i < first, count - 1U - (first - 1U - i) % count, inner % count);
        case Kind::Symmetric: {
            const Value<u32> mirrored = select(i < first, first - 1U - i, inner);
            return select(mirrored >= count, count * 2U - 1U - mirrored, mirrored);
        }
        case Kind::SymmetricFar: {
            const Value<u32> phase = select(i < first, first - 1U - i, inner) % (count * 2U);
            return select(phase >= count, count * 2U - 1U - phase, phase);
        }
        case Kind::Reflected: {
            const Value<u32> mirrored = select(i < first, first - i, inner);
            return select(mirrored >= count, count * 2U - 2U - mirrored, mirrored);
        }
        case Kind::ReflectedFar: {
            const Value<u32> phase = select(i < first, first - i, inner) % (count * 2U - 2U);
            return select(phase >= count, count * 2U - 2U - phase, phase);
        }
        default: return inner;  // Constant
    }
}

std::optional<Value<bool>> DeclaredRule::inside(const Value<u32>& i) const {
    if (kind_ != Kind::Constant) return std::nullopt;
    return i - numbers_[0] < numbers_[1];
}

std::vector<RulePart> AxisRule::parts(std::int64_t length) const {
    const std::int64_t n = count, before = first, after = length - before - n;
    const auto shifted = [&](std::int64_t to) {
        return AxisRule{.kind = to == 0 ? Kind::Whole : Kind::Shifted,
                        .from = from,
                        .first = static_cast<std::uint32_t>(to)};
    };
    const auto reversed = [&](std::int64_t last) {
        return AxisRule{.kind = Kind::Reversed, .from = from, .first = static_cast<std::uint32_t>(last)};
    };
    const auto fixed = [&](std::int64_t at) {
        return AxisRule{.kind = Kind::Fixed, .from = from, .first = static_cast<std::uint32_t>(at)};
    };
    std::vector<RulePart> all_parts;
    const auto three = [&](const std::optional<AxisRule>& left, const std::optional<AxisRule>& right) {
        all_parts = {{0, before, left}, {before, n, shifted(0)}, {before + n, after, right}};
    };
    switch (kind) {
        case Kind::Rolled:
            all_parts = {{0, before, shifted(n - before)}, {before, n - before, shifted(0)}};
            break;
        case Kind::Constant: three(std::nullopt, std::nullopt); break;
        case Kind::Edge: three(fixed(0), fixed(n - 1)); break;
        case Kind::Wrapped: three(shifted(n - before), shifted(0)); break;
        case Kind::Symmetric: three(reversed(before - 1), reversed(n - 1)); break;
        case Kind::Reflected: three(reversed(before), reversed(n - 2)); break;
        default: break;
    }
    std::erase_if(all_parts, [](const RulePart& part) { return part.length == 0; });
    return all_parts;
}

std::optional<AxisRule> AxisRule::from_place(std::int64_t begin) const {
    const auto places = static_cast<std::uint32_t>(begin);
    AxisRule rule = *this;
    switch (kind) {
        case Kind::Whole: rule.kind = places == 0 ? Kind::Whole : Kind::Shifted; [[fallthrough]];
        case Kind::Shifted: rule.first += places; return rule;
        case Kind::Reversed: rule.first -= places; return rule;
        case Kind::Stepped: rule.first += places * step; return rule;
        case Kind::Fixed: return rule;
        default: return std::nullopt;
    }
}

}  // namespace volley::algorithms
