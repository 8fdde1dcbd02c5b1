// Raw kernels: IR functions that hold foreign code instead of a body. Their interface is checked against the
// parameters here; the devices that support their language compile them.
#include "codegen/glsl/glsl_compiler.hpp"
#include "codegen/spirv/reflection.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "ir/foreign.hpp"
#include "runtime/kernel_core.hpp"

#include <volley/raw_kernel.hpp>

#include <algorithm>
#include <limits>
#include <optional>

namespace volley::detail {
namespace {

using codegen::spirv::PushMember;
using codegen::spirv::Reflection;

[[noreturn]] void refuse(std::string_view name, std::string_view what, std::string_view advice) {
    fail(ErrorCode::CompileError, what, cat("kernel '", name, "'"), advice);
}

std::string place(std::size_t index) { return cat("parameter ", index + 1); }

/// Throws CompileError if the interface of the module does not match the parameters; see kernel_from_spirv.
void check(std::string_view name, const Reflection& module, std::span<const RawParameter> parameters) {
    const bool bound = !module.bindings.empty();
    const auto buffers = static_cast<std::size_t>(
        std::count_if(parameters.begin(), parameters.end(), [](const RawParameter& p) { return p.buffer; }));
    for (const std::uint32_t binding : module.bindings) {
        if (binding < buffers) continue;
        refuse(name, cat("the module uses binding ", binding, ", but there are ", buffers, " buffers"),
               "declare one Buff<T> per binding; bindings are numbered from 0");
    }
    const std::size_t members = bound ? parameters.size() - buffers : parameters.size();
    if (module.push.size() != members) {
        refuse(name,
               cat("the push-constant block has ", module.push.size(), " members, but ", members,
                   bound ? " values" : " parameters", " are declared"),
               bound ? "declare one member per Const<T>, in the same order"
                     : "declare one member per parameter, or buffers with layout(binding = n)");
    }
    for (std::size_t i = 0, k = 0; i < parameters.size(); ++i) {
        if (bound && parameters[i].buffer) continue;
        const PushMember& member = module.push[k++];
        if (parameters[i].buffer) {
            if (member.size == 8) continue;
            refuse(name, cat(place(i), " is a buffer, but its push constant has ", member.size, " bytes"),
                   "declare the push constant as a buffer reference");
        }
        if (member.pointer || member.size != parameters[i].type.size()) {
            refuse(name,
                   cat(place(i), " has ", parameters[i].type.size(), " bytes (", parameters[i].type.name(),
                       "), but its push constant ",
                       member.pointer ? "is a buffer reference" : cat("has ", member.size)),
                   "declare both with the same type");
        }
    }
}

/// Creates a kernel from foreign code and its parameters.
std::shared_ptr<runtime::KernelCore> make_raw_kernel(std::string_view name,
                                                     std::shared_ptr<const ir::ForeignCode> code,
                                                     std::optional<ir::Dim3> local,
                                                     std::span<const RawParameter> parameters) {
    auto function = std::make_shared<ir::Function>();
    function->name = name;
    function->local_size = local;
    function->foreign = std::move(code);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const RawParameter& given = parameters[i];
        const ir::ParamKind kind = given.buffer ? ir::ParamKind::Buffer : ir::ParamKind::Const;
        function->params.push_back({kind, given.type, cat("arg", i), given.read_only, ir::none});
    }
    return make_kernel(lang::TracedKernel(std::move(function)));
}

}  // namespace

std::shared_ptr<runtime::KernelCore> make_spirv_kernel(std::string_view name,
                                                       std::span<const std::uint32_t> words,
                                                       std::string_view entry,
                                                       std::span<const RawParameter> parameters) {
    const Reflection module = codegen::spirv::reflect(words, entry, name);
    check(name, module, parameters);
    auto code = std::make_shared<ir::ForeignCode>();
    code->language = ir::Language::SpirV;
    code->words.assign(words.begin(), words.end());
    code->entry = entry;

    return make_raw_kernel(name, std::move(code), module.local, parameters);
}

std::shared_ptr<runtime::KernelCore> make_glsl_kernel(std::string_view name, std::string_view source,
                                                      std::span<const RawParameter> parameters) {
    return make_spirv_kernel(name, codegen::glsl::compile(name, source), "main", parameters);
}

std::shared_ptr<runtime::KernelCore> make_opencl_kernel(std::string_view name, std::string_view source,
                                                        const OpenClKernelOptions& options,
                                                        std::span<const RawParameter> parameters) {
    auto code = std::make_shared<ir::ForeignCode>();
    code->language = ir::Language::OpenCL;
    code->text = source;
    code->entry = options.entry.empty() ? name : options.entry;
    code->options = options.build_options;
    std::optional<ir::Dim3> local;
    if (options.local.rank() > 0) {
        local.emplace(ir::Dim3{1, 1, 1});
        for (int d = 0; d < 3; ++d) {
            if (options.local.rank() > 3 || options.local[d] < 1 ||
                options.local[d] > std::numeric_limits<std::uint32_t>::max()) {
                fail(ErrorCode::InvalidLaunch, "the workgroup size is invalid", cat("kernel '", name, "'"),
                     "set .local to one to three positive numbers, as declared in the source");
            }
            (*local)[static_cast<std::size_t>(d)] = static_cast<std::uint32_t>(options.local[d]);
        }
    }
    return make_raw_kernel(name, std::move(code), local, parameters);
}

}  // namespace volley::detail
