// The small functions that stand before a kernel: what docs/ir.md defines and C does not (division by zero,
// conversions that saturate, ...). Each is written when it is first asked for, behind those that it uses.
#pragma once

#include "codegen/clike/dialect.hpp"

#include <string>
#include <string_view>
#include <unordered_set>

namespace volley::codegen::clike {

class Helpers {
public:
    explicit Helpers(const Dialect& dialect) : d_(dialect) {}

    /// Each gives the function's name.
    std::string integer(ir::Op op, ScalarType s);   // Div, Rem, Min, Max, Abs, Sign, PopCount, Clz, ...
    std::string floating(ir::Op op, ScalarType s);  // Min, Max, Sign, IsNan, IsInf, of f32 and f64
    std::string exact_quotient(bool f64);           // of f32, where the device's is loose
    std::string exact_root(bool f64);
    std::string float_to_integer(ScalarType from, ScalarType to);
    std::string half_to_float();
    std::string float_to_half();
    std::string double_to_half();
    std::string clamp_index(bool wide);
    std::string load_bytes(ScalarType s, Space space);  // s unsigned, from any address
    std::string store_bytes(ScalarType s, Space space);
    std::string claim_report();

    /// Defines a function unless it is there. `head` is "int div_int(int a, int b)".
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
