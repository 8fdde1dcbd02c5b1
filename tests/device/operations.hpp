// Runs a list of operations in one kernel over all inputs and compares each with the host.
#pragma once

#include "support/compare.hpp"
#include "support/device_test.hpp"
#include "support/edge_values.hpp"

#include <volley/volley.hpp>

#include <string>
#include <vector>

namespace volley::testing {

/// An operation as a kernel does it, and what the host makes of it. Plain pointers: one instantiation for
/// each lambda.
template <class T, class R = T>
struct Binary {
    const char* name;
    Value<R> (*device)(const Value<T>&, const Value<T>&);
    R (*host)(T, T);
};
template <class T, class R = T>
struct Unary {
    const char* name;
    Value<R> (*device)(const Value<T>&);
    R (*host)(T);
};

template <class T>
[[nodiscard]] std::string type_name() {
    return dtype_of<T>().name();
}

/// Runs all operations of the list; gives the results, those of operation k from k * n on.
template <class T, class R>
[[nodiscard]] std::vector<R> run_all(const std::vector<T>& first, const std::vector<T>& second,
                                     const std::vector<Binary<T, R>>& list) {
    const auto n = static_cast<u32>(first.size());
    const Buffer<T> a = as_buffer(first);
    const Buffer<T> b = as_buffer(second);
    Buffer<R> out(n * list.size());
    const auto run = kernel("binary", [&list, n](Buff<const T> x, Buff<const T> y, Buff<R> result) {
        const auto i = global_id().x;
        const Value<T> left = x[i];
        const Value<T> right = y[i];
        for (u32 k = 0; k < list.size(); ++k) result[i + n * k] = list[k].device(left, right);
    });
    run.over(n)(a, b, out);
    return out.read(0);
}
template <class T, class R>
[[nodiscard]] std::vector<R> run_all(const std::vector<T>& inputs, const std::vector<Unary<T, R>>& list) {
    const auto n = static_cast<u32>(inputs.size());
    const Buffer<T> in = as_buffer(inputs);
    Buffer<R> out(n * list.size());
    const auto run = kernel("unary", [&list, n](Buff<const T> x, Buff<R> result) {
        const auto i = global_id().x;
        const Value<T> value = x[i];
        for (u32 k = 0; k < list.size(); ++k) result[i + n * k] = list[k].device(value);
    });
    run.over(n)(in, out);
    return out.read(0);
}

/// The results of operation k of n inputs.
template <class R>
[[nodiscard]] std::vector<R> slice_of(const std::vector<R>& all, std::size_t n, std::size_t k) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(n * k);
    return std::vector<R>(begin, begin + static_cast<std::ptrdiff_t>(n));
}

/// Compared to the bit.
template <class T, class R>
void check_binary(const std::vector<T>& first, const std::vector<T>& second,
                  const std::vector<Binary<T, R>>& list) {
    const std::vector<R> all = run_all(first, second, list);
    for (std::size_t k = 0; k < list.size(); ++k) {
        std::vector<R> expected;
        for (std::size_t i = 0; i < first.size(); ++i) expected.push_back(list[k].host(first[i], second[i]));
        expect_same(slice_of(all, first.size(), k), expected, type_name<T>() + " " + list[k].name,
                    [&](std::size_t i) { return text_of<T>(first[i]) + ", " + text_of<T>(second[i]); });
    }
}
template <class T, class R>
void check_unary(const std::vector<T>& inputs, const std::vector<Unary<T, R>>& list) {
    const std::vector<R> all = run_all(inputs, list);
    for (std::size_t k = 0; k < list.size(); ++k) {
        std::vector<R> expected;
        for (std::size_t i = 0; i < inputs.size(); ++i) expected.push_back(list[k].host(inputs[i]));
        expect_same(slice_of(all, inputs.size(), k), expected, type_name<T>() + " " + list[k].name,
                    [&](std::size_t i) { return text_of<T>(inputs[i]); });
    }
}

}  // namespace volley::testing
