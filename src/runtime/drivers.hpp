// The registry of backends, in order of preference, and the selection of devices by name.
#pragma once

#include "backends/api/device.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace volley::runtime {

/// An available device and the driver that opens it.
struct FoundDevice {
    backends::Driver* driver = nullptr;
    DeviceInfo info;
};

/// Drivers live until process exit. Thread-safe.
class Drivers {
public:
    /// Returns the registry of this process, which contains the library's backends.
    [[nodiscard]] static Drivers& instance();

    /// Adds a driver, replacing one of the same name. For tests.
    void add(std::unique_ptr<backends::Driver> driver);

    /// Returns the devices of all backends.
    [[nodiscard]] std::vector<FoundDevice> all();

    /// Returns the devices with these names, each of the form `backend`, `backend:index`, `backend:*` or
    /// `backend:part of the name`, ignoring case; `backend` alone is its first device. A device named twice
    /// is returned twice. Throws DeviceError (UnknownDevice), which lists the available devices.
    [[nodiscard]] std::vector<FoundDevice> select(std::span<const std::string> names);

    /// Returns the device that a context uses by default: a Vulkan GPU, else an OpenCL GPU, else the CPU;
    /// never a software device. Within a backend, discrete GPUs come before integrated ones and these before
    /// virtual ones.
    [[nodiscard]] FoundDevice preferred();

private:
    Drivers();
    /// Returns the devices of the drivers for which is_requested(driver) is true; does not open the others.
    /// Throws DeviceError (Unsupported), or omits the driver, if it was opened by the parent process and does
    /// not survive a fork.
    template <class Predicate>
    [[nodiscard]] std::vector<FoundDevice> of(const Predicate& is_requested, bool omit_lost = false);
    [[nodiscard]] bool is_of_this_process(const backends::Driver& driver);
    std::mutex mutex_;
    std::vector<std::unique_ptr<backends::Driver>> drivers_;
    std::map<const backends::Driver*, int> opened_by_;         // process ids
    std::vector<std::unique_ptr<backends::Driver>> replaced_;  // kept: their devices may still be open
};

}  // namespace volley::runtime
