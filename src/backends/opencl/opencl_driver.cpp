// Lists and opens OpenCL devices.
#include "backends/opencl/opencl_driver.hpp"

#include "backends/common/system_gpu.hpp"
#include "backends/opencl/opencl_device.hpp"
#include "backends/opencl/opencl_platforms.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

namespace volley::backends::opencl {
namespace {

class OpenClDriver final : public backends::Driver {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "opencl"; }
    /// Only GPUs are selected without being named, and a GPU has a device node whatever its platform. Reading
    /// the vendor files instead would have to reproduce each loader's search rules.
    [[nodiscard]] bool may_have_preferred() const override { return backends::system_has_gpu(); }

    [[nodiscard]] bool survives_fork() const noexcept override { return false; }

    [[nodiscard]] std::vector<DeviceInfo> devices() override {
        std::vector<DeviceInfo> infos;
        for (const PhysicalDevice& device : Platforms::open().devices) infos.push_back(device.info);
        return infos;
    }

    [[nodiscard]] std::unique_ptr<backends::Device> open(unsigned index,
                                                         const backends::DeviceOptions& options) override {
        const Platforms& platforms = Platforms::open();
        const std::size_t count = platforms.devices.size();
        if (index >= count) {
            fail(ErrorCode::UnknownDevice, "there is no such device", cat("opencl:", index),
                 count == 0 ? std::string("install an OpenCL driver, or use cpu:0")
                            : cat("use opencl:0 to opencl:", count - 1));
        }
        OpenClOptions own;
        own.memory_limit = options.memory_limit;
        return std::make_unique<OpenClDevice>(*platforms.api, platforms.devices[index], own);
    }
};

}  // namespace

std::unique_ptr<backends::Driver> make_driver() { return std::make_unique<OpenClDriver>(); }

}  // namespace volley::backends::opencl
