// The devices that rows are measured on besides the CPU: lavapipe and PoCL, where this machine has them
// together with their peers.
#pragma once

#include "report.hpp"

#include <volley/volley.hpp>

#include <string_view>

namespace volley::bench {

/// A context of one device, current until its end.
struct OnDevice {
    explicit OnDevice(const char* name) : context(make_context({.devices = {name}})) {}
    Context context;
    ContextScope scope = context.use();
};

inline constexpr const char* lavapipe_name = "vulkan:llvmpipe";
inline constexpr const char* pocl_name = "opencl:0";

/// The report's next rows are of that device. False where it or its peer by hand is missing; a row says so
/// then.
[[nodiscard]] bool go_to_lavapipe(Report& report, Metric metric, std::string_view peer, double goal);
[[nodiscard]] bool go_to_pocl(Report& report, Metric metric, std::string_view peer, double goal);

}  // namespace volley::bench
