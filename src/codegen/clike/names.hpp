// Identifiers in the text: valid in C, C++ and OpenCL C, not reserved, and each handed out once.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace volley::codegen::clike {

class Names {
public:
    /// Returns the requested name with invalid characters replaced by '_', and a suffix if it is taken.
    std::string unique(std::string_view requested);
    /// Returns prefix0, prefix1, ...
    std::string numbered(std::string_view prefix);

private:
    std::unordered_set<std::string> taken_;
    std::unordered_map<std::string, unsigned> next_;
};

/// Returns the text reduced to letters, digits and '_', not starting with a digit; "_" if it is empty.
[[nodiscard]] std::string valid_name(std::string_view requested);

}  // namespace volley::codegen::clike
