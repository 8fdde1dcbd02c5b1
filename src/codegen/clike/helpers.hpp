// Helper functions that precede the kernel: operations that docs/ir.md defines and C does not (division by
// zero, saturating conversions, ...). Each is emitted on first use, after the helpers that it calls.
#pragma once

#include "codegen/clike/dialect.hpp"

#include <string>
#include <string_view>
#include <unordered_set>

namespace volley::codegen::clike {

class Helpers {
public:
    explicit Helpers(const Dialect& dialect) : d_(dialect) {}

    /// Each function defines its helper on first use and returns the helper's name.
    std::string integer(ir::Op op, ScalarType s);   // Div, Rem, Min, Max, Abs, Sign, PopCount, Clz, ...
    std::string floating(ir::Op op, ScalarType s);  // Min, Max, Sign, IsNan, IsInf for f32 and f64
    std::string exact_quotient(bool f64);           // for f32, if the device's division is inexact
    std::string exact_root(bool f64);
    std::string float_to_integer(ScalarType from, ScalarType to);
    std::string half_to_float();
    std::string float_to_half();
    std::string double_to_half();
    std::string clamp_index(bool wide);
    std::string load_bytes(ScalarType s, Space space);  // s is unsigned; any alignment
    std::string store_bytes(ScalarType s, Space space);
    std::string claim_report();

    /// Defines a function unless it exists already. `head` is like "int div_int(int a, int b)".
    void define(const std::string& name, std::string_view head, std::string_view body);
    [[nodiscard]] bool has(const std::string& name) const { return names_.contains(name); }
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    [[nodiscard]] std::string type(ScalarType s) const { return std::string(d_.type(s)); }

    const Dialect& d_;
    std::unordered_set<std::string> names_;
    std::string text_;
};

}  // namespace volley::codegen::clike
