// Conversion between linear and multidimensional indices, row-major (the last index varies fastest). Extents
// are host integers or Values.
#pragma once

#include <volley/lang/value.hpp>

namespace volley {
namespace lang {

/// Writes `count` indices. The extents may have any integer type.
VOLLEY_API void unravel(Ref linear, const Ref* extents, Ref* indices, std::size_t count, Site at);
[[nodiscard]] VOLLEY_API Ref ravel(const Ref* indices, const Ref* extents, std::size_t count, Site at);

template <class T, std::size_t... k>
[[nodiscard]] std::array<Value<T>, sizeof...(k)> values_of(const Ref* refs, std::index_sequence<k...>) {
    return {Value<T>(refs[k])...};
}

template <class T, class... E>
[[nodiscard]] std::array<Value<T>, sizeof...(E)> unravel_of(const Value<T>& i, const E&... extents) {
    static_assert(Scalar<T> && is_whole<T>,
                  "volley: unravel_index takes an integer: convert with cast<u32>(v)");
    const Ref shape[] = {argument<T>(extents, {})...};
    Ref indices[sizeof...(E)];
    unravel(ref_of(i), shape, indices, sizeof...(E), {});
    return values_of<T>(indices, std::make_index_sequence<sizeof...(E)>{});
}

template <class I, std::size_t N, class... E>
[[nodiscard]] auto ravel_of(const std::array<I, N>& index, const E&... extents) {
    using T = typename I::volley_type;
    static_assert(Scalar<T> && is_whole<T>, "volley: ravel_index takes integers: convert with cast<u32>(v)");
    const Ref shape[] = {argument<T>(extents, {})...};
    Ref indices[N];
    for (std::size_t k = 0; k < N; ++k) indices[k] = ref_of(index[k]);
    return Value<T>(ravel(indices, shape, N, {}));
}

}  // namespace lang

/// Returns the indices of element i of an array with these extents:
/// `auto [y, x] = unravel_index(i, height, width);`
template <class T, class... E>
requires((lang::Argument<E> && ...) && (!lang::HostNumber<E> && ...))
    [[nodiscard]] std::array<Value<T>, sizeof...(E)> unravel_index(const Value<T>& i, const E&... extents) {
    return lang::unravel_of(i, extents...);
}
template <class T, class... E>
requires((lang::Argument<E> && ...) && (lang::HostNumber<E> || ...))
    [[nodiscard]] std::array<Value<T>, sizeof...(E)> unravel_index(const Value<T>& i, E... extents) {
    return lang::unravel_of(i, extents...);
}

/// Takes the extents as an array of host integers or of Values.
template <class T, class E, std::size_t N>
[[nodiscard]] std::array<Value<T>, N> unravel_index(const Value<T>& i, const std::array<E, N>& extents,
                                                    lang::Site at = lang::Site::here()) {
    static_assert(lang::Scalar<T> && lang::is_whole<T>,
                  "volley: unravel_index takes an integer: convert with cast<u32>(v)");
    lang::Ref shape[N];
    lang::Ref indices[N];
    for (std::size_t k = 0; k < N; ++k) shape[k] = lang::argument<T>(extents[k], at);
    lang::unravel(lang::ref_of(i), shape, indices, N, at);
    return lang::values_of<T>(indices, std::make_index_sequence<N>{});
}

/// Returns the linear index of an element of an array with these extents:
/// `ravel_index(std::array{y, x}, height, width)`.
template <lang::Expr I, std::size_t N, class... E>
requires(sizeof...(E) == N && (lang::Argument<E> && ...) && (!lang::HostNumber<E> && ...))
    [[nodiscard]] auto ravel_index(const std::array<I, N>& index, const E&... extents) {
    return lang::ravel_of(index, extents...);
}
template <lang::Expr I, std::size_t N, class... E>
requires(sizeof...(E) == N && (lang::Argument<E> && ...) && (lang::HostNumber<E> || ...))
    [[nodiscard]] auto ravel_index(const std::array<I, N>& index, E... extents) {
    return lang::ravel_of(index, extents...);
}

/// Takes the extents as an array of host integers or of Values.
template <class I, class E, std::size_t N>
requires lang::Expr<I>
[[nodiscard]] auto ravel_index(const std::array<I, N>& index, const std::array<E, N>& extents,
                               lang::Site at = lang::Site::here()) {
    using T = typename I::volley_type;
    static_assert(lang::Scalar<T> && lang::is_whole<T>,
                  "volley: ravel_index takes integers: convert with cast<u32>(v)");
    lang::Ref shape[N];
    lang::Ref indices[N];
    for (std::size_t k = 0; k < N; ++k) {
        shape[k] = lang::argument<T>(extents[k], at);
        indices[k] = lang::ref_of(index[k]);
    }
    return Value<T>(lang::ravel(indices, shape, N, at));
}

}  // namespace volley
