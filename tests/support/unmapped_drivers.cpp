// Lists devices with the library's drivers, and opens them with other options.
#include "support/unmapped_drivers.hpp"

#include "backends/opencl/opencl_device.hpp"
#include "backends/opencl/opencl_driver.hpp"
#include "backends/opencl/opencl_platforms.hpp"
#include "backends/vulkan/vulkan_device.hpp"
#include "backends/vulkan/vulkan_driver.hpp"
#include "runtime/drivers.hpp"

#include <memory>
#include <utility>

namespace volley::testing {
namespace {

namespace cl = backends::opencl;
namespace vk = backends::vulkan;

constexpr std::size_t staging_bytes = 64 << 10, chunk_bytes = 12 << 10;

std::unique_ptr<backends::Device> open_vulkan(unsigned index, const backends::DeviceOptions& wanted) {
    vk::VulkanOptions options;
    options.memory_limit = wanted.memory_limit;
    options.heap.map = false;
    options.queue = {.staging_bytes = staging_bytes, .chunk_bytes = chunk_bytes};
    return std::make_unique<vk::VulkanDevice>(vk::Instance::open(), index, options);
}

std::unique_ptr<backends::Device> open_opencl(unsigned index, const backends::DeviceOptions& wanted) {
    cl::OpenClOptions options;
    options.memory_limit = wanted.memory_limit;
    options.heap.share = false;
    options.queue = {.staging_bytes = staging_bytes, .chunk_bytes = chunk_bytes};
    const cl::Platforms& platforms = cl::Platforms::open();
    return std::make_unique<cl::OpenClDevice>(*platforms.api, platforms.devices[index], options);
}

class UnmappedDriver final : public backends::Driver {
public:
    using Open = std::unique_ptr<backends::Device> (*)(unsigned index, const backends::DeviceOptions& wanted);

    UnmappedDriver(std::unique_ptr<backends::Driver> own, Open how) : own_(std::move(own)), open_(how) {}
    [[nodiscard]] std::string_view name() const noexcept override { return own_->name(); }
    [[nodiscard]] std::vector<DeviceInfo> devices() override { return own_->devices(); }
    [[nodiscard]] std::unique_ptr<backends::Device> open(unsigned index,
                                                         const backends::DeviceOptions& options) override {
        return open_(index, options);
    }

private:
    std::unique_ptr<backends::Driver> own_;
    Open open_;
};

}  // namespace

UnmappedDrivers::UnmappedDrivers() {
    runtime::Drivers& drivers = runtime::Drivers::instance();
    drivers.add(std::make_unique<UnmappedDriver>(vk::make_driver(), open_vulkan));
    drivers.add(std::make_unique<UnmappedDriver>(cl::make_driver(), open_opencl));
}

UnmappedDrivers::~UnmappedDrivers() {
    runtime::Drivers& drivers = runtime::Drivers::instance();
    drivers.add(vk::make_driver());
    drivers.add(cl::make_driver());
}

}  // namespace volley::testing
