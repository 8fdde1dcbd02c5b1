// Vulkan and OpenCL devices through the runtime: several drivers and the CPU in one context, limits, and
// machines on which a driver is missing or broken.
#include "runtime/runtime_support.hpp"
#include "support/validation.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace volley::runtime {
namespace {

using testing::counting;
using testing::error_of;
using testing::expect_contains;
using testing::make_scale;

VOLLEY_EXPECT_NO_VALIDATION_MESSAGES();

bool has_device(const std::string& name) {
    try {
        (void)Drivers::instance().select(std::span(&name, 1));
        return true;
    } catch (const DeviceError&) {
        return false;
    }
}

/// A device, and the limits that its launches must respect.
struct Subject {
    const char* label;
    const char* backend;
    const char* name;        // part of the device's name, or its index
    unsigned group;          // a workgroup size beyond its limit
    const char* group_text;  // expected in the error
};

class DriverContext : public ::testing::TestWithParam<Subject> {
protected:
    void SetUp() override {
        if (!has_device(device())) GTEST_SKIP() << "this machine has no device " << device();
    }
    static std::string device() { return cat(GetParam().backend, ":", GetParam().name); }
    static Context beside_cpu() { return make_context({.devices = {device(), "cpu:0"}}); }
};

INSTANTIATE_TEST_SUITE_P(Drivers, DriverContext,
                         ::testing::Values(Subject{"lavapipe", "vulkan", "llvmpipe", 1u << 20,
                                                   "workgroup size"},
                                           Subject{"swiftshader", "vulkan", "SwiftShader", 512, "256"},
                                           Subject{"pocl", "opencl", "0", 1u << 20, "workgroup size"}),
                         [](const auto& test) { return std::string(test.param.label); });

TEST_P(DriverContext, HasSeveralQueuesOnOneDevice) {
    const Context context = make_context({.devices = {device()}, .queues_per_device = 3});
    const ContextScope scope = context.use();
    Buffer<float> buffer = as_buffer(counting<float>(100));
    EXPECT_EQ(buffer.replica_count(), 3u);
    auto scale = make_scale();
    scale(buffer, 2.0f);
    for (const std::vector<float>& replica : buffer.read()) EXPECT_EQ(replica[99], 198.0f);
}

TEST_P(DriverContext, SeveralContextsExistAtOnce) {
    const Context first = make_context({.devices = {device()}});
    const Context second = make_context({.devices = {device()}});
    auto scale = make_scale();
    for (const Context* context : {&first, &second}) {
        const ContextScope scope = context->use();
        Buffer<float> buffer = as_buffer(counting<float>(100));
        scale(buffer, 2.0f);
        EXPECT_EQ(buffer.read(0)[50], 100.0f);
    }
}

TEST_P(DriverContext, TwoThreadsLaunchConcurrently) {
    const Context context = make_context({.devices = {device()}});
    auto scale = make_scale();
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
        threads.emplace_back([&] {
            const ContextScope scope = context.use();
            Buffer<float> buffer = as_buffer(counting<float>(256));
            for (int k = 0; k < 200; ++k) scale(buffer, k % 2 == 0 ? 2.0f : 0.5f);
            EXPECT_EQ(buffer.read(0)[255], 255.0f);
        });
    }
    for (std::thread& thread : threads) thread.join();
}

TEST_P(DriverContext, EmptyLaunchesDoNothing) {
    const Context context = beside_cpu();
    const ContextScope scope = context.use();
    Buffer<float> nothing({0});
    auto scale = make_scale();
    EXPECT_NO_THROW(scale(nothing, 2.0f).wait());
    EXPECT_NO_THROW(nothing.write({}));
    EXPECT_TRUE(nothing.read(0).empty());
    Buffer<float> buffer = as_buffer(counting<float>(4));
    EXPECT_NO_THROW(scale.over(0)(buffer, 2.0f).wait());
    EXPECT_EQ(buffer.read(0)[3], 3.0f);
}

TEST_P(DriverContext, RejectsLaunchesBeyondTheLimitsOfTheDevice) {
    const Context context = make_context({.devices = {device()}, .memory_limit = 1 << 20});
    const ContextScope scope = context.use();
    Buffer<float> buffer = as_buffer(counting<float>(1024));
    auto scale = make_scale();
    expect_contains(
        error_of(ErrorCode::InvalidLaunch, [&] { scale.local({GetParam().group})(buffer, 2.0f); }),
        GetParam().group_text);
    auto hungry = kernel("hungry", {.local = {64}}, [](Buff<float> data) {
        Shared<float> tile(1 << 26);
        tile[local_id().x] = data[global_id().x];
        barrier();
        data[global_id().x] = tile[local_id().x];
    });
    expect_contains(error_of(ErrorCode::InvalidLaunch, [&] { hungry(buffer); }), "shared memory");
    Buffer<float> large({1 << 20});
    expect_contains(error_of(ErrorCode::OutOfMemory, [&] { scale(large, 2.0f); }), "VOLLEY_MEMORY_LIMIT");
    scale(buffer, 2.0f);
    EXPECT_EQ(buffer.read(0)[1023], 2046.0f) << "the context stays usable";
}

TEST_P(DriverContext, SoftwareDevicesAreUsedOnlyWhenNamed) {
    const Context context = make_context({.devices = {device(), device()}});
    const std::vector<DeviceInfo> found = context.devices();
    EXPECT_EQ(found[0].type, DeviceType::Cpu);
    EXPECT_TRUE(found[0].software);
    EXPECT_EQ(found[0].uuid, found[1].uuid);
    EXPECT_NE(found[0].uuid, DeviceInfo{}.uuid);
    EXPECT_EQ(Drivers::instance().preferred().info.id(), "cpu:0");
}

TEST_P(DriverContext, AnUnknownNameListsTheDevices) {
    const std::string text = error_of(
        ErrorCode::UnknownDevice, [] { (void)make_context({.devices = {cat(GetParam().backend, ":99")}}); });
    expect_contains(text, GetParam().name);
    expect_contains(text, cat(GetParam().backend, ":0 ("));
}

// ---- several drivers in one context ----

class AllDrivers : public ::testing::Test {
protected:
    void SetUp() override {
        for (const char* name : {"vulkan:llvmpipe", "vulkan:SwiftShader", "opencl:0"}) {
            if (!has_device(name)) GTEST_SKIP() << "this machine has no device " << name;
        }
    }
    static Context all(unsigned queues_per_device = 1) {
        return make_context({.devices = {"vulkan:llvmpipe", "Vulkan:SwiftShader", "cpu:0", "opencl:0"},
                             .queues_per_device = queues_per_device});
    }
};

TEST_F(AllDrivers, ComputeInOneContext) {
    const Context context = all(2);
    const ContextScope scope = context.use();
    Buffer<float> buffer = as_buffer(counting<float>(1000));
    ASSERT_EQ(buffer.replica_count(), 8u);
    auto scale = make_scale();
    scale(buffer, 3.0f);
    for (const std::vector<float>& replica : buffer.read()) {
        for (std::size_t i = 0; i < replica.size(); ++i) ASSERT_EQ(replica[i], 3.0f * static_cast<float>(i));
    }
}

TEST_F(AllDrivers, RunOnTheNamedQueueOnly) {
    const Context context = all();
    const ContextScope scope = context.use();
    Buffer<float> buffer = as_buffer(counting<float>(100));
    auto scale = make_scale();
    for (const unsigned named : {1u, 3u}) {
        scale.on(queue(named))(buffer, 5.0f);
        for (unsigned q = 0; q < 4; ++q)
            EXPECT_EQ(buffer.read(q)[10], (q == 1 || (q == 3 && named == 3)) ? 50.0f : 10.0f) << q;
    }
}

TEST_F(AllDrivers, AreIdentifiedByTheirUuid) {
    const std::vector<DeviceInfo> found = all().devices();
    for (std::size_t i = 0; i < found.size(); ++i) {
        for (std::size_t k = i + 1; k < found.size(); ++k) EXPECT_NE(found[i].uuid, found[k].uuid) << i << k;
    }
}

TEST_F(AllDrivers, ATypeThatOneDeviceLacksThrowsBeforeAnyDeviceStarts) {
    const Context context = all();
    const ContextScope scope = context.use();
    Buffer<double> buffer = as_buffer(counting<double>(10));
    auto twice = kernel("twice", [](Buff<double> data) {
        auto i = global_id().x;
        data[i] = data[i] + data[i];
    });
    const std::string text = error_of(ErrorCode::Unsupported, [&] { twice(buffer); });
    expect_contains(text, "SwiftShader");
    expect_contains(text, "f64");
    expect_contains(text, "twice");
    expect_contains(text, "driver_context_test.cpp");
    EXPECT_EQ(buffer.read(0)[9], 9.0);
    EXPECT_NO_THROW(twice.on(queue(0))(buffer));
    EXPECT_EQ(buffer.read(0)[9], 18.0) << "the context stays usable";
    EXPECT_EQ(buffer.read(2)[9], 9.0);
}

// ---- missing and broken drivers ----

/// Creates vendor folders of OpenCL without entries and with broken ones. Returns their path.
std::filesystem::path vendor_folders() {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "volley-opencl-vendors";
    std::filesystem::create_directories(folder / "empty");
    std::filesystem::create_directories(folder / "broken");
    std::ofstream(folder / "broken" / "broken.icd") << "/nonexistent/libnothing.so\n";
    std::ofstream(folder / "broken" / "text.icd") << "this is no library\n\n%$\n";
    std::ofstream(folder / "broken" / "other.icd") << "libm.so.6\n";
    return folder;
}

using Variables = std::vector<std::pair<const char*, std::string>>;

Variables opencl_vendors(const char* folder) {
    const std::string path = vendor_folders() / folder;
    return {{"OCL_ICD_VENDORS", path}, {"OPENCL_VENDOR_PATH", path}};
}

/// Environment variables that hide the devices of a backend.
struct Absence {
    const char* label;
    const char* backend;
    Variables variables;
    const char* reason;  // in the debug log; empty: not checked
};

/// Sets the variables, lists the backend's devices and computes on the default device. Runs in its own
/// process, because drivers and settings are loaded only once.
[[noreturn]] void compute(const char* backend, const Variables& variables) {
    for (const auto& [name, value] : variables) ::setenv(name, value.c_str(), 1);
    try {
        for (const DeviceInfo& device : devices()) {
            if (device.backend == backend) std::fprintf(stderr, "there is %s\n", device.name.c_str());
        }
        Buffer<float> buffer = as_buffer(counting<float>(10));
        auto scale = make_scale();
        scale(buffer, 2.0f);
        std::fprintf(stderr, "computed %g\n", static_cast<double>(buffer.read(0)[9]));
    } catch (const Error& error) {
        std::fprintf(stderr, "refused: %s\n", error.what());
    }
    std::quick_exit(0);  // skips destructors and leak checks
}

class WithoutDriver : public ::testing::TestWithParam<Absence> {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

    static Variables with(const char* name, const char* value) {
        Variables all = GetParam().variables;
        all.emplace_back(name, value);
        return all;
    }
};

INSTANTIATE_TEST_SUITE_P(
    Drivers, WithoutDriver,
    ::testing::Values(
        Absence{"VulkanDriverMissing",
                "vulkan",
                {{"VK_ICD_FILENAMES", "/nonexistent/driver.json"},
                 {"VK_DRIVER_FILES", "/nonexistent/driver.json"}},
                ""},
        Absence{"VulkanLoaderMissing",
                "vulkan",
                {{"VOLLEY_VULKAN_LOADER", "/nonexistent/libvulkan.so.1"}},
                "vulkan: no loader"},
        Absence{
            "VulkanLoaderIsAnotherLibrary", "vulkan", {{"VOLLEY_VULKAN_LOADER", "libm.so.6"}}, "vulkan: "},
        Absence{"OpenClLoaderMissing",
                "opencl",
                {{"VOLLEY_OPENCL_LOADER", "/nonexistent/libOpenCL.so.1"}},
                "opencl: no loader"},
        Absence{
            "OpenClLoaderIsAnotherLibrary", "opencl", {{"VOLLEY_OPENCL_LOADER", "libm.so.6"}}, "opencl: "},
        Absence{"OpenClWithoutPlatforms", "opencl", opencl_vendors("empty"), "opencl: no platform"},
        Absence{"OpenClWithBrokenVendorFiles", "opencl", opencl_vendors("broken"), "opencl: no platform"}),
    [](const auto& test) { return std::string(test.param.label); });

TEST_P(WithoutDriver, TheOtherDevicesCompute) {
    EXPECT_EXIT(compute(GetParam().backend, GetParam().variables), ::testing::ExitedWithCode(0),
                "^computed 18\n$");
}

TEST_P(WithoutDriver, RequestingAMissingDeviceListsTheOthers) {
    const std::string device = cat(GetParam().backend, ":0");
    EXPECT_EXIT(compute(GetParam().backend, with("VOLLEY_DEVICES", device.c_str())),
                ::testing::ExitedWithCode(0),
                cat("refused: there is no such device; '", device, "'; use one of: .*cpu:0"));
}

TEST_P(WithoutDriver, TheDebugLogExplainsWhyThereIsNoDevice) {
    EXPECT_EXIT(compute(GetParam().backend, with("VOLLEY_LOG", "debug")), ::testing::ExitedWithCode(0),
                GetParam().reason);
}

TEST(OpenClProcess, TheSourceIsDumpedOnRequest) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        compute("opencl", {{"VOLLEY_DUMP", "opencl"}, {"VOLLEY_DEVICES", "opencl:0"}}),
        ::testing::ExitedWithCode(0),
        "OpenCL C of scale, local size 256x1x1(.|\n)*__kernel(.|\n)*computed 18|there is no such device");
}

}  // namespace
}  // namespace volley::runtime
