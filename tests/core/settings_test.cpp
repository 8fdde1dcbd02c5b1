// Environment variables: the legal values, and errors that name an invalid value and the legal ones.
#include "core/settings.hpp"

#include <gtest/gtest.h>
#include <volley/error.hpp>

#include <map>
#include <string>

namespace volley {
namespace {

Settings parse(const std::map<std::string, std::string>& variables) {
    return parse_settings([&variables](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

void expect_refused(const std::string& name, const std::string& value, const std::string& legal) {
    try {
        (void)parse({{name, value}});
    } catch (const ArgumentError& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
        EXPECT_EQ(error.subject(), name + "='" + value + "'");
        EXPECT_NE(error.advice().find(legal), std::string_view::npos) << error.what();
        return;
    }
    ADD_FAILURE() << name << "='" << value << "' was accepted";
}

TEST(Settings, AreEmptyByDefault) {
    const Settings settings = parse({});
    EXPECT_FALSE(settings.log_level);
    EXPECT_TRUE(settings.devices.empty());
    EXPECT_FALSE(settings.dump.any());
    EXPECT_FALSE(settings.check_bounds);
    EXPECT_FALSE(settings.cpu_width);
    EXPECT_FALSE(settings.cpu_threads);
    EXPECT_FALSE(settings.memory_limit);
    EXPECT_FALSE(settings.cache_directory);
    EXPECT_FALSE(parse({{"VOLLEY_LOG", ""}}).log_level);
}

TEST(Settings, ReadTheLogLevel) {
    EXPECT_EQ(parse({{"VOLLEY_LOG", "debug"}}).log_level, LogLevel::Debug);
    EXPECT_EQ(parse({{"VOLLEY_LOG", "Verbose"}}).log_level, LogLevel::Debug);
    EXPECT_EQ(parse({{"VOLLEY_LOG", " off "}}).log_level, LogLevel::Off);
    expect_refused("VOLLEY_LOG", "loud", "warning, error or off");
}

TEST(Settings, ReadTheDevices) {
    EXPECT_EQ(parse({{"VOLLEY_DEVICES", "vulkan:*, cpu:0"}}).devices,
              (std::vector<std::string>{"vulkan:*", "cpu:0"}));
    expect_refused("VOLLEY_DEVICES", "cpu:0,,cpu:1", "comma-separated list");
}

TEST(Settings, ReadWhatToDumpAndCheck) {
    const DumpSettings dump = parse({{"VOLLEY_DUMP", "ir,asm"}}).dump;
    EXPECT_TRUE(dump.ir && dump.assembly);
    EXPECT_FALSE(dump.llvm || dump.spirv);
    EXPECT_TRUE(parse({{"VOLLEY_DUMP", "all"}}).dump.cuda);
    expect_refused("VOLLEY_DUMP", "ir,lvm", "llvm");
    EXPECT_TRUE(parse({{"VOLLEY_CHECK", "bounds"}}).check_bounds);
    EXPECT_FALSE(parse({{"VOLLEY_CHECK", "none"}}).check_bounds);
    expect_refused("VOLLEY_CHECK", "yes", "bounds");
}

TEST(Settings, ReadTheCpuSettings) {
    EXPECT_EQ(parse({{"VOLLEY_CPU_WIDTH", "16"}}).cpu_width, 16);
    expect_refused("VOLLEY_CPU_WIDTH", "3", "1, 2, 4, 8, 16");
    expect_refused("VOLLEY_CPU_WIDTH", "0", "1, 2, 4, 8, 16");
    expect_refused("VOLLEY_CPU_WIDTH", "8x", "1, 2, 4, 8, 16");
    EXPECT_EQ(parse({{"VOLLEY_CPU_THREADS", "2"}}).cpu_threads, 2);
    expect_refused("VOLLEY_CPU_THREADS", "0", "from 1 to 1024");
    EXPECT_FALSE(parse({}).cpu_level);
    EXPECT_EQ(parse({{"VOLLEY_CPU_LEVEL", "X86-64-v3"}}).cpu_level, "x86-64-v3");
    expect_refused("VOLLEY_CPU_LEVEL", "haswell", "x86-64-v3 or x86-64-v4");
    EXPECT_FALSE(parse({}).llvm_library);
    EXPECT_EQ(parse({{"VOLLEY_LLVM_LIBRARY", "libLLVM-15.so.1"}}).llvm_library, "libLLVM-15.so.1");
    expect_refused("VOLLEY_CPU_THREADS", "99999999999999999999", "from 1 to 1024");
}

TEST(Settings, ReadTheMemoryLimitAndTheCache) {
    EXPECT_EQ(parse({{"VOLLEY_MEMORY_LIMIT", "4096"}}).memory_limit, 4096);
    EXPECT_EQ(parse({{"VOLLEY_MEMORY_LIMIT", "3G"}}).memory_limit, std::int64_t{3} << 30);
    EXPECT_EQ(parse({{"VOLLEY_MEMORY_LIMIT", "2k"}}).memory_limit, 2048);
    expect_refused("VOLLEY_MEMORY_LIMIT", "-1", "above zero");
    expect_refused("VOLLEY_MEMORY_LIMIT", "G", "above zero");
    expect_refused("VOLLEY_MEMORY_LIMIT", "9999999999T", "above zero");
    EXPECT_EQ(parse({{"VOLLEY_CACHE_DIR", "/tmp/x"}}).cache_directory, "/tmp/x");
    EXPECT_EQ(parse({{"VOLLEY_CACHE_DIR", "off"}}).cache_directory, "");
}

TEST(Settings, ReadTheProgramCache) {
    EXPECT_FALSE(parse({}).program_cache);
    EXPECT_EQ(parse({{"VOLLEY_PROGRAM_CACHE", "64M"}}).program_cache, std::int64_t{64} << 20);
    EXPECT_EQ(parse({{"VOLLEY_PROGRAM_CACHE", "Off"}}).program_cache, 0);
    expect_refused("VOLLEY_PROGRAM_CACHE", "0", "above zero");
    expect_refused("VOLLEY_PROGRAM_CACHE", "64X", "above zero");
}

TEST(Settings, ReadTheTimeLimitOfExit) {
    EXPECT_EQ(parse({{"VOLLEY_EXIT_SECONDS", "5"}}).exit_seconds, 5);
    EXPECT_EQ(parse({}).exit_seconds, std::nullopt);
    expect_refused("VOLLEY_EXIT_SECONDS", "-1", "a whole number from 0 to 86400");
}

TEST(Settings, FindTheCachesFolder) {
    EXPECT_EQ(parse({}).cache_folder(), "");
    EXPECT_EQ(parse({{"HOME", "/home/me"}}).cache_folder(), "/home/me/.cache/volley");
    EXPECT_EQ(parse({{"HOME", "/home/me"}, {"XDG_CACHE_HOME", "/caches"}}).cache_folder(), "/caches/volley");
    EXPECT_EQ(parse({{"HOME", "/home/me"}, {"XDG_CACHE_HOME", "x"}}).cache_folder(), "/home/me/.cache/volley")
        << "relative paths are ignored";
    EXPECT_EQ(parse({{"HOME", "/home/me"}, {"VOLLEY_CACHE_DIR", "/mine"}}).cache_folder(), "/mine");
    EXPECT_EQ(parse({{"HOME", "/home/me"}, {"VOLLEY_CACHE_DIR", "off"}}).cache_folder(), "");
}

TEST(Settings, ReadTheVulkanSettings) {
    EXPECT_FALSE(parse({}).validate);
    EXPECT_TRUE(parse({{"VOLLEY_VALIDATE", "1"}}).validate);
    EXPECT_FALSE(parse({{"VOLLEY_VALIDATE", "0"}}).validate);
    expect_refused("VOLLEY_VALIDATE", "maybe", "1 or 0");
    EXPECT_FALSE(parse({}).vulkan_loader);
    EXPECT_EQ(parse({{"VOLLEY_VULKAN_LOADER", "/x/libvulkan.so"}}).vulkan_loader, "/x/libvulkan.so");
    EXPECT_FALSE(parse({}).opencl_loader);
    EXPECT_EQ(parse({{"VOLLEY_OPENCL_LOADER", "/x/libOpenCL.so"}}).opencl_loader, "/x/libOpenCL.so");
}

}  // namespace
}  // namespace volley
