// Profiles, on every backend with two queues: they contain each command once, with consistent times.
#include "graphs/graph_support.hpp"
#include "graphs/json_check.hpp"

#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <latch>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <tuple>

namespace volley {
namespace {

using std::chrono::nanoseconds;
using testing::add_number;
using testing::axpy;
using testing::Json;
using testing::JsonParser;
using testing::scale_by;
using testing::slow;

std::vector<ProfiledCommand> of_kind(const Profile& profile, CommandKind kind) {
    std::vector<ProfiledCommand> found;
    for (const ProfiledCommand& command : profile.commands()) {
        if (command.kind == kind) found.push_back(command);
    }
    return found;
}

std::vector<ProfiledCommand> named(const Profile& profile, std::string_view name) {
    std::vector<ProfiledCommand> found;
    for (const ProfiledCommand& command : profile.commands()) {
        if (command.name == name) found.push_back(command);
    }
    return found;
}

void expect_sound_times(const Profile& profile) {
    for (const ProfiledCommand& command : profile.commands()) {
        EXPECT_LE(command.begin, command.end) << command.name;
        EXPECT_GE(command.begin.count(), 0) << command.name;
        EXPECT_LE(command.end, profile.duration()) << command.name;
    }
    for (const HostWait& wait : profile.host_waits()) EXPECT_LE(wait.begin, wait.end);
}

/// Expects each command to begin after the previous one has ended.
void expect_one_after_the_other(const std::vector<ProfiledCommand>& commands) {
    for (std::size_t i = 1; i < commands.size(); ++i) {
        EXPECT_GE(commands[i].begin, commands[i - 1].end)
            << i << ": " << commands[i].name << " after " << commands[i - 1].name;
    }
}

VOLLEY_BACKEND_TEST(Profile, HasEveryCommandOnce) {
    Buffer<float> a = as_buffer(std::vector<float>(5000, 1.0f)), b(5000);
    const Profile p = profile([&] {
        for (int i = 0; i < 3; ++i) scale_by()(a, 2.0f);
        add_number().on(queue(1)).over({40, 20})(a, 1.0f);
        b.copy_from(a);
        b.fill(3.0f);
        a.write(std::vector<float>(5000, 2.0f));
        host_call([] {}, queue(1));
    });
    expect_sound_times(p);
    EXPECT_EQ(named(p, "scale_by").size(), 6u) << "on both queues";
    ASSERT_EQ(named(p, "add_number").size(), 1u);
    const ProfiledCommand add = named(p, "add_number")[0];
    EXPECT_EQ(add.kind, CommandKind::Launch);
    EXPECT_EQ(add.queue, 1u);
    EXPECT_EQ(add.grid, (std::array<std::uint32_t, 3>{40, 20, 1}));
    EXPECT_GT(add.local[0], 0u);
    EXPECT_FALSE(add.graph);
    EXPECT_NE(add.file.find("graph_support.hpp"), std::string::npos) << add.file;
    EXPECT_GT(add.line, 0u);
    EXPECT_EQ(of_kind(p, CommandKind::Copy).size(), 2u);
    EXPECT_EQ(of_kind(p, CommandKind::Write).size(), 2u);
    EXPECT_EQ(of_kind(p, CommandKind::Fill).size(), 2u);
    EXPECT_EQ(of_kind(p, CommandKind::HostCall).size(), 1u);
    EXPECT_EQ(of_kind(p, CommandKind::Copy)[0].bytes, 20'000u);
    EXPECT_EQ(p.queues(), (std::vector<unsigned>{0, 0}));
    ASSERT_EQ(p.devices().size(), 1u);
    EXPECT_NE(p.devices()[0].find(device().id()), std::string::npos);
}

VOLLEY_BACKEND_TEST(Profile, ContainsNoCommandsFromOutsideIt) {
    Buffer<float> a = as_buffer(std::vector<float>(1000, 1.0f));
    scale_by()(a, 2.0f);
    const Profile p = profile([&] { add_number()(a, 1.0f); });
    scale_by()(a, 2.0f);
    wait();
    EXPECT_EQ(p.commands().size(), 2u) << p;
    const Profile none = profile([] {});
    EXPECT_TRUE(none.commands().empty());
    EXPECT_EQ(named(p, "add_number").size(), 2u);
    EXPECT_EQ(a.read(0)[5], 6.0f);
}

VOLLEY_BACKEND_TEST(Profile, CommandsThatDependOnEachOtherDoNotOverlap) {
    Buffer<float> a = as_buffer(std::vector<float>(100'000, 1.0f)), b(100'000);
    const Profile p = profile([&] {
        for (int i = 0; i < 10; ++i) {
            scale_by().on(queue(0))(a, 1.5f);
            b.copy_from(a);
            axpy().on(queue(0))(a, b, -0.5f);
        }
    });
    expect_sound_times(p);
    std::vector<ProfiledCommand> first;
    for (const ProfiledCommand& command : p.commands()) {
        if (command.queue == 0 && command.kind != CommandKind::Wait) first.push_back(command);
    }
    ASSERT_EQ(first.size(), 30u);
    expect_one_after_the_other(first);
    for (std::size_t i = 0; i < first.size(); ++i)
        EXPECT_EQ(first[i].name, (std::array{"scale_by", "copy", "axpy"}[i % 3])) << i;
}

VOLLEY_BACKEND_TEST(Profile, HostWorkIsInQueueOrder) {
    Buffer<float> a = as_buffer(std::vector<float>(50'000, 1.0f));
    const Profile p = profile([&] {
        for (int i = 0; i < 5; ++i) {
            scale_by().on(queue(0))(a, 2.0f);
            host_call([] {}, queue(0));
            a.write(std::vector<float>(50'000, 1.0f), queue(0));
        }
    });
    std::vector<ProfiledCommand> commands = p.commands();
    std::erase_if(commands, [](const ProfiledCommand& c) { return c.kind == CommandKind::Wait; });
    ASSERT_EQ(commands.size(), 15u) << p;
    expect_one_after_the_other(commands);
    for (std::size_t i = 0; i < commands.size(); ++i)
        EXPECT_EQ(commands[i].name, (std::array{"scale_by", "host call", "write"}[i % 3])) << i;
}

VOLLEY_BACKEND_TEST(Profile, ContainsEveryCommandOfEveryGraphInstance) {
    Buffer<float> a = as_buffer(std::vector<float>(2000, 1.0f)),
                  b = as_buffer(std::vector<float>(2000, 1.0f));
    auto g = record([&] {
        scale_by()(a, 0.5f);               // 0
        add_number()(a, dyn<float>("x"));  // 1
        b.fill(2.0f);                      // 2
        axpy()(b, a, 1.0f);                // 3
        a.copy_from(b);                    // 4
    });
    g.bind("x", 1.0f);
    g.submit().wait();  // so that the graph is already compiled
    const Profile p = profile([&] {
        g.submit({.instances = 7, .queue = queue(1)});
        g.submit({.instances = 2});
    });
    expect_sound_times(p);
    std::set<std::tuple<std::uint64_t, unsigned, std::uint32_t, std::uint32_t>> places;
    for (const ProfiledCommand& command : p.commands()) {
        if (command.kind == CommandKind::Wait) continue;
        ASSERT_TRUE(command.graph);
        EXPECT_TRUE(places
                        .emplace(command.graph->submission, command.queue, command.graph->instance,
                                 command.graph->index)
                        .second)
            << command.name << " occurs twice";
        EXPECT_EQ(command.name,
                  (std::array{"scale_by", "add_number", "fill", "axpy", "copy"}[command.graph->index]));
        if (command.kind == CommandKind::Launch) {
            EXPECT_EQ(command.grid[0], 2000u);
        }
        if (command.kind == CommandKind::Copy) {
            EXPECT_EQ(command.bytes, 8000u);
        }
    }
    EXPECT_EQ(places.size(), 7 * 5u + 2 * 2 * 5u);
    EXPECT_TRUE(places.count({1, 1, 6, 4}));
    EXPECT_TRUE(places.count({2, 0, 1, 0}));
    // Instances run one after the other, and so do commands that share a buffer.
    std::map<std::pair<std::uint32_t, std::uint32_t>, ProfiledCommand> first;
    for (const ProfiledCommand& command : p.commands()) {
        if (command.graph && command.graph->submission == 1)
            first[{command.graph->instance, command.graph->index}] = command;
    }
    for (std::uint32_t i = 0; i < 7; ++i) {
        expect_one_after_the_other({first.at({i, 0}), first.at({i, 1}), first.at({i, 3}), first.at({i, 4})});
        expect_one_after_the_other({first.at({i, 2}), first.at({i, 3})});
        if (i > 0) expect_one_after_the_other({first.at({i - 1, 4}), first.at({i, 0})});
    }
    EXPECT_EQ(named(p, "axpy")[0].local[0] > 0, true);
}

VOLLEY_BACKEND_TEST(Profile, GraphsRunUnchangedWhileProfiled) {
    Buffer<float> data = as_buffer(std::vector<float>(777, 0.0f));
    const HostArray<float> seen = data.empty_like();
    std::vector<float> values;
    auto g = record([&] {
        add_number()(data, dyn<float>("x"));
        data.read_async(seen, 0);
        host_call([&] { values.push_back(seen(3)); });
        scale_by()(data, 2.0f);
    });
    g.bind("x", {1.0f, 2.0f, 3.0f});
    const Profile p = profile([&] {
        g.submit({.instances = 3});
        g.submit({.instances = 3, .queue = queue(0)});
    });
    EXPECT_EQ(values, (std::vector<float>{1, 4, 11, 23, 48, 99}));
    EXPECT_EQ(data.read(0)[0], 198.0f);
    EXPECT_EQ(of_kind(p, CommandKind::HostCall).size(), 6u);
    std::set<std::pair<std::uint64_t, std::uint32_t>> calls;
    for (const ProfiledCommand& call : of_kind(p, CommandKind::HostCall)) {
        ASSERT_TRUE(call.graph);
        EXPECT_EQ(call.graph->index, 2u);
        calls.emplace(call.graph->submission, call.graph->instance);
    }
    EXPECT_EQ(calls.size(), 6u);
    g.submit({.instances = 3}).wait();
    EXPECT_EQ(values.size(), 9u) << "and afterwards";
}

VOLLEY_BACKEND_TEST(Profile, GraphTransfersAreReportedAsWritesAndReads) {
    Buffer<float> data = as_buffer(std::vector<float>(100, 0.0f));
    const HostArray<float> host = data.empty_like();
    std::fill_n(host.data(), 100, 1.0f);
    auto g = record([&] {
        data.write_async(host);
        data.write(std::vector<float>(100, 2.0f));
        data.read_async(host, 0);
    });
    const Profile p = profile([&] { g.submit({.queue = queue(0)}); });
    EXPECT_EQ(of_kind(p, CommandKind::Write).size(), 2u) << p;
    EXPECT_EQ(of_kind(p, CommandKind::Read).size(), 1u) << p;
    EXPECT_TRUE(of_kind(p, CommandKind::Copy).empty()) << p;
    EXPECT_EQ(of_kind(p, CommandKind::Read)[0].bytes, 400u);
    EXPECT_EQ(host(99), 2.0f);
}

VOLLEY_BACKEND_TEST(Profile, SpreadInstancesKeepTheirNumbers) {
    Buffer<float> data = as_buffer(std::vector<float>(64, 0.0f));
    auto g = record([&] { add_number()(data, 1.0f); });
    const Profile p = profile([&] { g.submit({.instances = 5, .spread = true}); });
    std::set<std::uint32_t> instances;
    for (const ProfiledCommand& command : named(p, "add_number")) {
        EXPECT_EQ(command.graph->submission, 1u);
        instances.insert(command.graph->instance);
    }
    EXPECT_EQ(instances, (std::set<std::uint32_t>{0, 1, 2, 3, 4}));
}

VOLLEY_BACKEND_TEST(Profile, RowsOfARegionAreOneCommand) {
    Buffer<float> a({4, 5, 6, 7, 8}), b({4, 5, 6, 7, 8});
    a.zero();
    const Selection part = {slice(0, 4, 2), slice(1, 4), slice(0, 6, 2), slice(0, 7, 3), slice(2, 5)};
    auto g = record([&] { copy_region(b, part, a, part); });
    const Profile p = profile([&] {
        copy_region(b, part, a, part);
        g.submit({.instances = 2});
    });
    EXPECT_EQ(of_kind(p, CommandKind::Copy).size(), 6u) << p;
}

VOLLEY_BACKEND_TEST(Profile, RecordsHostWaits) {
    Buffer<float> data = as_buffer(std::vector<float>(1000, 1.0f));
    const Profile p = profile([&] {
        slow()(data, 100u);
        wait();
        slow()(data, 100u);
        EXPECT_EQ(data.read(0).size(), 1000u);
    });
    const auto reads =
        std::count_if(p.host_waits().begin(), p.host_waits().end(), [](const HostWait& w) { return w.read; });
    EXPECT_EQ(reads, 1);
    EXPECT_EQ(p.host_waits().size(), 3u) << "wait(), read(), and the end of the profile";
    expect_sound_times(p);
}

VOLLEY_BACKEND_TEST(Profile, WaitsForCallbacksAreHostWaits) {
    constexpr auto limit = std::chrono::milliseconds(2);
    std::latch go(1);
    const Profile p = profile([&] {
        const Event called = mark().then([&] { go.wait(); });
        EXPECT_FALSE(called.wait_for(std::chrono::milliseconds(0)));
        EXPECT_FALSE(called.wait_for(limit));
        go.count_down();
        called.wait();
    });
    std::chrono::nanoseconds longest{};
    for (const HostWait& wait : p.host_waits()) longest = std::max(longest, wait.end - wait.begin);
    EXPECT_GE(longest, limit);
    // The callback may end before wait() has to wait for it.
    EXPECT_GE(p.host_waits().size(), 3u) << "wait_for(), twice, and the end of the profile";
    EXPECT_LE(p.host_waits().size(), 4u);
}

VOLLEY_BACKEND_TEST(Profile, ContainsTheCommandsOfAllThreads) {
    Buffer<float> a = as_buffer(std::vector<float>(300, 1.0f)), b = as_buffer(std::vector<float>(300, 1.0f));
    auto g = record([&] {
        scale_by()(a, 1.0f);
        scale_by()(b, 1.0f);
    });
    auto scale = scale_by();
    scale(a, 1.0f);
    const Context here = current_context();
    const Profile p = profile([&] {
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&, t] {
                const auto scope = here.use();
                for (int i = 0; i < 25; ++i) {
                    scale.on(queue(static_cast<unsigned>(t) % 2))(t < 2 ? a : b, 1.0f);
                    if (i % 5 == 0) g.submit();
                    if (i % 10 == 0) wait();
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
    });
    EXPECT_EQ(named(p, "scale_by").size(), 4 * 25u + 4 * 5 * 4u);
    expect_sound_times(p);
}

VOLLEY_BACKEND_TEST(Profile, StopsOnAnException) {
    Buffer<float> data = as_buffer(std::vector<float>(100, 1.0f));
    const auto fail = [&] {
        static_cast<void>(profile([&] {
            scale_by()(data, 2.0f);
            throw std::runtime_error("left");
        }));
    };
    EXPECT_THROW(fail(), std::runtime_error);
    scale_by()(data, 2.0f);
    EXPECT_EQ(data.read(0)[0], 4.0f);
    const Profile p = profile([&] { scale_by()(data, 2.0f); });
    EXPECT_EQ(named(p, "scale_by").size(), 2u);
    const auto broken = [&] {
        static_cast<void>(profile([&] { host_call([] { throw std::runtime_error("broken"); }); }));
    };
    EXPECT_THROW(broken(), std::runtime_error);
    EXPECT_TRUE(profile([] {}).commands().empty());
}

VOLLEY_BACKEND_TEST(Profile, OnlyOneCanBeActivePerContext) {
    Buffer<float> data = as_buffer(std::vector<float>(10, 1.0f));
    const Profile p = profile([&] {
        testing::expect_contains(
            testing::error_of(ErrorCode::InvalidArgument, [] { static_cast<void>(profile([] {})); }),
            "already being profiled");
        scale_by()(data, 1.0f);
    });
    EXPECT_EQ(named(p, "scale_by").size(), 2u) << "the outer profile continues";
    const auto recorded = [] { CommandGraph g = record([] { static_cast<void>(profile([] {})); }); };
    testing::expect_contains(testing::error_of(ErrorCode::InvalidArgument, recorded), "in a recording");
    EXPECT_TRUE(profile([] {}).commands().empty());
}

VOLLEY_BACKEND_TEST(Profile, ContextsAreProfiledSeparately) {
    const Context other = make_context({.devices = {"reference:0"}});
    Buffer<float> data = as_buffer(std::vector<float>(10, 1.0f));
    const Profile p = profile([&] {
        scale_by()(data, 1.0f);
        const auto scope = other.use();
        Buffer<float> theirs = as_buffer(std::vector<float>(10, 1.0f));
        const Profile inner = profile([&] { add_number()(theirs, 1.0f); });
        EXPECT_EQ(inner.commands().size(), 1u);
    });
    EXPECT_EQ(p.commands().size(), 2u) << p;
}

VOLLEY_BACKEND_TEST(Profile, TotalsAddUp) {
    Buffer<float> a = as_buffer(std::vector<float>(3000, 1.0f)), b(3000);
    const Profile p = profile([&] {
        for (int i = 0; i < 4; ++i) scale_by()(a, 1.0f);
        b.copy_from(a);
        slow()(a, 50u);
    });
    double shares = 0;
    std::size_t count = 0;
    for (const ProfileTotal& total : p.totals()) {
        shares += total.share;
        count += total.count;
        nanoseconds sum{};
        for (const ProfiledCommand& command : named(p, total.name)) sum += command.time();
        EXPECT_EQ(total.total, sum) << total.name;
        EXPECT_EQ(total.mean(), sum / static_cast<std::int64_t>(total.count)) << total.name;
        if (total.name == "scale_by") {
            EXPECT_EQ(total.count, 8u);
        }
    }
    EXPECT_EQ(count, p.commands().size());
    EXPECT_NEAR(shares, 1.0, 1e-9);
    std::ostringstream out;
    out << p;
    EXPECT_EQ(out.str(), p.table());
    for (const char* text : {"command", "scale_by", "slow", "copy", "launch", "%"})
        EXPECT_NE(p.table().find(text), std::string::npos) << text << " in\n" << p.table();
}

VOLLEY_BACKEND_TEST(Profile, TracesAreJsonWithATrackPerQueue) {
    Buffer<float> a = as_buffer(std::vector<float>(3000, 1.0f)), b(3000);
    auto odd = kernel("odd \"name\"\n", [](Buff<float> data) { data[global_id().x] = 1.0f; });
    auto g = record([&] {
        scale_by()(a, 0.5f);
        scale_by()(b, 0.5f);
    });
    b.zero();
    const Profile p = profile([&] {
        odd(a);
        b.copy_from(a);
        g.submit({.instances = 3});
        wait();
    });
    const Json trace = JsonParser::parse(p.to_json());
    std::map<double, std::string> processes;
    std::map<std::pair<double, double>, std::string> tracks;
    std::map<std::pair<double, double>, double> busy;
    std::size_t spans = 0;
    std::size_t odds = 0;
    for (const Json& event : trace["traceEvents"].list) {
        const double pid = event["pid"].number;
        if (event["ph"].text == "M") {
            if (event["name"].text == "process_name") processes[pid] = event["args"]["name"].text;
            if (event["name"].text == "thread_name")
                tracks[{pid, event["tid"].number}] = event["args"]["name"].text;
            continue;
        }
        ASSERT_EQ(event["ph"].text, "X");
        ++spans;
        const double begin = event["ts"].number;
        EXPECT_GE(event["dur"].number, 0);
        double& until = busy[{pid, event["tid"].number}];
        EXPECT_GE(begin, until - 1e-6) << "spans of a track must not overlap";
        until = begin + event["dur"].number;
        if (event["cat"].text == "launch") {
            EXPECT_NE(event["args"]["source"].text.find("graph"), std::string::npos);
            EXPECT_EQ(event["args"]["grid"].list.at(0).number, 3000);
        }
        if (event["name"].text == "odd \"name\"\n") ++odds;
        if (event["name"].text == "scale_by") {
            EXPECT_LT(event["args"]["instance"].number, 3);
        }
    }
    EXPECT_EQ(odds, 2u);
    EXPECT_EQ(spans, p.commands().size() + p.host_waits().size());
    EXPECT_EQ(processes.size(), 2u);
    EXPECT_EQ(processes[0], p.devices()[0]);
    EXPECT_EQ(processes[1], "host");
    std::set<std::string> names;
    for (const auto& [place, name] : tracks) names.insert(name);
    EXPECT_TRUE(names.count("queue 0") && names.count("queue 1") && names.count("thread 0"));
    for (const auto& [place, end] : busy) EXPECT_TRUE(tracks.count(place)) << "a track without a name";
}

TEST(ProfileTrace, TracesAreWrittenToFiles) {
    const Context context = make_context({.devices = {"reference:0"}});
    const auto scope = context.use();
    Buffer<float> data = as_buffer(std::vector<float>(10, 1.0f));
    const Profile p = profile([&] { scale_by()(data, 2.0f); });
    const std::string path = ::testing::TempDir() + "/volley_trace.json";
    p.write_trace(path);
    std::ifstream file(path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), p.to_json());
    std::remove(path.c_str());
    testing::expect_contains(
        testing::error_of(ErrorCode::InvalidArgument, [&] { p.write_trace("/no/such/folder/trace.json"); }),
        "/no/such/folder");
    EXPECT_NO_THROW(static_cast<void>(JsonParser::parse(Profile().to_json()))) << "also for an empty profile";
    EXPECT_NO_THROW(static_cast<void>(Profile().table()));
}

TEST(ProfileDevices, TimesOfDifferentDevicesUseOneClock) {
    const Context context = make_context({.devices = {"reference:0", "cpu:0"}});
    const auto scope = context.use();
    Buffer<float> a({500}, {.placement = Placement::on(queue(0))}),
        b({500}, {.placement = Placement::on(queue(1))});
    a.fill(1.0f);
    const Profile p = profile([&] {
        scale_by()(a, 2.0f);
        b.copy_from(a);
        scale_by()(b, 2.0f);
    });
    EXPECT_EQ(b.read(1)[7], 4.0f);
    EXPECT_EQ(p.devices().size(), 2u);
    const std::vector<ProfiledCommand> copies = of_kind(p, CommandKind::Copy);
    ASSERT_EQ(copies.size(), 1u) << "few bytes are one command of the destination";
    EXPECT_EQ(copies[0].device, 1u);
    EXPECT_EQ(copies[0].bytes, 500 * sizeof(float));
    const std::vector<ProfiledCommand> scaled = named(p, "scale_by");
    ASSERT_EQ(scaled.size(), 2u);
    EXPECT_EQ(scaled[0].device, 0u);
    EXPECT_EQ(scaled[1].device, 1u);
    EXPECT_LE(scaled[0].end, scaled[1].begin);
}

}  // namespace
}  // namespace volley
