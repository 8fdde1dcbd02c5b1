// HostArray<T>: an array in page-locked host memory, which devices access fastest.
#pragma once

#include <volley/any_buffer.hpp>
#include <volley/array_view.hpp>
#include <volley/lang/type_of.hpp>

#include <initializer_list>
#include <memory>
#include <optional>

namespace volley {

struct HostArrayOptions {
    Shape padded_shape = {};  ///< the allocated shape; if equal to the buffer's, transfers are one piece
    std::optional<Queue> queue = {};  ///< its device allocates the memory; default: the context's first
};

/// A host array whose element type is known at run time. Copies of the handle refer to the same array, and
/// parts of it (sub()) to the same memory, which is freed when the last handle is destroyed and all transfers
/// that use it have completed.
class VOLLEY_API AnyHostArray {
public:
    AnyHostArray() noexcept = default;
    /// Allocates the memory; its contents are undefined. Throws as AnyBuffer does, and MemoryError.
    AnyHostArray(DType dtype, const Shape& shape, const HostArrayOptions& options = {});
    /// Returns a host array with the buffer's type, shape and padding, allocated by its device, so that
    /// transfers between the two are one piece.
    [[nodiscard]] static AnyHostArray like(const AnyBuffer& buffer);

    [[nodiscard]] DType dtype() const noexcept { return dtype_; }
    [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
    [[nodiscard]] const Shape& padded_shape() const noexcept { return padded_; }
    /// Returns the distance between neighbours along each axis, in bytes.
    [[nodiscard]] const Strides& strides() const noexcept { return strides_; }
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }
    /// Returns a part of the array, selected as by AnyBuffer::sub. Transfers of a part are as asynchronous as
    /// those of the whole, and are ordered after conflicting transfers of the same bytes only.
    [[nodiscard]] AnyHostArray sub(const Selection& selection) const;
    /// Returns the address of the first element. Throws if the context was destroyed.
    [[nodiscard]] std::byte* bytes() const;

protected:
    /// Throws ArgumentError (TypeMismatch) unless the elements have that type.
    void check_type(DType expected) const;

private:
    friend struct detail::BufferAccess;

    /// Throws for a default-constructed array.
    [[nodiscard]] runtime::Storage& storage() const;

    std::shared_ptr<runtime::Storage> storage_;
    DType dtype_;
    Shape shape_;
    Shape padded_;
    Strides strides_;
    std::int64_t size_ = 0;
    std::int64_t offset_ = 0;  // of the first element in the storage, in bytes
    bool is_part_ = false;
};

namespace detail {

/// Returns the array as one side of a transfer.
[[nodiscard]] inline HostSide side_of(const AnyHostArray& array) {
    return {.data = array.bytes(),
            .count = array.size(),
            .shaped = true,
            .shape = array.shape(),
            .strides = array.strides(),
            .array = &array};
}

}  // namespace detail

/// A page-locked array with elements of type T.
///
///     HostArray<float> host = dev.empty_like();
///     host(2, 3) = 1.0f;
///     Event e = dev.write_async(host);
template <class T>
class HostArray : public AnyHostArray {
public:
    using value_type = T;

    HostArray() noexcept = default;
    explicit HostArray(const Shape& shape, const HostArrayOptions& options = {})
        : AnyHostArray(dtype_of<T>(), shape, options) {}
    // NOLINTNEXTLINE(google-explicit-constructor): the numbers are a shape, not the elements
    explicit HostArray(std::initializer_list<Extent> shape, const HostArrayOptions& options = {})
        : HostArray(Shape(shape), options) {}
    /// Adds the type to a host array. Throws ArgumentError (TypeMismatch) if it has another one.
    explicit HostArray(AnyHostArray array) : AnyHostArray(std::move(array)) { check_type(dtype_of<T>()); }

    /// Returns a part of the array: `host.sub({slice(0, 4), all})`.
    [[nodiscard]] HostArray sub(const Selection& selection) const {
        return HostArray(AnyHostArray::sub(selection));
    }
    [[nodiscard]] T* data() const { return reinterpret_cast<T*>(bytes()); }
    /// Returns the elements without the padding: `for (float& x : host.view())`.
    [[nodiscard]] ArrayView<T> view() const {
        return ArrayView<T>(data(), shape(), strides().divided(sizeof(T)));
    }
    /// Returns the element at an index, which is not checked.
    template <class... I>
    [[nodiscard]] T& operator()(I... index) const {
        return view()(index...);
    }
};

}  // namespace volley
