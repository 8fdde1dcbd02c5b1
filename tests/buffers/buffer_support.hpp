// For tests of buffers, on every backend.
#pragma once

#include "support/backend_test.hpp"
#include "support/expect_error.hpp"

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

}  // namespace volley::testing
