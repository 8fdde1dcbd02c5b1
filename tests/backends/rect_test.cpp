// Writes, reads, copies and fills of separate rows: they change exactly the bytes that plain loops change, in
// the order of the queue. Random cases print their seed.
#include "backends/queue_support.hpp"
#include "backends/rect_support.hpp"
#include "backends/subjects.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace volley::testing {
namespace {

using backends::Point;

#if defined(VOLLEY_SANITIZED)
constexpr int cases = 60;
#else
constexpr int cases = 250;
#endif

class RectTest : public SubjectTest {
protected:
    /// Memory of the device, and what should be in it.
    struct Block {
        std::unique_ptr<backends::Memory> memory;
        Bytes model;
    };
    [[nodiscard]] Block make_block(Random& random, std::size_t bytes, bool on_host = false) {
        Block block{on_host ? device->allocate_host(bytes) : device->allocate(bytes),
                    random_bytes(random, bytes)};
        if (on_host) {
            std::memcpy(block.memory->host(), block.model.data(), bytes);
        } else {
            write_at(*queue, *block.memory, 0, block.model);
        }
        return block;
    }
    [[nodiscard]] Bytes contents(const backends::Memory& memory) {
        Bytes bytes(memory.size());
        queue->timeline().wait(read_at(*queue, memory, 0, bytes));
        return bytes;
    }
    void expect_same(const Block& block, const std::string& what) {
        const Bytes now = contents(*block.memory);
        const auto [wrong, right] = std::mismatch(now.begin(), now.end(), block.model.begin());
        ASSERT_EQ(wrong, now.end()) << what << ": byte " << wrong - now.begin();
    }
    /// Writes and reads back about that many bytes, from separate rows to contiguous ones and vice versa.
    void move_much(std::uint64_t row, std::uint64_t total) {
        SCOPED_TRACE(cat("rows of ", row));
        Random random(seed_or(8));
        const std::uint64_t planes = row > 1'000'000 ? 1 : 3;
        const Rect rect{row, {std::max<std::uint64_t>(total / row / planes, 1) + 1, planes}};
        const RectPlace sparse{24, {row + 8, (row + 8) * rect.count[0] + 16}};
        const RectPlace dense{3, {row, row * rect.count[0]}};
        const Bytes some = random_bytes(random, 100'003);
        Bytes data(end_of(sparse, rect) + 8);
        for (std::size_t at = 0; at < data.size(); at += some.size())
            std::memcpy(data.data() + at, some.data(), std::min(some.size(), data.size() - at));
        const auto a = device->allocate(data.size());
        const auto b = device->allocate(data.size());
        Bytes model(data.size());
        fill_at(*queue, *b, 0, data.size(), std::vector<std::byte>(1));
        write_at(*queue, *a, 0, data);
        queue->copy(*b, *a, {rect, dense, sparse});
        copy_on_host(model.data(), dense, data.data(), sparse, rect);
        ASSERT_EQ(std::memcmp(contents(*b).data(), model.data(), model.size()), 0) << "copied";
        queue->write(*b, data.data(), {rect, sparse, dense});
        copy_on_host(model.data(), sparse, data.data(), dense, rect);
        ASSERT_EQ(std::memcmp(contents(*b).data(), model.data(), model.size()), 0) << "written";
        Bytes back(data.size());
        queue->timeline().wait(queue->read(back.data(), *b, {rect, sparse, dense}));
        Bytes back_model(data.size());
        copy_on_host(back_model.data(), sparse, model.data(), dense, rect);
        ASSERT_EQ(std::memcmp(back.data(), back_model.data(), back.size()), 0) << "read";
        const Bytes pattern(data.begin(), data.begin() + (row % 8 == 0 ? 8 : 1));
        queue->fill(*b, sparse, rect, pattern);
        fill_on_host(model.data(), sparse, rect, pattern);
        ASSERT_EQ(std::memcmp(contents(*b).data(), model.data(), model.size()), 0) << "filled";
    }
    /// A callback that keeps the queue busy until the gate opens.
    void close(Gate& gate) {
        queue->call([&] { gate.pass(); });
    }
};
VOLLEY_EVERY_SUBJECT_SUITE(RectTest);

/// A place inside a block of that size; smaller rects until one fits.
std::pair<Rect, std::vector<RectPlace>> fitting(Random& random, std::uint64_t size, std::size_t places) {
    for (;;) {
        const Rect rect = random_rect(random, size / 4);
        std::vector<RectPlace> at;
        for (std::size_t i = 0; i < places; ++i) at.push_back(random_place(random, rect));
        const bool fits =
            std::all_of(at.begin(), at.end(), [&](const RectPlace& p) { return end_of(p, rect) <= size; });
        if (fits) return {rect, at};
    }
}

TEST_P(RectTest, WritesWhatLoopsWould) {
    with_each_memory([&] {
        Random random(seed_or(1));
        Block block = make_block(random, 70'000);
        const Bytes data = random_bytes(random, 70'000);
        for (int k = 0; k < cases; ++k) {
            const auto [rect, at] = fitting(random, 70'000, 2);
            queue->timeline().wait(queue->write(*block.memory, data.data(), {rect, at[0], at[1]}));
            copy_on_host(block.model.data(), at[0], data.data(), at[1], rect);
            std::ostringstream what;
            what << "case " << k << ": " << rect << " " << at[0] << " from " << at[1];
            expect_same(block, what.str());
            if (HasFatalFailure()) return;
        }
    });
}

TEST_P(RectTest, ReadsWhatLoopsWould) {
    with_each_memory([&] {
        Random random(seed_or(2));
        const Block block = make_block(random, 70'000);
        Bytes data(70'000);
        Bytes model = data;
        for (int k = 0; k < cases; ++k) {
            const auto [rect, at] = fitting(random, 70'000, 2);
            queue->timeline().wait(queue->read(data.data(), *block.memory, {rect, at[1], at[0]}));
            copy_on_host(model.data(), at[1], block.model.data(), at[0], rect);
            ASSERT_EQ(data, model) << "case " << k << ": " << rect << " " << at[0] << " to " << at[1];
        }
    });
}

TEST_P(RectTest, CopiesWhatLoopsWould) {
    with_each_memory([&] {
        Random random(seed_or(3));
        const Block from = make_block(random, 70'000);
        Block to = make_block(random, 70'000);
        for (int k = 0; k < cases; ++k) {
            const auto [rect, at] = fitting(random, 70'000, 2);
            queue->timeline().wait(queue->copy(*to.memory, *from.memory, {rect, at[0], at[1]}));
            copy_on_host(to.model.data(), at[0], from.model.data(), at[1], rect);
            std::ostringstream what;
            what << "case " << k << ": " << rect << " " << at[0] << " from " << at[1];
            expect_same(to, what.str());
            if (HasFatalFailure()) return;
        }
        expect_same(from, "what was only read");
    });
}

TEST_P(RectTest, FillsWhatLoopsWould) {
    with_each_memory([&] {
        Random random(seed_or(4));
        Block block = make_block(random, 70'000);
        for (int k = 0; k < cases; ++k) {
            const auto [rect, at] = fitting(random, 70'000, 1);
            const Bytes pattern = random_pattern(random, rect.row);
            queue->timeline().wait(queue->fill(*block.memory, at[0], rect, pattern));
            fill_on_host(block.model.data(), at[0], rect, pattern);
            std::ostringstream what;
            what << "case " << k << ": " << rect << " " << at[0] << " pattern " << pattern.size();
            expect_same(block, what.str());
            if (HasFatalFailure()) return;
        }
    });
}

/// Random commands, one after the other, without a wait between them.
class ManyCommands {
public:
    ManyCommands(backends::Queue& queue, Random& random) : queue_(queue), random_(random) {}

    /// One of the four, on two blocks. Small enough that every busy queue copies written data aside.
    template <class Block>
    void add(Block& a, Block& b) {
        const std::uint64_t size = std::min(a.model.size(), b.model.size());
        const auto [rect, at] = fitting(random_, size, 2);
        switch (random_.below(4)) {
            case 0: {
                Bytes data = random_bytes(random_, size);
                queue_.write(*a.memory, data.data(), {rect, at[0], at[1]});
                copy_on_host(a.model.data(), at[0], data.data(), at[1], rect);
                // The queue has used the bytes by now: `data` ends here.
                std::fill(data.begin(), data.end(), std::byte{0xEE});
                break;
            }
            case 1: {
                Bytes& data = read_.emplace_back(size, std::byte{0x11});
                expected_.push_back(data);
                queue_.read(data.data(), *a.memory, {rect, at[1], at[0]});
                copy_on_host(expected_.back().data(), at[1], a.model.data(), at[0], rect);
                break;
            }
            case 2:
                queue_.copy(*a.memory, *b.memory, {rect, at[0], at[1]});
                copy_on_host(a.model.data(), at[0], b.model.data(), at[1], rect);
                break;
            default: {
                const Bytes pattern = random_pattern(random_, rect.row);
                queue_.fill(*a.memory, at[0], rect, pattern);
                fill_on_host(a.model.data(), at[0], rect, pattern);
            }
        }
    }
    void expect_reads() const { EXPECT_TRUE(read_ == expected_); }

private:
    backends::Queue& queue_;
    Random& random_;
    std::deque<Bytes> read_;
    std::deque<Bytes> expected_;
};

TEST_P(RectTest, KeepsTheOrderBehindACallback) {
    with_each_memory([&] {
        for (std::uint64_t round = 0; round < 6; ++round) {
            const std::uint64_t seed = seed_or(100 + round);
            SCOPED_TRACE(cat("seed ", seed));
            Random random(seed);
            Block a = make_block(random, 50'000);
            Block b = make_block(random, 50'000);
            wait();
            Gate gate;
            ManyCommands commands(*queue, random);
            close(gate);
            for (int k = 0; k < 25; ++k) random.chance(50) ? commands.add(a, b) : commands.add(b, a);
            gate.open();
            wait();
            commands.expect_reads();
            expect_same(a, "the first block");
            expect_same(b, "the second block");
            if (HasFatalFailure()) return;
        }
    });
}

TEST_P(RectTest, KeepsTheOrderAmongKernels) {
    with_each_memory([&] {
        const auto program = GetParam().multiply_add(*device);
        Random random(seed_or(7));
        constexpr std::uint32_t count = 30'000;
        Block a = make_block(random, count * sizeof(int));
        Block b = make_block(random, count * sizeof(int));
        ManyCommands commands(*queue, random);
        for (int round = 0; round < 5; ++round) {
            launch_multiply_add(*queue, *program, *a.memory, 3, count);
            for (std::uint32_t i = 0; i < count; ++i) {
                std::uint32_t value = 0;
                std::memcpy(&value, a.model.data() + i * sizeof value, sizeof value);
                value = value * 3 + i;
                std::memcpy(a.model.data() + i * sizeof value, &value, sizeof value);
            }
            for (int k = 0; k < 6; ++k) random.chance(50) ? commands.add(a, b) : commands.add(b, a);
        }
        wait();
        commands.expect_reads();
        expect_same(a, "the first block");
        expect_same(b, "the second block");
    });
}

TEST_P(RectTest, CopiesBetweenTheDeviceAndHostMemoryOfIts) {
    with_each_memory([&] {
        for (std::uint64_t round = 0; round < 4; ++round) {
            const std::uint64_t seed = seed_or(200 + round);
            SCOPED_TRACE(cat("seed ", seed));
            Random random(seed);
            Block a = make_block(random, 50'000);
            Block h = make_block(random, 50'000, true);
            wait();
            Gate gate;
            const bool busy = round % 2 == 1;
            if (busy) close(gate);
            for (int k = 0; k < 40; ++k) {
                const bool up = random.chance(50);
                Block& to = up ? a : h;
                const Block& from = up ? h : a;
                const auto [rect, at] = fitting(random, 50'000, 2);
                if (random.chance(50)) {
                    queue->copy(*to.memory, *from.memory, {rect, at[0], at[1]});
                    copy_on_host(to.model.data(), at[0], from.model.data(), at[1], rect);
                } else {
                    const std::uint64_t bytes =
                        std::min(rect.bytes(), 50'000 - std::max(at[0].offset, at[1].offset));
                    copy_at(*queue, *to.memory, at[0].offset, *from.memory, at[1].offset, bytes);
                    std::memcpy(to.model.data() + at[0].offset, from.model.data() + at[1].offset, bytes);
                }
            }
            gate.open();
            wait();
            EXPECT_EQ(std::memcmp(h.memory->host(), h.model.data(), 50'000), 0);
            expect_same(a, "the device's block");
            if (HasFatalFailure()) return;
        }
    });
}

TEST_P(RectTest, HostMemoryTakesPartInEveryTransfer) {
    with_each_memory([&] {
        for (std::uint64_t round = 0; round < 4; ++round) {
            const std::uint64_t seed = seed_or(300 + round);
            SCOPED_TRACE(cat("seed ", seed));
            Random random(seed);
            Block a = make_block(random, 40'000, true);
            Block b = make_block(random, 40'000, true);
            wait();
            Gate gate;
            ManyCommands commands(*queue, random);
            const bool busy = round % 2 == 1;
            if (busy) close(gate);
            const Bytes data = random_bytes(random, 100);
            write_at(*queue, *a.memory, 50, data);
            std::copy(data.begin(), data.end(), a.model.begin() + 50);
            fill_at(*queue, *a.memory, 1000, 60, std::span(data).first(4));
            for (std::size_t i = 0; i < 60; ++i) a.model[1000 + i] = data[i % 4];
            for (int k = 0; k < 25; ++k) random.chance(50) ? commands.add(a, b) : commands.add(b, a);
            gate.open();
            wait();
            commands.expect_reads();
            expect_same(a, "the first block");
            expect_same(b, "the second block");
            if (HasFatalFailure()) return;
        }
    });
}

TEST_P(RectTest, InterleavedRowsOfOneBlockAreCopied) {
    with_each_memory([&] {
        Random random(seed_or(5));
        Block block = make_block(random, 40'000);
        const auto copy = [&](const RectPlace& to, const RectPlace& from, const Rect& rect) {
            queue->copy(*block.memory, *block.memory, {rect, to, from});
            copy_on_host(block.model.data(), to, block.model.data(), from, rect);
            std::ostringstream what;
            what << rect << " " << to << " from " << from;
            expect_same(block, what.str());
        };
        copy({40, {80, 0}}, {0, {80, 0}}, {40, {100, 1}});            // odd rows from even ones
        copy({4, {8, 800}}, {0, {8, 800}}, {4, {100, 20}});           // odd elements
        copy({400, {8, 800}}, {0, {8, 800}}, {4, {50, 20}});          // halves of planes
        copy({20'000, {16, 3000}}, {0, {24, 2400}}, {12, {100, 5}});  // apart, with strides of their own
        copy({12, {48, 0}}, {0, {24, 0}}, {8, {100, 1}});             // interleaved, with different strides
        for (int found = 0; found < cases / 5;) {
            const auto [rect, at] = fitting(random, 40'000, 2);
            std::vector<bool> taken(40'000);
            bool apart = true;
            for_each_row(rect, [&, &rect = rect, &at = at](std::uint64_t row, std::uint64_t plane) {
                const std::uint64_t first = row_start(at[0], row, plane);
                std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(first), rect.row, true);
            });
            for_each_row(rect, [&, &rect = rect, &at = at](std::uint64_t row, std::uint64_t plane) {
                const std::uint64_t first = row_start(at[1], row, plane);
                for (std::uint64_t i = 0; i < rect.row; ++i) apart = apart && !taken[first + i];
            });
            if (!apart) continue;
            ++found;
            copy(at[0], at[1], rect);
            if (HasFatalFailure()) return;
        }
    });
}

TEST_P(RectTest, MovesManySingleElements) {
    with_each_memory([&] {
        Random random(seed_or(6));
        const Rect rect{4, {500, 100}};
        const RectPlace sparse{4, {12, 500 * 12 + 8}};
        const RectPlace dense{0, {4, 2000}};
        Block a = make_block(random, 700'000);
        Block b = make_block(random, 700'000);
        queue->copy(*b.memory, *a.memory, {rect, dense, sparse});
        copy_on_host(b.model.data(), dense, a.model.data(), sparse, rect);
        const Bytes data = random_bytes(random, 700'000);
        queue->write(*a.memory, data.data(), {rect, sparse, dense});
        copy_on_host(a.model.data(), sparse, data.data(), dense, rect);
        Bytes back(700'000);
        queue->read(back.data(), *a.memory, {rect, dense, sparse});
        const RectPlace beside{8, sparse.stride};
        queue->fill(*a.memory, beside, rect, std::span(data).first(4));
        fill_on_host(a.model.data(), beside, rect, {data.begin(), data.begin() + 4});
        wait();
        EXPECT_EQ(std::memcmp(back.data(), data.data(), rect.bytes()), 0);
        expect_same(a, "the sparse block");
        expect_same(b, "the dense block");
    });
}

TEST_P(RectTest, MovesMoreThanStagingHolds) {
    with_each_memory([&] {
        for (const std::uint64_t row : {8u, 40u, 256u, 4096u, 100'000u, 1'500'001u}) move_much(row, 2 << 20);
    });
}

TEST_P(RectTest, MovesMoreThanCachesHold) {
    if (std::string_view(GetParam().label) != "cpu") GTEST_SKIP() << "only large for several threads";
    for (const std::uint64_t row : {8u, 40u, 4096u}) move_much(row, (16 << 20) + 1000);
}

TEST_P(RectTest, AReadIsThereWhenItsPointHasPassed) {
    with_each_memory([&] {
        Random random(seed_or(9));
        const Block block = make_block(random, 60'000);
        const Rect rect{12, {300, 4}};
        const RectPlace at{0, {20, 6500}};
        const RectPlace data_at{5, {15, 5000}};
        Bytes data(60'000);
        Bytes model = data;
        const Point point = queue->read(data.data(), *block.memory, {rect, data_at, at});
        while (queue->timeline().completed() < point) std::this_thread::yield();  // without a waiting thread
        copy_on_host(model.data(), data_at, block.model.data(), at, rect);
        EXPECT_TRUE(data == model);
    });
}

TEST_P(RectTest, CallsTheDriverNoOftenerThanThereAreRows) {
    Random random(seed_or(10));
    for (int k = 0; k < 200; ++k) {
        const Rect rect = random_rect(random, 70'000);
        const std::uint64_t calls =
            queue->driver_calls({rect, random_place(random, rect), random_place(random, rect)});
        EXPECT_GE(calls, 1u);
        EXPECT_LE(calls, std::max<std::uint64_t>(rect.rows(), 4)) << rect;
    }
}

}  // namespace
}  // namespace volley::testing
