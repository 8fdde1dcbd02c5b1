// The devices of rows other than the CPU: lavapipe and PoCL, if this machine has them and their peers.
#pragma once

#include "report.hpp"

#include <volley/volley.hpp>

#include <string_view>

namespace volley::bench {

/// A context of one device, current until it is destroyed.
struct OnDevice {
    explicit OnDevice(const char* name) : context(make_context({.devices = {name}})) {}
    Context context;
    ContextScope scope = context.use();
};

inline constexpr const char* lavapipe_name = "vulkan:llvmpipe";
inline constexpr const char* swiftshader_name = "vulkan:swiftshader";
inline constexpr const char* pocl_name = "opencl:0";

/// Sets the device of the following rows. If the device or its peer is missing, adds a row that says so and
/// returns false.
[[nodiscard]] bool go_to_lavapipe(Report& report, Metric metric, std::string_view peer, double goal);
[[nodiscard]] bool go_to_pocl(Report& report, Metric metric, std::string_view peer, double goal);

}  // namespace volley::bench
