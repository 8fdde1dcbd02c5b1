// Traced kernels, and the function that the runtime calls to trace one.
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
    /// Names of the parameters, for errors and dumps. Parameters without a name are called "arg0" and so on.
    std::initializer_list<std::string_view> names = {};
    /// The workgroup size that the kernel declares; zeros if each launch chooses it.
    std::uint32_t local_size[3] = {0, 0, 0};
    /// Tracing fails when the body records more operations, because it probably unrolls an endless host loop.
    std::size_t max_operations = 1'000'000;
};

/// The IR of a kernel. Immutable and cheap to copy; does not refer to the lambda.
class VOLLEY_API TracedKernel {
public:
    explicit TracedKernel(std::shared_ptr<const ir::Function> function) noexcept;

    [[nodiscard]] const ir::Function& function() const noexcept { return *function_; }
    [[nodiscard]] const std::shared_ptr<const ir::Function>& share() const noexcept { return function_; }
    [[nodiscard]] std::string_view name() const noexcept;
    /// Returns the IR as text.
    [[nodiscard]] std::string to_string() const;

private:
    std::shared_ptr<const ir::Function> function_;
};

/// Calls `body(context)` with a tracer on this thread and returns the recorded and verified kernel. Throws
/// TraceError or IrError if the kernel is not valid. Other exceptions of the body are rethrown nested in a
/// TraceError. In all cases the thread stops tracing.
[[nodiscard]] VOLLEY_API TracedKernel run_trace(std::string_view name, void (*body)(void*), void* context,
                                                const TraceOptions& options = {});

/// Returns whether this thread is tracing a kernel.
[[nodiscard]] VOLLEY_API bool tracing() noexcept;

}  // namespace lang
}  // namespace volley
