// Buffer<T>: data that kernels work on, with a replica for each queue of every device of the context.
#pragma once

#include <volley/any_buffer.hpp>
#include <volley/lang/type_of.hpp>

#include <concepts>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace volley {

namespace detail {

/// A range of Ts: anything with a size that can be iterated, whose elements are T exactly.
template <class R, class T>
concept RangeOf = requires(const R& range) {
    { std::size(range) } -> std::convertible_to<std::size_t>;
    { *std::begin(range) } -> std::convertible_to<const T&>;
    requires std::same_as<std::remove_cvref_t<decltype(*std::begin(range))>, T> || std::same_as<T, bool>;
};

/// One that lies in memory in one piece.
template <class R, class T>
concept ContiguousRangeOf = RangeOf<R, T> && requires(const R& range) {
    { std::data(range) } -> std::same_as<const T*>;
};

template <class R>
using element_of = std::remove_cvref_t<decltype(*std::begin(std::declval<const R&>()))>;

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
    explicit Buffer(I size, BufferOptions options = {}) : Buffer(Shape(size), std::move(options)) {}
    // NOLINTNEXTLINE(google-explicit-constructor): the numbers are a shape, not the elements
    explicit Buffer(std::initializer_list<Extent> shape, BufferOptions options = {})
        : Buffer(Shape(shape), std::move(options)) {}

    /// Copies a range of the buffer's size to all replicas, or to a queue's. See AnyBuffer::write_bytes.
    template <detail::RangeOf<T> R>
    void write(const R& data) {
        with_bytes(data, [this](std::span<const std::byte> bytes) { write_bytes(bytes); });
    }
    template <detail::RangeOf<T> R>
    void write(const R& data, const Queue& queue) {
        with_bytes(data, [&](std::span<const std::byte> bytes) { write_bytes(bytes, queue); });
    }
    void write(std::initializer_list<T> data) { write<std::initializer_list<T>>(data); }

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
    [[nodiscard]] std::vector<T> read(const Queue& queue) const { return read(queue.index()); }
    /// Every replica, in the order of the queues.
    [[nodiscard]] std::vector<std::vector<T>> read() const {
        std::vector<std::vector<T>> all;
        for (unsigned k = 0; k < replica_count(); ++k) all.push_back(read(k));
        return all;
    }
    /// Into memory of the caller's, which has the buffer's size.
    void read_into(std::span<T> data, unsigned k = 0) const { read_bytes(std::as_writable_bytes(data), k); }

    /// Sets every element of every replica. Does not wait.
    void fill(const T& value) { fill_bytes(std::as_bytes(std::span<const T, 1>(&value, 1))); }

private:
    template <class R, class F>
    static void with_bytes(const R& data, F&& use) {
        if constexpr (detail::ContiguousRangeOf<R, T>) {
            use(std::as_bytes(std::span<const T>(std::data(data), std::size(data))));
        } else {
            const std::size_t count = std::size(data);
            const auto copy = std::make_unique<T[]>(count);
            std::size_t i = 0;
            for (const T& element : data) copy[i++] = element;
            use(std::as_bytes(std::span<const T>(copy.get(), count)));
        }
    }
};

/// A buffer of a range's elements, one-dimensional, with the data in every replica.
template <class R>
requires detail::RangeOf<R, detail::element_of<R>>
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
requires detail::RangeOf<R, detail::element_of<R>>
[[nodiscard]] Buffer<detail::element_of<R>> as_buffer(const R& data, const Shape& shape,
                                                      BufferOptions options = {}) {
    Buffer<detail::element_of<R>> buffer(shape, std::move(options));
    buffer.write(data);
    return buffer;
}

}  // namespace volley
