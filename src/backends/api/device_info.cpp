// Formats a device's description, as one line or in full.
#include "core/text.hpp"

#include <volley/device.hpp>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace volley {
namespace {

std::string bytes_text(std::uint64_t bytes) {
    constexpr std::string_view units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    auto amount = static_cast<double>(bytes);
    while (amount >= 1024 && unit + 1 < std::size(units)) {
        amount /= 1024;
        ++unit;
    }
    return cat(std::round(amount * 10) / 10, " ", units[unit]);
}

}  // namespace

std::string_view to_string(DeviceType type) noexcept {
    switch (type) {
        case DeviceType::Cpu: return "cpu";
        case DeviceType::IntegratedGpu: return "integrated GPU";
        case DeviceType::DiscreteGpu: return "discrete GPU";
        case DeviceType::VirtualGpu: return "virtual GPU";
        case DeviceType::Other: return "other";
    }
    return "other";
}

std::string DeviceInfo::id() const { return cat(backend, ":", index); }

std::string DeviceInfo::describe() const {
    std::string text = cat(id(), "\n  name              ", name, "\n  driver            ", driver,
                           "\n  type              ", to_string(type), software ? ", software" : "");
    if (std::any_of(uuid.begin(), uuid.end(), [](std::uint8_t byte) { return byte != 0; })) {
        text += "\n  uuid              ";
        for (const std::uint8_t byte : uuid) text += hex(byte, 2);
    }
    text += cat("\n  memory            ", bytes_text(memory_bytes), host_memory ? ", host memory" : "");
    text += cat("\n  compute units     ", compute_units);
    text += cat("\n  subgroup          ", subgroup_size, " lanes");
    text += cat("\n  workgroup         up to ", max_local_size, " (", max_local_dims[0], " x ",
                max_local_dims[1], " x ", max_local_dims[2], ")");
    text += cat("\n  shared memory     ", bytes_text(max_shared_bytes));
    text += cat("\n  queues            ", max_queues);
    text += "\n  features         ";
    const auto feature = [&](bool has, std::string_view what) {
        if (has) text += cat(" ", what);
    };
    feature(i8, "i8");
    feature(i16, "i16");
    feature(i64, "i64");
    feature(f16, "f16");
    feature(f64, "f64");
    feature(float_atomics, "float-atomics");
    feature(int64_atomics, "int64-atomics");
    feature(subgroups, "subgroups");
    feature(keeps_subnormals, "subnormals");
    feature(fused_fma, "fused-fma");
    text += '\n';
    return text;
}

std::ostream& operator<<(std::ostream& out, const DeviceInfo& device) {
    return out << device.id() << "  " << device.name << " (" << device.compute_units
               << (device.type == DeviceType::Cpu ? " cores, " : " units, ") << device.subgroup_size
               << " lanes" << (device.software ? ", software" : "") << ")";
}

}  // namespace volley
