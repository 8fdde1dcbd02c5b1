// Order statistics in plain C++.
#include "peers_sort.hpp"

#include <algorithm>
#include <vector>

namespace volley::bench::peer {

void median_rows(float* medians, const float* data, std::size_t length, std::size_t begin, std::size_t end) {
    std::vector<float> row(length);
    for (std::size_t r = begin; r < end; ++r) {
        std::copy_n(data + r * length, length, row.begin());
        const auto middle = row.begin() + static_cast<std::ptrdiff_t>(length / 2);
        std::nth_element(row.begin(), middle, row.end());
        float median = *middle;
        if (length % 2 == 0) median = (median + *std::max_element(row.begin(), middle)) / 2;
        medians[r] = median;
    }
}

}  // namespace volley::bench::peer
