// Files cached between runs: compiled code. Each holds a mark, the hash of the data, and the data. The hash
// is checked because drivers do not validate the data passed to them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace volley::backends {

/// Returns the data that store_file wrote with this mark, or empty if the file is missing, damaged or has
/// another mark.
[[nodiscard]] std::vector<char> load_file(const std::string& path, std::string_view mark);

/// Writes the file atomically, and creates its folder: concurrent readers see either the old file or the new
/// one. Failures are only logged, at debug level.
void store_file(const std::string& path, std::string_view mark, const std::vector<char>& data) noexcept;

}  // namespace volley::backends
