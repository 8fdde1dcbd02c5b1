// TracedKernel wraps an IR function for public headers, which do not include the IR.
#include "ir/printer.hpp"

#include <volley/lang/trace.hpp>

namespace volley::lang {

TracedKernel::TracedKernel(std::shared_ptr<const ir::Function> function) noexcept
    : function_(std::move(function)) {}

std::string_view TracedKernel::name() const noexcept { return function_->name; }

std::string TracedKernel::to_string() const { return ir::print(*function_); }

}  // namespace volley::lang
