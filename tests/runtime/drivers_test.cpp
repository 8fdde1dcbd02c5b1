// Devices by name.
#include "runtime/runtime_support.hpp"

#include <sstream>

namespace volley::runtime {
namespace {

using testing::error_of;
using testing::expect_contains;

class DriversTest : public ::testing::Test {
protected:
    void SetUp() override {
        Drivers::instance().add(backends::null::make_driver(std::make_shared<backends::null::NullLog>(), 3));
    }
    static std::vector<std::string> select(std::vector<std::string> names) {
        std::vector<std::string> ids;
        for (const FoundDevice& device : Drivers::instance().select(names)) ids.push_back(device.info.id());
        return ids;
    }
    using Ids = std::vector<std::string>;
};

TEST_F(DriversTest, ABackendAloneIsItsFirstDevice) {
    EXPECT_EQ(select({"cpu", "null"}), (Ids{"cpu:0", "null:0"}));
}

TEST_F(DriversTest, AnIndexPicksOneDevice) {
    EXPECT_EQ(select({"null:2", "null:0"}), (Ids{"null:2", "null:0"}));
}

TEST_F(DriversTest, AStarPicksAll) { EXPECT_EQ(select({"null:*"}), (Ids{"null:0", "null:1", "null:2"})); }

TEST_F(DriversTest, PartOfANamePicksTheFirstThatHasIt) {
    EXPECT_EQ(select({"null:at ALL"}), (Ids{"null:1"}));
}

TEST_F(DriversTest, CaseAndBlanksDoNotMatter) {
    EXPECT_EQ(select({" CPU:0 ", "Null:NOTHING"}), (Ids{"cpu:0", "null:0"}));
}

TEST_F(DriversTest, AWrongNameIsAnErrorThatListsWhatThereIs) {
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

/// Knows without looking that it has nothing to offer unnamed.
class ShyDriver final : public backend::Driver {
public:
    explicit ShyDriver(int& looked) : looked_(looked) {}
    [[nodiscard]] std::string_view name() const noexcept override { return "shy"; }
    [[nodiscard]] bool may_have_preferred() const override { return false; }
    [[nodiscard]] std::vector<DeviceInfo> devices() override {
        ++looked_;
        return {};
    }
    [[nodiscard]] std::unique_ptr<backend::Device> open(unsigned /*index*/,
                                                        const backend::DeviceOptions& /*options*/) override {
        return nullptr;
    }

private:
    int& looked_;
};

TEST_F(DriversTest, DriversThatAreNotNeededStayClosed) {
    static int looked = 0;  // the driver stays until the process ends
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

}  // namespace
}  // namespace volley::runtime
