// Parallel sorts of the standard library.
#include "peers_sort.hpp"

#include <algorithm>
#include <execution>

namespace volley::bench::peer {

void parallel_sort(std::uint32_t* data, std::size_t count) {
    std::sort(std::execution::par_unseq, data, data + count);
}
void parallel_sort(float* data, std::size_t count) {
    std::sort(std::execution::par_unseq, data, data + count);
}
void parallel_sort(std::uint64_t* data, std::size_t count) {
    std::sort(std::execution::par_unseq, data, data + count);
}
void parallel_sort(KeyValue* data, std::size_t count) {
    std::sort(std::execution::par_unseq, data, data + count,
              [](const KeyValue& a, const KeyValue& b) { return a.key < b.key; });
}

}  // namespace volley::bench::peer
