// For tests of the Vulkan backend below the runtime. They run on each of the two software drivers; one that
// is missing is a skip that names it. What the validation layer says fails the test.
#pragma once

#include "backends/vulkan/vulkan_device.hpp"
#include "backends/vulkan_modules.hpp"
#include "core/text.hpp"
#include "ir/builder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace volley::backends::vulkan {

/// The index of the driver's device; -1 where it is missing.
inline int find_driver(const Instance& instance, VkDriverId driver) {
    for (std::size_t i = 0; i < instance.devices().size(); ++i) {
        if (instance.devices()[i].driver == driver) return static_cast<int>(i);
    }
    return -1;
}

struct DriverName {
    const char* label;
    VkDriverId id;
};
inline constexpr DriverName drivers[] = {{"lavapipe", VK_DRIVER_ID_MESA_LLVMPIPE},
                                         {"swiftshader", VK_DRIVER_ID_GOOGLE_SWIFTSHADER}};

class VulkanTest : public ::testing::TestWithParam<DriverName> {
protected:
    void SetUp() override {
        messages_ = validation_message_count();
        instance = Instance::open();
        if (instance) index = find_driver(*instance, GetParam().id);
        if (index < 0) GTEST_SKIP() << "the driver " << GetParam().label << " is not installed";
    }
    void TearDown() override {
        if (validation_message_count() != messages_) ADD_FAILURE() << last_validation_message();
    }

    std::unique_ptr<VulkanDevice> open(const VulkanOptions& options = {}) {
        return std::make_unique<VulkanDevice>(instance, static_cast<unsigned>(index), options);
    }

    std::shared_ptr<Instance> instance;
    int index = -1;

private:
    std::uint64_t messages_ = 0;
};

#define VOLLEY_VULKAN_SUITE(Suite)                                  \
    INSTANTIATE_TEST_SUITE_P(, Suite, ::testing::ValuesIn(drivers), \
                             [](const auto& driver) { return std::string(driver.param.label); })

/// Blocks until it is opened; also when the test ends early.
class Gate {
public:
    ~Gate() { open(); }
    void open() {
        opened_ = true;
        opened_.notify_all();
    }
    void pass() { opened_.wait(false); }

private:
    std::atomic<bool> opened_{false};
};

inline std::span<const std::byte> bytes_of(const std::vector<int>& data) {
    return std::as_bytes(std::span(data));
}

inline std::vector<int> counting(std::size_t count, int start = 0) {
    std::vector<int> data(count);
    std::iota(data.begin(), data.end(), start);
    return data;
}

inline std::vector<int> read_back(backend::Queue& queue, const backend::Memory& memory, std::size_t count,
                                  std::uint64_t offset = 0) {
    std::vector<int> data(count);
    queue.timeline().wait(queue.read(memory, offset, std::as_writable_bytes(std::span(data))));
    return data;
}

inline ir::Function multiply_add_signature() {
    ir::Function fn;
    fn.name = "multiply_add";
    ir::Builder b(fn);
    b.buffer(ScalarType::I32, "data");
    b.param(ScalarType::I32, "factor");
    return fn;
}

/// The hand-made module as a program.
inline std::unique_ptr<backend::Program> multiply_add(VulkanDevice& device) {
    using codegen::spirv::FieldKind;
    codegen::spirv::Module module;
    module.words.assign(std::begin(multiply_add_words), std::end(multiply_add_words));
    module.fields = {
        {FieldKind::GlobalSize, 0, 0, 12}, {FieldKind::Address, 0, 16, 8}, {FieldKind::Value, 1, 24, 4}};
    module.argument_bytes = 28;
    return device.adopt(multiply_add_signature(), std::move(module), {64, 1, 1});
}

inline backend::Point launch_multiply_add(backend::Queue& queue, backend::Program& program,
                                          backend::Memory& memory, int factor, std::uint32_t count,
                                          std::uint64_t offset = 0) {
    backend::Argument args[2];
    args[0].memory = &memory;
    args[0].offset = offset;
    args[0].elements = count;
    args[1].value = &factor;
    return queue.launch({&program, {count, 1, 1}, {64, 1, 1}, args});
}

}  // namespace volley::backends::vulkan
