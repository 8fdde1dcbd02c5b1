// print("i={} x={}", i, x) inside a kernel: one line for each invocation that reaches it, on every device.
#pragma once

#include <volley/lang/value.hpp>

namespace volley {
namespace lang {

/// A format with the line where it was written.
struct PrintFormat {
    const char* text;
    Site at;
    PrintFormat(const char* format, Site site = Site::here())  // NOLINT(google-explicit-constructor)
        : text(format), at(site) {}
};

template <class X>
[[nodiscard]] Ref printed(const X& x, Site at) {
    static_assert(Argument<X>, "volley: print takes values and numbers: print the members of a struct");
    if constexpr (Expr<X>) {
        return read(ref_of(x), at);
    } else if constexpr (HostNumber<X>) {
        return host_number<X>(x, at);
    } else {
        return constant(dtype_of<X>(), &x, at);
    }
}

}  // namespace lang

/// Formats the values into the places {} of the format; {{ and }} are braces. Lines of different invocations
/// come in no order. A wrong number of places is a TraceError.
template <class... X>
void print(lang::PrintFormat format, const X&... x) {
    const lang::Ref values[sizeof...(X) + 1] = {lang::printed(x, format.at)...};
    lang::print(format.text, values, sizeof...(X), format.at);
}

}  // namespace volley
