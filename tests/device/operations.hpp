// Runs a list of operations in one kernel over all inputs and compares each with the host. A list is a function that
// visits (name, what the kernel does, what the host does); it is walked once to trace and once to compare, so that the two
// cannot come apart.
#pragma once

#include "support/compare.hpp"
#include "support/device_test.hpp"
#include "support/edge_values.hpp"

#include <volley/volley.hpp>

#include <string>
#include <vector>

namespace volley::testing {

/// Operations (T, T) -> R, compared to the bit.
template <class T, class R, class List>
void check_binary(const std::string& what, const std::vector<T>& first, const std::vector<T>& second, List&& list) {
    const auto n = static_cast<u32>(first.size());
    u32 count = 0;
    list([&](const char*, auto&&, auto&&) { ++count; });
    const Buffer<T> a = as_buffer(first);
    const Buffer<T> b = as_buffer(second);
    Buffer<R> out(n * count);
    const auto run = kernel("binary", [&list, n](Buff<const T> x, Buff<const T> y, Buff<R> result) {
        const auto i = global_id().x;
        const Value<T> left = x[i];
        const Value<T> right = y[i];
        u32 op = 0;
        list([&](const char*, auto&& device, auto&&) { result[i + n * op++] = device(left, right); });
    });
    run.over(n)(a, b, out);
    const std::vector<R> all = out.read(0);
    u32 op = 0;
    list([&](const char* name, auto&&, auto&& host) {
        std::vector<R> expected;
        for (u32 i = 0; i < n; ++i) expected.push_back(host(first[i], second[i]));
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(n) * op++;
        expect_same(std::vector<R>(begin, begin + n), expected, what + " " + name,
                    [&](std::size_t i) { return text_of<T>(first[i]) + ", " + text_of<T>(second[i]); });
    });
}

/// Operations T -> R, compared to the bit.
template <class T, class R, class List>
void check_unary(const std::string& what, const std::vector<T>& inputs, List&& list) {
    const auto n = static_cast<u32>(inputs.size());
    u32 count = 0;
    list([&](const char*, auto&&, auto&&) { ++count; });
    const Buffer<T> in = as_buffer(inputs);
    Buffer<R> out(n * count);
    const auto run = kernel("unary", [&list, n](Buff<const T> x, Buff<R> result) {
        const auto i = global_id().x;
        const Value<T> value = x[i];
        u32 op = 0;
        list([&](const char*, auto&& device, auto&&) { result[i + n * op++] = device(value); });
    });
    run.over(n)(in, out);
    const std::vector<R> all = out.read(0);
    u32 op = 0;
    list([&](const char* name, auto&&, auto&& host) {
        std::vector<R> expected;
        for (u32 i = 0; i < n; ++i) expected.push_back(host(inputs[i]));
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(n) * op++;
        expect_same(std::vector<R>(begin, begin + n), expected, what + " " + name,
                    [&](std::size_t i) { return text_of<T>(inputs[i]); });
    });
}

template <class T>
[[nodiscard]] std::string type_name() {
    return dtype_of<T>().name();
}

/// Calls f.template operator()<T>() for each type.
template <class... T, class F>
void for_types(F&& f) {
    (f.template operator()<T>(), ...);
}

}  // namespace volley::testing
