// Called by compiled kernels.
#include "backends/cpu/cpu_print.hpp"

#include "backends/common/print.hpp"
#include "backends/cpu/cpu_program.hpp"

namespace volley::backends::cpu {

void PrintJob::print(void* job, std::uint32_t format, const void* values) noexcept {
    auto& self = *static_cast<PrintJob*>(job);
    if (self.error_) return;  // only the first error is reported
    try {
        const auto types = self.program_.print_types(format);
        const ir::Function& fn = self.program_.function();
        backends::deliver_print(fn, fn.strings[format], types, values);
    } catch (...) {
        self.error_ = std::current_exception();
    }
}

}  // namespace volley::backends::cpu
