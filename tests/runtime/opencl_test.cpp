// OpenCL devices through the runtime: together with Vulkan and the CPU in one context, with several queues,
// and machines without OpenCL.
#include "runtime/runtime_support.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace volley::runtime {
namespace {

using testing::counting;
using testing::error_of;
using testing::expect_contains;
using testing::make_scale;

bool has(std::string_view backend) {
    for (const DeviceInfo& device : devices()) {
        if (device.backend == backend) return true;
    }
    return false;
}

class OpenClContext : public ::testing::Test {
protected:
    void SetUp() override {
        if (!has("opencl")) GTEST_SKIP() << "this machine has no OpenCL device";
    }
};

TEST_F(OpenClContext, HoldsOpenClVulkanAndTheCpu) {
    std::vector<std::string> names = {"opencl:0", "cpu:0"};
    if (has("vulkan")) names.emplace_back("vulkan:0");
    const Context context = make_context({.devices = names, .queues_per_device = 2});
    const ContextScope scope = context.use();
    Buffer<float> buffer = as_buffer(counting<float>(1000));
    EXPECT_EQ(buffer.replica_count(), 2 * names.size());
    auto scale = make_scale();
    scale(buffer, 3.0f);
    for (const std::vector<float>& replica : buffer.read()) {
        for (std::size_t i = 0; i < replica.size(); ++i) ASSERT_EQ(replica[i], 3.0f * static_cast<float>(i));
    }
    scale.on(queue(0))(buffer, 5.0f);
    EXPECT_EQ(buffer.read(0)[10], 150.0f);
    EXPECT_EQ(buffer.read(2)[10], 30.0f);
}

TEST_F(OpenClContext, SeveralContextsExistAtOnce) {
    const Context first = make_context({.devices = {"opencl:0"}});
    const Context second = make_context({.devices = {"opencl:0"}});
    auto scale = make_scale();
    for (const Context* context : {&first, &second}) {
        const ContextScope scope = context->use();
        Buffer<float> buffer = as_buffer(counting<float>(100));
        scale(buffer, 2.0f);
        EXPECT_EQ(buffer.read(0)[50], 100.0f);
    }
}

TEST_F(OpenClContext, TwoThreadsLaunchConcurrently) {
    const Context context = make_context({.devices = {"opencl:0"}});
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

TEST_F(OpenClContext, EmptyLaunchesDoNothing) {
    const Context context = make_context({.devices = {"opencl:0"}});
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

TEST_F(OpenClContext, RejectsLaunchesBeyondTheLimitsOfTheDevice) {
    const Context context = make_context({.devices = {"opencl:0"}, .memory_limit = 1 << 20});
    const ContextScope scope = context.use();
    Buffer<float> buffer = as_buffer(counting<float>(1024));
    auto scale = make_scale();
    expect_contains(error_of(ErrorCode::InvalidLaunch, [&] { scale.local({1 << 20})(buffer, 2.0f); }),
                    "workgroup size");
    auto hungry = kernel("hungry", [](Buff<float> data) {
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

TEST_F(OpenClContext, OpenClCpusAreSoftwareAndUsedOnlyWhenNamed) {
    const Context context = make_context({.devices = {"opencl:0", "opencl:0"}});
    const std::vector<DeviceInfo> found = context.devices();
    EXPECT_EQ(found[0].type, DeviceType::Cpu);
    EXPECT_TRUE(found[0].software);
    EXPECT_EQ(found[0].uuid, found[1].uuid);
    EXPECT_NE(found[0].uuid, DeviceInfo{}.uuid);
    EXPECT_EQ(Drivers::instance().preferred().info.id(), "cpu:0");
}

TEST_F(OpenClContext, AnUnknownNameListsTheOpenClDevices) {
    expect_contains(
        error_of(ErrorCode::UnknownDevice, [] { (void)make_context({.devices = {"opencl:99"}}); }),
        "opencl:0 (");
}

// Each runs in its own process, because drivers are loaded only once.
class OpenClProcess : public ::testing::Test {
protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        folder_ = std::filesystem::temp_directory_path() / "volley-opencl-vendors";
        std::filesystem::create_directories(folder_ / "empty");
        std::filesystem::create_directories(folder_ / "broken");
        std::ofstream(folder_ / "broken" / "broken.icd") << "/nonexistent/libnothing.so\n";
        std::ofstream(folder_ / "broken" / "text.icd") << "this is no library\n\n%$\n";
        std::ofstream(folder_ / "broken" / "other.icd") << "libm.so.6\n";
    }

    [[noreturn]] static void compute() {
        try {
            for (const DeviceInfo& device : devices()) {
                if (device.backend == "opencl") std::fprintf(stderr, "there is %s\n", device.name.c_str());
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
    void set_vendors(const char* name) const {
        ::setenv("OCL_ICD_VENDORS", (folder_ / name).c_str(), 1);
        ::setenv("OPENCL_VENDOR_PATH", (folder_ / name).c_str(), 1);
    }

    std::filesystem::path folder_;
};

TEST_F(OpenClProcess, ALoaderThatCannotBeOpenedIsNotAnError) {
    EXPECT_EXIT(
        {
            ::setenv("VOLLEY_OPENCL_LOADER", "/nonexistent/libOpenCL.so.1", 1);
            compute();
        },
        ::testing::ExitedWithCode(0), "^computed 18\n$");
}

TEST_F(OpenClProcess, ALibraryThatIsNotALoaderIsNotAnError) {
    EXPECT_EXIT(
        {
            ::setenv("VOLLEY_OPENCL_LOADER", "libm.so.6", 1);
            compute();
        },
        ::testing::ExitedWithCode(0), "^computed 18\n$");
}

TEST_F(OpenClProcess, AMachineWithoutPlatformsIsNotAnError) {
    EXPECT_EXIT(
        {
            set_vendors("empty");
            compute();
        },
        ::testing::ExitedWithCode(0), "^computed 18\n$");
}

TEST_F(OpenClProcess, BrokenVendorFilesAreNotAnError) {
    EXPECT_EXIT(
        {
            set_vendors("broken");
            compute();
        },
        ::testing::ExitedWithCode(0), "^computed 18\n$");
}

TEST_F(OpenClProcess, RequestingAMissingDeviceListsTheOthers) {
    EXPECT_EXIT(
        {
            ::setenv("VOLLEY_OPENCL_LOADER", "/nonexistent/libOpenCL.so.1", 1);
            ::setenv("VOLLEY_DEVICES", "opencl:0", 1);
            compute();
        },
        ::testing::ExitedWithCode(0), "refused: there is no such device; 'opencl:0'; use one of: .*cpu:0");
}

TEST_F(OpenClProcess, TheDebugLogExplainsWhyThereIsNoDevice) {
    EXPECT_EXIT(
        {
            ::setenv("VOLLEY_OPENCL_LOADER", "/nonexistent/libOpenCL.so.1", 1);
            ::setenv("VOLLEY_LOG", "debug", 1);
            compute();
        },
        ::testing::ExitedWithCode(0), "opencl: no loader");
    EXPECT_EXIT(
        {
            set_vendors("empty");
            ::setenv("VOLLEY_LOG", "debug", 1);
            compute();
        },
        ::testing::ExitedWithCode(0), "opencl: no platform");
}

TEST_F(OpenClProcess, TheSourceIsDumpedOnRequest) {
    // Settings are read once, so they must be set before devices are enumerated.
    EXPECT_EXIT(
        {
            ::setenv("VOLLEY_DUMP", "opencl", 1);
            ::setenv("VOLLEY_DEVICES", "opencl:0", 1);
            compute();
        },
        ::testing::ExitedWithCode(0),
        "OpenCL C of scale, local size 256x1x1(.|\n)*__kernel(.|\n)*computed 18|there is no such device");
}

}  // namespace
}  // namespace volley::runtime
