// Where the lines go that kernels print.
#pragma once

#include <volley/api.hpp>

#include <functional>
#include <string_view>

namespace volley {

/// Called with each line, without its end, one at a time whichever thread prints. It must not launch or wait.
/// An exception becomes the error of the queue that ran the kernel.
using PrintSink = std::function<void(std::string_view line)>;

/// Sends the lines that kernels print to `sink`, or with an empty function back to stdout. Once it has
/// returned, the former sink runs no more.
VOLLEY_API void set_print_sink(PrintSink sink);

}  // namespace volley
