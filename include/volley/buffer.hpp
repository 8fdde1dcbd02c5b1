// Buffer<T>: data that kernels work on, with a replica for each queue of every device of the context.
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
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace volley {

namespace detail {

/// A range of Ts: anything with a size that can be iterated, whose elements are T exactly.
template <class R, class T>
concept RangeOf = requires(const R& range) {
    { std::size(range) } -> std::convertible_to<std::size_t>;
    { *std::begin(range) } -> std::convertible_to<const T&>;
    requires std::same_as<std::iter_value_t<decltype(std::begin(range))>, T>;
};

/// One that lies in memory in one piece.
template <class R, class T>
concept ContiguousRangeOf = RangeOf<R, T> && requires(const R& range) {
    { std::data(range) } -> std::convertible_to<const T*>;
};

/// Shaped host data: an ArrayView, or what looks like std::mdspan.
template <class R>
concept ShapedHost = MdspanLike<R> || requires(const R& view) {
    []<class T>(const ArrayView<T>&) {}(view);
};

/// The same, with elements of type T.
template <MdspanLike M>
std::remove_cvref_t<typename M::reference> shaped_element(const M& array);
template <class T>
std::remove_cv_t<T> shaped_element(const ArrayView<T>& view);
template <class R, class T>
concept ShapedHostOf = ShapedHost<R> && requires(const R& data) {
    { shaped_element(data) } -> std::same_as<T>;
};

/// What a buffer of T can be written with. The elements of a host array are looked at when it is.
template <class R, class T>
concept HostDataOf = RangeOf<R, T> || ShapedHostOf<R, T> || std::derived_from<R, AnyHostArray>;

/// Whose elements end with the expression that it stands in.
template <class R>
concept InitializerList = requires(const R& list) {
    []<class T>(std::initializer_list<T>) {}(list);
};

template <class R>
using element_of = std::remove_cvref_t<decltype(*std::begin(std::declval<const R&>()))>;

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

/// Calls use(side) with the data, which is copied first where it does not lie in one piece.
template <class T, class R, class F>
auto with_side(const R& data, F&& use) {
    if constexpr (std::derived_from<R, AnyHostArray>) {
        return use(data.side());
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

/// Elements of a scalar, complex, vector, matrix, std::array or reflected struct type, in the host's layout.
///
///     Buffer<float> big({1000, 1000});           // lazy: no memory until first use
///     Buffer<int> data = as_buffer(host_vector);
///     std::vector<int> back = data.read(0);
template <class T>
class Buffer : public AnyBuffer {
    static_assert(
        std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
        "volley: buffers hold plain values: numbers, complex, vec, mat, std::array, VOLLEY_STRUCT structs");

public:
    using value_type = T;

    Buffer() noexcept = default;
    /// For the current context. Nothing is allocated yet.
    explicit Buffer(const Shape& shape, BufferOptions options = {})
        : AnyBuffer(dtype_of<T>(), shape, std::move(options)) {}
    template <std::integral I>
    explicit Buffer(I size, BufferOptions options = {})
        : Buffer(std::initializer_list<Extent>{size}, std::move(options)) {}
    // NOLINTNEXTLINE(google-explicit-constructor): the numbers are a shape, not the elements
    explicit Buffer(std::initializer_list<Extent> shape, BufferOptions options = {})
        // In braces, which keep the order: the name is read before it moves on.
        : AnyBuffer{dtype_of<T>(), detail::shape_of_buffer(shape, options.name), std::move(options)} {}
    /// The same buffer with its type known. Throws ArgumentError (TypeMismatch) where it is another.
    explicit Buffer(AnyBuffer buffer) : AnyBuffer(std::move(buffer)) { check_type(dtype_of<T>()); }

    // Views: see AnyBuffer
    [[nodiscard]] Buffer view(std::size_t offset, std::size_t count) const {
        return Buffer(AnyBuffer::view(offset, count));
    }
    template <class U>
    [[nodiscard]] Buffer<U> view_as() const {
        return Buffer<U>(AnyBuffer::view_as(dtype_of<U>()));
    }
    [[nodiscard]] Buffer sub(const Selection& selection) const { return Buffer(AnyBuffer::sub(selection)); }
    [[nodiscard]] Buffer reshape(const Shape& shape) const { return Buffer(AnyBuffer::reshape(shape)); }

    /// Copies host data to all replicas, or to a queue's: a range of as many elements in row-major order; an
    /// ArrayView, an mdspan or a HostArray of the same shape. The data can be changed when it returns; it
    /// waits only where it must.
    template <detail::HostDataOf<T> R>
    void write(const R& data) {
        detail::with_side<T>(data,
                             [this](const detail::HostSide& side) { write_from(side, nullptr, false); });
    }
    template <detail::HostDataOf<T> R>
    void write(const R& data, const Queue& queue) {
        detail::with_side<T>(data, [&](const detail::HostSide& side) { write_from(side, &queue, false); });
    }
    void write(std::initializer_list<T> data) { write<std::initializer_list<T>>(data); }
    /// One element.
    void write(const T& value) requires(!requires(const T& several) { std::begin(several); }) {
        write(std::span<const T, 1>(&value, 1));
    }

    /// The same without waiting: data that is given as an lvalue, or by a std::span, must stay as it is until
    /// the event; any other rvalue is kept alive until then, and so is a HostArray's memory.
    template <class R>
    requires detail::HostDataOf<std::remove_cvref_t<R>, T> Event write_async(R&& data) {
        return write_async_to(nullptr, std::forward<R>(data));
    }
    template <class R>
    requires detail::HostDataOf<std::remove_cvref_t<R>, T> Event write_async(R&& data, const Queue& queue) {
        return write_async_to(&queue, std::forward<R>(data));
    }

    /// The elements of queue k's replica. Waits for their last writer. See AnyBuffer::read_bytes.
    [[nodiscard]] std::vector<T> read(unsigned k) const {
        check_readable(k);  // before memory is made for the result
        if constexpr (std::same_as<T, bool>) {
            const auto bytes = std::make_unique<bool[]>(size());
            read_into(std::span<bool>(bytes.get(), size()), k);
            return std::vector<bool>(bytes.get(), bytes.get() + size());
        } else {
            std::vector<T> data(size());
            read_into(std::span<T>(data), k);
            return data;
        }
    }
    [[nodiscard]] std::vector<T> read(const Queue& queue) const {
        check_queue(queue);
        return read(queue.index());
    }
    /// Every replica, in the order of the queues.
    [[nodiscard]] std::vector<std::vector<T>> read() const {
        std::vector<std::vector<T>> all_replicas;
        for (unsigned r = 0; r < replica_count(); ++r) all_replicas.push_back(read(queue_of_replica(r)));
        return all_replicas;
    }
    /// Into memory of the caller's: as many elements, or an array of the same shape.
    void read_into(std::span<T> data, unsigned k = 0) const {
        read_to(detail::dense_side<T>(data.data(), data.size()), k, false);
    }
    void read_into(const ArrayView<T>& data, unsigned k = 0) const {
        read_to(detail::view_side(data), k, false);
    }
    void read_into(const HostArray<T>& data, unsigned k = 0) const {
        detail::with_side<T>(data, [&](const detail::HostSide& side) { read_to(side, k, false); });
    }
    /// The same without waiting: the memory must stay until the event; a HostArray's does by itself.
    Event read_async(unsigned k, std::span<T> data) const {
        return read_to(detail::dense_side<T>(data.data(), data.size()), k, true);
    }
    Event read_async(unsigned k, const ArrayView<T>& data) const {
        return read_to(detail::view_side(data), k, true);
    }
    Event read_async(unsigned k, const HostArray<T>& data) const { return AnyBuffer::read_async(k, data); }

    // Regions: parts of the array, as sub() selects them
    template <detail::HostDataOf<T> R>
    void write_region(const Selection& region, const R& data) {
        sub(region).write(data);
    }
    template <class R>
    requires detail::HostDataOf<std::remove_cvref_t<R>, T> Event write_region_async(const Selection& region,
                                                                                    R&& data) {
        return sub(region).write_async(std::forward<R>(data));
    }
    [[nodiscard]] std::vector<T> read_region(unsigned k, const Selection& region) const {
        return sub(region).read(k);
    }
    void read_region(unsigned k, const Selection& region, const ArrayView<T>& to) const {
        sub(region).read_into(to, k);
    }
    Event read_region_async(unsigned k, const Selection& region, const ArrayView<T>& to) const {
        return sub(region).read_async(k, to);
    }
    Event read_region_async(unsigned k, const Selection& region, const HostArray<T>& to) const {
        return sub(region).read_async(k, to);
    }
    Event fill_region(const Selection& region, const T& value) { return sub(region).fill(value); }
    Event zero_region(const Selection& region) { return sub(region).zero(); }

    /// Sets every element of every replica. Does not wait.
    Event fill(const T& value) { return fill_bytes(std::as_bytes(std::span<const T, 1>(&value, 1))); }

    /// Page-locked memory with its shape and padding.
    [[nodiscard]] HostArray<T> empty_like() const { return HostArray<T>(AnyHostArray::like(*this)); }

    // Without a copy, where the host shares the device's memory. See AnyBuffer::as_host_bytes for waits and
    // errors.
    /// Contiguous buffers only (else InvalidView: use as_array).
    [[nodiscard]] std::span<const T> as_span(unsigned k = 0) const {
        check_contiguous();
        return detail::elements<const T>(as_host_bytes(k), size());
    }
    [[nodiscard]] std::span<T> as_span(unsigned k = 0) {
        check_contiguous();
        return detail::elements<T>(as_host_bytes(k), size());
    }
    /// The array with its shape and strides.
    [[nodiscard]] ArrayView<const T> as_array(unsigned k = 0) const {
        return detail::array_of<const T>(as_host_bytes(k), shape(), strides());
    }
    [[nodiscard]] ArrayView<T> as_array(unsigned k = 0) {
        return detail::array_of<T>(as_host_bytes(k), shape(), strides());
    }
    /// The same for the time of a guard: commands that use the replica are refused until its end.
    [[nodiscard]] Mapping<const T> map(unsigned k = 0) const { return Mapping<const T>(*this, k); }
    [[nodiscard]] Mapping<T> map(unsigned k = 0) { return Mapping<T>(*this, k); }

    /// The value of a buffer with one element, on any device. Throws ArgumentError (SizeMismatch) for others.
    [[nodiscard]] T item(unsigned k = 0) const {
        check_single();
        T value;
        read_into(std::span<T, 1>(&value, 1), k);
        return value;
    }

private:
    template <class R>
    Event write_async_to(const Queue* queue, R&& data) {
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
};

/// A buffer of a range's elements, one-dimensional, with the data in every replica.
template <class R>
requires(detail::RangeOf<R, detail::element_of<R>> && !detail::ShapedHost<R> &&
         !std::derived_from<R, AnyHostArray>)
    [[nodiscard]] Buffer<detail::element_of<R>> as_buffer(const R& data, BufferOptions options = {}) {
    Buffer<detail::element_of<R>> buffer(std::size(data), std::move(options));
    buffer.write(data);
    return buffer;
}
template <class T>
[[nodiscard]] Buffer<T> as_buffer(std::initializer_list<T> data, BufferOptions options = {}) {
    Buffer<T> buffer(data.size(), std::move(options));
    buffer.write(data);
    return buffer;
}
/// The same with another shape of as many elements.
template <class R>
requires(detail::RangeOf<R, detail::element_of<R>> && !detail::ShapedHost<R> &&
         !std::derived_from<R, AnyHostArray>)
    [[nodiscard]] Buffer<detail::element_of<R>> as_buffer(const R& data, const Shape& shape,
                                                          BufferOptions options = {}) {
    Buffer<detail::element_of<R>> buffer(shape, std::move(options));
    buffer.write(data);
    return buffer;
}
/// Of the shape of the data: an ArrayView, an mdspan, a HostArray (with its padding).
template <class T>
[[nodiscard]] Buffer<std::remove_const_t<T>> as_buffer(const ArrayView<T>& data, BufferOptions options = {}) {
    Buffer<std::remove_const_t<T>> buffer(data.shape(), std::move(options));
    buffer.write(data);
    return buffer;
}
template <detail::MdspanLike M>
[[nodiscard]] auto as_buffer(const M& data, BufferOptions options = {}) {
    return as_buffer(as_view(data), std::move(options));
}
template <class T>
[[nodiscard]] Buffer<T> as_buffer(const HostArray<T>& data, BufferOptions options = {}) {
    if (options.padded_shape.rank() == 0) options.padded_shape = data.padded_shape();
    Buffer<T> buffer(data.shape(), std::move(options));
    buffer.write(data);
    return buffer;
}
/// Rows, and planes of rows: `as_buffer({{1, 2, 3}, {4, 5, 6}})`. Ragged lists are an error (InvalidShape).
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
