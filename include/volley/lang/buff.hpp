// Buff<T>: a buffer as a kernel sees it. `data[i]` reads the element at once, and stores when assigned to.
#pragma once

#include <volley/lang/atomic.hpp>
#include <volley/lang/element.hpp>

namespace volley {

/// A buffer parameter to read and write; Buff<const T> to read only. The index is any integer; an element
/// outside of the buffer is undefined, as with plain pointers, and an error with VOLLEY_CHECK=bounds.
template <class T>
class Buff {
public:
    explicit Buff(lang::Ref root) : root_(root) {}

    [[nodiscard]] Element<T> operator[](lang::ElementIndex i) const {
        return Element<T>(lang::element(root_, &i.ref, 1));
    }
    [[nodiscard]] Atomic<T> atomic(lang::ElementIndex i) const {
        return Atomic<T>(lang::locate(root_, &i.ref, 1));
    }

    /// How many elements the bound buffer has.
    [[nodiscard]] Value<u32> size(lang::Site at = lang::Site::here()) const {
        return Value<u32>(lang::buffer_size(root_, ScalarType::U32, at));
    }
    [[nodiscard]] Value<u64> size64(lang::Site at = lang::Site::here()) const {
        return Value<u64>(lang::buffer_size(root_, ScalarType::U64, at));
    }

    friend constexpr lang::Ref ref_of(const Buff& buffer) noexcept { return buffer.root_; }

private:
    lang::Ref root_;
};

template <class T>
class Buff<const T> {
public:
    explicit Buff(lang::Ref root) : root_(root) {}
    Buff(const Buff<T>& buffer) : root_(ref_of(buffer)) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] ReadOnlyElement<T> operator[](lang::ElementIndex i) const {
        return ReadOnlyElement<T>(lang::element(root_, &i.ref, 1));
    }
    template <class I>
    [[nodiscard]] Atomic<T> atomic(const I&) const {
        static_assert(
            lang::never<I>,
            "volley: this buffer is read-only: declare the parameter as Buff<T> instead of Buff<const T>");
    }
    [[nodiscard]] Value<u32> size(lang::Site at = lang::Site::here()) const {
        return Value<u32>(lang::buffer_size(root_, ScalarType::U32, at));
    }
    [[nodiscard]] Value<u64> size64(lang::Site at = lang::Site::here()) const {
        return Value<u64>(lang::buffer_size(root_, ScalarType::U64, at));
    }

private:
    lang::Ref root_;
};

}  // namespace volley
