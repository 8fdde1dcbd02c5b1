// dyn<T>("name"): a kernel argument of a command graph that is bound when the graph is submitted.
#pragma once

#include <volley/dtype.hpp>
#include <volley/lang/type_of.hpp>

#include <string>
#include <string_view>
#include <type_traits>

namespace volley {

namespace detail {

/// The name and the type of a dynamic value.
struct DynamicName {
    std::string name;
    DType type;
};

}  // namespace detail

/// A named placeholder for a kernel argument of type T, valid inside record(). CommandGraph::bind sets its
/// values.
template <class T>
class DynamicValue : public detail::DynamicName {
public:
    explicit DynamicValue(std::string_view text) : DynamicName{std::string(text), dtype_of<T>()} {}
};

/// Returns a dynamic value. All uses of a name in a graph have the same value.
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
