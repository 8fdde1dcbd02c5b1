// Selecting devices by name, and the preferred device.
#include "runtime/runtime_support.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace volley::runtime {
namespace {

using testing::error_of;
using testing::expect_contains;

class DriversTest : public ::testing::Test {
protected:
    void SetUp() override {
        Drivers::instance().add(
            backends::null::make_driver(std::make_shared<backends::null::NullLog>(), {.devices = 3}));
    }
    static std::vector<std::string> select(std::vector<std::string> names) {
        std::vector<std::string> ids;
        for (const FoundDevice& device : Drivers::instance().select(names)) ids.push_back(device.info.id());
        return ids;
    }
    using Ids = std::vector<std::string>;
};

TEST_F(DriversTest, ABackendNameSelectsItsFirstDevice) {
    EXPECT_EQ(select({"cpu", "null"}), (Ids{"cpu:0", "null:0"}));
}

TEST_F(DriversTest, AnIndexSelectsOneDevice) {
    EXPECT_EQ(select({"null:2", "null:0"}), (Ids{"null:2", "null:0"}));
}

TEST_F(DriversTest, AStarSelectsAllDevices) {
    EXPECT_EQ(select({"null:*"}), (Ids{"null:0", "null:1", "null:2"}));
}

TEST_F(DriversTest, PartOfANameSelectsTheFirstMatch) { EXPECT_EQ(select({"null:at ALL"}), (Ids{"null:1"})); }

TEST_F(DriversTest, CaseAndBlanksAreIgnored) {
    EXPECT_EQ(select({" CPU:0 ", "Null:NOTHING"}), (Ids{"cpu:0", "null:0"}));
}

TEST_F(DriversTest, AnUnknownNameThrowsAndListsTheDevices) {
    for (const std::string name :
         {"gpu", "cpu:7", "cpu:no such name", "cpu:", "", ":0", "null:3", "cpu:0:0", "cpu:-1"}) {
        const std::string text = error_of(ErrorCode::UnknownDevice, [&] { (void)select({name}); });
        expect_contains(text, cat("'", name, "'"));
        expect_contains(text, "cpu:0 (");
        expect_contains(text, "null:2 (");
    }
}

TEST_F(DriversTest, DevicesListsEveryBackend) {
    std::ostringstream out;
    for (const DeviceInfo& device : devices()) out << device << '\n';
    expect_contains(out.str(), "cpu:0  ");
    expect_contains(out.str(), "reference:0  ");
    expect_contains(out.str(), "null:1  Nothing at all (1 units, 32 lanes, software)");
}

/// A driver that never has a preferred device; counts how often its devices are enumerated.
class ShyDriver final : public backends::Driver {
public:
    explicit ShyDriver(int& looked) : looked_(looked) {}
    [[nodiscard]] std::string_view name() const noexcept override { return "shy"; }
    [[nodiscard]] bool may_have_preferred() const override { return false; }
    [[nodiscard]] std::vector<DeviceInfo> devices() override {
        ++looked_;
        return {};
    }
    [[nodiscard]] std::unique_ptr<backends::Device> open(
        unsigned /*index*/, const backends::DeviceOptions& /*options*/) override {
        return nullptr;
    }

private:
    int& looked_;
};

TEST_F(DriversTest, UnneededDriversAreNotOpened) {
    static int looked = 0;  // static: the driver lives until process exit
    Drivers::instance().add(std::make_unique<ShyDriver>(looked));
    EXPECT_EQ(Drivers::instance().preferred().info.id(), "cpu:0");
    EXPECT_EQ(select({"cpu:0"}), Ids{"cpu:0"});
    EXPECT_EQ(looked, 0);
    (void)devices();
    EXPECT_EQ(looked, 1);
}

TEST_F(DriversTest, WithoutAGpuTheCpuIsPreferred) {
    EXPECT_EQ(Drivers::instance().preferred().info.id(), "cpu:0");
}

/// Reports a GPU, which is never opened.
class GpuDriver final : public backends::Driver {
public:
    GpuDriver(std::string_view name, DeviceType type, bool software = false)
        : name_(name), type_(type), software_(software) {}
    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    [[nodiscard]] std::vector<DeviceInfo> devices() override {
        DeviceInfo info;
        info.backend = name_;
        info.type = type_;
        info.software = software_;
        return {info};
    }
    [[nodiscard]] std::unique_ptr<backends::Device> open(
        unsigned /*index*/, const backends::DeviceOptions& /*options*/) override {
        return nullptr;
    }

private:
    std::string name_;
    DeviceType type_;
    bool software_;
};

/// Prints the preferred device with these two drivers, and exits: added drivers cannot be removed.
void print_preferred(std::unique_ptr<backends::Driver> vulkan, std::unique_ptr<backends::Driver> opencl) {
    Drivers::instance().add(std::move(vulkan));
    Drivers::instance().add(std::move(opencl));
    std::fprintf(stderr, "%s\n", Drivers::instance().preferred().info.id().c_str());
    std::exit(0);
}

TEST_F(DriversTest, PrefersVulkanGpusThenOpenClGpusThenTheCpu) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    using enum DeviceType;
    const auto driver = [](std::string_view name, DeviceType type, bool software = false) {
        return std::make_unique<GpuDriver>(name, type, software);
    };
    const auto ends = ::testing::ExitedWithCode(0);
    EXPECT_EXIT(print_preferred(driver("vulkan", IntegratedGpu), driver("opencl", DiscreteGpu)), ends,
                "^vulkan:0\n$");
    EXPECT_EXIT(print_preferred(driver("vulkan", Cpu, true), driver("opencl", IntegratedGpu)), ends,
                "^opencl:0\n$");
    EXPECT_EXIT(print_preferred(driver("vulkan", Cpu, true), driver("opencl", Cpu, true)), ends, "^cpu:0\n$");
}

}  // namespace
}  // namespace volley::runtime
