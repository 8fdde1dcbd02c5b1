// print("i={} x={}", i, x) in a kernel: prints a line for each invocation that reaches it, on every device.
#pragma once

#include <volley/lang/value.hpp>

#include <iterator>

namespace volley {
namespace lang {

/// A format string and its source line.
struct PrintFormat {
    const char* text;
    Site at;
    PrintFormat(const char* format, Site site = Site::here())  // NOLINT(google-explicit-constructor)
        : text(format), at(site) {}
};

/// A printed value. By default, none.
struct Printed {
    Ref ref;

    Printed() = default;
    // NOLINTBEGIN(google-explicit-constructor): the type exists for its conversions
    template <HostNumber N>
    Printed(N n, Site at = Site::here()) : ref(host_number<N>(n, at)) {}
    template <class X>
    requires(!HostNumber<X>) Printed(const X& x, Site at = Site::here()) : ref(make(x, at)) {}
    // NOLINTEND(google-explicit-constructor)

private:
    template <class X>
    static Ref make(const X& x, Site at) {
        static_assert(
            Argument<X>,
            "volley: print takes only Values, numbers and constants: print the members of a struct");
        if constexpr (Expr<X>) {
            return read(ref_of(x), at);
        } else {
            return constant(dtype_of<X>(), &x, at);
        }
    }
};

}  // namespace lang

/// Replaces each {} of the format by a value; {{ and }} print braces. The order of lines of different
/// invocations is unspecified. set_print_sink redirects the output. Throws TraceError if the number of {} and
/// of values differ.
inline void print(lang::PrintFormat format, lang::Printed a = {}, lang::Printed b = {}, lang::Printed c = {},
                  lang::Printed d = {}, lang::Printed e = {}, lang::Printed f = {}, lang::Printed g = {},
                  lang::Printed h = {}) {
    const lang::Ref values[] = {a.ref, b.ref, c.ref, d.ref, e.ref, f.ref, g.ref, h.ref};
    std::size_t count = 0;
    while (count < std::size(values) && values[count].trace() != 0) ++count;
    lang::print(format.text, values, count, format.at);
}
/// Takes more than eight values; numbers among them that are local constants must be captured.
template <class... X>
requires(sizeof...(X) > 8) void print(lang::PrintFormat format, const X&... x) {
    const lang::Ref values[] = {lang::Printed(x, format.at).ref...};
    lang::print(format.text, values, sizeof...(X), format.at);
}

}  // namespace volley
