// The driver's pipeline cache, saved in a file between runs if the driver stores more than its header in it.
// A missing, damaged or incompatible file is ignored.
#pragma once

#include "backends/vulkan/vulkan_logical.hpp"

#include <memory>
#include <string>
#include <vector>

namespace volley::backends::vulkan {

class PipelineCache {
public:
    /// `folder` holds cache files; empty disables them.
    PipelineCache(std::shared_ptr<LogicalDevice> device, const std::string& folder);
    /// Saves new pipelines.
    ~PipelineCache();
    PipelineCache(const PipelineCache&) = delete;
    PipelineCache& operator=(const PipelineCache&) = delete;

    [[nodiscard]] VkPipelineCache handle() const noexcept { return handle_; }
    /// Writes the file if the cache has changed. Failures are only logged, at debug level.
    void save() noexcept;
    [[nodiscard]] const std::string& file() const noexcept { return file_; }

private:
    [[nodiscard]] std::vector<char> load() const;

    std::shared_ptr<LogicalDevice> device_;
    std::string file_;
    VkPipelineCache handle_ = VK_NULL_HANDLE;
    std::vector<char> saved_;  // contents of the file
};

}  // namespace volley::backends::vulkan
