// Whether looking for a GPU is worth it.
#pragma once

namespace volley::backends {

/// Whether the system shows a device of a GPU's driver. Without one, drivers can have software alone, which
/// is used only when named, and whose loading takes some 50 to 200 ms. Opens nothing.
[[nodiscard]] bool system_has_gpu();

}  // namespace volley::backends
