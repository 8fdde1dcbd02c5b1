// Lesson 10: kernels in GLSL (or SPIR-V) and OpenCL C. They are called with typed arguments like other
// kernels, and run in order with them.
#include <volley/volley.hpp>

#include <iostream>
#include <vector>

using namespace volley;

/// Runs a raw kernel and a traced kernel on the device. Returns whether the result is correct.
bool scale_and_add(const DeviceInfo& device, const Kernel<Buff<float>, Const<float>>& scale) {
    const auto add = kernel("add", [](Buff<float> data) {
        auto i = global_id().x;
        data[i] = data[i] + 1.0F;
    });
    const Buffer<float> data = as_buffer(std::vector<float>(100, 1.0F));
    scale(data, 4.0F);
    add(data);
    std::cout << device.name << ": 1 * 4 + 1 = " << data.read(0)[99] << '\n';
    return data.read(0)[99] == 5.0F;
}

bool run_glsl(const DeviceInfo& device) {
    // Buffers are bindings 0, 1, ... in order; values are the members of the push-constant block in order.
    const auto scale = kernel_from_glsl<Buff<float>, Const<float>>("scale", R"(#version 450
        layout(local_size_x = 64) in;
        layout(binding = 0) buffer Data { float data[]; };
        layout(push_constant) uniform Values { float alpha; };
        void main() {
            uint i = gl_GlobalInvocationID.x;
            if (i < data.length()) data[i] *= alpha;
        })");
    if (!scale_and_add(device, scale)) return false;

    // Source that does not compile throws, with the log of the compiler.
    try {
        (void)kernel_from_glsl<Buff<float>>("broken", "#version 450\nvoid main() { oops; }");
        return false;
    } catch (const CompileError& error) {
        std::cout << error.what() << '\n';
    }
    return true;
}

bool run_opencl(const DeviceInfo& device) {
    // Buffers are pointers to their first element; values are passed by value. The launch runs exactly the
    // requested number of invocations.
    const auto scale = kernel_from_opencl<Buff<float>, Const<float>>("scale", R"(
        kernel void scale(global float* data, float alpha) { data[get_global_id(0)] *= alpha; })");
    return scale_and_add(device, scale);
}

int main() {
    bool ran_glsl = false;
    bool ran_opencl = false;
    for (const DeviceInfo& device : devices()) {
        const bool vulkan = device.backend == "vulkan" && !ran_glsl;
        const bool opencl = device.backend == "opencl" && !ran_opencl;
        if (!vulkan && !opencl) continue;
        const Context context = make_context({.devices = {device.id()}});
        const auto scope = context.use();
        try {
            (vulkan ? ran_glsl : ran_opencl) = true;
            if (!(vulkan ? run_glsl(device) : run_opencl(device))) return 1;
        } catch (const DeviceError& error) {
            std::cout << error.what() << '\n';  // built without the GLSL compiler
        }
    }
    if (!ran_glsl) std::cout << "no Vulkan device here: install mesa-vulkan-drivers for one\n";
    if (!ran_opencl) std::cout << "no OpenCL device here: install pocl-opencl-icd for one\n";
    return 0;
}
