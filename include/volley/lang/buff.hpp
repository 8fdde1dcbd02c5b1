// Buff<T>: a buffer parameter of a kernel.
#pragma once

#include <volley/lang/atomic.hpp>
#include <volley/lang/element.hpp>

namespace volley {
namespace lang {

/// Returns the element index of a position, given by one index per dimension.
template <class... I>
[[nodiscard]] Ref position_in(Ref buffer, const I&... indices) {
    static_assert(sizeof...(I) >= 1 && sizeof...(I) <= 8,
                  "volley: a buffer is accessed with one index per dimension: one to eight");
    const Ref list[] = {ElementIndex(indices, Site{}).ref...};
    return buffer_position(buffer, list, sizeof...(I));
}

/// The members that Buff<T> and Buff<const T> share.
class BuffSizes {
public:
    /// Returns the number of elements that the kernel may access: of a padded array, with its padding.
    [[nodiscard]] Value<u32> size(Site at = Site::here()) const {
        return Value<u32>(buffer_size(root_, ScalarType::U32, at));
    }
    [[nodiscard]] Value<u64> size64(Site at = Site::here()) const {
        return Value<u64>(buffer_size(root_, ScalarType::U64, at));
    }
    /// Returns the extent of an axis of the bound buffer; axis 0 is the first. A launch with a buffer that
    /// lacks the axis throws LaunchError.
    [[nodiscard]] Value<u32> extent(int axis, Site at = Site::here()) const {
        return Value<u32>(buffer_extent(root_, axis, ScalarType::U32, at));
    }
    [[nodiscard]] Value<u64> extent64(int axis, Site at = Site::here()) const {
        return Value<u64>(buffer_extent(root_, axis, ScalarType::U64, at));
    }

    friend constexpr Ref ref_of(const BuffSizes& buffer) noexcept { return buffer.root_; }

protected:
    explicit BuffSizes(Ref root) : root_(root) {}
    Ref root_;
};

}  // namespace lang

/// A buffer to read and write; declare Buff<const T> to read only.
///
/// `data[i]` is element i in memory. `image(y, x)` is the element at a position of the bound buffer, with one
/// index per dimension: the runtime passes the strides, so that padded arrays and views work. Both load the
/// element at once, and store when they are assigned to. Indices may be of any integer type. If one of a
/// position has 64 bits, the element index is computed in 64 bits; with 32-bit indices, a launch with a
/// buffer of more than 2^32 elements throws LaunchError, as does a launch with a buffer of another rank.
///
/// An access outside the buffer is undefined, as with plain pointers; with VOLLEY_CHECK=bounds it is an
/// error.
///
///     auto shift = kernel("shift", [](Buff<float> to, Buff<const float> from) {
///         const auto x = global_id().x, y = global_id().y;
///         to(y, x) = from(y, (x + 1) % from.extent(1));
///     });
///     shift.over(to)(to, from);  // x runs along the last axis
template <class T>
class Buff : public lang::BuffSizes {
public:
    explicit Buff(lang::Ref root) : BuffSizes(root) {}

    [[nodiscard]] Element<T> operator[](lang::ElementIndex i) const {
        return Element<T>(lang::element(root_, &i.ref, 1));
    }
    template <class... I>
    [[nodiscard]] Element<T> operator()(const I&... indices) const {
        const lang::Ref at = lang::position_in(root_, indices...);
        return Element<T>(lang::element(root_, &at, 1));
    }
    /// Returns an element for atomic operations: `counts.atomic(i)`, `grid.atomic(y, x)`.
    [[nodiscard]] Atomic<T> atomic(lang::ElementIndex i) const {
        return Atomic<T>(lang::locate(root_, &i.ref, 1));
    }
    template <class... I>
    requires(sizeof...(I) >= 2) [[nodiscard]] Atomic<T> atomic(const I&... indices) const {
        const lang::Ref at = lang::position_in(root_, indices...);
        return Atomic<T>(lang::locate(root_, &at, 1));
    }
};

template <class T>
class Buff<const T> : public lang::BuffSizes {
public:
    explicit Buff(lang::Ref root) : BuffSizes(root) {}
    Buff(const Buff<T>& buffer) : BuffSizes(ref_of(buffer)) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] ReadOnlyElement<T> operator[](lang::ElementIndex i) const {
        return ReadOnlyElement<T>(lang::element(root_, &i.ref, 1));
    }
    template <class... I>
    [[nodiscard]] ReadOnlyElement<T> operator()(const I&... indices) const {
        const lang::Ref at = lang::position_in(root_, indices...);
        return ReadOnlyElement<T>(lang::element(root_, &at, 1));
    }
    template <class I, class... More>
    [[nodiscard]] Atomic<T> atomic(const I&, const More&...) const {
        static_assert(
            lang::never<I>,
            "volley: this buffer is read-only: declare the parameter as Buff<T> instead of Buff<const T>");
    }
};

}  // namespace volley
