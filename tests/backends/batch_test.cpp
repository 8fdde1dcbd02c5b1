// Batches on every backend: order, values of instances, submissions that wait, errors, many threads.
#include "backends/batch_support.hpp"
#include "backends/subjects.hpp"
#include "support/sanitized.hpp"

#include <volley/print_sink.hpp>

#include <stdexcept>
#include <string_view>
#include <thread>

namespace volley::testing {
namespace {

using backends::Batch;
using backends::Point;
using backends::Rect;
using backends::RectPlace;

/// What a kernel that multiplies and adds makes of element i.
int multiplied(int element, int factor, std::size_t i) {
    return static_cast<int>(static_cast<unsigned>(element) * static_cast<unsigned>(factor) +
                            static_cast<unsigned>(i));
}

class BatchTest : public SubjectTest {
protected:
    /// Elements that are worth several threads, where a device has them.
    static std::uint32_t many() {
        if (std::string_view(GetParam().label) == "reference") return unless_sanitized(3000, 800);
        return unless_sanitized(200'000, 60'000);
    }
    /// Fewer where each takes long.
    static int rounds(int all) { return GetParam().on_host ? unless_sanitized(all, all / 4) : all / 10; }

    std::unique_ptr<backends::Memory> ints(std::size_t count, int value) {
        auto memory = device->allocate(count * sizeof(int));
        write_at(*queue, *memory, 0, bytes_of(std::vector<int>(count, value)));
        return memory;
    }
    Point submit(Batch& batch, const std::vector<int>& values = {}, std::uint32_t instances = 1) {
        return queue->submit(batch, instances, bytes_of(values));
    }
    /// data[i] = data[i] * factor + i with a factor of each instance's, the first of four numbers.
    std::unique_ptr<Batch> with_dynamic_factor(backends::Program& program, backends::Memory& memory,
                                               std::uint32_t count) {
        PlanMaker maker;
        maker.add_in_line(multiply_add_command(program, memory, count, dynamic_argument(0)));
        return queue->prepare(maker.finish(16));
    }
};
VOLLEY_EVERY_SUBJECT_SUITE(BatchTest);

TEST_P(BatchTest, RunsWhatFollowsInOrder) {
    const auto program = GetParam().multiply_add(*device);
    for (const std::uint32_t count : {1u, 100u, many()}) {
        const auto memory = ints(count, 1);
        std::vector<int> factors(count > 1000 ? 20 : 200);
        for (std::size_t k = 0; k < factors.size(); ++k) factors[k] = static_cast<int>(k % 7) - 3;
        PlanMaker maker;
        for (const int& factor : factors)
            maker.add_in_line(multiply_add_command(*program, *memory, count, value_argument(factor)));
        const auto batch = queue->prepare(maker.finish());
        std::vector<int> expected(count, 1);
        for (int round = 0; round < 3; ++round) {
            submit(*batch);
            for (const int factor : factors) {
                for (std::size_t i = 0; i < count; ++i) expected[i] = multiplied(expected[i], factor, i);
            }
        }
        EXPECT_EQ(read_back(*queue, *memory, count), expected) << count;
        wait();
    }
}

TEST_P(BatchTest, RunsBranchesAndWhatJoinsThem) {
    const auto program = GetParam().multiply_add(*device);
    constexpr int branches = 12;
    for (const std::uint32_t count : {10u, many() / 4}) {
        const auto joined = ints(count * branches, 0);
        std::vector<std::unique_ptr<backends::Memory>> memories;
        std::vector<int> factors(branches);
        PlanMaker maker;
        for (int b = 0; b < branches; ++b) {
            memories.push_back(ints(count, b));
            factors[static_cast<std::size_t>(b)] = b - 3;
        }
        for (int step = 0; step < 4; ++step) {
            for (int b = 0; b < branches; ++b) {
                const auto place = static_cast<std::size_t>(b);
                maker.add(
                    multiply_add_command(*program, *memories[place], count, value_argument(factors[place])),
                    {b}, {b});
            }
        }
        const std::uint64_t bytes = count * sizeof(int);
        for (int b = 0; b < branches; ++b) {
            const auto place = static_cast<std::uint64_t>(b);
            maker.add(copy_command(*joined, *memories[place], {{bytes, {1, 1}}, {place * bytes, {}}, {}}),
                      {b}, {branches + b});
        }
        std::vector<int> all(branches);
        std::iota(all.begin(), all.end(), branches);
        maker.add(multiply_add_command(*program, *joined, count * branches, value_argument(factors.back())),
                  all, all);
        const auto batch = queue->prepare(maker.finish());
        submit(*batch);
        const std::vector<int> result = read_back(*queue, *joined, count * branches);
        for (std::size_t b = 0; b < branches; ++b) {
            for (std::size_t i = 0; i < count; ++i) {
                int expected = static_cast<int>(b);
                for (int step = 0; step < 4; ++step) expected = multiplied(expected, factors[b], i);
                expected = multiplied(expected, factors.back(), b * count + i);
                ASSERT_EQ(result[b * count + i], expected) << "branch " << b << ", element " << i;
            }
        }
    }
}

TEST_P(BatchTest, CopiesAndFillsRows) {
    with_each_memory([&] {
        constexpr std::uint64_t width = 40, height = 30;
        const auto image = device->allocate(width * height * sizeof(int));
        const auto part = device->allocate(10 * 20 * sizeof(int));
        const std::vector<int> pattern = {7, 8};
        PlanMaker maker;
        maker.add(set_command(*image, width * height, 1), {}, {0});
        // Twenty rows of ten in the middle, taken out, and put into the corner.
        const Rect rect{10 * sizeof(int), {20, 1}};
        const RectPlace middle{(5 * width + 10) * sizeof(int), {width * sizeof(int), 0}};
        const RectPlace corner{0, {width * sizeof(int), 0}};
        maker.add(fill_command(*image, rect, middle, bytes_of(pattern)), {0}, {0});
        maker.add(copy_command(*part, *image, {rect, {0, {rect.row, 0}}, middle}), {0}, {1});
        maker.add(copy_command(*image, *part, {rect, corner, {0, {rect.row, 0}}}), {1}, {0});
        const auto batch = queue->prepare(maker.finish());
        submit(*batch);
        const std::vector<int> result = read_back(*queue, *image, width * height);
        for (std::size_t y = 0; y < height; ++y) {
            for (std::size_t x = 0; x < width; ++x) {
                const bool filled = (x >= 10 && x < 20 && y >= 5 && y < 25) || (x < 10 && y < 20);
                ASSERT_EQ(result[y * width + x], filled ? pattern[x % 2] : 1) << x << ", " << y;
            }
        }
    });
}

TEST_P(BatchTest, ForgetsItsPlan) {
    const auto memory = ints(100, 1);
    const auto program = GetParam().multiply_add(*device);
    std::unique_ptr<Batch> batch;
    {
        int factor = 3;
        PlanMaker maker;
        maker.add_in_line(set_command(*memory, 100, 2));
        maker.add_in_line(multiply_add_command(*program, *memory, 100, value_argument(factor)));
        batch = queue->prepare(maker.finish());
        factor = 100;
    }
    submit(*batch);
    EXPECT_EQ(read_back(*queue, *memory, 100)[99], 2 * 3 + 99);
}

TEST_P(BatchTest, GivesEachInstanceItsValues) {
    const auto program = GetParam().multiply_add(*device);
    for (const std::uint32_t count : {5u, many()}) {
        const auto memory = ints(count, 1);
        const auto batch = with_dynamic_factor(*program, *memory, count);
        std::vector<int> values;
        std::vector<int> expected(count, 1);
        const std::uint32_t instances = count > 1000 ? 10 : 300;
        for (std::uint32_t k = 0; k < instances; ++k) {
            const int factor = static_cast<int>(k) - 5;
            values.insert(values.end(), {factor, -1, -1, -1});
            for (std::size_t i = 0; i < count; ++i) expected[i] = multiplied(expected[i], factor, i);
        }
        submit(*batch, values, instances);
        EXPECT_EQ(read_back(*queue, *memory, count), expected) << count;
    }
}

TEST_P(BatchTest, TakesValuesFromTheirPlaces) {
    const auto program = GetParam().multiply_add(*device);
    const auto first = ints(10, 1);
    const auto second = ints(10, 1);
    PlanMaker maker;
    maker.add(multiply_add_command(*program, *first, 10, dynamic_argument(16)), {0}, {0});
    maker.add(multiply_add_command(*program, *second, 10, dynamic_argument(0)), {1}, {1});
    maker.add(multiply_add_command(*program, *second, 10, dynamic_argument(16)), {1}, {1});
    const auto batch = queue->prepare(maker.finish(32));
    submit(*batch, {2, 0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0}, 2);
    EXPECT_EQ(read_back(*queue, *first, 10)[0], 3 * 7);
    EXPECT_EQ(read_back(*queue, *second, 10)[0], 2 * 3 * 5 * 7);
}

TEST_P(BatchTest, KeepsTheValuesOfSubmissionsThatWait) {
    const auto program = GetParam().multiply_add(*device);
    for (const std::uint32_t count : {5u, many()}) {
        const auto memory = ints(count, 1);
        const auto batch = with_dynamic_factor(*program, *memory, count);
        Gate gate;
        queue->call([&] { gate.pass(); });
        std::vector<int> values(std::size_t{4} * 20);
        int expected = 1;
        for (int k = 1; k <= 10; ++k) {
            const auto instances = static_cast<std::uint32_t>(k % 3 == 0 ? 20 : 1);
            std::fill(values.begin(), values.end(), k);
            submit(*batch, {values.begin(), values.begin() + 4 * instances}, instances);
            std::fill(values.begin(), values.end(), -1);
            for (std::uint32_t i = 0; i < instances; ++i) expected = multiplied(expected, k, 3);
        }
        EXPECT_LT(queue->timeline().completed(), queue->last());
        gate.open();
        EXPECT_EQ(read_back(*queue, *memory, count)[3], expected) << count;
        wait();
    }
}

TEST_P(BatchTest, StaysInTheQueuesOrder) {
    const auto program = GetParam().multiply_add(*device);
    const std::uint32_t count = many();
    const auto memory = ints(count, 1);
    const auto batch = with_dynamic_factor(*program, *memory, count);
    unsigned expected = 1;
    for (int k = 0; k < 10; ++k) {
        launch_multiply_add(*queue, *program, *memory, 3, count);
        submit(*batch, {5, 0, 0, 0});
        fill_at(*queue, *memory, 0, 4, std::as_bytes(std::span(&k, 1)));
        submit(*batch, {7, 0, 0, 0, 9, 0, 0, 0}, 2);
        for (const unsigned factor : {3u, 5u, 7u, 9u}) expected = expected * factor + (count - 1);
    }
    const std::vector<int> result = read_back(*queue, *memory, count);
    EXPECT_EQ(result[0], 9 * 7 * 9);
    EXPECT_EQ(static_cast<unsigned>(result[count - 1]), expected);
}

TEST_P(BatchTest, IsNothingWithoutCommands) {
    const auto memory = ints(4, 1);
    const auto batch = queue->prepare({});
    const Point before = queue->last();
    EXPECT_EQ(submit(*batch), before);
    EXPECT_EQ(submit(*batch, {}, 10), before);
    wait();
}

TEST_P(BatchTest, IsNothingWithoutInstances) {
    const auto program = GetParam().multiply_add(*device);
    const auto memory = ints(4, 1);
    const auto batch = with_dynamic_factor(*program, *memory, 4);
    const Point before = queue->last();
    EXPECT_EQ(submit(*batch, {}, 0), before);
    EXPECT_EQ(read_back(*queue, *memory, 4)[3], 1);
}

/// Prints once.
ir::Function print_kernel() {
    ir::Function fn;
    fn.name = "print_word";
    ir::Builder b(fn);
    b.print("word", {});
    return fn;
}

TEST_P(BatchTest, ReportsAnErrorOnceAndGoesOn) {
    const auto word = device->compile(print_kernel());
    const auto program = GetParam().multiply_add(*device);
    for (const std::uint32_t count : {4u, many()}) {
        set_print_sink([](std::string_view) { throw std::runtime_error("no more paper"); });
        const auto memory = ints(count, 1);
        const int two = 2;
        PlanMaker maker;
        maker.add_in_line(multiply_add_command(*program, *memory, count, value_argument(two)));
        maker.add_in_line(launch_command(*word, 1, {}));
        maker.add_in_line(multiply_add_command(*program, *memory, count, value_argument(two)));
        const auto batch = queue->prepare(maker.finish());
        const Point point = submit(*batch);
        EXPECT_THROW(queue->timeline().wait(point), std::runtime_error);
        EXPECT_NO_THROW(queue->timeline().wait(point));
        EXPECT_EQ(read_back(*queue, *memory, count)[3], (2 + 3) * 2 + 3) << "the commands after it run";
        set_print_sink([](std::string_view) {});
        EXPECT_NO_THROW(queue->timeline().wait(submit(*batch)));
        set_print_sink({});
    }
}

TEST_P(BatchTest, EndsWhenItsPointHasPassed) {
    const auto program = GetParam().multiply_add(*device);
    const int one = 1;
    for (int round = 0; round < rounds(200); ++round) {
        const std::uint32_t count = round % 2 == 0 ? 50 : many() / 4;
        const auto memory = device->allocate(2 * count * sizeof(int));
        PlanMaker maker;
        for (int half = 0; half < 2; ++half) {
            const std::uint64_t offset = static_cast<std::uint64_t>(half) * count * sizeof(int);
            maker.add(multiply_add_command(*program, *memory, count, value_argument(one), offset), {half},
                      {half});
        }
        const auto batch = queue->prepare(maker.finish());
        queue->timeline().wait(submit(*batch));
    }
}

TEST_P(BatchTest, OfSeveralThreadsRunOnTheirQueues) {
    const auto program = GetParam().multiply_add(*device);
    const int submissions = rounds(200);
    const std::uint32_t count = many() / 4;
    std::vector<std::thread> threads;
    std::vector<std::vector<int>> results(4);
    for (std::size_t t = 0; t < results.size(); ++t) {
        threads.emplace_back([&, t] {
            const auto own = device->make_queue();
            const auto memory = device->allocate(3 * count * sizeof(int));
            write_at(*own, *memory, 0, bytes_of(std::vector<int>(3 * count, 1)));
            PlanMaker maker;
            for (int step = 0; step < 3; ++step) {
                for (int part = 0; part < 3; ++part) {
                    const std::uint64_t offset = static_cast<std::uint64_t>(part) * count * sizeof(int);
                    const std::uint32_t some = part == 2 ? 10 : count;  // small and large ones together
                    maker.add(multiply_add_command(*program, *memory, some, dynamic_argument(0), offset),
                              {part}, {part});
                }
            }
            const auto batch = own->prepare(maker.finish(16));
            const std::vector<int> values = {1, 0, 0, 0, 1, 0, 0, 0};
            for (int k = 0; k < submissions; ++k) {
                const Point point = own->submit(*batch, 2, bytes_of(values));
                if (k % 7 == static_cast<int>(t)) own->timeline().wait(point);
                if (k % 50 == 0) own->call([] {});
            }
            results[t] = read_back(*own, *memory, 3 * count);
            own->timeline().wait(own->last());
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::vector<int>& result : results) {
        for (const std::size_t part : {0u, 1u, 2u}) {
            for (const std::size_t i : {0u, 5u, 9u})
                EXPECT_EQ(result[part * count + i], 1 + submissions * 6 * static_cast<int>(i));
        }
        EXPECT_EQ(result[2 * count - 1], 1 + submissions * 6 * static_cast<int>(count - 1));
    }
}

TEST_P(BatchTest, OfSeveralThreadsRunOnOneQueue) {
    const auto program = GetParam().multiply_add(*device);
    const int submissions = rounds(200);
    const std::uint32_t count = many() / 8;
    const auto memory = ints(4 * count, 0);
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            const int one = 1;
            PlanMaker maker;
            for (int step = 0; step < 2; ++step) {
                maker.add_in_line(multiply_add_command(*program, *memory, count, value_argument(one),
                                                       t * count * sizeof(int)));
            }
            const auto batch = queue->prepare(maker.finish());
            for (int k = 0; k < submissions; ++k) {
                const Point point = submit(*batch);
                if (k % 5 == 0) queue->timeline().wait(point);
            }
            queue->timeline().wait(queue->last());
        });
    }
    for (std::thread& thread : threads) thread.join();
    const std::vector<int> result = read_back(*queue, *memory, 4 * count);
    for (std::size_t i = 0; i < result.size(); ++i)
        ASSERT_EQ(result[i], submissions * 2 * static_cast<int>(i % count));
}

}  // namespace
}  // namespace volley::testing
