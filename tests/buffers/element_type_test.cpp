// Every element type, through every operation that moves elements without computing.
#include "buffers/buffer_support.hpp"

#include "support/random.hpp"

#include <array>
#include <complex>
#include <cstring>
#include <memory>
#include <span>

namespace volley {

struct Grain {
    vec3 position;
    half mass;  // followed by padding
    double charge;
    bool alive;
};
VOLLEY_STRUCT(Grain, position, mass, charge, alive)

namespace {

using testing::Bytes;
using testing::bytes_on;

/// A type and the parts that need a template; everything else works on its DType.
struct ElementType {
    DType dtype;
    bool bits = false;  // bools: only 0 and 1 are valid
    void (*through_its_own_buffer)(const Bytes& elements) = nullptr;
};

template <class T>
void through_its_own_buffer(const Bytes& elements) {
    const std::size_t count = elements.size() / sizeof(T);
    const auto data = std::make_unique<T[]>(count);
    std::memcpy(static_cast<void*>(data.get()), elements.data(), elements.size());
    Buffer<T> buffer(count);
    buffer.write(std::span<const T>(data.get(), count));
    const std::vector<T> back = buffer.read(1);
    if constexpr (std::is_same_v<T, bool>) {
        EXPECT_TRUE(std::equal(back.begin(), back.end(), data.get()));
    } else {
        EXPECT_EQ(std::memcmp(back.data(), elements.data(), elements.size()), 0);
    }
    buffer.fill(data[count - 1]);
    const auto read = std::make_unique<T[]>(count);
    buffer.read_into(std::span<T>(read.get(), count), 0);
    for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(std::memcmp(&read[i], &data[count - 1], sizeof(T)), 0) << "element " << i;
}

template <class... T>
std::vector<ElementType> types_of() {
    return {{dtype_of<T>(), std::is_same_v<lang::scalar_t<T>, bool>, through_its_own_buffer<T>}...};
}

template <class T>
std::vector<ElementType> vectors_of() {
    return types_of<vec<T, 2>, vec<T, 3>, vec<T, 4>>();
}

/// The list of all types.
const std::vector<ElementType>& element_types() {
    static const std::vector<ElementType> all_types = [] {
        std::vector<ElementType> list;
        const auto add = [&](const std::vector<ElementType>& more) {
            list.insert(list.end(), more.begin(), more.end());
        };
        add(types_of<bool, i8, i16, i32, i64, u8, u16, u32, u64, half, float, double>());
        add(types_of<std::complex<half>, std::complex<float>, std::complex<double>>());
        add(vectors_of<bool>());
        add(vectors_of<i8>());
        add(vectors_of<u16>());
        add(vectors_of<i32>());
        add(vectors_of<u64>());
        add(vectors_of<half>());
        add(vectors_of<float>());
        add(vectors_of<double>());
        add(types_of<mat2x2, mat2x3, mat2x4, mat3x2, mat3x3, mat3x4, mat4x2, mat4x3, mat4x4>());
        add(types_of<mat<half, 3, 3>, mat<double, 2, 3>, mat<double, 4, 4>>());
        add(types_of<std::array<int, 3>, std::array<half, 5>>());
        list.push_back({dtype_of<Grain>(), true, through_its_own_buffer<Grain>});
        return list;
    }();
    return all_types;
}

Bytes random_elements(const ElementType& type, std::size_t count) {
    testing::Random random(type.dtype.size() * 100 + count);
    Bytes bytes(count * type.dtype.size());
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.bits() & (type.bits ? 1 : 0xff));
    return bytes;
}

template <class F>
void for_each_element_type(F&& f) {
    for (const ElementType& type : element_types()) {
        SCOPED_TRACE(type.dtype.name());
        f(type);
        if (::testing::Test::HasFailure()) return;
    }
}

/// Every step-th element of [from, from + count).
Bytes part(const Bytes& bytes, std::size_t size, std::size_t from, std::size_t count, std::size_t step = 1) {
    Bytes result;
    for (std::size_t i = 0; i < count; ++i) {
        const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>((from + i * step) * size);
        result.insert(result.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
    }
    return result;
}

VOLLEY_BACKEND_TEST(ElementType, GoesToItsBufferAndBack) {
    for_each_element_type(
        [](const ElementType& type) { type.through_its_own_buffer(random_elements(type, 37)); });
}

VOLLEY_BACKEND_TEST(ElementType, IsCopiedWholeAndInViews) {
    for_each_element_type([](const ElementType& type) {
        const std::size_t size = type.dtype.size();
        const Bytes elements = random_elements(type, 35);
        AnyBuffer from(type.dtype, {35});
        from.write_bytes(elements);
        AnyBuffer to(type.dtype, {5, 7}, {.padded_shape = {6, 8}});
        to.copy_from(from.reshape({5, 7}));
        EXPECT_EQ(bytes_on(0, to), elements);
        EXPECT_EQ(bytes_on(1, from.view(3, 20)), part(elements, size, 3, 20));
        EXPECT_EQ(bytes_on(0, from.sub(slice(1, none, 3))), part(elements, size, 1, 12, 3));
        EXPECT_EQ(bytes_on(1, to.sub({2})), part(elements, size, 14, 7));
        EXPECT_EQ(bytes_on(1, to.sub({all, 4})), part(elements, size, 4, 5, 7));
        from.sub(slice(0, 10, 2)).copy_from(to.sub({all, 6}));
        EXPECT_EQ(bytes_on(1, from.sub(slice(0, 10, 2))), part(elements, size, 6, 5, 7));
        EXPECT_EQ(bytes_on(1, from.sub(slice(1, 10, 2))), part(elements, size, 1, 5, 2))
            << "the bytes in between";
    });
}

VOLLEY_BACKEND_TEST(ElementType, FillsViewsAndNothingElse) {
    for_each_element_type([](const ElementType& type) {
        const std::size_t size = type.dtype.size();
        const Bytes elements = random_elements(type, 40);
        const Bytes value = random_elements(type, 1);
        AnyBuffer buffer(type.dtype, {40});
        buffer.write_bytes(elements);
        buffer.view(5, 9).fill_bytes(value);
        buffer.sub(slice(20, 40, 4)).fill_bytes(value);
        buffer.view(16, 2).zero();
        Bytes expected = elements;
        for (std::size_t i = 0; i < 40; ++i) {
            const bool filled = (i >= 5 && i < 14) || (i >= 20 && i % 4 == 0);
            const auto at = expected.begin() + static_cast<std::ptrdiff_t>(i * size);
            if (filled) std::copy(value.begin(), value.end(), at);
            if (i == 16 || i == 17) std::fill_n(at, size, std::byte{0});
        }
        EXPECT_EQ(bytes_on(0, buffer), expected);
        EXPECT_EQ(bytes_on(1, buffer), expected);
    });
}

}  // namespace
}  // namespace volley
