// What commands are called in the log, and which bytes they use.
#pragma once

#include "backends/api/queue.hpp"
#include "support/null/null_log.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace volley::backends::null {

[[nodiscard]] NullUse use_of(const backends::Memory& memory, std::uint64_t offset, std::uint64_t bytes,
                             bool writes);
[[nodiscard]] NullUse host_use(const void* data, std::uint64_t bytes, bool writes);
/// The rows of a rect; `base` is a use at the place to which its offsets refer.
void add_rows(std::vector<NullUse>& uses, NullUse base, const backends::RectPlace& place,
              const backends::Rect& rect);
/// The buffers that the launch touches: all that their arguments let it.
[[nodiscard]] std::vector<NullUse> uses_of(const backends::Launch& launch);

[[nodiscard]] std::string text_of(const backends::Rect& rect);
[[nodiscard]] std::string text_of(const backends::Launch& launch);

}  // namespace volley::backends::null
