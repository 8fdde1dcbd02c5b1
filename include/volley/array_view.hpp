// ArrayView<T>: a non-owning n-dimensional array, described by its first element, shape and strides. It
// copies like a pointer.
#pragma once

#include <volley/error.hpp>
#include <volley/shape.hpp>
#include <volley/slice.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>

namespace volley {

namespace detail {

/// Throws ArgumentError: InvalidArgument for elements at a null pointer, InvalidShape if the ranks differ.
VOLLEY_API void check_view(const void* data, const Shape& shape, const Strides& strides, std::int64_t size);

}  // namespace detail

/// A view of up to 8 dimensions with arbitrary strides in elements, including 0 and negative ones. An
/// `ArrayView<T>` converts to the read-only `ArrayView<const T>`. As with pointers, a const view does not
/// make the elements const.
///
///     ArrayView<float> image(pixels.data(), {height, width});
///     image(y, x) = 1;                                // not checked
///     ArrayView<float> tile = image[{slice(0, 8), slice(none, none, 2)}];
///     for (float& pixel : tile) pixel *= 2;
template <class T>
class ArrayView {
public:
    class Iterator;
    using element_type = T;
    using value_type = std::remove_cv_t<T>;
    using iterator = Iterator;

    /// Creates a view without elements, of shape (0,).
    ArrayView() = default;

    /// Creates a view of contiguous elements in row-major order. Throws ArgumentError: Overflow if the shape
    /// is too large, InvalidArgument for elements at a null pointer.
    ArrayView(T* data, const Shape& shape) : ArrayView(data, shape, row_major_strides(shape)) {}

    /// Creates a view with strides in elements. Also throws InvalidShape unless there is one stride per axis.
    ArrayView(T* data, const Shape& shape, const Strides& strides)
        : data_(data), shape_(shape), strides_(strides), size_(shape.elements()) {
        detail::check_view(data, shape, strides, size_);
    }

    template <class U>
    requires std::same_as<const U, T>
    // NOLINTNEXTLINE(google-explicit-constructor): as T* converts to const T*
    ArrayView(const ArrayView<U>& other)
    noexcept : data_(other.data_), shape_(other.shape_), strides_(other.strides_), size_(other.size_) {}

    /// Returns the address of the element at index 0 on all axes.
    [[nodiscard]] T* data() const noexcept { return data_; }
    [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
    /// Returns the strides in elements.
    [[nodiscard]] const Strides& strides() const noexcept { return strides_; }
    [[nodiscard]] int rank() const noexcept { return shape_.rank(); }
    /// Return the extent and the stride of an axis. Requires 0 <= axis < rank(), which is not checked.
    [[nodiscard]] std::int64_t extent(int axis) const noexcept { return shape_[axis]; }
    [[nodiscard]] std::int64_t stride(int axis) const noexcept { return strides_[axis]; }
    /// Returns the number of elements.
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// Returns whether the elements are contiguous in row-major order, as in std::span(data(), size()).
    [[nodiscard]] bool is_contiguous() const { return is_dense(shape_, strides_); }

    /// Returns an element. Requires one index per axis within the shape, which is not checked.
    template <ExtentInteger... I>
    requires(sizeof...(I) <= max_rank) [[nodiscard]] T& operator()(I... index) const noexcept {
        int axis = 0;
        std::int64_t offset = 0;
        ((offset += static_cast<std::int64_t>(index) * strides_[axis++]), ...);
        return data_[offset];
    }

    /// Returns an element. Throws ArgumentError: IndexError outside the shape, InvalidShape unless there is
    /// one index per axis.
    template <ExtentInteger... I>
    requires(sizeof...(I) <= max_rank) [[nodiscard]] T& at(I... index) const {
        (void)ravel_index(Index{static_cast<std::int64_t>(index)...}, shape_);
        return (*this)(index...);
    }

    /// Returns a part of the view: view[{slice(0, 4), all}], view[2]. An integer removes its axis: view[2] is
    /// a row of a matrix, or a view of rank 0 of a row, whose element is view[2](). Throws as detail::select
    /// does.
    [[nodiscard]] ArrayView operator[](const Selection& selection) const {
        ArrayView part = *this;
        const std::int64_t offset = detail::select(part.shape_, part.strides_, selection, "a view");
        part.size_ = part.shape_.elements();
        if (part.size_ != 0) part.data_ += offset;
        return part;
    }

    /// Iterates over the elements in row-major order. The view must outlive its iterators.
    [[nodiscard]] Iterator begin() const noexcept { return Iterator(*this, 0); }
    [[nodiscard]] Iterator end() const noexcept { return Iterator(*this, size_); }

private:
    template <class>
    friend class ArrayView;

    T* data_ = nullptr;
    Shape shape_ = {0};
    Strides strides_ = row_major_strides({0});
    std::int64_t size_ = 0;
};

/// A forward iterator. A step is one addition, except at the end of a row.
template <class T>
class ArrayView<T>::Iterator {
public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::remove_cv_t<T>;
    using difference_type = std::ptrdiff_t;
    using pointer = T*;
    using reference = T&;

    Iterator() = default;

    [[nodiscard]] T& operator*() const noexcept { return view_->data_[offset_]; }
    [[nodiscard]] T* operator->() const noexcept { return &**this; }

    Iterator& operator++() noexcept {
        ++position_;
        for (int axis = view_->rank() - 1; axis >= 0; --axis) {
            std::int64_t& i = index_[static_cast<std::size_t>(axis)];
            offset_ += view_->strides_[axis];
            if (++i < view_->shape_[axis]) break;
            offset_ -= i * view_->strides_[axis];
            i = 0;
        }
        return *this;
    }
    Iterator operator++(int) noexcept {
        Iterator before = *this;
        ++*this;
        return before;
    }

    friend bool operator==(const Iterator& a, const Iterator& b) noexcept {
        return a.position_ == b.position_;
    }

private:
    friend class ArrayView;
    Iterator(const ArrayView& view, std::int64_t position) noexcept : view_(&view), position_(position) {}

    const ArrayView* view_ = nullptr;
    std::int64_t position_ = 0;  // in row-major order; offset_ and index_ match it, except at the end
    std::int64_t offset_ = 0;
    std::array<std::int64_t, max_rank> index_{};
};

namespace detail {

/// std::mdspan and types with the same interface: strided, with elements in plain memory (an accessor that
/// computes elements has another reference type).
template <class M>
concept MdspanLike = requires(const M& array, std::size_t axis) {
    { array.rank() } -> std::convertible_to<std::size_t>;
    { array.extent(axis) } -> ExtentInteger;
    { array.stride(axis) } -> ExtentInteger;
    { array.is_strided() } -> std::convertible_to<bool>;
    requires std::is_pointer_v<std::remove_cvref_t<decltype(array.data_handle())>>;
    requires std::same_as<typename M::reference, decltype(*array.data_handle())>;
};

[[noreturn]] VOLLEY_API void fail_not_strided();

}  // namespace detail

/// Returns a view of the array that a std::mdspan, or a type with its interface, describes. Throws
/// ArgumentError: InvalidShape for more than 8 dimensions, InvalidArgument for a layout without strides,
/// Overflow.
template <detail::MdspanLike M>
[[nodiscard]] auto as_view(const M& array) {
    const auto rank = static_cast<std::size_t>(array.rank());
    if (rank > static_cast<std::size_t>(max_rank)) detail::fail_rank(rank);
    if (!array.is_strided()) detail::fail_not_strided();
    std::array<std::int64_t, max_rank> extents{};
    std::array<std::int64_t, max_rank> strides{};
    for (std::size_t axis = 0; axis < rank; ++axis) {
        extents[axis] = Extent(array.extent(axis)).value();
        strides[axis] = detail::to_index(array.stride(axis));
    }
    return ArrayView<std::remove_pointer_t<std::remove_cvref_t<decltype(array.data_handle())>>>(
        array.data_handle(), Shape(std::span<const std::int64_t>(extents).first(rank)),
        Strides(std::span<const std::int64_t>(strides).first(rank)));
}

}  // namespace volley
