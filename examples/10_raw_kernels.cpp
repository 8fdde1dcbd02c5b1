// Lesson 10: kernels that were written elsewhere. GLSL (or SPIR-V) gets the same typed call, and mixes with
// kernels of our own in order.
#include <volley/volley.hpp>

#include <iostream>
#include <vector>

using namespace volley;

int main() {
    for (const DeviceInfo& device : devices()) {
        if (device.backend != "vulkan") continue;
        const Context context = make_context({.devices = {device.id()}});
        const auto scope = context.use();
        try {
            // Buffers are bindings 0, 1, ... in their order; values are the push constants in theirs.
            const auto scale = kernel_from_glsl<Buff<float>, Const<float>>("scale", R"(#version 450
                layout(local_size_x = 64) in;
                layout(binding = 0) buffer Data { float data[]; };
                layout(push_constant) uniform Values { float alpha; };
                void main() {
                    uint i = gl_GlobalInvocationID.x;
                    if (i < data.length()) data[i] *= alpha;
                })");
            const auto add = kernel("add", [](Buff<float> data) {
                auto i = global_id().x;
                data[i] = data[i] + 1.0F;
            });
            const Buffer<float> data = as_buffer(std::vector<float>(100, 1.0F));
            scale(data, 4.0F);
            add(data);
            std::cout << device.name << ": 1 * 4 + 1 = " << data.read(0)[99] << '\n';
            if (data.read(0)[99] != 5.0F) return 1;

            // What does not compile says so, with the compiler's words.
            try {
                (void)kernel_from_glsl<Buff<float>>("broken", "#version 450\nvoid main() { oops; }");
                return 1;
            } catch (const CompileError& error) {
                std::cout << error.what() << '\n';
            }
        } catch (const DeviceError& error) {
            std::cout << error.what() << '\n';  // built without the GLSL compiler
        }
        return 0;
    }
    std::cout << "no Vulkan device here: install mesa-vulkan-drivers for one\n";
    return 0;
}
