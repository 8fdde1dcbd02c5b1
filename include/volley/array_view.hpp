// ArrayView<T>: an n-dimensional array in somebody else's memory, known by its first element, shape and
// strides. It owns nothing and copies like a pointer.
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

/// Throws ArgumentError: InvalidArgument for elements at a null pointer, InvalidShape where the ranks differ.
VOLLEY_API void check_view(const void* data, const Shape& shape, const Strides& strides, std::int64_t size);

}  // namespace detail

/// Up to 8 dimensions, with strides in elements, which may be any (also 0 or negative). `ArrayView<const T>`
/// to read only; an `ArrayView<T>` converts to it. As with pointers, being const says nothing of the
/// elements.
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

    /// No elements: shape (0,).
    ArrayView() = default;

    /// Elements that lie one behind the other, the last index running fastest. Throws ArgumentError: Overflow
    /// for too large a shape, InvalidArgument for elements at a null pointer.
    ArrayView(T* data, const Shape& shape) : ArrayView(data, shape, row_major_strides(shape)) {}

    /// Strides in elements; also InvalidShape where there are more or fewer of them than axes.
    ArrayView(T* data, const Shape& shape, const Strides& strides)
        : data_(data), shape_(shape), strides_(strides), size_(shape.elements()) {
        detail::check_view(data, shape, strides, size_);
    }

    template <class U>
    requires std::same_as<const U, T>
    // NOLINTNEXTLINE(google-explicit-constructor): as T* converts to const T*
    ArrayView(const ArrayView<U>& other)
    noexcept : data_(other.data_), shape_(other.shape_), strides_(other.strides_), size_(other.size_) {}

    /// The element at index 0 on all axes.
    [[nodiscard]] T* data() const noexcept { return data_; }
    [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
    /// In elements.
    [[nodiscard]] const Strides& strides() const noexcept { return strides_; }
    [[nodiscard]] int rank() const noexcept { return shape_.rank(); }
    /// Not checked: 0 <= axis < rank().
    [[nodiscard]] std::int64_t extent(int axis) const noexcept { return shape_[axis]; }
    [[nodiscard]] std::int64_t stride(int axis) const noexcept { return strides_[axis]; }
    /// The number of elements.
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// Whether the elements lie one behind the other in row-major order: then they are std::span(data(),
    /// size()).
    [[nodiscard]] bool is_contiguous() const { return is_dense(shape_, strides_); }

    /// Not checked: one index for each axis, inside of the shape.
    template <ExtentInteger... I>
    requires(sizeof...(I) <= max_rank) [[nodiscard]] T& operator()(I... index) const noexcept {
        int axis = 0;
        std::int64_t offset = 0;
        ((offset += static_cast<std::int64_t>(index) * strides_[axis++]), ...);
        return data_[offset];
    }

    /// Throws ArgumentError: IndexError outside of the shape, InvalidShape unless there is one index for each
    /// axis.
    template <ExtentInteger... I>
    requires(sizeof...(I) <= max_rank) [[nodiscard]] T& at(I... index) const {
        (void)ravel_index(Index{static_cast<std::int64_t>(index)...}, shape_);
        return (*this)(index...);
    }

    /// A part of it: view[{slice(0, 4), all}], view[2]. An integer takes an axis away: view[2] of a matrix is
    /// its row, and of a row a view of rank 0, whose element is view[2](). Throws what a selection throws
    /// (detail::select).
    [[nodiscard]] ArrayView operator[](const Selection& selection) const {
        ArrayView part = *this;
        const std::int64_t offset = detail::select(part.shape_, part.strides_, selection, "a view");
        part.size_ = part.shape_.elements();
        if (part.size_ != 0) part.data_ += offset;
        return part;
    }

    /// The elements in row-major order. Iterators refer to the view, which has to outlive them.
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

/// A forward iterator. One step is an addition, but at the end of a row.
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
    std::int64_t position_ = 0;  // in row-major order; what follows belongs to it, but at the end
    std::int64_t offset_ = 0;
    std::array<std::int64_t, max_rank> index_{};
};

namespace detail {

/// std::mdspan and its kin, by what they can do: strided, with elements that are plain memory (an accessor
/// that computes elements has another reference type).
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

/// The view of an array that a std::mdspan (or what looks like one) describes, of any layout with strides.
/// Throws ArgumentError: InvalidShape for more than 8 dimensions, InvalidArgument for a layout that has no
/// strides, Overflow.
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
