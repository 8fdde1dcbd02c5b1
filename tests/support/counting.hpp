// Data for tests.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace volley::testing {

/// Returns 0, 1, 2, ...
template <class T>
std::vector<T> counting(std::size_t count) {
    std::vector<T> numbers(count);
    std::iota(numbers.begin(), numbers.end(), T{});
    return numbers;
}

}  // namespace volley::testing
