// A driver with any number of null devices.
#include "support/null/null_driver.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

namespace volley::backends::null {
namespace {

class NullDriver final : public backends::Driver {
public:
    NullDriver(std::shared_ptr<NullLog> log, NullOptions options) : log_(std::move(log)), options_(options) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "null"; }

    [[nodiscard]] std::vector<DeviceInfo> devices() override {
        std::vector<DeviceInfo> infos;
        for (unsigned i = 0; i < options_.devices; ++i) infos.push_back(describe_null(i));
        return infos;
    }

    [[nodiscard]] std::unique_ptr<backends::Device> open(unsigned index,
                                                         const backends::DeviceOptions& options) override {
        if (index >= options_.devices)
            fail(ErrorCode::UnknownDevice, "there is no such device", cat("null:", index));
        return std::make_unique<NullDevice>(index, log_, options.memory_limit, options_.overlaps);
    }

private:
    std::shared_ptr<NullLog> log_;
    NullOptions options_;
};

}  // namespace

std::unique_ptr<backends::Driver> make_driver(std::shared_ptr<NullLog> log, NullOptions options) {
    return std::make_unique<NullDriver>(std::move(log), options);
}

}  // namespace volley::backends::null
