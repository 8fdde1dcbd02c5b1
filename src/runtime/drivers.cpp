// New backends are added in the constructor; the rest of the runtime names no backend.
#include "runtime/drivers.hpp"

#include "backends/cpu/cpu_driver.hpp"
#include "backends/opencl/opencl_driver.hpp"
#include "backends/reference/reference_driver.hpp"
#include "backends/vulkan/vulkan_driver.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace volley::runtime {
namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

std::optional<unsigned> as_index(std::string_view text) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

[[noreturn]] void fail_unknown(std::string_view name, const std::vector<FoundDevice>& known) {
    std::vector<std::string> there;
    there.reserve(known.size());
    for (const FoundDevice& device : known)
        there.push_back(cat(device.info.id(), " (", device.info.name, ")"));
    fail(ErrorCode::UnknownDevice, "there is no such device", cat("'", name, "'"),
         cat("use one of: ", join(there, ", "),
             "; as backend, backend:index, backend:* or backend:part-of-the-name"));
}

}  // namespace

Drivers::Drivers() {
    drivers_.push_back(backends::vulkan::make_driver());
    drivers_.push_back(backends::opencl::make_driver());
    drivers_.push_back(backends::cpu::make_driver());
    drivers_.push_back(backends::reference::make_driver());
}

Drivers& Drivers::instance() {
    static Drivers drivers;
    return drivers;
}

void Drivers::add(std::unique_ptr<backends::Driver> driver) {
    const std::scoped_lock lock(mutex_);
    for (auto& known : drivers_) {
        if (known->name() != driver->name()) continue;
        replaced_.push_back(std::move(known));
        known = std::move(driver);
        return;
    }
    drivers_.push_back(std::move(driver));
}

bool Drivers::is_of_this_process(const backends::Driver& driver) {
    return driver.survives_fork() || opened_by_.try_emplace(&driver, ::getpid()).first->second == ::getpid();
}

template <class Predicate>
std::vector<FoundDevice> Drivers::of(const Predicate& is_requested, bool omit_lost) {
    const std::scoped_lock lock(mutex_);
    std::vector<FoundDevice> found;
    for (const auto& driver : drivers_) {
        if (!is_requested(*driver)) continue;
        if (!is_of_this_process(*driver)) {
            if (omit_lost) continue;
            fail(ErrorCode::Unsupported,
                 "the parent process has used the driver, whose state a fork does not copy", driver->name(),
                 "fork before the first use of the driver, call exec(), or use cpu:0 in the child");
        }
        for (DeviceInfo& info : driver->devices()) found.push_back({driver.get(), std::move(info)});
    }
    return found;
}

std::vector<FoundDevice> Drivers::all() {
    return of([](const backends::Driver& /*driver*/) { return true; }, true);
}

std::vector<FoundDevice> Drivers::select(std::span<const std::string> names) {
    std::vector<FoundDevice> selected;
    for (const std::string& name : names) {
        const std::string requested = lower(trimmed(name));
        const auto colon = requested.find(':');
        const std::string backend = requested.substr(0, colon);
        const std::string which = colon == std::string::npos ? "0" : requested.substr(colon + 1);
        const std::optional<unsigned> index = as_index(which);
        const auto fits = [&](const FoundDevice& device) {
            if (device.info.backend != backend || which.empty()) return false;
            if (which == "*") return true;
            if (index) return device.info.index == *index;
            return lower(device.info.name).find(which) != std::string::npos;
        };
        const std::size_t before = selected.size();
        // Does not open the drivers of other backends: that takes several milliseconds each.
        const std::vector<FoundDevice> known =
            of([&](const backends::Driver& driver) { return driver.name() == backend; });
        for (const FoundDevice& device : known) {
            if (!fits(device)) continue;
            selected.push_back(device);
            if (which != "*") break;  // part of a name selects the first match
        }
        if (selected.size() == before) fail_unknown(name, all());
    }
    return selected;
}

FoundDevice Drivers::preferred() {
    constexpr int never = 3;  // used only if named explicitly
    const auto rank = [](const DeviceInfo& info) {
        if (info.backend == "cpu") return 0;
        if (info.software || info.backend == "reference") return never;
        switch (info.type) {
            case DeviceType::DiscreteGpu: return 0;
            case DeviceType::IntegratedGpu: return 1;
            case DeviceType::VirtualGpu: return 2;
            default: return never;
        }
    };
    // Tries the backends in order of preference; those after the first with a suitable device stay closed.
    std::vector<const backends::Driver*> candidates;
    {
        const std::scoped_lock lock(mutex_);
        for (const auto& driver : drivers_) {
            if (driver->may_have_preferred()) candidates.push_back(driver.get());
        }
    }
    for (const backends::Driver* candidate : candidates) {
        const std::vector<FoundDevice> known =
            of([&](const backends::Driver& driver) { return &driver == candidate; });
        const auto best = std::min_element(
            known.begin(), known.end(),
            [&](const FoundDevice& a, const FoundDevice& b) { return rank(a.info) < rank(b.info); });
        if (best != known.end() && rank(best->info) != never) return *best;
    }
    fail(ErrorCode::UnknownDevice, "no suitable device was found", "this machine",
         "name a device with VOLLEY_DEVICES");
}

}  // namespace volley::runtime

namespace volley {

std::vector<DeviceInfo> devices() {
    std::vector<DeviceInfo> infos;
    for (runtime::FoundDevice& device : runtime::Drivers::instance().all())
        infos.push_back(std::move(device.info));
    return infos;
}

}  // namespace volley
