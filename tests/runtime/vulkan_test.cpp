// Vulkan devices through the runtime: several drivers and the CPU in one context, and machines without
// a Vulkan driver.
#include "runtime/runtime_support.hpp"
#include "support/validation.hpp"

#include <cstdio>
#include <cstdlib>

namespace volley::runtime {
namespace {

using testing::counting;
using testing::error_of;
using testing::expect_contains;
using testing::make_scale;

VOLLEY_EXPECT_NO_VALIDATION_MESSAGES();

bool has_both_drivers() {
    bool lavapipe = false;
    bool swiftshader = false;
    for (const DeviceInfo& device : devices()) {
        if (device.backend != "vulkan") continue;
        lavapipe = lavapipe || device.name.find("llvmpipe") != std::string::npos;
        swiftshader = swiftshader || device.name.find("SwiftShader") != std::string::npos;
    }
    return lavapipe && swiftshader;
}

class VulkanContext : public ::testing::Test {
protected:
    void SetUp() override {
        if (!has_both_drivers()) GTEST_SKIP() << "lavapipe or swiftshader is not installed";
    }
    static Context three() {
        return make_context({.devices = {"vulkan:llvmpipe", "Vulkan:SwiftShader", "cpu:0"}});
    }
};

TEST_F(VulkanContext, HoldsSeveralDriversAndTheCpu) {
    const Context context = three();
    const ContextScope scope = context.use();
    Buffer<float> buffer = as_buffer(counting<float>(1000));
    EXPECT_EQ(buffer.replica_count(), 3u);
    auto scale = make_scale();
    scale(buffer, 3.0f);
    const std::vector<std::vector<float>> all = buffer.read();
    ASSERT_EQ(all.size(), 3u);
    for (const std::vector<float>& replica : all) {
        for (std::size_t i = 0; i < replica.size(); ++i) ASSERT_EQ(replica[i], 3.0f * static_cast<float>(i));
    }
}

TEST_F(VulkanContext, RunsOnTheNamedQueueOnly) {
    const Context context = three();
    const ContextScope scope = context.use();
    Buffer<float> buffer = as_buffer(counting<float>(100));
    auto scale = make_scale();
    scale.on(queue(1))(buffer, 5.0f);
    EXPECT_EQ(buffer.read(0)[10], 10.0f);
    EXPECT_EQ(buffer.read(1)[10], 50.0f);
    EXPECT_EQ(buffer.read(2)[10], 10.0f);
}

TEST_F(VulkanContext, HasSeveralQueuesOnOneDevice) {
    const Context context = make_context({.devices = {"vulkan:*"}, .queues_per_device = 3});
    const ContextScope scope = context.use();
    Buffer<float> buffer = as_buffer(counting<float>(100));
    auto scale = make_scale();
    scale(buffer, 2.0f);
    for (const std::vector<float>& replica : buffer.read()) EXPECT_EQ(replica[99], 198.0f);
}

TEST_F(VulkanContext, EmptyLaunchesDoNothing) {
    const Context context = three();
    const ContextScope scope = context.use();
    Buffer<float> nothing({0});
    auto scale = make_scale();
    EXPECT_NO_THROW(scale(nothing, 2.0f).wait());
    EXPECT_NO_THROW(nothing.write({}));
    EXPECT_TRUE(nothing.read(0).empty());
    Buffer<float> buffer = as_buffer(counting<float>(4));
    EXPECT_NO_THROW(scale.over(0)(buffer, 2.0f).wait());
    EXPECT_EQ(buffer.read(1)[3], 3.0f);
}

TEST_F(VulkanContext, ATypeThatOneDeviceLacksThrowsBeforeAnyDeviceStarts) {
    const Context context = three();
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
    expect_contains(text, "vulkan_test.cpp");
    EXPECT_EQ(buffer.read(0)[9], 9.0);
    EXPECT_NO_THROW(twice.on(queue(0))(buffer));
    EXPECT_EQ(buffer.read(0)[9], 18.0) << "the context stays usable";
    EXPECT_EQ(buffer.read(2)[9], 9.0);
}

TEST_F(VulkanContext, RejectsLaunchesBeyondTheLimitsOfTheDevice) {
    const Context context = make_context({.devices = {"vulkan:swiftshader"}});
    const ContextScope scope = context.use();
    Buffer<float> buffer = as_buffer(counting<float>(1024));
    auto scale = make_scale();
    expect_contains(error_of(ErrorCode::InvalidLaunch, [&] { scale.local({512})(buffer, 2.0f); }), "256");
    auto hungry = kernel("hungry", [](Buff<float> data) {
        Shared<float> tile(20'000);
        tile[local_id().x] = data[global_id().x];
        barrier();
        data[global_id().x] = tile[local_id().x];
    });
    expect_contains(error_of(ErrorCode::InvalidLaunch, [&] { hungry(buffer); }), "shared memory");
    scale(buffer, 2.0f);
    EXPECT_EQ(buffer.read(0)[1023], 2046.0f) << "the context stays usable";
}

TEST_F(VulkanContext, IdentifiesDevicesByTheirUuid) {
    const Context context = make_context({.devices = {"vulkan:0", "vulkan:1", "vulkan:0"}});
    const std::vector<DeviceInfo> found = context.devices();
    EXPECT_EQ(found[0].uuid, found[2].uuid);
    EXPECT_NE(found[0].uuid, found[1].uuid);
    EXPECT_TRUE(found[0].software && found[1].software);
}

TEST_F(VulkanContext, SoftwareDevicesAreUsedOnlyWhenNamed) {
    EXPECT_EQ(Drivers::instance().preferred().info.id(), "cpu:0");
}

TEST_F(VulkanContext, AnUnknownNameListsTheVulkanDevices) {
    const std::string text =
        error_of(ErrorCode::UnknownDevice, [] { (void)make_context({.devices = {"vulkan:99"}}); });
    expect_contains(text, "llvmpipe");
    expect_contains(text, "SwiftShader");
}

// Each runs in its own process, because drivers are loaded only once.
class WithoutVulkan : public ::testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

    [[noreturn]] static void compute() {
        try {
            for (const DeviceInfo& device : devices()) {
                if (device.backend == "vulkan") std::fprintf(stderr, "there is %s\n", device.name.c_str());
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
};

TEST_F(WithoutVulkan, ADriverThatCannotBeOpenedIsNotAnError) {
    EXPECT_EXIT(
        {
            ::setenv("VK_ICD_FILENAMES", "/nonexistent/driver.json", 1);
            ::setenv("VK_DRIVER_FILES", "/nonexistent/driver.json", 1);
            compute();
        },
        ::testing::ExitedWithCode(0), "^computed 18\n$");
}

TEST_F(WithoutVulkan, ALoaderThatCannotBeOpenedIsNotAnError) {
    EXPECT_EXIT(
        {
            ::setenv("VOLLEY_VULKAN_LOADER", "/nonexistent/libvulkan.so.1", 1);
            compute();
        },
        ::testing::ExitedWithCode(0), "^computed 18\n$");
}

TEST_F(WithoutVulkan, ALibraryThatIsNotALoaderIsNotAnError) {
    EXPECT_EXIT(
        {
            ::setenv("VOLLEY_VULKAN_LOADER", "libm.so.6", 1);
            compute();
        },
        ::testing::ExitedWithCode(0), "^computed 18\n$");
}

TEST_F(WithoutVulkan, RequestingAMissingDeviceListsTheOthers) {
    EXPECT_EXIT(
        {
            ::setenv("VOLLEY_VULKAN_LOADER", "/nonexistent/libvulkan.so.1", 1);
            ::setenv("VOLLEY_DEVICES", "vulkan:0", 1);
            compute();
        },
        ::testing::ExitedWithCode(0), "refused: there is no such device; 'vulkan:0'; use one of: .*cpu:0");
}

TEST_F(WithoutVulkan, TheDebugLogExplainsWhyThereIsNoDevice) {
    EXPECT_EXIT(
        {
            ::setenv("VOLLEY_VULKAN_LOADER", "/nonexistent/libvulkan.so.1", 1);
            ::setenv("VOLLEY_LOG", "debug", 1);
            compute();
        },
        ::testing::ExitedWithCode(0), "vulkan: no loader");
}

}  // namespace
}  // namespace volley::runtime
