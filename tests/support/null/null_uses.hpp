// The names of commands in the log, and the bytes that they use.
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
/// Adds the rows of a rect; `base` is the use that its offsets are relative to.
void add_rows(std::vector<NullUse>& uses, NullUse base, const backends::RectPlace& place,
              const backends::Rect& rect);
/// Returns the buffer ranges that the launch may access: the whole range of each argument.
[[nodiscard]] std::vector<NullUse> uses_of(const backends::Launch& launch);

[[nodiscard]] std::string text_of(const backends::Rect& rect);
[[nodiscard]] std::string text_of(const backends::Launch& launch);

}  // namespace volley::backends::null
