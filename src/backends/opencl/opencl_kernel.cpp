// Compares and sets kernel arguments.
#include "backends/opencl/opencl_kernel.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <cstring>

namespace volley::backends::opencl {

using codegen::opencl::ArgumentKind;
using codegen::opencl::Parameter;

namespace {

/// Returns the size of the key by which arguments of a kind are compared.
std::uint32_t key_bytes(const Parameter& parameter) {
    switch (parameter.kind) {
        case ArgumentKind::GlobalSize: return sizeof(std::uint32_t);
        case ArgumentKind::Memory: return 2 * sizeof(std::uint64_t);  // memory id and offset
        case ArgumentKind::Offset:
        case ArgumentKind::Elements:
        case ArgumentKind::Reports: return sizeof(std::uint64_t);
        case ArgumentKind::Value: return parameter.size;
    }
    return 0;
}

}  // namespace

KernelObject::KernelObject(std::shared_ptr<LogicalDevice> device, cl_program program,
                           const std::string& entry, std::span<const Parameter> parameters)
    : device_(std::move(device)), parameters_(parameters) {
    std::uint32_t offset = 0;
    for (const Parameter& parameter : parameters) {
        slots_.push_back({offset, key_bytes(parameter), false});
        offset += slots_.back().size;
    }
    known_.resize(offset);
    cl_int result = CL_SUCCESS;
    handle_ = device_->cl.CreateKernel(program, entry.c_str(), &result);
    device_->check(result, "clCreateKernel");
}

KernelObject::~KernelObject() { device_->cl.ReleaseKernel(handle_); }

bool KernelObject::changes(std::uint32_t number, const void* key) {
    Slot& slot = slots_[number];
    std::byte* known = known_.data() + slot.offset;
    if (slot.set && std::memcmp(known, key, slot.size) == 0) return false;
    std::memcpy(known, key, slot.size);
    slot.set = false;
    return true;
}

void KernelObject::set_bytes(std::uint32_t number, std::size_t size, const void* value) {
    device_->check(device_->cl.SetKernelArg(handle_, number, size, value), "clSetKernelArg");
    slots_[number].set = true;
}

void KernelObject::set_pointer(std::uint32_t number, const backends::Launch& launch,
                               std::uint32_t parameter) {
    const backends::Argument& argument = launch.args[parameter];
    const auto& memory = static_cast<const OpenClMemory&>(*argument.memory);
    if (argument.offset != 0 && memory.shared()) {
        device_->check(device_->cl.SetKernelArgSVMPointer(handle_, number, memory.host() + argument.offset),
                       "clSetKernelArgSVMPointer");
        slots_[number].set = true;
        return;
    }
    cl_mem buffer = argument.offset < memory.size() ? memory.part(argument.offset) : memory.buffer();
    if (buffer == nullptr) {
        fail(ErrorCode::InvalidView, cat("a view cannot start at byte ", argument.offset, " of its buffer"),
             cat("argument ", parameter + 1, " of kernel '", launch.program->function().name, "' on ",
                 device_->name()),
             cat("for kernels written in OpenCL C, start views at multiples of ",
                 device_->physical().base_alignment, " bytes on this device"));
    }
    set_bytes(number, sizeof(cl_mem), &buffer);
}

void KernelObject::set_value(std::uint32_t number, const void* value) {
    if (changes(number, value)) set_bytes(number, parameters_[number].size, value);
}

void KernelObject::set(const backends::Launch& launch, const OpenClMemory* reports, bool raw) {
    for (std::uint32_t k = 0; k < parameters_.size(); ++k) {
        const Parameter& parameter = parameters_[k];
        switch (parameter.kind) {
            case ArgumentKind::GlobalSize: {
                const std::uint32_t size = launch.global[parameter.index];
                if (changes(k, &size)) set_bytes(k, sizeof size, &size);
                break;
            }
            case ArgumentKind::Memory: {
                const backends::Argument& argument = launch.args[parameter.index];
                const auto& memory = static_cast<const OpenClMemory&>(*argument.memory);
                const std::uint64_t key[2] = {memory.id(), raw ? argument.offset : 0};
                if (!changes(k, key)) break;
                if (raw) {
                    set_pointer(k, launch, parameter.index);
                } else {
                    cl_mem buffer = memory.buffer();
                    set_bytes(k, sizeof(cl_mem), &buffer);
                }
                break;
            }
            case ArgumentKind::Offset: {
                const backends::Argument& argument = launch.args[parameter.index];
                const cl_ulong offset =
                    static_cast<const OpenClMemory&>(*argument.memory).offset() + argument.offset;
                if (changes(k, &offset)) set_bytes(k, sizeof offset, &offset);
                break;
            }
            case ArgumentKind::Elements: {
                const cl_ulong elements = launch.args[parameter.index].elements;
                if (changes(k, &elements)) set_bytes(k, sizeof elements, &elements);
                break;
            }
            case ArgumentKind::Value: {
                if (const void* value = launch.args[parameter.index].value) set_value(k, value);
                break;
            }
            case ArgumentKind::Reports: {
                const std::uint64_t key = reports->id();
                if (!changes(k, &key)) break;
                cl_mem buffer = reports->buffer();
                set_bytes(k, sizeof(cl_mem), &buffer);
                break;
            }
        }
    }
}

}  // namespace volley::backends::opencl
