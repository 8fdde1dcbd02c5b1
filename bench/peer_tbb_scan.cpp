// The parallel scan of the standard library, which runs on TBB.
#include "peers_select.hpp"

#include <execution>
#include <numeric>

namespace volley::bench::peer {

void parallel_scan(int* to, const int* from, std::size_t count) {
    std::inclusive_scan(std::execution::par_unseq, from, from + count, to);
}

void parallel_scan(float* to, const float* from, std::size_t count) {
    std::inclusive_scan(std::execution::par_unseq, from, from + count, to);
}

}  // namespace volley::bench::peer
