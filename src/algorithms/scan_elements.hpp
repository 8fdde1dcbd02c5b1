// What the kernels of scans load and combine, while they are traced.
#pragma once

#include "algorithms/lines.hpp"

#include <volley/algorithms/scan.hpp>

#include <optional>
#include <vector>

namespace volley::algorithms {

struct LineScan;

/// The elements of a scan, its operator, its initial value, and the starts of segments.
class ScanElements {
public:
    ScanElements(ParameterList& parameters, const LineScan& scan);
    static void identify(KernelKey& key, const LineScan& scan);
    static void add_arguments(std::vector<AnyArgument>& arguments, const LineScan& scan);

    [[nodiscard]] bool has_initial() const { return initial_.has_value(); }
    [[nodiscard]] const AnyValue& initial() const { return *initial_; }
    [[nodiscard]] bool has_segments() const { return static_cast<bool>(head_); }

    [[nodiscard]] AnyValue load(const Line& line, const Value<u32>& k) const { return load_(line.at(k)); }
    [[nodiscard]] AnyValue combine(const AnyValue& a, const AnyValue& b) const { return op_.call({a, b}); }
    /// Returns the sum of a segment's first element.
    [[nodiscard]] AnyValue first(const AnyValue& x) const { return initial_ ? combine(*initial_, x) : x; }
    /// Returns whether a segment starts at element k, in the order of the scan. True for k = 0.
    [[nodiscard]] Value<bool> head(const Line& line, const Value<u32>& k) const;

private:
    AnyFunction op_;
    LoadElement load_;
    std::optional<AnyValue> initial_;
    LoadElement head_;
    std::optional<AnyFunction> equal_;
    bool reverse_;
};

/// Returns the value of another lane, or of one lane for all, for a value of any type.
[[nodiscard]] AnyValue shuffle(const AnyValue& value, const Value<u32>& lane);
[[nodiscard]] AnyValue broadcast(const AnyValue& value, const Value<u32>& lane);

}  // namespace volley::algorithms
