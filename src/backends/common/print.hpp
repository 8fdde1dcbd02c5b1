// Output of `print` in kernels, on every backend: formats a line from the format string and the operands'
// bytes, and passes it to the program's sink.
#pragma once

#include "ir/function.hpp"

#include <volley/dtype.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace volley::backends {

/// Returns the bytes that an operand takes in a print record: a multiple of 16. Operands follow each other.
[[nodiscard]] constexpr std::size_t print_slot(std::size_t bytes) noexcept { return (bytes + 15) / 16 * 16; }

/// Substitutes the operands for `{}` in order; `{{` and `}}` are literal braces. Vectors print as (1, 2),
/// matrices as their columns, complex numbers as (re, im), structs as {name: value}. `values` holds the
/// operands in the layout of print_slot().
[[nodiscard]] std::string format_print(std::string_view format, std::span<const DType> types,
                                       const void* values);

/// Passes a line (without newline) to the sink set by set_print_sink. Calls from all threads are serialised.
/// Throws what the sink throws.
void print_line(std::string_view line);

/// Handles one print record of a kernel: prints a line, or throws LaunchError (IndexError) if the record
/// reports a failed check of passes/check_bounds.hpp.
void deliver_print(const ir::Function& fn, std::string_view format, std::span<const DType> types,
                   const void* values);

}  // namespace volley::backends
