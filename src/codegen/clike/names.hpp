// Names in the text: valid in C, C++ and OpenCL C, no keyword or function of theirs, and each given once.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace volley::codegen::clike {

class Names {
public:
    /// The wanted name with what is no letter or digit made '_', and an ending where it is taken.
    std::string unique(std::string_view wanted);
    /// prefix0, prefix1, ...
    std::string numbered(std::string_view prefix);

private:
    std::unordered_set<std::string> taken_;
    std::unordered_map<std::string, unsigned> next_;
};

/// Letters, digits and '_' alone, not beginning with a digit; "_" for an empty text.
[[nodiscard]] std::string valid_name(std::string_view wanted);

}  // namespace volley::codegen::clike
