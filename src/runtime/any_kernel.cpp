// Kernels with parameters that are known at run time: their declaration, and the check of their arguments.
#include "core/fail.hpp"
#include "core/small_array.hpp"
#include "core/text.hpp"
#include "runtime/kernel_core.hpp"

#include <volley/any_kernel.hpp>

#include <cstring>
#include <utility>

namespace volley {

AnyArray ParameterList::declare_buffer(DType element, bool read_only) {
    return {lang::declare_buffer(element, read_only), element};
}

AnyValue ParameterList::value(DType type) { return {lang::read(lang::declare_parameter(type)), type}; }

AnyArgument::AnyArgument(DType type, const void* bytes) : bytes_(type.size()), type_(type) {
    std::memcpy(bytes_.data(), bytes, bytes_.size());
}

detail::BoundArgument AnyArgument::bound() const noexcept {
    if (name_) return {nullptr, nullptr, &*name_};
    if (!bytes_.empty()) return {nullptr, bytes_.data(), nullptr};
    return {&buffer_, nullptr, nullptr};
}

Event AnyKernel::operator()(std::span<const AnyArgument> arguments) const {
    if (core_ == nullptr)
        fail(ErrorCode::InvalidArgument, "a default-constructed kernel was called", "an AnyKernel",
             "create it with any_kernel()");
    // The parameters that the caller passes precede those that the runtime adds.
    const std::vector<ir::Param>& params = core_->traced().function().params;
    std::size_t count = 0;
    while (count < params.size() && !params[count].is_layout()) ++count;
    if (arguments.size() != count) {
        fail(ErrorCode::InvalidArgument, cat("it was called with ", arguments.size(), " arguments"),
             cat("kernel '", core_->name(), "'"), cat("pass ", count, ", one for each parameter"));
    }
    constexpr std::size_t inline_arguments = 16;
    SmallArray<detail::BoundArgument, inline_arguments> bound(count);
    for (std::size_t k = 0; k < count; ++k) {
        const bool wants_buffer = params[k].kind == ir::ParamKind::Buffer;
        if (arguments[k].is_buffer() != wants_buffer) {
            fail(ErrorCode::TypeMismatch,
                 cat("argument ", k + 1,
                     wants_buffer ? " is a value, not a buffer" : " is a buffer, not a value"),
                 cat("kernel '", core_->name(), "'"), "pass arguments in the order of the parameters");
        }
        if (arguments[k].dtype() != params[k].type) {
            if (wants_buffer) detail::fail_argument_type(*core_, k + 1, params[k].type, arguments[k].dtype());
            fail(ErrorCode::TypeMismatch,
                 cat("argument ", k + 1, " has the type ", arguments[k].dtype().name(), ", but ",
                     params[k].type.name(), " is required"),
                 cat("kernel '", core_->name(), "'"), "pass a value of the parameter's type");
        }
        bound.span()[k] = arguments[k].bound();
    }
    return detail::launch(*core_, config_, bound.span().data(), count);
}

AnyKernel AnyKernel::over(GridSize size) const {
    AnyKernel result = *this;
    result.config_.over = size;
    return result;
}
AnyKernel AnyKernel::groups(GridSize size) const {
    AnyKernel result = *this;
    result.config_.groups = size;
    return result;
}
AnyKernel AnyKernel::local(GridSize size) const {
    AnyKernel result = *this;
    result.config_.local = size;
    return result;
}
AnyKernel AnyKernel::on(Queue queue) const {
    AnyKernel result = *this;
    result.config_.queue = std::move(queue);
    return result;
}

AnyKernel any_kernel(std::string_view name, const KernelOptions& options,
                     const std::function<void(ParameterList&)>& body) {
    const auto call = [](void* data) {
        ParameterList parameters;
        (*static_cast<const std::function<void(ParameterList&)>*>(data))(parameters);
    };
    return AnyKernel(
        detail::make_kernel(lang::run_trace(name, call, const_cast<void*>(static_cast<const void*>(&body)),
                                            detail::trace_options(name, options))));
}

}  // namespace volley
