// Lists platforms and devices.
#include "backends/opencl/opencl_platforms.hpp"

#include "core/settings.hpp"
#include "core/text.hpp"

#include <volley/log.hpp>

namespace volley::backends::opencl {
namespace {

void debug_log(std::string_view text) {
    if (log_enabled(LogLevel::Debug)) log_message(LogLevel::Debug, cat("opencl: ", text));
}

void find_devices(const Api& cl, cl_platform_id platform, std::vector<PhysicalDevice>& to) {
    cl_uint count = 0;
    if (cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0) {
        debug_log("the platform has no devices");
        return;
    }
    std::vector<cl_device_id> found(count);
    if (cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, found.data(), nullptr) != CL_SUCCESS) return;
    for (cl_device_id device : found) {
        PhysicalDevice description;
        const std::string refusal =
            describe(cl, platform, device, static_cast<unsigned>(to.size()), description);
        if (refusal.empty()) {
            to.push_back(std::move(description));
        } else {
            debug_log(cat(description.info.name, " cannot be used: ", refusal));
        }
    }
}

Platforms find_platforms() {
    Platforms result;
    std::string why;
    result.api = open_api(why);
    if (result.api == nullptr) {
        debug_log(cat(why, "; no devices are available"));
        return result;
    }
    cl_uint count = 0;
    const cl_int asked = result.api->GetPlatformIDs(0, nullptr, &count);
    if (asked != CL_SUCCESS || count == 0) {  // the loader returns an error code if there is none
        debug_log("no platform is installed; no devices are available");
        return result;
    }
    std::vector<cl_platform_id> platforms(count);
    if (result.api->GetPlatformIDs(count, platforms.data(), nullptr) != CL_SUCCESS) return result;
    for (cl_platform_id platform : platforms) find_devices(*result.api, platform, result.devices);
    return result;
}

}  // namespace

const Platforms& Platforms::open() {
    static_cast<void>(settings());  // report invalid settings before looking for a loader
    static const Platforms& platforms = *new Platforms(find_platforms());
    return platforms;
}

}  // namespace volley::backends::opencl
