// The driver's pipeline cache, kept in a file between runs where the driver puts more than its header into
// it. A file that is missing, broken or another driver's is as good as none.
#pragma once

#include "backends/vulkan/vulkan_logical.hpp"

#include <memory>
#include <string>
#include <vector>

namespace volley::backends::vulkan {

class PipelineCache {
public:
    /// `folder` is where files are kept; empty: nowhere.
    PipelineCache(std::shared_ptr<LogicalDevice> device, const std::string& folder);
    /// Saves what has been added.
    ~PipelineCache();
    PipelineCache(const PipelineCache&) = delete;
    PipelineCache& operator=(const PipelineCache&) = delete;

    [[nodiscard]] VkPipelineCache handle() const noexcept { return handle_; }
    /// Writes the file if there is anything new. Failures are a line of the debug log.
    void save() noexcept;
    [[nodiscard]] const std::string& file() const noexcept { return file_; }

private:
    [[nodiscard]] std::vector<char> load() const;

    std::shared_ptr<LogicalDevice> device_;
    std::string file_;
    VkPipelineCache handle_ = VK_NULL_HANDLE;
    std::vector<char> saved_;  // what the file holds
};

}  // namespace volley::backends::vulkan
