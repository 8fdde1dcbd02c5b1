// The plain C++ peers of sorts and order statistics; see peers.hpp for how they are compiled. Those of
// peer_tbb_sort.cpp exist only with TBB.
#pragma once

#include <cstddef>
#include <cstdint>

namespace volley::bench::peer {

/// A key and its value; compared by the key.
struct KeyValue {
    std::uint32_t key, value;
};

// std::sort(std::execution::par_unseq), which runs on TBB.
void parallel_sort(std::uint32_t* data, std::size_t count);
void parallel_sort(float* data, std::size_t count);
void parallel_sort(std::uint64_t* data, std::size_t count);
void parallel_sort(KeyValue* data, std::size_t count);

/// Computes the median of each row [begin, end) by std::nth_element on a copy.
void median_rows(float* medians, const float* data, std::size_t length, std::size_t begin, std::size_t end);

}  // namespace volley::bench::peer
