// The steps of programs, and their execution.
#include "support/order_programs.hpp"

#include "core/text.hpp"
#include "support/random.hpp"

#include <array>
#include <utility>

namespace volley::testing {
namespace {

auto& set_kernel() {
    static auto made = kernel("set", [](Buff<int> data) { data[global_id().x] = 1; });
    return made;
}
auto& look_kernel() {
    static auto made = kernel(
        "look", [](Buff<const int> data, Buff<int> result) { result[global_id().x] = data[global_id().x]; });
    return made;
}
auto& bump_kernel() {
    static auto made = kernel("bump", [](Buff<int> data) { data[global_id().x] = data[global_id().x] + 1; });
    return made;
}
auto& add_kernel() {
    static auto made = kernel("add", [](Buff<int> data, Buff<const int> more) {
        data[global_id().x] = data[global_id().x] + more[global_id().x];
    });
    return made;
}

struct ViewOf {
    std::size_t begin;
    [[nodiscard]] Buffer<int> of(const Buffer<int>& buffer) const { return buffer.view(begin, 8); }
    [[nodiscard]] std::string name() const { return cat("[", begin, ", ", begin + 8, ")"); }
};
constexpr std::array views = {ViewOf{0}, ViewOf{4}, ViewOf{8}};

using Member = Buffer<int> ProgramArrays::*;
struct Named {
    Member member;
    const char* name;
};
constexpr Named shared_one{&ProgramArrays::shared, "shared"};
constexpr Named replicated_one{&ProgramArrays::replicated, "replicated"};
constexpr Named second_one{&ProgramArrays::second, "second"};

}  // namespace

Buffer<int> ProgramArrays::result() {
    return results.emplace_back(elements, BufferOptions{.placement = Placement::per_device});
}

std::vector<ProgramStep> steps_on_views() {
    std::vector<ProgramStep> steps;
    for (const ViewOf view : views) {
        for (unsigned k = 0; k < 2; ++k) {
            const std::string where = cat(view.name(), " on queue ", k);
            steps.push_back({cat("write ", where),
                             [=](ProgramArrays& a) { set_kernel().on(queue(k))(view.of(a.shared)); }});
            steps.push_back({cat("read ", where), [=](ProgramArrays& a) {
                                 look_kernel().over(8).on(queue(k))(view.of(a.shared), a.result());
                             }});
            steps.push_back({cat("bump ", where),
                             [=](ProgramArrays& a) { bump_kernel().on(queue(k))(view.of(a.shared)); }});
        }
        steps.push_back({cat("fill ", view.name()), [=](ProgramArrays& a) { view.of(a.shared).fill(1); }});
    }
    steps.push_back({"copy [0, 8) to [8, 16)",
                     [](ProgramArrays& a) { views[2].of(a.shared).copy_from(views[0].of(a.shared)); }});
    steps.push_back({"add [4, 12) to [0, 8) on queue 1", [](ProgramArrays& a) {
                         add_kernel().on(queue(1))(views[0].of(a.shared), views[1].of(a.shared));
                     }});
    return steps;
}

std::vector<ProgramStep> steps_on_placements() {
    std::vector<ProgramStep> steps;
    const auto name_of = [](const Named& one) { return std::string(one.name); };
    for (const Named one : {shared_one, replicated_one, second_one}) {
        steps.push_back({"set " + name_of(one), [=](ProgramArrays& a) { set_kernel()(a.*one.member); }});
        steps.push_back({"fill " + name_of(one), [=](ProgramArrays& a) { (a.*one.member).fill(1); }});
        steps.push_back({"set " + name_of(one) + " on queue 1",
                         [=](ProgramArrays& a) { set_kernel().on(queue(1))(a.*one.member); }});
        steps.push_back({"read " + name_of(one) + " on queue 1",
                         [=](ProgramArrays& a) { look_kernel().on(queue(1))(a.*one.member, a.result()); }});
        for (const Named other : {shared_one, replicated_one, second_one}) {
            if (one.member == other.member) continue;
            steps.push_back({"copy " + name_of(other) + " to " + name_of(one),
                             [=](ProgramArrays& a) { (a.*one.member).copy_from(a.*other.member); }});
        }
    }
    steps.push_back(
        {"add replicated to shared", [](ProgramArrays& a) { add_kernel()(a.shared, a.replicated); }});
    steps.push_back({"add shared to second", [](ProgramArrays& a) { add_kernel()(a.second, a.shared); }});
    return steps;
}

std::vector<ProgramStep> steps_with_the_host() {
    std::vector<ProgramStep> steps;
    steps.push_back({"write shared from the array", [](ProgramArrays& a) { a.shared.write_async(a.host); }});
    steps.push_back(
        {"write replicated from the array", [](ProgramArrays& a) { a.replicated.write_async(a.host); }});
    for (unsigned k = 0; k < 2; ++k) {
        const std::string where = cat(" on queue ", k);
        steps.push_back(
            {"read shared to the array" + where, [=](ProgramArrays& a) { a.shared.read_async(a.host, k); }});
        steps.push_back({"read replicated to the array" + where,
                         [=](ProgramArrays& a) { a.replicated.read_async(a.host, k); }});
        steps.push_back(
            {"bump shared" + where, [=](ProgramArrays& a) { bump_kernel().on(queue(k))(a.shared); }});
        steps.push_back(
            {"bump replicated" + where, [=](ProgramArrays& a) { bump_kernel().on(queue(k))(a.replicated); }});
    }
    return steps;
}

std::vector<ProgramStep> steps_at_once() {
    std::vector<ProgramStep> steps;
    const std::vector<int> numbers(ProgramArrays::elements);
    steps.push_back({"write shared", [=](ProgramArrays& a) { a.shared.write(numbers); }});
    steps.push_back({"write replicated", [=](ProgramArrays& a) { a.replicated.write(numbers); }});
    for (unsigned k = 0; k < 2; ++k) {
        const std::string where = cat(" on queue ", k);
        steps.push_back({"read shared" + where, [=](ProgramArrays& a) { (void)a.shared.read(k); }});
        steps.push_back({"use a short-lived buffer" + where, [=](ProgramArrays& a) {
                             Buffer<int> brief(ProgramArrays::elements, {.placement = Placement::per_device});
                             set_kernel().on(queue(k))(brief);
                             add_kernel().on(queue(k))(brief, a.shared);
                         }});
        steps.push_back({"wait for" + where, [=](ProgramArrays&) { queue(k).wait(); }});
    }
    return steps;
}

std::vector<ProgramStep> steps_with_temporaries() {
    std::vector<ProgramStep> steps;
    for (unsigned k = 0; k < 2; ++k) {
        steps.push_back({cat("use a temporary on queue ", k), [=](ProgramArrays& a) {
                             const Buffer<int> brief = temporary<int>({ProgramArrays::elements});
                             set_kernel().on(queue(k))(brief);
                             add_kernel().on(queue(k))(a.shared, brief);
                         }});
    }
    steps.push_back({"use two temporaries", [](ProgramArrays& a) {
                         const Buffer<int> brief = temporary<int>({ProgramArrays::elements});
                         const Buffer<int> briefer = temporary<int>({ProgramArrays::elements / 2});
                         set_kernel()(brief);
                         set_kernel()(briefer);
                         add_kernel().over(8)(brief, briefer);
                         add_kernel()(a.replicated, brief);
                     }});
    return steps;
}

std::vector<ProgramStep> steps_that_stop() {
    return {{"host call", [](ProgramArrays&) { host_call([] {}); }},
            {"host call on queue 1", [](ProgramArrays&) { host_call([] {}, queue(1)); }}};
}

namespace {

Context make_null_context(const std::shared_ptr<backends::null::NullLog>& log,
                          const OrderProgram::Options& options) {
    runtime::Drivers::instance().add(backends::null::make_driver(log, {.overlaps = options.overlaps}));
    return make_context({.devices = options.devices, .queues_per_device = 2});
}

}  // namespace

OrderProgram::OrderProgram(Options options)
    : options_(std::move(options)), context_(make_null_context(log_, options_)) {}

std::string OrderProgram::run(const std::vector<const ProgramStep*>& steps, How how) {
    const ContextScope use = context_.use();
    ProgramArrays arrays;
    arrays.results.reserve(steps.size());
    arrays.shared.fill(0);
    arrays.replicated.fill(0);
    arrays.second.fill(0);
    wait();
    log_->clear();
    const std::size_t at_once = how == How::AtOnce ? steps.size() : how == How::PartlyRecorded ? 1 : 0;
    CommandGraph graph;
    graph.append([&] {
        for (std::size_t i = 0; i + at_once < steps.size(); ++i) steps[i]->run(arrays);
    });
    if (how != How::AtOnce) graph.submit({.instances = 2, .spread = how == How::Spread});
    if (how == How::Recorded || how == How::Spread) graph.submit();
    for (std::size_t i = steps.size() - at_once; i < steps.size(); ++i) steps[i]->run(arrays);
    const NullOrder order(log_->entries());
    commands_ += order.commands();
    std::string wrong = order.unordered();
    if (wrong.empty() && options_.minimal) wrong = order.needless();
    wait();
    if (wrong.empty()) return {};
    wrong += "\nin the program\n";
    for (const ProgramStep* step : steps) wrong += cat("    ", step->name, "\n");
    return wrong + order.text();
}

std::string OrderProgram::run_all(const std::vector<ProgramStep>& steps, unsigned length, How how) {
    std::vector<std::size_t> chosen(length);
    for (;;) {
        std::vector<const ProgramStep*> program;
        for (const std::size_t i : chosen) program.push_back(&steps[i]);
        if (std::string wrong = run(program, how); !wrong.empty()) return wrong;
        std::size_t place = 0;
        while (place < length && ++chosen[place] == steps.size()) chosen[place++] = 0;
        if (place == length) return {};
    }
}

std::string OrderProgram::run_random(const std::vector<ProgramStep>& steps, unsigned length,
                                     unsigned programs, std::uint64_t seed, How how) {
    Random random(seed);
    for (unsigned i = 0; i < programs; ++i) {
        std::vector<const ProgramStep*> program;
        for (unsigned s = 0; s < length; ++s) program.push_back(&random.pick(steps));
        std::string wrong = run(program, how);
        if (wrong.empty()) continue;
        // Remove steps that do not affect the failure.
        for (std::size_t s = 0; s < program.size();) {
            std::vector<const ProgramStep*> shorter = program;
            shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(s));
            std::string still = run(shorter, how);
            if (still.empty()) {
                ++s;
            } else {
                program = std::move(shorter);
                wrong = std::move(still);
            }
        }
        return cat("VOLLEY_SEED=", seed, ": ", wrong);
    }
    return {};
}

}  // namespace volley::testing
