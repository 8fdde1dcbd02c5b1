// Variants are compiled under a lock and looked up without one.
#include "backends/opencl/opencl_program.hpp"

#include "backends/common/dump.hpp"
#include "backends/common/reports.hpp"
#include "backends/opencl/opencl_signature.hpp"
#include "core/fail.hpp"
#include "core/settings.hpp"
#include "core/text.hpp"
#include "ir/foreign.hpp"

namespace volley::backends::opencl {

using codegen::opencl::ArgumentKind;
using codegen::opencl::Source;
using codegen::opencl::Variant;

namespace {

/// Returns the foreign source with its arguments in parameter order.
Source raw_source(const ir::Function& fn) {
    Source source;
    source.text = fn.foreign->text;
    source.entry = fn.foreign->entry;
    source.options = cat("-cl-kernel-arg-info", fn.foreign->options.empty() ? "" : " ", fn.foreign->options);
    for (std::uint32_t i = 0; i < fn.params.size(); ++i) {
        const bool is_buffer = fn.params[i].kind == ir::ParamKind::Buffer;
        source.parameters.push_back({is_buffer ? ArgumentKind::Memory : ArgumentKind::Value, i,
                                     is_buffer ? 0 : static_cast<std::uint32_t>(fn.params[i].type.size())});
    }
    return source;
}

/// Returns an estimate of a variant's memory: the source, and what the driver makes of it. Drivers do not
/// report the latter, and PoCL would serialise the program to answer; it takes 1.1 MB for a small kernel.
std::uint64_t program_bytes(const Source& source, const PhysicalDevice& device) {
    const std::uint64_t least = device.info.type == DeviceType::Cpu ? 1 << 20 : 128 << 10;
    constexpr std::uint64_t growth = 8;
    return least + growth * source.text.size();
}

}  // namespace

Variant variant_of(const backends::Launch& launch) noexcept {
    const auto is_whole = [&](std::size_t d) { return launch.global[d] % launch.local[d] == 0; };
    return {launch.local, is_whole(0) && is_whole(1) && is_whole(2)};
}

OpenClProgram::OpenClProgram(ir::Function function, std::shared_ptr<const ProgramBuilder> builder,
                             std::shared_ptr<LogicalDevice> device, codegen::opencl::Target target,
                             ir::Dim3 local)
    : Program(std::move(function)),
      device_(std::move(device)),
      builder_(std::move(builder)),
      target_(std::move(target)) {
    first_ = std::make_unique<KernelVariant>();
    first_->variant = {local, true};
    first_->source = write_source(first_->variant);
}

OpenClProgram::OpenClProgram(ir::Function signature, std::shared_ptr<const ProgramBuilder> builder,
                             std::shared_ptr<LogicalDevice> device)
    : Program(std::move(signature)),
      device_(std::move(device)),
      builder_(std::move(builder)),
      target_(device_->physical().target) {
    auto kernel = std::make_unique<KernelVariant>();
    kernel->raw = true;
    kernel->source = raw_source(function_);
    const std::string& entry = kernel->source.entry;
    if (settings().dump.opencl) dump(*kernel);
    kernel->program = builder_->build(function_.name, kernel->source.text, kernel->source.options);
    cl_int result = CL_SUCCESS;
    cl_kernel probe = device_->cl.CreateKernel(kernel->program, entry.c_str(), &result);
    try {
        if (result == CL_INVALID_KERNEL_NAME) {
            fail(ErrorCode::CompileError, cat("the source has no kernel function '", entry, "'"),
                 cat("kernel '", function_.name, "' on ", device_->name()),
                 "set .entry to the name of the kernel function");
        }
        device_->check(result, "clCreateKernel");
        check_signature(*device_, probe, function_);
        std::size_t size[3] = {};
        if (device_->cl.GetKernelWorkGroupInfo(probe, device_->physical().handle,
                                               CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof size,
                                               static_cast<std::size_t*>(size), nullptr) == CL_SUCCESS) {
            for (std::size_t d = 0; d < 3; ++d) declared_[d] = static_cast<std::uint32_t>(size[d]);
        }
    } catch (...) {
        if (probe != nullptr) device_->cl.ReleaseKernel(probe);
        device_->cl.ReleaseProgram(kernel->program);
        throw;
    }
    device_->cl.ReleaseKernel(probe);
    add_bytes(program_bytes(kernel->source, device_->physical()));
    given_ = std::move(kernel);
}

OpenClProgram::~OpenClProgram() {
    const auto release = [&](const std::unique_ptr<KernelVariant>& kernel) {
        for (auto& object : kernel->objects) object.reset();
        device_->cl.ReleaseProgram(kernel->program);
    };
    kernels_.for_each(release);
    if (given_) release(given_);
}

Source OpenClProgram::write_source(const Variant& variant) const {
    return codegen::opencl::compile(function_, variant, target_);
}

const KernelVariant& OpenClProgram::kernel(const Variant& requested) const {
    if (given_) {
        if (declared_[0] != 0 && declared_ != requested.local) {
            fail(ErrorCode::InvalidLaunch,
                 cat("the source declares a local size of ", join(declared_, " x "), ", but ",
                     join(requested.local, " x "), " was requested"),
                 cat("kernel '", function_.name, "'"), "pass the same size to kernel_from_opencl as .local");
        }
        return *given_;
    }
    return *kernels_.find(requested, [&] {
        auto kernel = std::make_unique<KernelVariant>();
        kernel->variant = requested;
        // The first source is kept until it is built.
        const bool is_first = first_ != nullptr && first_->variant == requested;
        kernel->source = is_first ? first_->source : write_source(requested);
        kernel->print_bytes = backends::print_bytes(kernel->source.prints);
        if (settings().dump.opencl) dump(*kernel);
        build(*kernel);
        first_.reset();
        return kernel;
    });
}

void OpenClProgram::build(KernelVariant& kernel) const {
    const PhysicalDevice& physical = device_->physical();
    const Source& source = kernel.source;
    const auto subject = [&] { return cat("kernel '", function_.name, "' on ", device_->name()); };
    if (source.shared_bytes > physical.info.max_shared_bytes) {
        fail(ErrorCode::InvalidLaunch,
             cat("the kernel needs ", source.shared_bytes, " bytes of shared memory"), subject(),
             cat("the device has ", physical.info.max_shared_bytes,
                 " per workgroup; use smaller Shared arrays or a smaller local size"));
    }
    std::uint64_t argument_bytes = 0;
    for (const codegen::opencl::Parameter& parameter : source.parameters)
        argument_bytes += parameter.size == 0 ? sizeof(cl_mem) : parameter.size;
    if (argument_bytes > physical.max_argument_bytes) {
        fail(ErrorCode::InvalidLaunch, cat("the kernel's arguments take ", argument_bytes, " bytes"),
             subject(),
             cat("the device's limit is ", physical.max_argument_bytes, "; put large values into buffers"));
    }
    kernel.program = builder_->build(function_.name, source.text, source.options);
    add_bytes(program_bytes(source, physical));
}

KernelObject& OpenClProgram::object(const KernelVariant& kernel, unsigned slot) const {
    std::unique_ptr<KernelObject>& object = kernel.objects[slot];
    if (!object) {
        object = std::make_unique<KernelObject>(device_, kernel.program, kernel.source.entry,
                                                kernel.source.parameters);
    }
    return *object;
}

void OpenClProgram::dump(const KernelVariant& kernel) const {
    const ir::Dim3 local = kernel.variant.local;
    backends::dump(kernel.raw ? cat("OpenCL C of ", function_.name, ", as passed")
                              : cat("OpenCL C of ", function_.name, ", local size ", local[0], "x", local[1],
                                    "x", local[2], kernel.variant.full ? ", whole grid" : ""),
                   kernel.source.text);
}

std::string OpenClProgram::code(ir::Dim3 local) const {
    if (given_) return given_->source.text;
    return write_source({local, true}).text;
}

}  // namespace volley::backends::opencl
