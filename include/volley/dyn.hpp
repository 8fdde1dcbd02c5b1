// dyn<T>("name"): a value that is not known while a graph is recorded, but given for each instance that is
// submitted.
#pragma once

#include <volley/dtype.hpp>
#include <volley/lang/type_of.hpp>

#include <string>
#include <string_view>
#include <type_traits>

namespace volley {

namespace detail {

/// A name that stands for a value.
struct DynamicName {
    std::string name;
    DType type;
};

}  // namespace detail

/// Given to a kernel for a parameter of type T inside of record(); see CommandGraph::bind.
template <class T>
class DynamicValue : public detail::DynamicName {
public:
    explicit DynamicValue(std::string_view text) : DynamicName{std::string(text), dtype_of<T>()} {}
};

/// The same name is the same value, wherever it stands in a graph.
///
///     auto g = record([&] { scale(buf, dyn<float>("alpha")); });
///     g.bind("alpha", {1.f, 2.f, 3.f});
template <class T>
[[nodiscard]] DynamicValue<T> dyn(std::string_view name) {
    return DynamicValue<T>(name);
}

namespace detail {

template <class A>
inline constexpr bool is_dynamic = std::is_base_of_v<DynamicName, A>;
template <class T, class A>
[[nodiscard]] consteval bool accepts_dynamic() {
    return std::is_base_of_v<DynamicValue<T>, A>;
}

}  // namespace detail
}  // namespace volley
