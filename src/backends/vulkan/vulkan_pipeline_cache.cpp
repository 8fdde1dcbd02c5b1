// The file: a mark, the hash of the data, the data. Drivers trust what they are given, so we do not.
#include "backends/vulkan/vulkan_pipeline_cache.hpp"

#include "core/hash.hpp"
#include "core/text.hpp"

#include <volley/log.hpp>

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

namespace volley::backends::vulkan {
namespace {

constexpr std::string_view mark = "volley pipelines 1\n";
constexpr std::size_t hash_digits = 32;
constexpr std::size_t header_bytes = 32;  // VkPipelineCacheHeaderVersionOne: a cache of this size is empty

std::string hash_of(const char* data, std::size_t size) {
    return Hasher().bytes(std::as_bytes(std::span(data, size))).digest().to_string();
}

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

PipelineCache::PipelineCache(std::shared_ptr<LogicalDevice> device, std::string folder)
    : device_(std::move(device)), folder_(std::move(folder)) {
    const PhysicalDevice& physical = device_->physical();
    if (!folder_.empty()) {
        Hasher key;
        key.add(physical.vendor_id, physical.device_id, physical.driver_version);
        key.bytes(std::as_bytes(std::span(physical.cache_uuid)));
        file_ = cat(folder_, "/vulkan-", key.digest().to_string(), ".pipelines");
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
    std::ifstream in(file_, std::ios::binary);
    if (!in) return {};
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const std::size_t start = mark.size() + hash_digits;
    if (text.size() < start || !text.starts_with(mark)) return {};
    if (text.substr(mark.size(), hash_digits) != hash_of(text.data() + start, text.size() - start)) return {};
    std::vector<char> data(text.begin() + static_cast<std::ptrdiff_t>(start), text.end());
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
        store(data);
        saved_ = std::move(data);
    } catch (const std::exception& error) {
        log_message(LogLevel::Debug, cat("the pipeline cache was not saved: ", error.what()));
    }
}

void PipelineCache::store(const std::vector<char>& data) const {
    // Under a name of its own first, then renamed: nobody ever reads half a file.
    static std::atomic<unsigned> counter{0};
    std::filesystem::create_directories(folder_);
    const std::string temporary = cat(file_, ".", ::getpid(), ".", counter.fetch_add(1));
    bool written = false;
    {
        std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
        out << mark << hash_of(data.data(), data.size());
        out.write(data.data(), static_cast<std::streamsize>(data.size()));
        out.flush();
        written = out.good();
    }
    std::error_code error;
    if (written) std::filesystem::rename(temporary, file_, error);
    if (!written || error) {
        log_message(LogLevel::Debug, cat("the pipeline cache was not saved: ", file_, " ", error.message()));
        std::filesystem::remove(temporary, error);
    }
}

}  // namespace volley::backends::vulkan
