// The destination of the lines that kernels print.
#pragma once

#include <volley/api.hpp>

#include <functional>
#include <string_view>

namespace volley {

/// A function that is called with each line, without the newline. Calls come from any thread, but never
/// concurrently. It must not launch kernels or wait for work. An exception becomes an error of the queue that
/// ran the kernel.
using PrintSink = std::function<void(std::string_view line)>;

/// Sends the lines that kernels print to `sink`. An empty function restores the default, stdout. The previous
/// sink is not called after this function returns.
VOLLEY_API void set_print_sink(PrintSink sink);

}  // namespace volley
