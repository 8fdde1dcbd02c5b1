// Compares random work, submitted without waiting, with a replay on the host: buffers, views, placements,
// kernels, copies, temporaries, host calls, host arrays, kept graphs and queues. Every replica of every
// buffer must have the value that results from the order of the calls.
#include "graphs/graph_support.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>

namespace volley {
namespace {

using Words = std::vector<std::uint32_t>;

#ifdef VOLLEY_SANITIZED
constexpr int race_count = 4, race_operations = 60;
#else
constexpr int race_count = 12, race_operations = 120;
#endif

std::uint32_t async_seed() {
    const char* given = std::getenv("VOLLEY_TEST_SEED");
    return given != nullptr ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10)) : 20261117u;
}

/// y = y * a + x, repeated in a loop that can take long.
auto make_mad() {
    return kernel("mad", [](Buff<std::uint32_t> y, Buff<const std::uint32_t> x, Const<std::uint32_t> a,
                            Const<std::uint32_t> repeats) {
        const auto i = global_id().x;
        Var<std::uint32_t> v = y[i];
        $for (k, 0u, repeats) {
            v = v * a + x[i];
        }
        y[i] = v;
    });
}
std::uint32_t mad(std::uint32_t y, std::uint32_t x, std::uint32_t a, std::uint32_t repeats) {
    for (std::uint32_t k = 0; k < repeats; ++k) y = y * a + x;
    return y;
}
/// z = z ^ (x + y * c)
auto make_mix() {
    return kernel("mix", [](Buff<std::uint32_t> z, Buff<const std::uint32_t> x, Buff<const std::uint32_t> y,
                            Const<std::uint32_t> c) {
        const auto i = global_id().x;
        z[i] = z[i] ^ (x[i] + y[i] * c);
    });
}
auto make_step() {
    return kernel("step", [](Buff<std::uint32_t> y, Const<std::uint32_t> a) {
        const auto i = global_id().x;
        y[i] = y[i] * 3u + a;
    });
}

/// A buffer, and the expected contents of each of its replicas.
struct Subject {
    Buffer<std::uint32_t> buffer;
    bool per_device = false;
    std::optional<unsigned> on;       // its only queue, if it has one
    std::map<unsigned, Words> model;  // by the home queue of the replica
};

/// A range of elements of a subject.
struct Part {
    std::size_t subject = 0, offset = 0, count = 0;
};

bool overlap(const Part& a, const Part& b) {
    return a.subject == b.subject && a.offset < b.offset + b.count && b.offset < a.offset + a.count;
}

enum class CallKind {
    Mad,
    Mix,
    Step,
    Fill,
    Copy,
    ThroughTemporary,
    FromArray,
    ToArray,      // reads the replica of queue `on`
    ChangeArray,  // by a host call
    HostCall,
};

/// An operation, run immediately or recorded in a graph. The first part is the one it writes.
struct Call {
    CallKind kind = CallKind::Mad;
    std::vector<Part> parts = {};
    std::vector<Buffer<std::uint32_t>> views = {};  // of the parts; kept because rebind() identifies them
    std::uint32_t a = 0, repeats = 0;
    std::optional<unsigned> on = {};
    std::size_t array = 0;

    [[nodiscard]] bool is_launch() const { return kind <= CallKind::Step; }
    [[nodiscard]] bool is_hosts() const { return kind >= CallKind::ChangeArray; }
};

/// A graph that is submitted repeatedly, and its calls.
struct KeptGraph {
    CommandGraph graph;
    std::vector<Call> calls;
};

/// Applies the same random operations to the library and to the model.
class Race {
public:
    /// Uses parts of up to `longest` elements.
    Race(std::uint32_t seed, const Context& context, int longest)
        : random_(seed), context_(context), longest_(longest) {
        for (unsigned q = 0; q < context.queue_count(); ++q) {
            const std::string id = context.queue(q).device().id();
            if (q == 0 || id != device_.back()) first_.push_back(q);
            device_.push_back(id);
        }
        queues_ = context.queue_count();
        const int count = pick(3, 7);
        for (int i = 0; i < count; ++i) add_subject(i < 2 ? longest : pick(40, 300));
        for (int i = 0; i < 2; ++i) add_array();
    }

    void run() {
        for (int i = 0; i < race_operations; ++i) {
            switch (pick(0, 12)) {
                case 0: write(); break;
                case 1: read(); break;
                case 2: record_graph(); break;
                case 3:
                case 4: submit(); break;
                case 5: rebind(); break;
                case 6: follow(); break;
                default: call_at_once(); break;
            }
            if (::testing::Test::HasFailure()) return;
        }
        for (const Subject& subject : subjects_) {
            for (const auto& [home, words] : subject.model) {
                if (subject.buffer.read(home) != words)
                    ADD_FAILURE() << subject.buffer.name() << " is wrong on queue " << home << " at the end";
            }
        }
        wait();
        EXPECT_EQ(host_calls_, expected_host_calls_);
        for (std::size_t i = 0; i < arrays_.size(); ++i) {
            EXPECT_TRUE(std::equal(array_models_[i].begin(), array_models_[i].end(), arrays_[i].data()))
                << "host array " << i;
        }
    }

private:
    int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
    std::uint32_t number() { return static_cast<std::uint32_t>(random_()); }
    unsigned some_queue() { return static_cast<unsigned>(pick(0, static_cast<int>(queues_) - 1)); }

    // ---- buffers ----

    void add_subject(int size) {
        Subject subject;
        BufferOptions options;
        switch (pick(0, 3)) {
            case 0:
                subject.per_device = true;
                options.placement = Placement::per_device;
                break;
            case 1:
                subject.on = some_queue();
                options.placement = Placement::on(context_.queue(*subject.on));
                break;
            default: break;
        }
        subject.buffer = Buffer<std::uint32_t>(Shape(size), options);
        Words words(static_cast<std::size_t>(size));
        for (std::uint32_t& word : words) word = number();
        subject.buffer.write(words);
        for (unsigned q = 0; q < queues_; ++q) {
            if (subject.on ? *subject.on == q : !subject.per_device || is_first(q)) subject.model[q] = words;
        }
        subjects_.push_back(std::move(subject));
    }
    void add_array() {
        const HostArray<std::uint32_t> array(Shape(array_size), {.queue = context_.queue(some_queue())});
        Words words(array_size);
        for (std::uint32_t& word : words) word = number();
        std::copy(words.begin(), words.end(), array.data());
        arrays_.push_back(array);
        array_models_.push_back(std::move(words));
    }
    [[nodiscard]] bool is_first(unsigned q) const {
        return std::find(first_.begin(), first_.end(), q) != first_.end();
    }
    /// Returns the home of the replica that queue q uses, or nullopt if it has none.
    [[nodiscard]] std::optional<unsigned> home(const Subject& subject, unsigned q) const {
        if (subject.on) return *subject.on == q ? subject.on : std::nullopt;
        if (!subject.per_device) return q;
        unsigned found = 0;
        for (const unsigned first : first_) {
            if (first <= q) found = first;
        }
        return found;
    }
    /// Mostly small, so that launches run within the call; sometimes large enough to be split over threads.
    std::size_t some_count() {
        return static_cast<std::size_t>(pick(0, 4) == 0 ? pick(1, longest_) : pick(1, 40));
    }
    Part part(std::size_t count) {
        Part result;
        do {
            result.subject = static_cast<std::size_t>(pick(0, static_cast<int>(subjects_.size()) - 1));
        } while (size(result.subject) < count);
        result.count = count;
        result.offset = static_cast<std::size_t>(pick(0, static_cast<int>(size(result.subject) - count)));
        return result;
    }
    [[nodiscard]] std::size_t size(std::size_t subject) const { return subjects_[subject].buffer.size(); }
    [[nodiscard]] Buffer<std::uint32_t> view(const Part& part) const {
        return subjects_[part.subject].buffer.view(part.offset, part.count);
    }
    [[nodiscard]] const Subject& subject_of(const Part& part) const { return subjects_[part.subject]; }
    std::uint32_t* words(const Part& part, unsigned q) {
        Subject& subject = subjects_[part.subject];
        return subject.model.at(*home(subject, q)).data() + part.offset;
    }

    // ---- calls ----

    Call some_call() {
        for (;;) {
            Call call;
            call.kind = static_cast<CallKind>(pick(0, 9));
            call.a = number() | 1u;
            call.array = static_cast<std::size_t>(pick(0, 1));
            if (call.is_hosts()) {
                if (pick(0, 3) == 0) return call;
                continue;
            }
            const bool with_array = call.kind == CallKind::FromArray || call.kind == CallKind::ToArray;
            const std::size_t count = with_array ? array_size : some_count();
            const bool alone = with_array || call.kind == CallKind::Step || call.kind == CallKind::Fill;
            const int parts = call.kind == CallKind::Mix ? 3 : alone ? 1 : 2;
            for (int i = 0; i < parts; ++i) call.parts.push_back(part(count));
            call.repeats = count <= 40 && pick(0, 3) == 0 ? 2000 : 3;
            if (call.kind == CallKind::ToArray || (call.is_launch() && pick(0, 2) == 0))
                call.on = some_queue();
            if (!is_legal(call) || queues_of(call, {}).empty()) continue;
            for (const Part& one : call.parts) call.views.push_back(view(one));
            return call;
        }
    }
    /// Returns false if invocations of the launch would race, or a copy would overlap its source.
    [[nodiscard]] bool is_legal(const Call& call) const {
        for (std::size_t i = 1; i < call.parts.size(); ++i) {
            const Part& to = call.parts[0];
            const Part& from = call.parts[i];
            if (!overlap(to, from)) continue;
            if (call.kind == CallKind::Copy) return false;
            if (call.is_launch() && (to.offset != from.offset || call.repeats > 3)) return false;
        }
        return true;
    }
    /// Returns the queues that the call runs on, or whose replicas it writes; empty if the call is invalid.
    /// `only` is the queue of a graph submitted to one queue.
    [[nodiscard]] std::vector<unsigned> queues_of(const Call& call, std::optional<unsigned> only) const {
        if (call.on) only = call.on;
        std::vector<unsigned> queues;
        for (unsigned q = 0; q < queues_; ++q) {
            if (only && *only != q) continue;
            bool there = true;
            for (std::size_t i = 0; i < (call.is_launch() ? call.parts.size() : 1); ++i)
                there = there && home(subject_of(call.parts[i]), q).has_value();
            if (there) queues.push_back(q);
        }
        const bool once_a_device = std::any_of(
            call.parts.begin(),
            call.parts.begin() + (call.is_launch() ? static_cast<std::ptrdiff_t>(call.parts.size()) : 1),
            [&](const Part& one) { return subject_of(one).per_device; });
        if (once_a_device && queues.size() > 1)
            std::erase_if(queues, [&](unsigned q) { return !is_first(q); });
        return queues;
    }
    /// Returns the replica that a copy on queue q reads: its own, else one of its device, else the first.
    [[nodiscard]] unsigned nearest(const Subject& from, unsigned q) const {
        if (const std::optional<unsigned> own = home(from, q)) return *own;
        for (const auto& [other, theirs] : from.model) {
            if (device_[other] == device_[q]) return other;
        }
        return from.model.begin()->first;
    }
    [[nodiscard]] Words taken_by(unsigned q, const Part& from) const {
        const Words& all_words = subject_of(from).model.at(nearest(subject_of(from), q));
        const auto begin = all_words.begin() + static_cast<std::ptrdiff_t>(from.offset);
        return Words(begin, begin + static_cast<std::ptrdiff_t>(from.count));
    }

    template <class K>
    K placed(K kernel, std::optional<unsigned> on) const {
        return on ? kernel.on(context_.queue(*on)) : kernel;
    }
    /// Issues the call to the library. In a recording, a step takes a dynamic value.
    Event issue(Call& call) {
        switch (call.kind) {
            case CallKind::Mad:
                return placed(mad_, call.on)(call.views[0], call.views[1], call.a, call.repeats);
            case CallKind::Mix:
                return placed(mix_, call.on)(call.views[0], call.views[1], call.views[2], call.a);
            case CallKind::Step:
                if (is_recording()) return placed(step_, call.on)(call.views[0], dyn<std::uint32_t>("a"));
                return placed(step_, call.on)(call.views[0], call.a);
            case CallKind::Fill: return call.views[0].fill(call.a);
            case CallKind::Copy: return call.views[0].copy_from(call.views[1]);
            case CallKind::ThroughTemporary: {
                Buffer<std::uint32_t> between = temporary<std::uint32_t>(Shape(call.parts[0].count));
                between.copy_from(call.views[1]);
                mad_(between, between, 3u, 1u);
                return call.views[0].copy_from(between);
            }
            case CallKind::FromArray: return call.views[0].write_async(arrays_[call.array]);
            case CallKind::ToArray: return call.views[0].read_async(arrays_[call.array], *call.on);
            case CallKind::ChangeArray:
                return host_call([words = arrays_[call.array].data(), a = call.a] {
                    for (std::size_t i = 0; i < array_size; ++i) words[i] = words[i] * 5u + a;
                });
            default: return host_call([this] { ++host_calls_; });
        }
    }
    /// Applies the call to the model. `value` is the value that a step uses.
    void model(const Call& call, std::optional<unsigned> only, std::uint32_t value) {
        if (call.kind == CallKind::HostCall) {
            ++expected_host_calls_;
            return;
        }
        Words& array = array_models_[call.array];
        if (call.kind == CallKind::ChangeArray) {
            for (std::uint32_t& word : array) word = word * 5u + call.a;
            return;
        }
        if (call.kind == CallKind::ToArray) {
            std::copy_n(words(call.parts[0], *call.on), array_size, array.begin());
            return;
        }
        const std::vector<unsigned> queues = queues_of(call, only);
        const std::size_t count = call.parts[0].count;
        // Reads the sources first: source and destination may be parts of one buffer.
        std::vector<Words> sources;
        if (call.kind == CallKind::Copy || call.kind == CallKind::ThroughTemporary) {
            for (const unsigned q : queues) sources.push_back(taken_by(q, call.parts[1]));
        }
        for (std::size_t k = 0; k < queues.size(); ++k) {
            const unsigned q = queues[k];
            std::uint32_t* to = words(call.parts[0], q);
            const std::uint32_t* x =
                call.is_launch() && call.parts.size() > 1 ? words(call.parts[1], q) : nullptr;
            const std::uint32_t* y = call.kind == CallKind::Mix ? words(call.parts[2], q) : nullptr;
            for (std::size_t i = 0; i < count; ++i) {
                switch (call.kind) {
                    case CallKind::Mad: to[i] = mad(to[i], x[i], call.a, call.repeats); break;
                    case CallKind::Mix: to[i] ^= x[i] + y[i] * call.a; break;
                    case CallKind::Step: to[i] = to[i] * 3u + value; break;
                    case CallKind::Fill: to[i] = call.a; break;
                    case CallKind::Copy: to[i] = sources[k][i]; break;
                    case CallKind::FromArray: to[i] = array[i]; break;
                    default: to[i] = mad(sources[k][i], sources[k][i], 3u, 1u); break;
                }
            }
        }
    }

    // ---- operations ----

    void call_at_once() {
        Call call = some_call();
        model(call, {}, call.a);
        last_ = issue(call);
    }
    void write() {
        const Part to = part(some_count());
        Words data(to.count);
        for (std::uint32_t& word : data) word = number();
        for (auto& [replica, words] : subjects_[to.subject].model)
            std::copy(data.begin(), data.end(), words.begin() + static_cast<std::ptrdiff_t>(to.offset));
        view(to).write(data);
    }
    void read() {
        const Part from = part(some_count());
        for (const auto& [replica, words] : subject_of(from).model) {
            if (view(from).read(replica) != taken_by(replica, from))
                ADD_FAILURE() << "a read of queue " << replica << " is wrong";
        }
    }
    /// Makes a queue wait for the last submitted work.
    void follow() { context_.queue(some_queue()).depends_on(last_); }

    void record_graph() {
        KeptGraph kept;
        const int length = pick(1, 8);
        for (int i = 0; i < length; ++i) kept.calls.push_back(some_call());
        kept.graph = record([&] {
            for (Call& call : kept.calls) issue(call);
        });
        if (graphs_.size() < 4) {
            graphs_.push_back(std::move(kept));
        } else {
            graphs_[static_cast<std::size_t>(pick(0, 3))] = std::move(kept);  // the old one may still run
        }
        submit();
    }
    /// Returns whether all calls of a graph can run on queue q.
    [[nodiscard]] bool runs_on(const KeptGraph& kept, unsigned q) const {
        return std::all_of(kept.calls.begin(), kept.calls.end(),
                           [&](const Call& call) { return call.is_hosts() || !queues_of(call, q).empty(); });
    }
    /// Returns whether the result does not depend on the queue that a graph is submitted to.
    [[nodiscard]] bool runs_anywhere(const KeptGraph& kept) const {
        return first_.size() == 1 && std::all_of(kept.calls.begin(), kept.calls.end(), [&](const Call& call) {
                   return std::all_of(call.parts.begin(), call.parts.end(),
                                      [&](const Part& one) { return subject_of(one).per_device; });
               });
    }
    void submit() {
        if (graphs_.empty()) return;
        KeptGraph& kept = graphs_[static_cast<std::size_t>(pick(0, static_cast<int>(graphs_.size()) - 1))];
        SubmitOptions options;
        options.instances = static_cast<std::uint32_t>(pick(1, 4));
        Words values(options.instances);
        for (std::uint32_t& value : values) value = number();
        const auto is_step = [](const Call& call) { return call.kind == CallKind::Step; };
        if (std::any_of(kept.calls.begin(), kept.calls.end(), is_step)) kept.graph.bind("a", values);

        std::vector<std::optional<unsigned>> queue_of(options.instances);
        // On one queue, host calls follow only the work of that queue, not other uses of the same array.
        const bool changes = std::any_of(kept.calls.begin(), kept.calls.end(),
                                         [](const Call& call) { return call.kind == CallKind::ChangeArray; });
        bool everywhere = true;
        for (unsigned q = 0; q < queues_; ++q) everywhere = everywhere && runs_on(kept, q);
        const unsigned one = some_queue();
        switch (changes ? 3 : pick(0, 4)) {
            case 0:
                if (!runs_on(kept, one)) break;
                options.queue = context_.queue(one);
                std::fill(queue_of.begin(), queue_of.end(), one);
                break;
            case 1:
                if (!everywhere) break;
                options.spread = true;
                for (std::uint32_t i = 0, q = 0; i < options.instances; ++i) {
                    while (i >= options.instances * (q + 1) / queues_) ++q;
                    queue_of[i] = q;
                }
                break;
            case 2:
                if (!runs_anywhere(kept)) break;
                options.any = true;
                std::fill(queue_of.begin(), queue_of.end(), 0);
                break;
            default: break;
        }
        last_ = kept.graph.submit(options);
        for (std::uint32_t i = 0; i < options.instances; ++i) {
            for (const Call& call : kept.calls) model(call, queue_of[i], values[i]);
        }
    }
    /// Replaces one part of a graph by another.
    void rebind() {
        if (graphs_.empty()) return;
        KeptGraph& kept = graphs_[static_cast<std::size_t>(pick(0, static_cast<int>(graphs_.size()) - 1))];
        Call& call = kept.calls[static_cast<std::size_t>(pick(0, static_cast<int>(kept.calls.size()) - 1))];
        if (call.parts.empty()) return;
        Call changed = call;
        const auto i = static_cast<std::size_t>(pick(0, static_cast<int>(call.parts.size()) - 1));
        changed.parts[i] = part(call.parts[i].count);
        if (!is_legal(changed) || queues_of(changed, {}).empty()) return;
        changed.views[i] = view(changed.parts[i]);
        kept.graph.rebind(call.views[i], changed.views[i]);
        call = std::move(changed);
        submit();
    }

    std::mt19937 random_;
    Context context_;
    int longest_;
    unsigned queues_ = 0;
    std::vector<std::string> device_;  // by queue
    std::vector<unsigned> first_;      // the first queue of each device
    std::vector<Subject> subjects_;
    static constexpr std::size_t array_size = 32;
    std::vector<HostArray<std::uint32_t>> arrays_;
    std::vector<Words> array_models_;
    std::vector<KeptGraph> graphs_;
    Event last_;
    std::atomic<int> host_calls_ = 0;
    int expected_host_calls_ = 0;
    decltype(make_mad()) mad_ = make_mad();
    decltype(make_mix()) mix_ = make_mix();
    decltype(make_step()) step_ = make_step();
};

void race(const Context& context, int how_many, int longest) {
    const std::uint32_t seed = async_seed();
    for (int i = 0; i < how_many && !::testing::Test::HasFailure(); ++i) {
        SCOPED_TRACE("VOLLEY_TEST_SEED=" + std::to_string(seed + static_cast<std::uint32_t>(i)));
        Race(seed + static_cast<std::uint32_t>(i), context, longest).run();
    }
}

VOLLEY_BACKEND_TEST(Async, RandomWorkMatchesAHostReplay) {
    race(current_context(), race_count, device().backend == "reference" ? 300 : 40'000);
}

TEST(AsyncDevices, RandomWorkOnSeveralDevicesMatchesAHostReplay) {
    std::vector<std::string> names;
    for (const DeviceInfo& device : devices()) {
        if (device.backend != "null" && (device.backend != "reference" || names.empty()))
            names.push_back(device.id());
    }
    if (names.size() < 2) GTEST_SKIP() << "this machine has only one device";
    const Context context = make_context({.devices = names, .queues_per_device = 2});
    const auto use = context.use();
    race(context, race_count / 2, 20'000);
}

VOLLEY_BACKEND_TEST(Async, ReadsRaceSlowKernels) {
    constexpr std::size_t half_size = 16'000;  // too large to run within the call
    const std::uint32_t turns = device().backend == "reference" ? 2 : 600;
    const auto expected = [turns](std::size_t i) {
        return mad(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i), 5u, turns);
    };
    Buffer<std::uint32_t> data = as_buffer(testing::counting<std::uint32_t>(2 * half_size));
    const Buffer<std::uint32_t> x = as_buffer(testing::counting<std::uint32_t>(half_size));
    const auto slow_mad = make_mad();
    const Buffer<std::uint32_t> first = data.view(0, half_size), second = data.view(half_size, half_size);
    for (int round = 0; round < 3; ++round) {
        data.write(testing::counting<std::uint32_t>(2 * half_size));
        wait();
        slow_mad(first, x, 5u, turns);
        const Words untouched = second.read(0);
        EXPECT_EQ(untouched.front(), half_size);
        EXPECT_EQ(untouched.back(), 2 * half_size - 1);
        const Words worked_on = first.read(0);
        for (const std::size_t i : {std::size_t{0}, half_size / 3, half_size - 1})
            EXPECT_EQ(worked_on[i], expected(i)) << "element " << i;
        const Words both = data.read(1);
        EXPECT_EQ(both[half_size - 1], expected(half_size - 1)) << "the other replica, across the border";
        EXPECT_EQ(both[half_size], half_size);
    }
}

}  // namespace
}  // namespace volley
