// What `print` inside of a kernel becomes on every backend: a line of text, made here from the format string
// and the operands' bytes, and handed to the program's sink.
#pragma once

#include "ir/function.hpp"

#include <volley/dtype.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace volley::backends {

/// The offset of each operand in a print's record: one after the other, each at a multiple of 16 bytes.
[[nodiscard]] constexpr std::size_t print_slot(std::size_t bytes) noexcept { return (bytes + 15) / 16 * 16; }

/// Puts the operands into the places of the format: `{}` in order, `{{` and `}}` are braces. Vectors print as
/// (1, 2), matrices as their columns, complex numbers as (re, im), structs as {name: value}. `values` holds
/// the operands as print_slot() says.
[[nodiscard]] std::string format_print(std::string_view format, std::span<const DType> types,
                                       const void* values);

/// Hands a line (without its end) to the sink set by set_print_sink, one at a time whichever thread calls.
/// Throws what the sink throws.
void print_line(std::string_view line);

/// What a kernel printed, from its format string and operands: prints a line, or throws the LaunchError
/// (IndexError) that a failed check of passes/check_bounds.hpp reports in this way.
void deliver_print(const ir::Function& fn, std::string_view format, std::span<const DType> types,
                   const void* values);

}  // namespace volley::backends
