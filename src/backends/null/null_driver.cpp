// Any number of devices that do nothing.
#include "backends/null/null_driver.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

namespace volley::backends::null {
namespace {

class NullDriver final : public backend::Driver {
public:
    NullDriver(std::shared_ptr<NullLog> log, unsigned devices) : log_(std::move(log)), count_(devices) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "null"; }

    [[nodiscard]] std::vector<DeviceInfo> devices() override {
        std::vector<DeviceInfo> infos;
        for (unsigned i = 0; i < count_; ++i) infos.push_back(describe_null(i));
        return infos;
    }

    [[nodiscard]] std::unique_ptr<backend::Device> open(unsigned index,
                                                        const backend::DeviceOptions& options) override {
        if (index >= count_) fail(ErrorCode::UnknownDevice, "there is no such device", cat("null:", index));
        return std::make_unique<NullDevice>(index, log_, options.memory_limit);
    }

private:
    std::shared_ptr<NullLog> log_;
    unsigned count_;
};

}  // namespace

std::unique_ptr<backend::Driver> make_driver(std::shared_ptr<NullLog> log, unsigned devices) {
    return std::make_unique<NullDriver>(std::move(log), devices);
}

}  // namespace volley::backends::null
