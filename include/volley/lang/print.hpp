// print("i={} x={}", i, x) in a kernel: prints a line for each invocation that reaches it, on every device.
#pragma once

#include <volley/lang/value.hpp>

namespace volley {
namespace lang {

/// A format string and its source line.
struct PrintFormat {
    const char* text;
    Site at;
    PrintFormat(const char* format, Site site = Site::here())  // NOLINT(google-explicit-constructor)
        : text(format), at(site) {}
};

template <class X>
[[nodiscard]] Ref printed(const X& x, Site at) {
    static_assert(Argument<X>,
                  "volley: print takes only Values, numbers and constants: print the members of a struct");
    if constexpr (Expr<X>) {
        return read(ref_of(x), at);
    } else if constexpr (HostNumber<X>) {
        return host_number<X>(x, at);
    } else {
        return constant(dtype_of<X>(), &x, at);
    }
}

}  // namespace lang

/// Replaces each {} of the format by a value; {{ and }} print braces. The order of lines of different
/// invocations is unspecified. set_print_sink redirects the output. Throws TraceError if the number of {} and
/// of values differ.
template <class... X>
void print(lang::PrintFormat format, const X&... x) {
    const lang::Ref values[sizeof...(X) + 1] = {lang::printed(x, format.at)...};
    lang::print(format.text, values, sizeof...(X), format.at);
}

}  // namespace volley
