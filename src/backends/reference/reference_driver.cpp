// Lists and opens the one reference device.
#include "backends/reference/reference_driver.hpp"

#include "backends/reference/reference_device.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

namespace volley::backends::reference {
namespace {

class ReferenceDriver final : public backends::Driver {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "reference"; }
    [[nodiscard]] std::vector<DeviceInfo> devices() override { return {describe_reference()}; }

    [[nodiscard]] std::unique_ptr<backends::Device> open(unsigned index,
                                                         const backends::DeviceOptions& options) override {
        if (index != 0) {
            fail(ErrorCode::UnknownDevice, "there is no such device", cat("reference:", index),
                 "use reference:0");
        }
        const unsigned width = options.cpu_width == 0 ? default_subgroup_size : options.cpu_width;
        return std::make_unique<ReferenceDevice>(width, options.memory_limit);
    }
};

}  // namespace

std::unique_ptr<backends::Driver> make_driver() { return std::make_unique<ReferenceDriver>(); }

}  // namespace volley::backends::reference
