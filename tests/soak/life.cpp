#include "soak/life.hpp"

#include "soak/faults.hpp"
#include "support/random.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace volley::soak {
namespace {

using testing::Random;
using namespace std::chrono_literals;

/// Thrown by callbacks on purpose.
struct Oops : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return "thrown on purpose"; }
};

/// A buffer and what each of its replicas must hold.
struct Tracked {
    Buffer<u32> buffer;
    std::vector<Numbers> replicas;
};

class Life {
public:
    Life(std::uint64_t seed, const LifeOptions& options, const Kernels& kernels, Tally& tally)
        : random_(seed), options_(options), kernels_(kernels), tally_(tally) {}

    void run() {
        try {
            open();
            const ContextScope scope = context_->use();
            for (unsigned k = 0; k < 3; ++k) make_array();
            for (unsigned k = 0; k < options_.actions; ++k) act();
            if (random_.chance(70)) {
                check_all();
            } else {
                note("drop with work pending");
            }
            drop_some();
        } catch (const std::exception& error) {
            throw std::runtime_error(report(error.what()));
        }
        ++tally_.lives;
    }

private:
    // ---- what happened, for the report of a failure ----

    void note(std::string what) {
        if (notes_.size() == 40) notes_.erase(notes_.begin());
        notes_.push_back(std::move(what));
    }
    [[nodiscard]] std::string report(std::string_view error) const {
        std::ostringstream text;
        text << error << "\n  devices:";
        for (const std::string& name : names_) text << ' ' << name;
        text << "\n  queues per device: " << queues_per_device_
             << (shared_ ? ", one replica per device" : "");
        for (const std::string& line : notes_) text << "\n  " << line;
        return text.str();
    }
    template <class... Part>
    [[nodiscard]] static std::string words(const Part&... part) {
        std::ostringstream text;
        ((text << part << ' '), ...);
        return text.str();
    }

    // ---- the context ----

    void open() {
        const std::size_t count = 1 + random_.below(std::min<std::size_t>(3, options_.devices.size()));
        std::vector<std::string> all = options_.devices;
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t chosen = random_.below(all.size());
            names_.push_back(all[chosen]);
            all.erase(all.begin() + static_cast<std::ptrdiff_t>(chosen));
        }
        queues_per_device_ = static_cast<unsigned>(random_.between(1, 3));
        shared_ = random_.chance(40);
        ContextOptions context{.devices = names_, .queues_per_device = queues_per_device_};
        context.cpu_width = random_.pick({0u, 0u, 1u, 4u, 8u, 16u});
        context.cpu_threads = random_.pick({0u, 0u, 1u, 2u, 3u});
        context.memory_limit = memory_limit;
        if (random_.chance(30)) context.cache_bytes = random_.below(1 << 20);
        context.timestamps = random_.chance(20);
        if (options_.faults && random_.chance(20) && can_fail(FaultKind::Thread)) {
            note("make_context with a thread fault");
            const Fault fault(FaultKind::Thread, static_cast<unsigned>(random_.between(1, 4)));
            try {
                context_ = make_context(context);
            } catch (const Error&) {
                ++tally_.failures;
            }
        }
        if (!context_) context_ = make_context(context);
        if (options_.faults) tap_drivers(*context_);
        queues_ = context_->queue_count();
    }

    /// Whether the library must survive such a failure: drivers abort if they get no thread.
    [[nodiscard]] bool can_fail(FaultKind kind) const {
        const auto has_driver = [](const std::string& name) {
            return name.starts_with("vulkan") || name.starts_with("opencl");
        };
        return can_inject(kind) &&
               (kind != FaultKind::Thread || std::none_of(names_.begin(), names_.end(), has_driver));
    }

    /// The replica that a queue uses.
    [[nodiscard]] std::size_t replica_of(unsigned queue) const {
        return shared_ ? queue / queues_per_device_ : queue;
    }
    [[nodiscard]] unsigned any_queue() { return static_cast<unsigned>(random_.below(queues_)); }
    /// A queue, or none for all.
    [[nodiscard]] std::optional<unsigned> some_queue() {
        if (random_.chance(50)) return std::nullopt;
        return any_queue();
    }
    static std::optional<QueueRef> ref(const std::optional<unsigned>& queue) {
        return queue ? std::optional<QueueRef>(*queue) : std::nullopt;
    }
    template <class F>
    void each_replica(const std::optional<unsigned>& queue, F&& f) const {
        if (queue) return f(replica_of(*queue));
        const std::size_t count = shared_ ? queues_ / queues_per_device_ : queues_;
        for (std::size_t r = 0; r < count; ++r) f(r);
    }

    // ---- arrays ----

    [[nodiscard]] Numbers numbers(std::size_t count) {
        Numbers all(count);
        for (u32& v : all) v = static_cast<u32>(random_.bits());
        return all;
    }
    void make_array() {
        static constexpr std::size_t sizes[] = {1, 2, 63, 64, 65, 1000, 4096, 20'000};
        const std::size_t size = sizes[random_.below(std::size(sizes))];
        note(words("make an array of", size));
        Tracked array;
        array.buffer =
            Buffer<u32>(size, {.placement = shared_ ? Placement::per_device : Placement::replicated});
        array.replicas.resize(array.buffer.replica_count());
        overwrite(array);
        arrays_.push_back(std::move(array));
    }
    void overwrite(Tracked& array) {
        const Numbers data = numbers(array.buffer.size());
        array.buffer.write(data);
        for (Numbers& replica : array.replicas) replica = data;
    }
    [[nodiscard]] Tracked& any_array() { return arrays_[random_.below(arrays_.size())]; }

    void expect(const Numbers& got, const Numbers& want, std::string_view what) {
        ++tally_.checks;
        if (got == want) return;
        const auto at = std::mismatch(want.begin(), want.end(), got.begin(), got.end()).first - want.begin();
        const auto i = static_cast<std::size_t>(at);
        throw std::runtime_error(words("wrong result of", what, "at element", i, "of", want.size(), ": got",
                                       i < got.size() ? got[i] : 0u, "not", want[i]));
    }
    void check(const Tracked& array, unsigned queue) {
        note(words("read on queue", queue));
        expect(array.buffer.read(queue), array.replicas[replica_of(queue)], "read()");
    }
    void check_all() {
        for (const Tracked& array : arrays_) {
            for (unsigned q = 0; q < queues_; ++q) check(array, q);
        }
    }

    // ---- commands: each submits or records one, and returns its effect on a replica ----

    using Effect = std::function<void(std::size_t replica)>;

    Effect axpy(Tracked& y, Tracked& x, const std::optional<unsigned>& queue, u32 a) {
        note(words("axpy", &y - arrays_.data(), &x - arrays_.data(), "on", queue ? int(*queue) : -1));
        const auto size = static_cast<u32>(x.buffer.size());
        if (queue) {
            kernels_.axpy.on(volley::queue(*queue))(y.buffer, x.buffer, size, a);
        } else {
            kernels_.axpy(y.buffer, x.buffer, size, a);
        }
        return [&y, &x, a](std::size_t r) { soak::axpy(y.replicas[r], x.replicas[r], a); };
    }
    Effect random_command(const std::optional<unsigned>& queue) {
        Tracked& y = any_array();
        Tracked& x = any_array();
        const auto on = [&](const auto& kernel) {
            return queue ? kernel.on(volley::queue(*queue)) : kernel.over(y.buffer.size());
        };
        const auto index = &y - arrays_.data();
        switch (random_.below(8)) {
            case 0: {
                if (&x == &y || y.buffer.size() < group) break;
                note(words("reverse", index));
                auto launch = kernels_.reverse.groups(y.buffer.size() / group);
                if (queue) launch = launch.on(volley::queue(*queue));
                launch(y.buffer);
                return [&y](std::size_t r) { soak::reverse(y.replicas[r]); };
            }
            case 1: {
                if (&x == &y) break;
                note(words("gather", index));
                auto launch = kernels_.gather.over(x.buffer.size());
                if (queue) launch = launch.on(volley::queue(*queue));
                launch(y.buffer, x.buffer, static_cast<u32>(y.buffer.size()));
                return [&y, &x](std::size_t r) { soak::gather(y.replicas[r], x.replicas[r]); };
            }
            case 2: {
                // The reference interpreter takes microseconds for each step.
                const u32 rounds = static_cast<u32>(random_.below(1 + 50'000 / y.buffer.size()));
                note(words("churn", index, rounds));
                on(kernels_.churn)(y.buffer, rounds);
                return [&y, rounds](std::size_t r) { soak::churn(y.replicas[r], rounds); };
            }
            case 3: {
                const u32 value = static_cast<u32>(random_.bits());
                note(words("fill", index));
                y.buffer.fill(value, ref(queue));
                return [&y, value](std::size_t r) {
                    std::fill(y.replicas[r].begin(), y.replicas[r].end(), value);
                };
            }
            case 4: {
                const std::size_t count = 1 + random_.below(std::min(x.buffer.size(), y.buffer.size()));
                const std::size_t to = random_.below(y.buffer.size() - count + 1);
                const std::size_t from = random_.below(x.buffer.size() - count + 1);
                if (&x == &y && (to < from ? to + count > from : from + count > to)) break;
                note(words("copy", count, "to", index, "from", &x - arrays_.data()));
                y.buffer.view(to, count).copy_from(x.buffer.view(from, count), ref(queue));
                return [&y, &x, to, from, count](std::size_t r) {
                    std::copy_n(x.replicas[r].begin() + static_cast<std::ptrdiff_t>(from), count,
                                y.replicas[r].begin() + static_cast<std::ptrdiff_t>(to));
                };
            }
            default: break;
        }
        return axpy(y, x, queue, static_cast<u32>(random_.below(100)));
    }

    // ---- actions ----

    void act() {
        ++tally_.actions;
        switch (random_.below(24)) {
            case 0: return write();
            case 1: return write_part();
            case 2:
            case 3: return check(any_array(), any_queue());
            case 4: return graph();
            case 5: return host_array();
            case 6: return callback();
            case 7: return host_function();
            case 8: return wait_somehow();
            case 9: return signal();
            case 10: return replace_array();
            case 11: return new_kernel();
            case 12: return refusal();
            case 13: return options_.faults ? fault() : void();
            case 14: return options_.faults ? throwing_function() : void();
            case 15: return query();
            default: {
                const std::optional<unsigned> queue = some_queue();
                each_replica(queue, random_command(queue));
            }
        }
    }

    void write() {
        note("write");
        Tracked& array = any_array();
        const std::optional<unsigned> queue = some_queue();
        Numbers data = numbers(array.buffer.size());
        each_replica(queue, [&](std::size_t r) { array.replicas[r] = data; });
        if (random_.chance(50)) {
            array.buffer.write(data, ref(queue));
        } else {
            array.buffer.write_async(std::move(data), ref(queue));
        }
    }

    void write_part() {
        Tracked& array = any_array();
        const std::size_t count = 1 + random_.below(array.buffer.size());
        const std::size_t at = random_.below(array.buffer.size() - count + 1);
        note(words("write", count, "at", at));
        const std::optional<unsigned> queue = some_queue();
        const Numbers data = numbers(count);
        array.buffer.view(at, count).write(data, ref(queue));
        each_replica(queue, [&](std::size_t r) {
            std::copy(data.begin(), data.end(), array.replicas[r].begin() + static_cast<std::ptrdiff_t>(at));
        });
    }

    void graph() {
        note("graph {");
        std::vector<Effect> effects;
        Tracked& y = any_array();
        Tracked& x = any_array();
        const std::optional<unsigned> queue = some_queue();
        CommandGraph g = record([&] {
            const std::size_t count = 1 + random_.below(6);
            for (std::size_t k = 0; k < count; ++k) effects.push_back(random_command(queue));
            const auto size = static_cast<u32>(x.buffer.size());
            if (queue) {
                kernels_.axpy.on(volley::queue(*queue))(y.buffer, x.buffer, size, dyn<u32>("a"));
            } else {
                kernels_.axpy(y.buffer, x.buffer, size, dyn<u32>("a"));
            }
        });
        note("}");
        for (unsigned times = 1 + static_cast<unsigned>(random_.below(3)); times-- > 0;) {
            const auto instances = static_cast<std::uint32_t>(random_.below(5));
            const Numbers values = numbers(instances);
            g.bind("a", values);
            g.submit({.instances = instances});
            each_replica(queue, [&](std::size_t r) {
                for (const u32 a : values) {
                    for (const Effect& effect : effects) effect(r);
                    soak::axpy(y.replicas[r], x.replicas[r], a);
                }
            });
        }
        if (random_.chance(30)) kept_.push_back(std::move(g));
        if (kept_.size() > 4) kept_.erase(kept_.begin());
    }

    void host_array() {
        note("host array");
        Tracked& array = any_array();
        const unsigned queue = any_queue();
        HostArray<u32> host = array.buffer.empty_like();
        if (random_.chance(50)) {
            const Numbers data = numbers(array.buffer.size());
            std::copy(data.begin(), data.end(), host.data());
            array.buffer.write_async(host, queue);
            array.replicas[replica_of(queue)] = data;
        } else {
            array.buffer.read_async(host, queue).wait();
            expect(Numbers(host.data(), host.data() + host.size()), array.replicas[replica_of(queue)],
                   "read_async()");
        }
    }

    void callback() {
        note("then");
        const std::optional<unsigned> queue = some_queue();
        const auto called = std::make_shared<std::atomic<int>>(0);
        Tracked& array = any_array();
        const Event event = array.buffer.fill(7, ref(queue)).then([called] { called->fetch_add(1); });
        each_replica(queue, [&](std::size_t r) { array.replicas[r].assign(array.buffer.size(), 7); });
        if (random_.chance(50)) return;  // nothing waits for it
        event.wait();
        if (*called != 1) throw std::runtime_error("a then() function had not been called");
    }

    void host_function() {
        note("host_call");
        // The function writes memory that a later command reads.
        Tracked& array = any_array();
        const unsigned queue = any_queue();
        const auto data = std::make_shared<Numbers>(array.buffer.size());
        host_call([data] { std::fill(data->begin(), data->end(), 5u); }, volley::queue(queue)).wait();
        array.buffer.write(*data, queue);
        array.replicas[replica_of(queue)] = *data;
    }

    void wait_somehow() {
        note("wait");
        switch (random_.below(4)) {
            case 0: return context_->wait();
            case 1: return volley::queue(any_queue()).wait();
            case 2: {
                const Event event = any_array().buffer.zero();
                (void)event.wait_for(std::chrono::microseconds(random_.below(300)));
                (void)event.to_string();
                event.wait();
                break;
            }
            default: return context_->trim();
        }
        resynchronise();
    }

    void signal() {
        note("signal");
        Signal raised;
        const unsigned queue = any_queue();
        volley::queue(queue).depends_on(raised.event());
        each_replica(queue, axpy(any_array(), any_array(), queue, 3));
        if (random_.chance(40)) {
            threads_.emplace_back([raised]() mutable { raised.raise(); });
        } else if (random_.chance(80)) {
            raised.raise();
        } else {
            // The queue continues, and a wait reports an error.
            raised = Signal();
            recover();
        }
        if (threads_.size() > 3) threads_.erase(threads_.begin());
    }

    void replace_array() {
        note("replace an array");
        kept_.clear();
        const std::size_t k = random_.below(arrays_.size());
        if (random_.chance(30)) arrays_[k].buffer.destroy();
        arrays_.erase(arrays_.begin() + static_cast<std::ptrdiff_t>(k));
        make_array();
    }

    void new_kernel() {
        // OpenCL and Vulkan drivers take a tenth of a second to compile.
        const bool slow = std::any_of(names_.begin(), names_.end(), [](const std::string& name) {
            return name.starts_with("opencl") || name.starts_with("vulkan");
        });
        if (slow && random_.chance(90)) return;
        note("new kernel");
        const u32 key = static_cast<u32>(random_.bits());
        Tracked& array = any_array();
        make_mix(key)(array.buffer);
        each_replica(std::nullopt, [&](std::size_t r) { soak::mix(array.replicas[r], key); });
    }

    template <class F>
    void expect_error(F&& f, std::string_view what) {
        try {
            f();
        } catch (const Error& error) {
            if (std::string_view(error.what()).empty()) throw std::runtime_error("an error without text");
            return;
        }
        throw std::runtime_error(words("no error from", what));
    }

    /// Calls that must be refused and change nothing.
    void refusal() {
        note("refusal");
        Tracked& array = any_array();
        switch (random_.below(5)) {
            case 0:
                return expect_error([&] { array.buffer.write(Numbers(array.buffer.size() + 1)); },
                                    "a long write");
            case 1:
                return expect_error([&] { kernels_.churn.over(-1)(array.buffer, 1u); }, "a negative size");
            case 2: return expect_error([&] { (void)array.buffer.read(queues_); }, "a missing queue");
            case 3: return expect_error([] { (void)Buffer<u32>(10).read(0); }, "reading an unwritten buffer");
            default:
                return expect_error(
                    [&] {
                        Buffer<u32> large(memory_limit / 4 + 1);
                        large.fill(1);
                    },
                    "an allocation beyond the limit");
        }
    }

    /// A failure of an allocation, a thread or a driver in the middle of a command. Whatever was reported,
    /// the context stays usable once the arrays are written again.
    void fault() {
        const FaultKind kind = random_.pick({FaultKind::Allocation, FaultKind::Thread, FaultKind::Driver});
        if (!can_fail(kind)) return;
        const auto n = static_cast<unsigned>(random_.between(1, 12));
        note(words("fault:", to_string(kind), n, "{"));
        bool refused = false;
        try {
            const Fault fault(kind, n);
            const std::optional<unsigned> queue = some_queue();
            for (unsigned k = 0; k < 3; ++k) (void)random_command(queue);
            Buffer<u32> fresh(3000);
            fresh.fill(3);
            host_call([] {});
        } catch (const Error&) {
            refused = true;
        } catch (const std::bad_alloc&) {
            refused = true;
        }
        note(words("}", refused ? "refused" : "no effect"));
        tally_.failures += refused ? 1u : 0u;
        recover();
    }

    void throwing_function() {
        note("a function that throws");
        bool thrown = false;
        try {
            if (random_.chance(50)) {
                host_call([] { throw Oops(); });
                context_->wait();
            } else {
                any_array().buffer.zero().then([] { throw Oops(); }).wait();
            }
        } catch (const Oops&) {
            thrown = true;
        }
        if (!thrown) throw std::runtime_error("the exception of a callback was lost");
        ++tally_.failures;
        recover();
    }

    void query() {
        note("query");
        (void)context_->memory_stats();
        (void)context_->statistics();
        (void)any_array().buffer.name();
        (void)any_array().buffer.is_allocated(any_queue());
        for (const CommandGraph& g : kept_) (void)g.to_string();
    }

    /// Collects errors that are still stored, and writes all arrays again.
    void recover() {
        for (unsigned k = 0; k < 2 * queues_ + 2; ++k) {
            try {
                context_->wait();
                break;
            } catch (const Error&) {
            } catch (const Oops&) {
            } catch (const std::bad_alloc&) {
            }
        }
        resynchronise();
    }
    void resynchronise() {
        for (Tracked& array : arrays_) overwrite(array);
    }

    void drop_some() {
        // Handles may outlive their context, and buffers their kernels and graphs.
        if (random_.chance(50)) arrays_.clear();
        if (random_.chance(50)) kept_.clear();
    }

    static constexpr std::uint64_t memory_limit = 64 << 20;

    Random random_;
    const LifeOptions& options_;
    const Kernels& kernels_;
    Tally& tally_;
    std::vector<std::string> names_;
    unsigned queues_per_device_ = 1;
    unsigned queues_ = 1;
    bool shared_ = false;
    std::vector<std::string> notes_;
    std::vector<CommandGraph> kept_;
    std::vector<Tracked> arrays_;
    std::optional<Context> context_;
    std::vector<std::jthread> threads_;
};

}  // namespace

void live(std::uint64_t seed, const LifeOptions& options, const Kernels& kernels, Tally& tally) {
    Life(seed, options, kernels, tally).run();
}

}  // namespace volley::soak
