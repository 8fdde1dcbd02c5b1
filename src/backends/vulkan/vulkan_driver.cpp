// Lists and opens Vulkan devices.
#include "backends/vulkan/vulkan_driver.hpp"

#include "backends/common/system_gpu.hpp"
#include "backends/vulkan/vulkan_device.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <string>

namespace volley::backends::vulkan {
namespace {

class VulkanDriver final : public backends::Driver {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "vulkan"; }
    [[nodiscard]] bool may_have_preferred() const override { return backends::system_has_gpu(); }

    [[nodiscard]] bool survives_fork() const noexcept override { return false; }

    [[nodiscard]] std::vector<DeviceInfo> devices() override {
        std::vector<DeviceInfo> infos;
        if (const auto instance = opened()) {
            for (const PhysicalDevice& device : instance->devices()) infos.push_back(device.info);
        }
        return infos;
    }

    [[nodiscard]] std::unique_ptr<backends::Device> open(unsigned index,
                                                         const backends::DeviceOptions& options) override {
        std::shared_ptr<Instance> instance = opened();
        const std::size_t count = instance ? instance->devices().size() : 0;
        if (index >= count) {
            fail(ErrorCode::UnknownDevice, "there is no such device", cat("vulkan:", index),
                 count == 0 ? std::string("install a Vulkan driver, or use cpu:0")
                            : cat("use vulkan:0 to vulkan:", count - 1));
        }
        VulkanOptions own;
        own.memory_limit = options.memory_limit;
        return std::make_unique<VulkanDevice>(std::move(instance), index, own);
    }

private:
    /// Tried once per process: drivers installed later are not found. Never destroyed: layers and drivers may
    /// already be unloaded when static objects are destroyed at exit.
    static const std::shared_ptr<Instance>& opened() {
        static const std::shared_ptr<Instance>& instance = *new std::shared_ptr<Instance>(Instance::open());
        return instance;
    }
};

}  // namespace

std::unique_ptr<backends::Driver> make_driver() { return std::make_unique<VulkanDriver>(); }

}  // namespace volley::backends::vulkan
