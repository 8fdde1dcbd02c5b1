// Selects the file, and checks that its data belongs to this driver.
#include "backends/vulkan/vulkan_pipeline_cache.hpp"

#include "backends/common/kept_file.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"

#include <volley/log.hpp>

#include <cstring>
#include <exception>
#include <span>

namespace volley::backends::vulkan {
namespace {

constexpr std::string_view mark = "volley pipelines 1\n";
constexpr std::size_t header_bytes = 32;  // size of VkPipelineCacheHeaderVersionOne, and of an empty cache

bool belongs_to(const std::vector<char>& data, const PhysicalDevice& device) {
    if (data.size() < header_bytes) return false;
    VkPipelineCacheHeaderVersionOne header{};
    std::memcpy(&header, data.data(), header_bytes);
    return header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
           header.vendorID == device.vendor_id && header.deviceID == device.device_id &&
           std::memcmp(static_cast<const std::uint8_t*>(header.pipelineCacheUUID), device.cache_uuid.data(),
                       VK_UUID_SIZE) == 0;
}

}  // namespace

PipelineCache::PipelineCache(std::shared_ptr<LogicalDevice> device, const std::string& folder)
    : device_(std::move(device)) {
    const PhysicalDevice& physical = device_->physical();
    if (!folder.empty()) {
        Hasher key;
        key.add(physical.vendor_id, physical.device_id, physical.driver_version);
        key.bytes(std::as_bytes(std::span(physical.cache_uuid)));
        file_ = cat(folder, "/vulkan-", key.digest().to_string(), ".pipelines");
        saved_ = load();
    }
    auto info = structure<VkPipelineCacheCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO);
    info.initialDataSize = saved_.size();
    info.pInitialData = saved_.data();
    device_->check(device_->vk.vkCreatePipelineCache(device_->handle(), &info, nullptr, &handle_),
                   "vkCreatePipelineCache");
}

PipelineCache::~PipelineCache() {
    save();
    device_->vk.vkDestroyPipelineCache(device_->handle(), handle_, nullptr);
}

std::vector<char> PipelineCache::load() const {
    std::vector<char> data = backends::load_file(file_, mark);
    if (!belongs_to(data, device_->physical())) return {};
    return data;
}

void PipelineCache::save() noexcept {
    if (file_.empty() || device_->lost()) return;
    try {
        std::size_t size = 0;
        VolkDeviceTable& vk = device_->vk;
        if (vk.vkGetPipelineCacheData(device_->handle(), handle_, &size, nullptr) < 0) return;
        if (size <= header_bytes) return;
        std::vector<char> data(size);
        if (vk.vkGetPipelineCacheData(device_->handle(), handle_, &size, data.data()) != VK_SUCCESS) return;
        data.resize(size);
        if (data == saved_) return;
        backends::store_file(file_, mark, data);
        saved_ = std::move(data);
    } catch (const std::exception& error) {
        log_message(LogLevel::Debug, cat("the pipeline cache could not be saved: ", error.what()));
    }
}

}  // namespace volley::backends::vulkan
