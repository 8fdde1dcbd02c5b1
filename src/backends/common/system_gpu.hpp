// Detects whether the machine has a GPU.
#pragma once

namespace volley::backends {

/// Returns whether the system has a device node of a GPU driver. Without one, drivers offer only software
/// devices, which are used only when named and take some 50 to 200 ms to load. Opens nothing.
[[nodiscard]] bool system_has_gpu();

}  // namespace volley::backends
