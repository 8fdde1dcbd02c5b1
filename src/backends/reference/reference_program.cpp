// Prints the program as text.
#include "backends/reference/reference_program.hpp"

#include "ir/printer.hpp"

namespace volley::backends::reference {

std::string ReferenceProgram::code(ir::Dim3 /*local*/) const { return ir::print(function_); }

}  // namespace volley::backends::reference
