// Random graphs of launches, copies and fills, given as batches, against the same commands done one by one in
// the host's memory.
#include "backends/batch_support.hpp"
#include "backends/rect_support.hpp"
#include "backends/subjects.hpp"
#include "support/sanitized.hpp"

#include <array>
#include <deque>
#include <functional>
#include <string_view>

namespace volley::testing {
namespace {

using backends::Batch;
using backends::RectMove;

/// to[i] = to[i] * factor + a[i] - i
ir::Function combine_kernel() {
    ir::Function fn;
    fn.name = "combine";
    ir::Builder b(fn);
    const ir::NodeId to = b.buffer(ScalarType::I32, "to");
    const ir::NodeId a = b.buffer(ScalarType::I32, "a", true);
    const ir::NodeId factor = b.param(ScalarType::I32, "factor");
    const ir::NodeId i = b.extract(b.emit(ir::Op::GlobalId, {}), 0);
    const ir::NodeId scaled = b.emit(ir::Op::Mul, {b.load(to, std::span(&i, 1)), factor});
    const ir::NodeId sum = b.emit(ir::Op::Add, {scaled, b.load(a, std::span(&i, 1))});
    b.store(to, b.emit(ir::Op::Sub, {sum, b.convert(i, ScalarType::I32)}), std::span(&i, 1));
    return fn;
}

/// A batch, and what it means.
class RandomBatch {
public:
    static constexpr std::size_t blocks = 6;
    static constexpr std::uint32_t dynamic_values = 4;

    RandomBatch(Random& random, backends::Device& device, backends::Queue& queue, std::uint32_t elements)
        : random_(random), elements_(elements), combine_(device.compile(combine_kernel())) {
        for (std::size_t b = 0; b < blocks; ++b) {
            memories_[b] = device.allocate(elements * sizeof(int));
            model_[b] = random_bytes(random, elements * sizeof(int));
            write_at(queue, *memories_[b], 0, model_[b]);
        }
        const std::uint64_t commands = 1 + random.below(random.pick<std::uint64_t>({3, 20, 80}));
        PlanMaker maker;
        for (std::uint64_t k = 0; k < commands; ++k) add_command(maker);
        batch_ = queue.prepare(maker.finish(16 * dynamic_values));
    }

    void submit(backends::Queue& queue, std::uint32_t instances) {
        std::vector<int> values(std::size_t{4} * dynamic_values * instances);
        for (int& value : values) value = static_cast<int>(random_.between(-9, 9));
        queue.submit(*batch_, instances, bytes_of(values));
        for (std::uint32_t i = 0; i < instances; ++i) {
            const int* own = values.data() + std::size_t{4} * dynamic_values * i;
            for (const auto& step : steps_) step(own);
        }
    }

    void check(backends::Queue& queue) {
        for (std::size_t b = 0; b < blocks; ++b) {
            Bytes back(model_[b].size());
            queue.timeline().wait(read_at(queue, *memories_[b], 0, back));
            ASSERT_TRUE(back == model_[b]) << "block " << b << " of " << elements_ << " elements";
        }
    }

private:
    void add_command(PlanMaker& maker) {
        const std::size_t to = random_.below(blocks);
        const std::size_t from = (to + 1 + random_.below(blocks - 1)) % blocks;
        const std::vector<int> reads = {static_cast<int>(from)};
        const std::vector<int> writes = {static_cast<int>(to)};
        switch (random_.below(4)) {
            case 0: {
                const Rect rect = some_rect();
                const RectMove move{rect, some_place(rect), some_place(rect)};
                maker.add(copy_command(*memories_[to], *memories_[from], move), reads, writes);
                steps_.push_back([this, to, from, move](const int*) {
                    copy_on_host(model_[to].data(), move.to, model_[from].data(), move.from, move.rect);
                });
                break;
            }
            case 1: {
                const Rect rect = some_rect();
                const RectPlace at = some_place(rect);
                const Bytes pattern = random_bytes(random_, rect.row % 4 == 0 ? 4 : 1);
                maker.add(fill_command(*memories_[to], rect, at, pattern), {}, writes);
                steps_.push_back([this, to, rect, at, pattern](const int*) {
                    fill_on_host(model_[to].data(), at, rect, pattern);
                });
                break;
            }
            default: add_launch(maker, to, from);
        }
    }

    void add_launch(PlanMaker& maker, std::size_t to, std::size_t from) {
        const bool dynamic = random_.chance(50);
        const auto place = static_cast<std::uint32_t>(random_.below(dynamic_values));
        const int& fixed = factors_.emplace_back(static_cast<int>(random_.between(-9, 9)));
        const auto count = static_cast<std::uint32_t>(1 + random_.below(elements_));
        maker.add(
            launch_command(*combine_, count,
                           {buffer_argument(*memories_[to], count), buffer_argument(*memories_[from], count),
                            dynamic ? dynamic_argument(16 * place) : value_argument(fixed)}),
            {static_cast<int>(to), static_cast<int>(from)}, {static_cast<int>(to)});
        steps_.push_back([this, to, from, count, dynamic, place, fixed](const int* values) {
            auto* result = reinterpret_cast<unsigned*>(model_[to].data());
            const auto* a = reinterpret_cast<const unsigned*>(model_[from].data());
            const auto factor = static_cast<unsigned>(dynamic ? values[4 * place] : fixed);
            for (std::uint32_t i = 0; i < count; ++i) result[i] = result[i] * factor + a[i] - i;
        });
    }

    Rect some_rect() { return random_rect(random_, elements_ * sizeof(int) / 2); }
    /// Inside of a block.
    RectPlace some_place(const Rect& rect) {
        const RectPlace place = random_place(random_, rect);
        return end_of(place, rect) <= elements_ * sizeof(int) ? place : backends::dense(rect);
    }

    Random& random_;
    std::uint32_t elements_;
    std::unique_ptr<backends::Program> combine_;
    std::array<std::unique_ptr<backends::Memory>, blocks> memories_;
    std::array<Bytes, blocks> model_;
    std::deque<int> factors_;  // where they are until the batch is made
    std::vector<std::function<void(const int*)>> steps_;
    std::unique_ptr<Batch> batch_;
};

class BatchRandomTest : public SubjectTest {
protected:
    /// Few on a device whose commands take long.
    static int batches() {
        if (std::string_view(GetParam().label) == "reference") return 5;
        return GetParam().on_host ? unless_sanitized(200, 30) : unless_sanitized(15, 5);
    }
};
VOLLEY_EVERY_SUBJECT_SUITE(BatchRandomTest);

TEST_P(BatchRandomTest, DoWhatTheirCommandsDoOneByOne) {
    const bool slow = std::string_view(GetParam().label) == "reference";
    for (int k = 0; k < batches(); ++k) {
        const std::uint64_t seed = seed_or(static_cast<std::uint64_t>(k) + 1);
        SCOPED_TRACE("VOLLEY_SEED=" + std::to_string(seed));
        Random random(seed);
        const auto elements = random.pick<std::uint32_t>({1, 60, 1000, slow ? 1500u : 40'000u});
        RandomBatch batch(random, *device, *queue, elements);
        for (int round = 0; round < 3; ++round)
            batch.submit(*queue, static_cast<std::uint32_t>(1 + random.below(4)));
        batch.check(*queue);
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace volley::testing
