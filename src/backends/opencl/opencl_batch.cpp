// Creates the batch's cl_kernels.
#include "backends/opencl/opencl_batch.hpp"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace volley::backends::opencl {

namespace {

template <class T>
requires(!std::is_pointer_v<T>) void append(std::string& key, const T& value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append(std::string& key, const void* thing) { append(key, reinterpret_cast<std::uintptr_t>(thing)); }

/// Returns a key that is equal for launches that can share a cl_kernel.
std::string key_of(const KernelVariant& kernel, const BatchCommand& command) {
    std::string key;
    append(key, static_cast<const void*>(&kernel));
    append(key, command.global);
    for (std::size_t i = 0; i < command.args.size(); ++i) {
        const Argument& argument = command.args[i];
        if (argument.memory != nullptr) {
            append(key, static_cast<const void*>(argument.memory));
            append(key, argument.offset);
            append(key, argument.elements);
        } else if (argument.value != nullptr) {
            key.append(static_cast<const char*>(argument.value),
                       command.program->function().params[i].type.size());
        }
    }
    return key;
}

}  // namespace

OpenClBatch::OpenClBatch(backends::BatchPlan plan, const std::shared_ptr<LogicalDevice>& device)
    : plain_(std::move(plan)), ready_(plain_.size()) {
    for (std::uint32_t place = 0; place < plain_.size(); ++place) {
        if (plain_[place].kind == BatchKind::Launch) prepare(ready_[place], plain_[place], device);
    }
}

void OpenClBatch::prepare(Ready& ready, const BatchCommand& command,
                          const std::shared_ptr<LogicalDevice>& device) {
    const auto& program = static_cast<const OpenClProgram&>(*command.program);
    const KernelVariant& kernel = program.kernel(variant_of(command.launch()));
    if (kernel.source.reports) return;
    const std::span<const codegen::opencl::Parameter> parameters = kernel.source.parameters;

    ready.patches_begin = static_cast<std::uint32_t>(patches_.size());
    for (std::uint32_t number = 0; number < parameters.size(); ++number) {
        if (parameters[number].kind != codegen::opencl::ArgumentKind::Value) continue;
        const Argument& argument = command.args[parameters[number].index];
        if (argument.dynamic != Argument::fixed) patches_.push_back({number, argument.dynamic});
    }
    ready.patches_end = static_cast<std::uint32_t>(patches_.size());

    std::unique_ptr<KernelObject>& object = objects_[key_of(kernel, command)];
    if (!object) {
        object = std::make_unique<KernelObject>(device, kernel.program, kernel.source.entry, parameters);
        object->set(command.launch(), nullptr, kernel.raw);
    }
    ready.kernel = &kernel;
    ready.object = object.get();
}

void OpenClBatch::patch(const Ready& ready, std::span<const std::byte> values) const {
    for (std::uint32_t k = ready.patches_begin; k < ready.patches_end; ++k)
        ready.object->set_value(patches_[k].number, values.data() + patches_[k].from);
}

}  // namespace volley::backends::opencl
