// Arrays in page-locked host memory: what devices read and write fastest.
#pragma once

#include <volley/any_buffer.hpp>
#include <volley/array_view.hpp>
#include <volley/lang/type_of.hpp>

#include <initializer_list>
#include <memory>
#include <optional>

namespace volley {

struct HostArrayOptions {
    Shape padded_shape = {};          ///< as of buffers: a transfer is one piece when both agree
    std::optional<Queue> queue = {};  ///< the device whose backend makes the memory; else the context's first
};

/// A host array whose element type is known at run time. A handle: copies are the same array. Its memory is
/// kept until transfers that use it are done.
class VOLLEY_API AnyHostArray {
public:
    AnyHostArray() noexcept = default;
    /// Allocates at once; the contents are undefined. Throws as AnyBuffer does, and MemoryError.
    AnyHostArray(DType dtype, const Shape& shape, const HostArrayOptions& options = {});
    /// With the type, shape and padding of a buffer, made by its device: transfers between the two are one
    /// piece.
    [[nodiscard]] static AnyHostArray like(const AnyBuffer& buffer);

    [[nodiscard]] DType dtype() const noexcept { return dtype_; }
    [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
    [[nodiscard]] const Shape& padded_shape() const noexcept { return padded_; }
    /// In bytes.
    [[nodiscard]] const Strides& strides() const noexcept { return strides_; }
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }
    /// The first element; the host's addresses are those of its strides from here. Throws when the context is
    /// gone.
    [[nodiscard]] std::byte* bytes() const;

    /// Throws ArgumentError (TypeMismatch) unless the elements are of that type.
    void check_type(DType wanted) const;
    /// What transfers need to know of it.
    [[nodiscard]] detail::HostSide side() const {
        return {.data = bytes(),
                .count = size(),
                .shaped = true,
                .shape = shape_,
                .strides = strides_,
                .array = this};
    }
    /// For the runtime; throws for a default-constructed one.
    [[nodiscard]] runtime::Storage& storage() const;
    [[nodiscard]] const std::shared_ptr<runtime::Storage>& shared_storage() const noexcept {
        return storage_;
    }

private:
    std::shared_ptr<runtime::Storage> storage_;
    DType dtype_;
    Shape shape_;
    Shape padded_;
    Strides strides_;
    std::int64_t size_ = 0;
};

/// Page-locked elements of type T.
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
    explicit HostArray(AnyHostArray array) : AnyHostArray(std::move(array)) { check_type(dtype_of<T>()); }

    [[nodiscard]] T* data() const { return reinterpret_cast<T*>(bytes()); }
    /// Its elements, without the padding: `for (float& x : host.view())`.
    [[nodiscard]] ArrayView<T> view() const {
        return ArrayView<T>(data(), shape(), strides().divided(sizeof(T)));
    }
    /// Unchecked.
    template <class... I>
    [[nodiscard]] T& operator()(I... index) const {
        return view()(index...);
    }
};

}  // namespace volley
