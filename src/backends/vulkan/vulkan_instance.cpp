// Opens the loader, creates the instance, and receives messages of the validation layer.
#include "backends/vulkan/vulkan_instance.hpp"

#include "core/settings.hpp"
#include "core/text.hpp"

#include <volley/log.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

namespace volley::backends::vulkan {
namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

struct ValidationState {
    std::atomic<std::uint64_t> count{0};
    std::atomic<bool> on{false};
    std::mutex mutex;
    std::string last;
};

// Never destroyed: the layer may report messages during process exit.
ValidationState& validation() {
    static ValidationState& state = *new ValidationState;
    return state;
}

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT /*severity*/,
                                          VkDebugUtilsMessageTypeFlagsEXT /*types*/,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void* /*user*/) {
    ValidationState& state = validation();
    const std::string text = cat("Vulkan validation: ", data->pMessage != nullptr ? data->pMessage : "");
    log_message(LogLevel::Error, text);
    {
        const std::scoped_lock lock(state.mutex);
        state.last = text;
    }
    ++state.count;
    return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info() {
    auto info = structure<VkDebugUtilsMessengerCreateInfoEXT>(
        VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
    info.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    info.pfnUserCallback = on_message;
    return info;
}

/// Opens the loader once. It stays open because drivers may keep threads that run its code.
bool open_loader() {
    static const bool opened = [] {
        const auto& path = settings().vulkan_loader;
        if (!path) return volkInitialize() == VK_SUCCESS;
        void* library = ::dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return false;
        const auto entry =
            reinterpret_cast<PFN_vkGetInstanceProcAddr>(::dlsym(library, "vkGetInstanceProcAddr"));
        if (entry == nullptr) return false;
        volkInitializeCustom(entry);
        return vkCreateInstance != nullptr;
    }();
    return opened;
}

bool has_layer(const char* name) {
    std::uint32_t count = 0;
    if (vkEnumerateInstanceLayerProperties(&count, nullptr) != VK_SUCCESS) return false;
    std::vector<VkLayerProperties> layers(count);
    if (vkEnumerateInstanceLayerProperties(&count, layers.data()) < 0) return false;
    layers.resize(count);
    return std::any_of(layers.begin(), layers.end(), [&](const VkLayerProperties& layer) {
        return std::strcmp(static_cast<const char*>(layer.layerName), name) == 0;
    });
}

bool has_extension(const char* name) {
    std::uint32_t count = 0;
    if (vkEnumerateInstanceExtensionProperties(nullptr, &count, nullptr) != VK_SUCCESS) return false;
    std::vector<VkExtensionProperties> extensions(count);
    if (vkEnumerateInstanceExtensionProperties(nullptr, &count, extensions.data()) < 0) return false;
    extensions.resize(count);
    return std::any_of(extensions.begin(), extensions.end(), [&](const VkExtensionProperties& extension) {
        return std::strcmp(static_cast<const char*>(extension.extensionName), name) == 0;
    });
}

void debug_log(std::string_view text) {
    if (log_enabled(LogLevel::Debug)) log_message(LogLevel::Debug, cat("vulkan: ", text));
}

}  // namespace

std::uint64_t validation_message_count() noexcept { return validation().count.load(); }

std::string last_validation_message() {
    const std::scoped_lock lock(validation().mutex);
    return validation().last;
}

bool validation_is_on() noexcept { return validation().on.load(); }

std::shared_ptr<Instance> Instance::open() {
    static std::mutex mutex;
    static std::weak_ptr<Instance> known;
    const std::scoped_lock lock(mutex);
    if (std::shared_ptr<Instance> instance = known.lock()) return instance;
    static_cast<void>(settings());  // report invalid settings before looking for a loader
    if (!open_loader()) {
        debug_log("no loader is installed; no devices are available");
        return nullptr;
    }
    std::shared_ptr<Instance> instance(new Instance);
    if (!instance->create()) return nullptr;
    instance->find_devices();
    known = instance;
    return instance;
}

bool Instance::create() {
    version_ = std::min(volkGetInstanceVersion(), std::uint32_t{VK_API_VERSION_1_3});
    if (version_ < VK_API_VERSION_1_2) {
        debug_log("the loader is older than Vulkan 1.2; no devices are available");
        return false;
    }
    auto application = structure<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.pEngineName = "volley";
    application.apiVersion = version_;
    auto info = structure<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    info.pApplicationInfo = &application;
    std::vector<const char*> extensions;
    if (has_extension(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME)) {
        extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
        info.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    }
    const VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info();
    bool validate = settings().validate;
    if (validate && !has_layer(validation_layer)) {
        log_message(LogLevel::Warning, cat("VOLLEY_VALIDATE is set, but ", validation_layer,
                                           " is not installed; validation is disabled"));
        validate = false;
    }
    if (validate) {
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = &validation_layer;
        extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
        info.pNext = &messenger;  // also receives messages of vkCreateInstance and vkDestroyInstance
    }
    info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    const VkResult result = vkCreateInstance(&info, nullptr, &handle_);
    if (result != VK_SUCCESS) {
        debug_log(cat("no driver is installed (", result_text(result), "); no devices are available"));
        return false;
    }
    volkLoadInstanceOnly(handle_);
    if (validate && vkCreateDebugUtilsMessengerEXT != nullptr &&
        vkCreateDebugUtilsMessengerEXT(handle_, &messenger, nullptr, &messenger_) == VK_SUCCESS) {
        validation().on = true;
    }
    return true;
}

void Instance::find_devices() {
    std::uint32_t count = 0;
    VkResult result = vkEnumeratePhysicalDevices(handle_, &count, nullptr);
    std::vector<VkPhysicalDevice> found(count);
    if (result == VK_SUCCESS && count > 0) result = vkEnumeratePhysicalDevices(handle_, &count, found.data());
    if (result < 0 || count == 0) {
        debug_log("no driver has a device");
        return;
    }
    found.resize(count);
    for (VkPhysicalDevice device : found) {
        PhysicalDevice description;
        const std::string refusal =
            describe(device, static_cast<unsigned>(devices_.size()), version_, description);
        if (refusal.empty()) {
            devices_.push_back(std::move(description));
        } else {
            debug_log(cat(description.info.name, " cannot be used: ", refusal));
        }
    }
}

Instance::~Instance() {
    if (handle_ == VK_NULL_HANDLE) return;
    validation().on = false;
    if (messenger_ != VK_NULL_HANDLE) vkDestroyDebugUtilsMessengerEXT(handle_, messenger_, nullptr);
    vkDestroyInstance(handle_, nullptr);
}

}  // namespace volley::backends::vulkan
