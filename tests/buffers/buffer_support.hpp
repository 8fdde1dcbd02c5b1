// Helpers for tests of buffers on every backend.
#pragma once

#include "support/backend_test.hpp"
#include "support/expect_error.hpp"

#include <cstddef>
#include <numeric>
#include <vector>

namespace volley::testing {

/// 0, 1, 2, ...
template <class T = int>
std::vector<T> numbers(std::size_t count, T first = T{}) {
    std::vector<T> data(count);
    std::iota(data.begin(), data.end(), first);
    return data;
}

/// Doubles each element.
inline auto make_twice() {
    return kernel("twice", [](Buff<int> data) { data[global_id().x] = data[global_id().x] * 2; });
}

using Bytes = std::vector<std::byte>;

/// Returns the elements of queue k's replica as bytes.
inline Bytes bytes_on(unsigned k, const AnyBuffer& buffer) {
    Bytes bytes(buffer.bytes());
    buffer.read_bytes(bytes, k);
    return bytes;
}

}  // namespace volley::testing
