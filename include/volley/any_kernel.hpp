// AnyKernel: a kernel whose parameters are declared while it is traced, and whose arguments are checked when
// it is called. It is to Kernel<...> what AnyBuffer is to Buffer<T>.
//
//     const DType type = data.dtype();  // chosen at run time
//     AnyKernel twice = any_kernel("twice", {}, [type](ParameterList& parameters) {
//         const AnyArray data = parameters.buffer(type);
//         const auto i = global_id().x;
//         data.store(i, data.load(i) + data.load(i));
//     });
//     twice({data});
#pragma once

#include <volley/dyn.hpp>
#include <volley/kernel.hpp>
#include <volley/lang/any_value.hpp>

#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace volley {

/// Declares the parameters of an AnyKernel, in the order of its arguments.
class VOLLEY_API ParameterList {
public:
    /// Declares a buffer to read and write.
    [[nodiscard]] AnyArray buffer(DType element) { return declare_buffer(element, false); }
    /// Declares a buffer to read only.
    [[nodiscard]] AnyArray const_buffer(DType element) { return declare_buffer(element, true); }
    /// Declares a value, the same for all invocations.
    [[nodiscard]] AnyValue value(DType type);
    template <class T>
    [[nodiscard]] Value<T> value() {
        return value(dtype_of<T>()).template as<T>();
    }

private:
    [[nodiscard]] AnyArray declare_buffer(DType element, bool read_only);
};

/// An argument of an AnyKernel: a buffer, a value, or while a graph is recorded, dyn<T>("name").
class VOLLEY_API AnyArgument {
public:
    // NOLINTBEGIN(google-explicit-constructor): arguments convert
    AnyArgument(AnyBuffer buffer) : buffer_(std::move(buffer)), type_(buffer_.dtype()) {}
    template <class T>
    AnyArgument(const DynamicValue<T>& name) : name_(name), type_(name.type) {}
    template <class T>
    requires(!std::derived_from<T, AnyBuffer> && !std::derived_from<T, detail::DynamicName>)
        AnyArgument(const T& value)
        : AnyArgument(dtype_of<T>(), &value) {}
    // NOLINTEND(google-explicit-constructor)
    /// A value of a type that is known at run time, from its bytes on the host.
    AnyArgument(DType type, const void* bytes);

    [[nodiscard]] bool is_buffer() const noexcept { return bytes_.empty() && !name_; }
    /// Returns the type of the value, or the element type of the buffer.
    [[nodiscard]] DType dtype() const noexcept { return type_; }
    [[nodiscard]] const AnyBuffer& buffer() const noexcept { return buffer_; }
    /// Returns the argument as the runtime receives it. Valid while this object exists.
    [[nodiscard]] detail::BoundArgument bound() const noexcept;

private:
    AnyBuffer buffer_;
    std::vector<std::byte> bytes_;
    std::optional<detail::DynamicName> name_;
    DType type_;
};

/// A kernel with parameters that are known at run time. Copies are cheap and share the traced and compiled
/// code. Launches as Kernel does; see there for sizes, costs and errors. Thread-safe.
class VOLLEY_API AnyKernel {
public:
    AnyKernel() noexcept = default;  ///< no kernel: must not be called

    /// Launches the kernel. Throws ArgumentError if the number of arguments or the type of one differs from
    /// the parameters, and what Kernel::operator() throws.
    Event operator()(std::span<const AnyArgument> arguments) const;
    Event operator()(std::initializer_list<AnyArgument> arguments) const {
        return (*this)(std::span<const AnyArgument>(arguments.begin(), arguments.size()));
    }

    [[nodiscard]] AnyKernel over(GridSize size) const;
    [[nodiscard]] AnyKernel groups(GridSize size) const;
    [[nodiscard]] AnyKernel local(GridSize size) const;
    [[nodiscard]] AnyKernel on(Queue queue) const;

    [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
    [[nodiscard]] std::string_view name() const noexcept { return detail::kernel_name(*core_); }
    [[nodiscard]] lang::TracedKernel trace() const { return detail::traced(*core_); }
    [[nodiscard]] std::string ir() const { return trace().to_string(); }
    [[nodiscard]] std::string code() const { return detail::device_code(*core_, config_); }

private:
    friend VOLLEY_API AnyKernel any_kernel(std::string_view, const KernelOptions&,
                                           const std::function<void(ParameterList&)>&);
    explicit AnyKernel(std::shared_ptr<runtime::KernelCore> core) noexcept : core_(std::move(core)) {}

    std::shared_ptr<runtime::KernelCore> core_;
    detail::LaunchConfig config_;
};

/// Creates a kernel. Calls `body` once, in this thread, to trace it; the body first declares the parameters.
/// Throws as kernel() does.
[[nodiscard]] VOLLEY_API AnyKernel any_kernel(std::string_view name, const KernelOptions& options,
                                              const std::function<void(ParameterList&)>& body);

}  // namespace volley
