// The plain C++ peers of reductions and fills, vectorised by hand; see peers.hpp for how they are compiled.
#pragma once

#include <cstddef>

namespace volley::bench::peer {

// Reduce [begin, end).
[[nodiscard]] float sum(const float* data, std::size_t begin, std::size_t end);
[[nodiscard]] float least(const float* data, std::size_t begin, std::size_t end);
[[nodiscard]] float dot(const float* a, const float* b, std::size_t begin, std::size_t end);

/// Fills [begin, end) with stores that bypass the caches if the processor has them. `to` is aligned.
void stream_fill(float* to, float value, std::size_t begin, std::size_t end);

}  // namespace volley::bench::peer
