// A traced kernel, and tracing as the runtime asks for it.
#pragma once

#include <volley/api.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace volley {
namespace ir {
class Function;
}

namespace lang {

struct TraceOptions {
    /// Names of the parameters, for errors and dumps; "arg0" and so on where there are fewer.
    std::initializer_list<std::string_view> names = {};
    /// Declared with the kernel; zeros mean that each launch chooses.
    std::uint32_t local_size[3] = {0, 0, 0};
    /// A body that records more is taken for a host loop that unrolls without end.
    std::size_t max_operations = 1'000'000;
};

/// A kernel's body as IR: immutable, cheap to copy, free of the lambda that it came from.
class VOLLEY_API TracedKernel {
public:
    explicit TracedKernel(std::shared_ptr<const ir::Function> function) noexcept;

    [[nodiscard]] const ir::Function& function() const noexcept { return *function_; }
    [[nodiscard]] const std::shared_ptr<const ir::Function>& share() const noexcept { return function_; }
    [[nodiscard]] std::string_view name() const noexcept;
    /// The printed IR.
    [[nodiscard]] std::string to_string() const;

private:
    std::shared_ptr<const ir::Function> function_;
};

/// Runs `body(context)` under a tracer of this thread, and gives what it recorded, verified. Throws
/// TraceError or IrError for what is not legal in a kernel; another exception out of the body comes as a
/// TraceError with the original nested inside of it. Whatever happens, the thread traces nothing afterwards.
[[nodiscard]] VOLLEY_API TracedKernel run_trace(std::string_view name, void (*body)(void*), void* context,
                                                const TraceOptions& options = {});

/// Whether this thread is tracing a kernel.
[[nodiscard]] VOLLEY_API bool tracing() noexcept;

}  // namespace lang
}  // namespace volley
