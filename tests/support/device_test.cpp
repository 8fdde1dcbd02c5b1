// The configurations, their contexts and the registration of their tests.
#include "support/device_test.hpp"

#include <map>

namespace volley::testing {
namespace {

// Ends before main does, while the library is whole.
class Contexts : public ::testing::Environment {
public:
    void TearDown() override { made_.clear(); }

    Context of(const DeviceConfiguration& configuration) {
        const auto found = made_.find(configuration.name);
        if (found != made_.end()) return found->second;
        return made_.emplace(configuration.name, make_context(configuration.options)).first->second;
    }

private:
    std::map<std::string, Context> made_;
};

Contexts& contexts() {
    static auto* const environment = new Contexts;  // GoogleTest owns it
    static const bool added = (::testing::AddGlobalTestEnvironment(environment), true);
    static_cast<void>(added);
    return *environment;
}

class DeviceTest : public ::testing::Test {
public:
    DeviceTest(const DeviceConfiguration& configuration, void (*body)())
        : configuration_(configuration), body_(body) {}

    void TestBody() override {
        const Context context = context_for(configuration_);
        const auto scope = context.use();
        body_();
        // What a test leaves behind belongs to it, not to the next one.
        context.wait();
    }

private:
    const DeviceConfiguration& configuration_;
    void (*body_)();
};

}  // namespace

const std::vector<DeviceConfiguration>& device_configurations() {
    static const std::vector<DeviceConfiguration> list = {
        {"reference", {.devices = {"reference:0"}}},        {"cpu1", {.devices = {"cpu:0"}, .cpu_width = 1}},
        {"cpu4", {.devices = {"cpu:0"}, .cpu_width = 4}},   {"cpu8", {.devices = {"cpu:0"}, .cpu_width = 8}},
        {"cpu16", {.devices = {"cpu:0"}, .cpu_width = 16}},
    };
    return list;
}

Context context_for(const DeviceConfiguration& configuration) { return contexts().of(configuration); }

DeviceInfo this_device() { return current_context().devices().at(0); }

int register_device_test(const char* suite, const char* name, const char* file, int line, void (*body)()) {
    contexts();
    for (const DeviceConfiguration& configuration : device_configurations()) {
        const std::string suite_name = std::string(suite) + "/" + configuration.name;
        ::testing::RegisterTest(
            suite_name.c_str(), name, nullptr, nullptr, file, line,
            [&configuration, body]() -> DeviceTest* { return new DeviceTest(configuration, body); });
    }
    return 0;
}

}  // namespace volley::testing
