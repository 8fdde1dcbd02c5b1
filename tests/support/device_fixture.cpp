// The list of device configurations and their contexts, which are opened once per test program.
#include "support/backend_test.hpp"

#include "backends/vulkan/vulkan_instance.hpp"
#include "support/unmapped_drivers.hpp"

#include <cstdlib>
#include <map>
#include <optional>

namespace volley::testing {
namespace {

/// Contexts by label; empty for a device that this machine lacks. Cleared before the program exits, so that
/// sanitizers also cover the destruction of contexts.
std::map<std::string, std::optional<Context>>& contexts() {
    static std::map<std::string, std::optional<Context>> opened;
    return opened;
}

class ContextEnvironment final : public ::testing::Environment {
    void TearDown() override {
        contexts().clear();
        // Leaked objects are reported when their device is destroyed.
        EXPECT_EQ(backends::vulkan::validation_message_count(), 0u)
            << backends::vulkan::last_validation_message();
    }
};
[[maybe_unused]] const ::testing::Environment* const environment =
    ::testing::AddGlobalTestEnvironment(new ContextEnvironment);

std::optional<Context> open(const DeviceConfiguration& configuration) {
    try {
        std::optional<UnmappedDrivers> drivers;
        if (configuration.unmapped) drivers.emplace();
        return make_context(configuration.options);
    } catch (const DeviceError& error) {
        if (error.code() != ErrorCode::UnknownDevice) throw;
        return std::nullopt;
    }
}

/// PoCL takes a tenth of a second per kernel, and minutes for all suites. By default it runs suites with few
/// kernels, and the random programs cover the rest.
std::vector<std::string_view> pocl_suites() {
    const char* chosen = std::getenv("VOLLEY_TEST_POCL");
    if (chosen != nullptr && std::string_view(chosen) == "all") return {};
    return {"BadInput", "Bool",  "Branch", "Callable", "DivergentSubgroup", "Grid", "Index",
            "Mix",      "Print", "Stream", "Struct",   "Variable"};
}

/// Suites that transfer data or wait for it: whether memory is mapped makes no difference to the others.
std::vector<std::string_view> transfer_suites() {
    return {"Array", "Async",        "Copy",          "DlPack",      "ElementType",
            "Graph", "GraphThreads", "HostAccess",    "Interchange", "Region",
            "Reuse", "RfftBuffer",   "SharedReplica", "Storage",     "View"};
}

}  // namespace

const std::vector<DeviceConfiguration>& device_configurations() {
    static const std::vector<DeviceConfiguration> all = {
        {"reference", {.devices = {"reference:0"}}},
        {"cpu_width_8", {.devices = {"cpu:0"}, .cpu_width = 8}},
        {"lavapipe", {.devices = {"vulkan:llvmpipe"}}},
#ifndef VOLLEY_SANITIZED  // sanitizers check the library, which behaves alike for other widths and drivers
        {"cpu_width_1", {.devices = {"cpu:0"}, .cpu_width = 1}},
        {"cpu_width_4", {.devices = {"cpu:0"}, .cpu_width = 4}},
        {"cpu_width_16", {.devices = {"cpu:0"}, .cpu_width = 16}},
        {"swiftshader", {.devices = {"vulkan:swiftshader"}}},
#endif
        {"pocl", {.devices = {"opencl:0"}}, pocl_suites()},
    };
    return all;
}

const std::vector<DeviceConfiguration>& backend_configurations() {
    static const std::vector<DeviceConfiguration> all = {
        {"reference_2_queues", {.devices = {"reference:0"}, .queues_per_device = 2}},
        {"cpu_2_queues", {.devices = {"cpu:0"}, .queues_per_device = 2}},
        {"lavapipe_2_queues", {.devices = {"vulkan:llvmpipe"}, .queues_per_device = 2}},
#ifndef VOLLEY_SANITIZED
        {"swiftshader_2_queues", {.devices = {"vulkan:swiftshader"}, .queues_per_device = 2}},
#endif
        {"pocl_2_queues", {.devices = {"opencl:0"}, .queues_per_device = 2}},
        {"lavapipe_unmapped",
         {.devices = {"vulkan:llvmpipe"}, .queues_per_device = 2},
         transfer_suites(),
         true},
        {"pocl_unmapped", {.devices = {"opencl:0"}, .queues_per_device = 2}, transfer_suites(), true},
    };
    return all;
}

bool register_device_test(const std::vector<DeviceConfiguration>& configurations, const char* suite,
                          const char* name, const char* file, int line,
                          std::unique_ptr<DeviceTest> (*make)()) {
    for (const DeviceConfiguration& configuration : configurations) {
        if (!configuration.takes(suite)) continue;
        ::testing::RegisterTest(suite, (std::string(name) + "/" + configuration.label).c_str(), nullptr,
                                configuration.label.c_str(), file, line, [&configuration, make] {
                                    std::unique_ptr<DeviceTest> test = make();
                                    test->use(configuration);
                                    return test.release();
                                });
    }
    return true;
}

void DeviceTest::SetUp() {
    const auto [entry, fresh] = contexts().try_emplace(configuration_->label);
    if (fresh) entry->second = open(*configuration_);
    if (!entry->second) GTEST_SKIP() << "this machine has no device " << configuration_->options.devices[0];
    device_ = entry->second->devices()[0];
    validation_messages_ = backends::vulkan::validation_message_count();
    scope_.reset(new ContextScope(entry->second->use()));
}

void DeviceTest::TearDown() {
    if (scope_ == nullptr) return;
    wait();  // throws the error of work that was not waited for
    scope_.reset();
    EXPECT_EQ(backends::vulkan::validation_message_count(), validation_messages_)
        << backends::vulkan::last_validation_message();
}

}  // namespace volley::testing
