// Finds the software devices.
#include "software_devices.hpp"

#include "raw_opencl.hpp"
#include "raw_vulkan.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace volley::bench {
namespace {

template <class F>
bool has_device(F&& is_it) {
    const std::vector<DeviceInfo> all_devices = devices();
    return std::any_of(all_devices.begin(), all_devices.end(), is_it);
}

}  // namespace

bool go_to_lavapipe(Report& report, Metric metric, std::string_view peer, double goal) {
    report.on("vulkan", lavapipe_name);
    const auto is_it = [](const DeviceInfo& device) {
        return device.backend == "vulkan" && device.name.find("llvmpipe") != std::string::npos;
    };
    if (raw_vulkan() != nullptr && has_device(is_it)) return true;
    report.add(metric, 0, peer, std::nullopt, goal, missing_vulkan());
    return false;
}

bool go_to_pocl(Report& report, Metric metric, std::string_view peer, double goal) {
    report.on("opencl", pocl_name);
    const auto is_it = [](const DeviceInfo& device) {
        return device.id() == pocl_name && device.driver.starts_with("Portable Computing Language");
    };
    if (pocl() != nullptr && has_device(is_it)) return true;
    report.add(metric, 0, peer, std::nullopt, goal, missing_pocl());
    return false;
}

}  // namespace volley::bench
