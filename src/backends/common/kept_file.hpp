// Files that the library keeps between runs: compiled code. A mark, the hash of the data, the data: drivers
// trust what they are given, so we do not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace volley::backends {

/// The data of a file that store_file has written with that mark; empty where the file is missing, broken or
/// something else.
[[nodiscard]] std::vector<char> load_file(const std::string& path, std::string_view mark);

/// Makes the folder too. Whoever reads meanwhile sees the old file or the new one, never a part. A failure is
/// a line of the debug log, as nothing depends on it.
void store_file(const std::string& path, std::string_view mark, const std::vector<char>& data) noexcept;

}  // namespace volley::backends
