// Buff<T>: a buffer parameter of a kernel.
#pragma once

#include <volley/lang/atomic.hpp>
#include <volley/lang/element.hpp>

#include <initializer_list>

namespace volley {
namespace lang {

/// Returns the element index of a position, given by one index per dimension.
[[nodiscard]] inline Ref position_in(Ref buffer, std::initializer_list<ElementIndex> indices) {
    Ref list[8];
    std::size_t count = 0;
    for (const ElementIndex& index : indices) {
        if (index.given()) list[count++] = index.ref;
    }
    return buffer_position(buffer, list, count);
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
    using Index = lang::ElementIndex;

public:
    explicit Buff(lang::Ref root) : BuffSizes(root) {}

    [[nodiscard]] Element<T> operator[](Index i) const { return Element<T>(lang::element(root_, &i.ref, 1)); }
    [[nodiscard]] Element<T> operator()(Index a, Index b = {}, Index c = {}, Index d = {}, Index e = {},
                                        Index f = {}, Index g = {}, Index h = {}) const {
        const lang::Ref at = lang::position_in(root_, {a, b, c, d, e, f, g, h});
        return Element<T>(lang::element(root_, &at, 1));
    }
    /// Returns an element for atomic operations: `counts.atomic(i)`, `grid.atomic(y, x)`.
    [[nodiscard]] Atomic<T> atomic(Index i) const { return Atomic<T>(lang::locate(root_, &i.ref, 1)); }
    [[nodiscard]] Atomic<T> atomic(Index a, Index b, Index c = {}, Index d = {}, Index e = {}, Index f = {},
                                   Index g = {}, Index h = {}) const {
        const lang::Ref at = lang::position_in(root_, {a, b, c, d, e, f, g, h});
        return Atomic<T>(lang::locate(root_, &at, 1));
    }
};

template <class T>
class Buff<const T> : public lang::BuffSizes {
    using Index = lang::ElementIndex;

public:
    explicit Buff(lang::Ref root) : BuffSizes(root) {}
    Buff(const Buff<T>& buffer) : BuffSizes(ref_of(buffer)) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] ReadOnlyElement<T> operator[](Index i) const {
        return ReadOnlyElement<T>(lang::element(root_, &i.ref, 1));
    }
    [[nodiscard]] ReadOnlyElement<T> operator()(Index a, Index b = {}, Index c = {}, Index d = {},
                                                Index e = {}, Index f = {}, Index g = {},
                                                Index h = {}) const {
        const lang::Ref at = lang::position_in(root_, {a, b, c, d, e, f, g, h});
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
