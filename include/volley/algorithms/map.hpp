// map(lambda): arrays whose elements are computed where an algorithm reads them, and store maps, which
// process elements where it writes them. They fuse the code of a program into the kernels of algorithms.
//
//     auto product = map([](Value<u32> i, Buff<const float> a, Buff<const float> b) { return a[i] * b[i]; });
//     float dot = reduce::sum(product(a, b)).item();  // one pass over memory, no temporary
#pragma once

#include <volley/algorithms/any_sink.hpp>
#include <volley/algorithms/any_source.hpp>
#include <volley/kernel.hpp>

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace volley {
namespace detail {

template <class P>
inline constexpr bool is_index = std::same_as<P, Value<u32>>;

/// The number of leading Value<u32> parameters.
template <class... P>
[[nodiscard]] consteval std::size_t leading_indices(lang::ParamList<P...>) {
    constexpr bool index[] = {is_index<P>..., false};
    std::size_t count = 0;
    while (index[count]) ++count;
    return count;
}

/// The number of leading Value<T> parameters, of any type.
template <class... P>
[[nodiscard]] consteval std::size_t leading_values(lang::ParamList<P...>) {
    constexpr bool value[] = {std::same_as<P, Value<typename lang::ParamTraits<P>::element>>..., false};
    std::size_t count = 0;
    while (value[count]) ++count;
    return count;
}

template <std::size_t n, class List>
struct DropParams;
template <class... P>
struct DropParams<0, lang::ParamList<P...>> {
    using type = lang::ParamList<P...>;
};
template <std::size_t n, class First, class... P>
requires(n > 0) struct DropParams<n, lang::ParamList<First, P...>>
    : DropParams<n - 1, lang::ParamList<P...>> {
};

/// Converts an argument as a kernel call does, and keeps a copy. Throws ArgumentError for an integer that the
/// type of the parameter cannot hold.
template <class Parameter, class Given>
[[nodiscard]] AnyArgument map_argument(const Given& given) {
    using T = typename lang::ParamTraits<Parameter>::element;
    if constexpr (lang::ParamTraits<Parameter>::kind == lang::ParameterKind::Buffer || is_dynamic<Given>) {
        return AnyArgument(given);
    } else if constexpr (lang::is_complex<T> && !lang::is_complex<Given>) {
        return AnyArgument(T(static_cast<typename T::value_type>(given)));
    } else {
        if constexpr (std::is_integral_v<T> && std::is_integral_v<Given> && !std::same_as<T, Given>)
            check_fits(std::in_range<T>(given), dtype_of<T>());
        return AnyArgument(static_cast<T>(given));
    }
}

/// Returns the shape of the first buffer. Throws ArgumentError if there is none, or if it is not contiguous
/// and elements are counted in row-major order.
[[nodiscard]] VOLLEY_API Shape shape_of_map(const std::vector<AnyArgument>& arguments, unsigned indices);

/// What map() and store_map() return: a function of its arguments P.
template <class Result, class... P>
class MapFunction {
public:
    MapFunction(AnyFunction function, unsigned indices) : function_(std::move(function)), indices_(indices) {}

    /// Sets the shape; without it, the array has the shape of its first buffer.
    [[nodiscard]] MapFunction over(const Shape& shape) const {
        MapFunction result = *this;
        result.shape_ = shape;
        return result;
    }

    /// Binds the arguments: a buffer for each Buff<T>, a value for each Const<T>. Throws ArgumentError for a
    /// number of indices that does not fit the shape. Does not run anything.
    template <class... A>
    [[nodiscard]] Result operator()(const A&... arguments) const {
        static_assert(
            sizeof...(A) == sizeof...(P),
            "volley: wrong number of arguments: a map takes one for each parameter after its indices");
        if constexpr (sizeof...(A) == sizeof...(P)) {
            return bind(std::index_sequence_for<P...>{}, arguments...);
        }
    }

private:
    template <std::size_t... I, class... A>
    [[nodiscard]] Result bind(std::index_sequence<I...>, const A&... arguments) const {
        static_assert((CheckArgument<I + 1, P, A>::ok && ...));
        std::vector<AnyArgument> bound;
        (bound.push_back(map_argument<P>(arguments)), ...);
        const Shape shape = shape_ ? *shape_ : shape_of_map(bound, indices_);
        if constexpr (std::same_as<Result, AnySink>) {
            return AnySink::mapped(function_, indices_, shape, std::move(bound));
        } else {
            return Result(AnySource::mapped(function_, indices_, shape, std::move(bound)));
        }
    }

    AnyFunction function_;
    unsigned indices_;
    std::optional<Shape> shape_;
};

template <class Result, class... P>
[[nodiscard]] MapFunction<Result, P...> make_map(lang::ParamList<P...>, AnyFunction function,
                                                 unsigned indices) {
    return {std::move(function), indices};
}

}  // namespace detail

/// Returns a function that makes mapped arrays from its arguments. The lambda's leading Value<u32> parameters
/// are the indices: one for the row-major number of an element, or one per axis, as in `[](Value<u32> y,
/// Value<u32> x, Buff<const float> a) { return a(y, x); }`. The others are Buff<T>, Const<T> and Value<T>.
///
/// The lambda is traced now and not kept: captures, also by reference, are read now. Kernels are cached by
/// its IR, so that maps made in a function compile once. Throws TraceError as kernel() does, and for $return
/// and barrier(). A map must not depend on the order of the elements or on ids of the invocation.
template <class F>
[[nodiscard]] auto map(F f) {
    using Params = lang::function_params_t<F>;
    using T = lang::function_result_t<F>;
    constexpr std::size_t indices = detail::leading_indices(Params{});
    static_assert(indices >= 1, "volley: the first parameter of a map is its index, a Value<u32>");
    static_assert(!std::is_void_v<T>,
                  "volley: a map returns its element; store_map() takes one that stores it");
    return detail::make_map<Mapped<T>>(typename detail::DropParams<indices, Params>::type{},
                                       trace_function(std::move(f)), static_cast<unsigned>(indices));
}

/// Returns a function that makes sinks from its arguments. The lambda takes the indices, the value to store,
/// and other parameters as map() does. The last leading Value parameter is the value.
///
///     auto round = store_map([](Value<u32> i, Value<float> x, Buff<half> to) { to[i] = cast<half>(x); });
///     transform(round(buf), lazy(a) + 1.f);
template <class F>
[[nodiscard]] auto store_map(F f) {
    using Params = lang::function_params_t<F>;
    static_assert(std::is_void_v<lang::function_result_t<F>>, "volley: a store map returns nothing");
    constexpr std::size_t values = detail::leading_values(Params{});
    static_assert(values >= 2,
                  "volley: the first parameters of a store map are its index, a Value<u32>, and the value to "
                  "store, a Value<T>; declare other values as Const<T>");
    static_assert(detail::leading_indices(Params{}) + 1 >= values,
                  "volley: all parameters of a store map before the value are indices, Value<u32>");
    return detail::make_map<AnySink>(typename detail::DropParams<values, Params>::type{},
                                     trace_function(std::move(f)), static_cast<unsigned>(values - 1));
}

}  // namespace volley
