// Buffer<T>: an array that kernels work on, with a replica for each queue of every device of the context.
#pragma once

#include <volley/any_buffer.hpp>
#include <volley/array_view.hpp>
#include <volley/host_array.hpp>
#include <volley/lang/type_of.hpp>
#include <volley/mapping.hpp>
#include <volley/nested_list.hpp>

#include <concepts>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace volley {

namespace detail {

/// A sized range whose elements are exactly T.
template <class R, class T>
concept RangeOf = requires(const R& range) {
    { std::size(range) } -> std::convertible_to<std::size_t>;
    { *std::begin(range) } -> std::convertible_to<const T&>;
    requires std::same_as<std::iter_value_t<decltype(std::begin(range))>, T>;
};

/// A range whose elements are contiguous.
template <class R, class T>
concept ContiguousRangeOf = RangeOf<R, T> && requires(const R& range) {
    { std::data(range) } -> std::convertible_to<const T*>;
};

/// The element type of host data with a shape, an ArrayView or an mdspan; const if the data is read-only.
template <class R>
struct ShapedElement {};
template <class T>
struct ShapedElement<ArrayView<T>> {
    using type = T;
};
template <MdspanLike M>
struct ShapedElement<M> {
    using type = std::remove_reference_t<typename M::reference>;
};

template <class R>
concept ShapedHost = requires {
    typename ShapedElement<R>::type;
};

template <class R, class T>
concept ShapedHostOf = ShapedHost<R> && std::same_as<std::remove_const_t<typename ShapedElement<R>::type>, T>;

/// Data that can be written to a buffer of T. The element type of a host array is checked at run time.
template <class R, class T>
concept HostDataOf = RangeOf<R, T> || ShapedHostOf<R, T> || std::derived_from<R, AnyHostArray>;

/// Writable memory: an lvalue, or a view of memory such as std::span, not a temporary that owns its elements.
template <class R, class T>
concept WritableRangeOf = requires(R& range) {
    { std::size(range) } -> std::convertible_to<std::size_t>;
    { std::data(range) } -> std::same_as<T*>;
    requires std::is_lvalue_reference_v<R> || std::ranges::enable_borrowed_range<std::remove_cvref_t<R>>;
};
template <class R, class T>
concept WritableShapedOf = ShapedHost<R> && std::same_as<typename ShapedElement<R>::type, T>;

/// Memory that a buffer of T can be read into, for an argument of type R&&.
template <class R, class T>
concept HostMemoryOf = WritableRangeOf<R, T> || WritableShapedOf<std::remove_cvref_t<R>, T> ||
    std::derived_from<std::remove_cvref_t<R>, AnyHostArray>;

/// A std::initializer_list, whose elements are destroyed at the end of the full expression.
template <class R>
concept InitializerList = requires(const R& list) {
    []<class T>(std::initializer_list<T>) {}(list);
};

/// A range without a shape.
template <class R>
concept PlainRange = !ShapedHost<R> && !std::derived_from<R, AnyHostArray> && requires(const R& range) {
    *std::begin(range);
};

/// The element type of host data.
template <class R>
struct HostElement {};
template <PlainRange R>
struct HostElement<R> {
    using type = std::remove_cvref_t<decltype(*std::begin(std::declval<const R&>()))>;
};
template <ShapedHost R>
struct HostElement<R> {
    using type = std::remove_const_t<typename ShapedElement<R>::type>;
};
template <std::derived_from<AnyHostArray> R>
requires requires { typename R::value_type; }
struct HostElement<R> {
    using type = typename R::value_type;
};
template <class R>
using element_of = typename HostElement<R>::type;

template <class T>
[[nodiscard]] HostSide dense_side(const T* data, std::size_t count) {
    return {.data = reinterpret_cast<std::byte*>(const_cast<T*>(data)), .count = count};
}

template <class T>
[[nodiscard]] HostSide view_side(const ArrayView<T>& view) {
    return {.data = reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(view.data())),
            .count = static_cast<std::size_t>(view.size()),
            .shaped = true,
            .shape = view.shape(),
            .strides = view.strides().times(sizeof(T))};
}

/// Calls use(side) with the data. Copies the data first if it is not contiguous.
template <class T, class R, class F>
auto with_side(const R& data, F&& use) {
    if constexpr (std::derived_from<R, AnyHostArray>) {
        return use(side_of(data));
    } else if constexpr (MdspanLike<R>) {
        return use(view_side(as_view(data)));
    } else if constexpr (ShapedHost<R>) {
        return use(view_side(data));
    } else if constexpr (ContiguousRangeOf<R, T>) {
        return use(dense_side<T>(std::data(data), std::size(data)));
    } else {
        const std::size_t count = std::size(data);
        const auto copy = std::make_unique<T[]>(count);
        std::size_t i = 0;
        for (const T& element : data) copy[i++] = element;
        return use(dense_side<T>(copy.get(), count));
    }
}

}  // namespace detail

/// An array of numbers, complex numbers, vectors, matrices, std::arrays or reflected structs, in the host's
/// layout. AnyBuffer documents replicas, views and host access.
///
///     Buffer<float> big({1000, 1000});           // no memory until the first use
///     Buffer<int> data = as_buffer(host_vector);
///     std::vector<int> back = data.read(0);
///
/// A transfer takes the queue last, as a number or a Queue. Without one, writes go to all replicas.
///
///     data.write(host_vector, 1);
///     data.read_into(back, queue(1));
template <class T>
class Buffer : public AnyBuffer {
    static_assert(
        std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
        "volley: buffers hold plain values: numbers, complex, vec, mat, std::array, VOLLEY_STRUCT structs");

public:
    using value_type = T;

    Buffer() noexcept = default;
    /// Creates a buffer of the current context. Does not allocate. Throws as AnyBuffer does.
    explicit Buffer(const Shape& shape, BufferOptions options = {})
        : AnyBuffer(dtype_of<T>(), shape, std::move(options)) {}
    template <std::integral I>
    explicit Buffer(I size, BufferOptions options = {})
        : Buffer(std::initializer_list<Extent>{size}, std::move(options)) {}
    // NOLINTNEXTLINE(google-explicit-constructor): the numbers are a shape, not the elements
    explicit Buffer(std::initializer_list<Extent> shape, BufferOptions options = {})
        // Braces evaluate in order: the name is read before the options are moved from.
        : AnyBuffer{dtype_of<T>(), detail::shape_of_buffer(shape, options.name), std::move(options)} {}
    /// Adds the type to a buffer. Throws ArgumentError (TypeMismatch) if it has another one.
    explicit Buffer(AnyBuffer buffer) : AnyBuffer(std::move(buffer)) { check_type(dtype_of<T>()); }

    // ---- views: see AnyBuffer ----
    [[nodiscard]] Buffer view(std::size_t offset, std::size_t count) const {
        return Buffer(AnyBuffer::view(offset, count));
    }
    template <class U>
    [[nodiscard]] Buffer<U> view_as() const {
        return Buffer<U>(AnyBuffer::view_as(dtype_of<U>()));
    }
    [[nodiscard]] Buffer sub(const Selection& selection) const { return Buffer(AnyBuffer::sub(selection)); }
    [[nodiscard]] Buffer reshape(const Shape& shape) const { return Buffer(AnyBuffer::reshape(shape)); }

    // ---- host to device ----
    /// Copies host data to the queue's replica or to all: a range with as many elements in row-major order,
    /// or an ArrayView, mdspan or HostArray of the same shape. The data may change when the call returns; it
    /// blocks only if the device cannot take the data at once. Throws ArgumentError (SizeMismatch),
    /// MemoryError.
    template <detail::HostDataOf<T> R>
    void write(const R& data, std::optional<QueueRef> queue = {}) {
        detail::with_side<T>(data, [&](const detail::HostSide& side) { write_from(side, queue, false); });
    }
    void write(std::initializer_list<T> data, std::optional<QueueRef> queue = {}) {
        write<std::initializer_list<T>>(data, queue);
    }
    /// Copies host data without blocking. An lvalue or a std::span must not change before the event; the
    /// memory of any other rvalue and of a HostArray is kept until then.
    template <class R>
    requires detail::HostDataOf<std::remove_cvref_t<R>, T> Event
    write_async(R&& data, std::optional<QueueRef> queue = {}) {
        using Data = std::remove_cvref_t<R>;
        if constexpr (std::derived_from<Data, AnyHostArray> || std::is_lvalue_reference_v<R>) {
            constexpr bool stays = std::derived_from<Data, AnyHostArray> || detail::ShapedHost<Data> ||
                                   detail::ContiguousRangeOf<Data, T>;
            return detail::with_side<T>(
                data, [&](const detail::HostSide& side) { return write_from(side, queue, stays); });
        } else if constexpr (detail::ContiguousRangeOf<Data, T> && !detail::InitializerList<Data>) {
            const auto owner = std::make_shared<const Data>(std::forward<R>(data));
            return detail::with_side<T>(
                *owner, [&](const detail::HostSide& side) { return write_from(side, queue, true, owner); });
        } else {
            return detail::with_side<T>(
                data, [&](const detail::HostSide& side) { return write_from(side, queue, false); });
        }
    }
    /// Sets every element of the queue's replica or of all. Does not block.
    Event fill(const T& value, std::optional<QueueRef> queue = {}) {
        return fill_bytes(std::as_bytes(std::span<const T, 1>(&value, 1)), queue);
    }

    // ---- device to host ----
    /// Returns the elements of the queue's replica in row-major order. Blocks until the last write to it has
    /// completed. Throws MemoryError (NotAllocated) if nothing was ever written to it.
    [[nodiscard]] std::vector<T> read(QueueRef queue) const {
        check_readable(queue);  // before the result is allocated
        if constexpr (std::same_as<T, bool>) {
            // Bytes: memory that nothing has written may have others than 0 and 1, which no bool may have.
            static_assert(sizeof(bool) == 1);
            const auto bytes = std::make_unique<unsigned char[]>(size());
            read_into(std::span<bool>(reinterpret_cast<bool*>(bytes.get()), size()), queue);
            return std::vector<bool>(bytes.get(), bytes.get() + size());
        } else {
            std::vector<T> data(size());
            read_into(data, queue);
            return data;
        }
    }
    /// Returns the elements of every replica, in the order of the queues. Blocks as read(queue) does.
    [[nodiscard]] std::vector<std::vector<T>> read() const {
        std::vector<std::vector<T>> all_replicas;
        for (unsigned r = 0; r < replica_count(); ++r) all_replicas.push_back(read(queue_of_replica(r)));
        return all_replicas;
    }
    /// Copies the elements to host memory: a contiguous range of as many elements, or an ArrayView, mdspan or
    /// HostArray of the same shape. Blocks and throws as read(queue) does.
    template <class R>
    requires detail::HostMemoryOf<R, T>
    void read_into(R&& to, QueueRef queue = 0) const {
        detail::with_side<T>(to, [&](const detail::HostSide& side) { read_to(side, queue, false); });
    }
    /// Copies the elements without blocking. The memory must exist until the event; that of a HostArray is
    /// kept until then.
    template <class R>
    requires detail::HostMemoryOf<R, T> Event read_async(R&& to, QueueRef queue = 0)
    const {
        return detail::with_side<T>(to,
                                    [&](const detail::HostSide& side) { return read_to(side, queue, true); });
    }
    /// Returns the value of a buffer with one element. Blocks as read(queue) does. Throws ArgumentError
    /// (SizeMismatch) for other sizes.
    [[nodiscard]] T item(QueueRef queue = 0) const {
        check_single();
        T value;
        read_into(std::span<T, 1>(&value, 1), queue);
        return value;
    }

    // ---- host memory ----
    /// Returns page-locked memory with the buffer's shape and padding, for the fastest transfers.
    [[nodiscard]] HostArray<T> empty_like() const { return HostArray<T>(AnyHostArray::like(*this)); }

    // The following return the device's memory without a copy; AnyBuffer::as_host_bytes documents when they
    // block and what they throw.

    /// Returns the elements of a contiguous buffer. Throws ArgumentError (InvalidView) for any other one, for
    /// which there is as_array().
    [[nodiscard]] std::span<const T> as_span(QueueRef queue = 0) const {
        check_contiguous();
        return detail::elements<const T>(as_host_bytes(queue), size());
    }
    [[nodiscard]] std::span<T> as_span(QueueRef queue = 0) {
        check_contiguous();
        return detail::elements<T>(as_host_bytes(queue), size());
    }
    /// Returns the array with its shape and strides.
    [[nodiscard]] ArrayView<const T> as_array(QueueRef queue = 0) const {
        return detail::array_of<const T>(as_host_bytes(queue), shape(), strides());
    }
    [[nodiscard]] ArrayView<T> as_array(QueueRef queue = 0) {
        return detail::array_of<T>(as_host_bytes(queue), shape(), strides());
    }
    /// Returns a guard with the array; until it is destroyed, commands that use the replica throw.
    [[nodiscard]] Mapping<const T> map(QueueRef queue = 0) const { return Mapping<const T>(*this, queue); }
    [[nodiscard]] Mapping<T> map(QueueRef queue = 0) { return Mapping<T>(*this, queue); }
};

/// Returns a buffer with the data in every replica. The buffer of an ArrayView or mdspan has its shape, that
/// of a HostArray also its padding; that of any other range is one-dimensional. Throws as the constructor and
/// Buffer::write do.
template <class R>
requires detail::HostDataOf<R, detail::element_of<R>>
[[nodiscard]] Buffer<detail::element_of<R>> as_buffer(const R& data, BufferOptions options = {}) {
    if constexpr (detail::MdspanLike<R>) {
        return as_buffer(as_view(data), std::move(options));
    } else {
        Shape shape;
        if constexpr (detail::ShapedHost<R> || std::derived_from<R, AnyHostArray>) {
            shape = data.shape();
        } else {
            shape = Shape(std::size(data));
        }
        if constexpr (std::derived_from<R, AnyHostArray>) {
            if (options.padded_shape.rank() == 0) options.padded_shape = data.padded_shape();
        }
        Buffer<detail::element_of<R>> buffer(shape, std::move(options));
        buffer.write(data);
        return buffer;
    }
}
/// Returns a buffer of the given shape. Throws ArgumentError (SizeMismatch) unless the range has as many
/// elements.
template <detail::PlainRange R>
requires detail::RangeOf<R, detail::element_of<R>>
[[nodiscard]] Buffer<detail::element_of<R>> as_buffer(const R& data, const Shape& shape,
                                                      BufferOptions options = {}) {
    Buffer<detail::element_of<R>> buffer(shape, std::move(options));
    buffer.write(data);
    return buffer;
}
/// Returns a buffer of values, rows, or planes of rows: `as_buffer({{1, 2, 3}, {4, 5, 6}})`. Throws
/// ArgumentError (InvalidShape) for lists of different lengths.
template <class T>
[[nodiscard]] Buffer<T> as_buffer(std::initializer_list<T> data, BufferOptions options = {}) {
    return as_buffer<std::initializer_list<T>>(data, std::move(options));
}
template <class T>
[[nodiscard]] Buffer<T> as_buffer(std::initializer_list<std::initializer_list<T>> rows,
                                  BufferOptions options = {}) {
    const auto data = detail::nested(rows);
    return as_buffer(data.elements(), data.shape, std::move(options));
}
template <class T>
[[nodiscard]] Buffer<T> as_buffer(
    std::initializer_list<std::initializer_list<std::initializer_list<T>>> planes,
    BufferOptions options = {}) {
    const auto data = detail::nested(planes);
    return as_buffer(data.elements(), data.shape, std::move(options));
}

}  // namespace volley
