// The backends of this process, in the order of preference, and the one way to pick devices by name.
#pragma once

#include "backends/api/device.hpp"

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace volley::runtime {

/// A device that was found: which driver opens it, and what it is.
struct FoundDevice {
    backends::Driver* driver = nullptr;
    DeviceInfo info;
};

/// Drivers live until the process ends. Thread-safe.
class Drivers {
public:
    /// The process's own. The library's backends are in it from the start.
    [[nodiscard]] static Drivers& instance();

    /// Adds a driver, in place of one of the same name: for tests.
    void add(std::unique_ptr<backends::Driver> driver);

    /// All devices of all backends.
    [[nodiscard]] std::vector<FoundDevice> all();

    /// Devices by name, each `backend`, `backend:index`, `backend:*` or `backend:part of the name`, in any
    /// case; `backend` alone is its first. Throws DeviceError (UnknownDevice), which lists what there is. A
    /// device that is named twice is given twice.
    [[nodiscard]] std::vector<FoundDevice> select(std::span<const std::string> names);

    /// What a context uses when nobody names a device: a GPU of Vulkan's, else one of OpenCL's, else the CPU;
    /// never software. Of one backend's GPUs a discrete one, else an integrated one, else a virtual one.
    [[nodiscard]] FoundDevice preferred();

private:
    Drivers();
    /// The devices of the drivers for which wanted(driver) holds; the others stay closed.
    template <class Wanted>
    [[nodiscard]] std::vector<FoundDevice> of(const Wanted& wanted);
    std::mutex mutex_;
    std::vector<std::unique_ptr<backends::Driver>> drivers_;
    std::vector<std::unique_ptr<backends::Driver>> replaced_;  // devices may still be open
};

}  // namespace volley::runtime
