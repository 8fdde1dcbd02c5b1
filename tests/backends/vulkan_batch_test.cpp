// What is special about batches on Vulkan devices: recordings that are used again, the barriers in them,
// chunks of instances, commands that cannot be recorded, drivers that fail.
#include "backends/vulkan/vulkan_batch.hpp"
#include "backends/api/batch.hpp"
#include "backends/vulkan_batch_support.hpp"
#include "backends/vulkan_support.hpp"
#include "backends/vulkan_watch.hpp"
#include "core/text.hpp"
#include "support/needs_glsl.hpp"
#include "support/sanitized.hpp"

#include <volley/print_sink.hpp>

#include <mutex>
#include <string>
#include <string_view>

namespace volley::backends::vulkan {
namespace {

class VulkanBatchTest : public VulkanBatchFixture {};
VOLLEY_VULKAN_SUITE(VulkanBatchTest);

BatchCommand copy_command(backends::Memory& to, const backends::Memory& from, std::uint64_t bytes,
                          std::vector<std::uint32_t> after = {}) {
    BatchCommand command;
    command.kind = BatchKind::Copy;
    command.to = &to;
    command.from = &from;
    command.move = {{bytes}, {}, {}};
    command.after = std::move(after);
    return command;
}

BatchCommand fill_command(backends::Memory& to, const backends::Rect& rect, const backends::RectPlace& at,
                          std::vector<std::byte> pattern, std::vector<std::uint32_t> after = {}) {
    BatchCommand command;
    command.kind = BatchKind::Fill;
    command.to = &to;
    command.move = {rect, at, {}};
    command.pattern = std::move(pattern);
    command.after = std::move(after);
    return command;
}

// ---- barriers ----

TEST_P(VulkanBatchTest, IndependentBranchesHaveNoBarrierBetweenThem) {
    const auto a = filled(256, 1), b = filled(256, 1), c = filled(256, 1), d = filled(256, 1);
    const unsigned recorded = Watch::during(Watch::barriers, [&] {
        prepare({multiply(*a, 256), multiply(*b, 256), multiply(*c, 256), multiply(*d, 256)});
    });
    EXPECT_EQ(recorded, 1u) << "the one that orders instances";
    EXPECT_EQ(static_cast<VulkanBatch&>(*batch).barriers(), 1u);
    submit(3);
    for (const auto* memory : {&a, &b, &c, &d}) EXPECT_EQ(last_of(**memory), after_all(1, {2, 2, 2}, 255));
}

TEST_P(VulkanBatchTest, OneBarrierSeparatesTwoLevels) {
    const auto a = filled(256, 1), b = filled(256, 1), c = filled(256, 1);
    EXPECT_EQ(prepare({multiply(*a, 256), multiply(*b, 256), multiply(*c, 256), multiply(*a, 256, {0}),
                       multiply(*b, 256, {1}), multiply(*c, 256, {2})})
                  .barriers(),
              2u);
    submit();
    for (const auto* memory : {&a, &b, &c}) EXPECT_EQ(last_of(**memory), after_all(1, {2, 2}, 255));
}

TEST_P(VulkanBatchTest, WhatABarrierHasOrderedNeedsNoOther) {
    const auto a = filled(256, 1), b = filled(256, 1), c = filled(256, 7);
    // The last command depends only on the first, which precedes the barrier of the third.
    EXPECT_EQ(prepare({multiply(*a, 256), multiply(*b, 256), multiply(*b, 256, {1}),
                       copy_command(*c, *a, 1024, {0})})
                  .barriers(),
              2u);
    submit();
    EXPECT_EQ(last_of(*b), after_all(1, {2, 2}, 255));
    EXPECT_EQ(last_of(*c), after_all(1, {2}, 255));
}

TEST_P(VulkanBatchTest, AChainHasABarrierForEachStep) {
    const auto a = filled(256, 1);
    std::vector<BatchCommand> commands;
    for (std::uint32_t k = 0; k < 50; ++k)
        commands.push_back(
            multiply(*a, 256, k == 0 ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{k - 1}));
    EXPECT_EQ(prepare(std::move(commands)).barriers(), 50u);
    submit(2);
    EXPECT_EQ(last_of(*a), after_all(1, std::vector<int>(100, 2), 255));
}

// ---- recordings ----

TEST_P(VulkanBatchTest, ManyInstancesAreOneSubmissionOfFewRecordings) {
    const auto a = filled(256, 1);
    VulkanBatch& own = prepare({multiply(*a, 256), multiply(*a, 256, {0}, &three)});
    EXPECT_EQ(own.recordings(), 1u);
    const unsigned before = Watch::buffers;
    EXPECT_EQ(Watch::during(Watch::submits, [&] { submit(500); }), 1u);
    EXPECT_EQ(Watch::buffers - before, 17u) << "15 times 32, 16, and 4";
    EXPECT_EQ(own.recordings(), 4u) << "of 32, 16, 4 and one";
    std::vector<int> factors;
    for (int k = 0; k < 500; ++k) factors.insert(factors.end(), {2, 3});
    EXPECT_EQ(last_of(*a), after_all(1, factors, 255));
}

TEST_P(VulkanBatchTest, ALongBatchIsOneRecordingForAllInstances) {
    const auto a = filled(64, 1);
    std::vector<BatchCommand> commands;
    for (std::uint32_t k = 0; k < 40; ++k) commands.push_back(multiply(*a, 64));
    for (std::uint32_t k = 1; k < 40; ++k) commands[k].after = {k - 1};
    VulkanBatch& own = prepare(std::move(commands));
    const unsigned before = Watch::buffers;
    EXPECT_EQ(Watch::during(Watch::submits, [&] { submit(20); }), 1u);
    EXPECT_EQ(Watch::buffers - before, 20u) << "the same one";
    EXPECT_EQ(own.recordings(), 1u);
    EXPECT_EQ(last_of(*a), after_all(1, std::vector<int>(800, 2), 63));
}

TEST_P(VulkanBatchTest, IsSubmittedAgainWhileItIsUnderWay) {
    const auto a = filled(4096, 1);
    prepare({multiply(*a, 4096)});
    submit(3);
    const unsigned begun = Watch::recordings;
    for (int k = 0; k < 200; ++k) submit(1 + static_cast<unsigned>(k % 3));
    EXPECT_EQ(Watch::recordings, begun) << "nothing is recorded again";
    EXPECT_EQ(last_of(*a), after_all(1, std::vector<int>(402, 2), 4095));
}

TEST_P(VulkanBatchTest, RecordsCopiesAndFillsOfEveryKind) {
    const auto a = filled(1024, 5), b = filled(1024, 0), c = filled(1024, 0), d = filled(1024, 0);
    const auto bytes = [](std::initializer_list<int> list) {
        std::vector<std::byte> result;
        for (const int value : list) result.push_back(static_cast<std::byte>(value));
        return result;
    };
    prepare({
        copy_command(*b, *a, 4096), fill_command(*c, {4096}, {}, bytes({1, 0, 0, 0})),  // a word
        fill_command(*d, {4095}, {1, {}}, bytes({1, 2, 3})),                            // patterns, one row
        fill_command(*b, {4, {300, 1}}, {0, {12, 0}}, bytes({9, 0}), {0}),              // patterns, many rows
        fill_command(*c, {8, {3, 1}}, {16, {1000, 0}}, bytes({7, 0, 0, 0}), {1}),       // a word, some rows
    });
    submit();
    const std::vector<int> rows = read_back(*queue, *b, 1024);
    EXPECT_EQ(rows[0], 9 + (9 << 16));
    EXPECT_EQ(rows[1], 5);
    EXPECT_EQ(rows[897], 9 + (9 << 16));
    EXPECT_EQ(rows[900], 5);
    const std::vector<int> words = read_back(*queue, *c, 1024);
    EXPECT_EQ(words[3], 1);
    EXPECT_EQ(words[4], 7);
    EXPECT_EQ(words[6], 1);
    EXPECT_EQ(words[254], 7);
    std::vector<std::byte> whole(4096);
    queue->timeline().wait(read_at(*queue, *d, 0, whole));
    EXPECT_EQ(whole[0], std::byte{0});
    for (std::size_t i = 1; i < 4096; ++i) ASSERT_EQ(whole[i], static_cast<std::byte>((i - 1) % 3 + 1)) << i;
}

TEST_P(VulkanBatchTest, RecordsModulesThatWereMadeElsewhere) {
    const auto raw = vulkan::multiply_add(*device);
    const auto a = filled(256, 1);
    BatchCommand command = multiply(*a, 256, {}, &five);
    command.program = raw.get();
    EXPECT_EQ(prepare({command}).recordings(), 1u);
    submit(4);
    EXPECT_EQ(last_of(*a), after_all(1, {5, 5, 5, 5}, 255));
}

TEST_P(VulkanBatchTest, KeepsDescriptorSets) {
    VOLLEY_NEEDS_GLSL();
    ir::Function fn;
    fn.name = "bound";
    ir::Builder b(fn);
    b.buffer(ScalarType::I32, "y");
    b.param(ScalarType::I32, "a");
    b.buffer(ScalarType::I32, "x", true);
    auto code = std::make_shared<ir::ForeignCode>();
    code->words = codegen::glsl::compile("bound", R"(
        #version 450
        layout(local_size_x = 64) in;
        layout(binding = 0) buffer Y { int y[]; };
        layout(binding = 1) readonly buffer X { int x[]; };
        layout(push_constant) uniform Values { int a; };
        void main() { uint i = gl_GlobalInvocationID.x; y[i] = a * y[i] + x[i]; })");
    fn.foreign = std::move(code);
    fn.local_size = ir::Dim3{64, 1, 1};
    const auto bound = device->compile(std::move(fn));
    const auto y = filled(256, 1), x = filled(256, 10);
    for (const bool dynamic : {false, true}) {
        SCOPED_TRACE(dynamic ? "with a dynamic value" : "with a fixed value");
        BatchCommand command = multiply(*y, 256, {}, &three);
        command.program = bound.get();
        command.args.resize(3);
        command.args[2].memory = x.get();
        command.args[2].elements = 256;
        if (dynamic) command.args[1] = {.dynamic = 4};
        write_at(*queue, *y, 0, bytes_of(std::vector<int>(256, 1)));
        prepare({command}, dynamic ? 16 : 0);
        // Push constants are recorded: a module that knows nothing else is launched for each instance.
        EXPECT_EQ(static_cast<VulkanBatch&>(*batch).recordings(), dynamic ? 0u : 1u);
        const std::vector<int> values = {0, 3, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0};
        const unsigned written = Watch::during(
            Watch::sets, [&] { queue->submit(*batch, 3, dynamic ? bytes_of(values) : bytes_of({})); });
        EXPECT_EQ(written, dynamic ? 6u : 0u) << "two buffers, three times, or never";
        EXPECT_EQ(last_of(*y), after_all(1, {3, 3, 3}, 10));
    }
}

TEST_P(VulkanBatchTest, AnEmptyBatchDoesNothing) {
    prepare({});
    EXPECT_EQ(submit(5), queue->last());
    const auto a = filled(64, 1);
    prepare({multiply(*a, 64)});
    const Point before = queue->last();
    EXPECT_EQ(submit(0), before);
}

// ---- dynamic values ----

TEST_P(VulkanBatchTest, InstancesAreRecordedInPowersOfTwo) {
    const auto a = filled(256, 1);
    VulkanBatch& own = prepare({multiply_dynamic(*a, 256)}, 16);
    EXPECT_EQ(own.recordings(), 0u);
    const std::vector<int> values = odd_numbers(100);
    const unsigned before = Watch::buffers;
    EXPECT_EQ(Watch::during(Watch::submits, [&] { submit(values); }), 1u);
    EXPECT_EQ(Watch::buffers - before, 3u) << "64 + 32 + 4";
    EXPECT_EQ(own.recordings(), 3u);
    EXPECT_EQ(last_of(*a), after_all(1, values, 255));
}

TEST_P(VulkanBatchTest, TakesAnyNumberOfInstances) {
    const auto a = filled(256, 1);
    prepare({multiply_dynamic(*a, 256)}, 16);
    for (const std::size_t count : {1u, 2u, 3u, 5u, 31u, 32u, 33u, 127u}) {
        write_at(*queue, *a, 0, bytes_of(std::vector<int>(256, 1)));
        const std::vector<int> values = odd_numbers(count, static_cast<int>(count));
        submit(values);
        EXPECT_EQ(last_of(*a), after_all(1, values, 255)) << count;
    }
}

TEST_P(VulkanBatchTest, RecordsNothingOnceItHasWhatItNeeds) {
    const auto a = filled(64, 1);
    VulkanBatch& own = prepare({multiply_dynamic(*a, 64), multiply(*a, 64, {0})}, 16);
    std::vector<int> factors;
    const auto round = [&](int k) {
        const std::vector<int> values = odd_numbers(7, k);
        submit(values);
        for (const int value : values) factors.insert(factors.end(), {value, 2});
    };
    for (int k = 0; k < 10; ++k) {
        round(k);
        if (k % 2 == 0) queue->timeline().wait(queue->last());
    }
    // So many that all copies of each size come to be used.
    for (int k = 0; k < 30; ++k) round(k);
    const std::size_t made = own.recordings();
    EXPECT_LE(made, 12u) << "four of 4, 2 and 1 instances";
    const unsigned begun = Watch::recordings;
    for (int k = 0; k < 100; ++k) round(k);
    EXPECT_LE(own.recordings(), 12u);
    EXPECT_EQ(Watch::recordings - begun, own.recordings() - made);
    EXPECT_EQ(last_of(*a), after_all(1, factors, 63));
}

TEST_P(VulkanBatchTest, ValuesAreCopiedBeforeTheCallReturns) {
    const auto a = filled(65'536, 1);
    prepare({multiply_dynamic(*a, 65'536)}, 16);
    std::vector<int> factors;
    std::vector<int> values(4);
    for (int k = 0; k < 40; ++k) {
        values[0] = 2 * k + 1;
        queue->submit(*batch, 1, bytes_of(values));
        factors.push_back(values[0]);
        values[0] = -1;
    }
    EXPECT_EQ(last_of(*a), after_all(1, factors, 65'535));
}

TEST_P(VulkanBatchTest, MoreInstancesThanRecordingsHoldGoRound) {
    // 8192 commands are all that a recording takes, so there are two instances in one, and four of them.
    constexpr std::uint32_t commands_count = 4096;
    constexpr std::size_t instances = testing::unless_sanitized<std::size_t>(11, 10);
    const auto a = filled(1, 1);
    std::vector<BatchCommand> commands;
    commands.push_back(multiply_dynamic(*a, 1));
    const auto b = filled(commands_count, 1);
    for (std::uint32_t k = 1; k < commands_count; ++k) {
        commands.push_back(multiply(*b, 1));
        commands.back().args[0].offset = k * sizeof(int);
    }
    VulkanBatch& own = prepare(std::move(commands), 16);
    const std::vector<int> values = odd_numbers(instances);
    EXPECT_GT(Watch::during(Watch::submits, [&] { submit(values); }), 1u);
    EXPECT_LE(own.recordings(), 5u);
    EXPECT_EQ(last_of(*a), after_all(1, values, 0));
    EXPECT_EQ(last_of(*b), 1u << instances);
}

TEST_P(VulkanBatchTest, SeveralValuesOfSeveralCommandsArePatched) {
    const auto a = filled(256, 1), b = filled(256, 1);
    prepare({multiply_dynamic(*a, 256, {}, 0), multiply_dynamic(*b, 256, {}, 20), multiply(*a, 256, {0}),
             multiply_dynamic(*a, 256, {2}, 20)},
            32);
    std::vector<int> values(3 * 8, 1000);
    std::vector<int> of_a, of_b;
    for (int i = 0; i < 3; ++i) {
        values[static_cast<std::size_t>(i) * 8] = 3 + i;
        values[static_cast<std::size_t>(i) * 8 + 5] = 7 + 2 * i;
        of_a.insert(of_a.end(), {3 + i, 2, 7 + 2 * i});
        of_b.push_back(7 + 2 * i);
    }
    queue->submit(*batch, 3, bytes_of(values));
    EXPECT_EQ(last_of(*a), after_all(1, of_a, 255));
    EXPECT_EQ(last_of(*b), after_all(1, of_b, 255));
}

TEST_P(VulkanBatchTest, ValuesOfEverySizeArePatched) {
    ir::Function fn;
    fn.name = "sizes";
    ir::Builder b(fn);
    const ir::NodeId data = b.buffer(ScalarType::U64, "data");
    ir::NodeId sum = b.param(ScalarType::U64, "wide");
    for (const ScalarType type : {ScalarType::U8, ScalarType::U16, ScalarType::U32})
        sum = b.emit(ir::Op::Add, {sum, b.convert(b.param(type, "narrow"), ScalarType::U64)});
    const ir::NodeId zero = b.constant_u32(0);
    sum = b.emit(ir::Op::Add, {sum, b.load(data, std::span(&zero, 1))});
    b.store(data, sum, std::span(&zero, 1));
    const auto sizes = device->compile(std::move(fn));
    const auto a = filled(2, 0);
    BatchCommand command = multiply(*a, 1);
    command.program = sizes.get();
    command.local = {1, 1, 1};
    command.args.resize(5);
    command.args[0].elements = 1;
    command.args[1] = {.dynamic = 16};
    command.args[2] = {.dynamic = 1};
    command.args[3] = {.dynamic = 2};
    const std::uint32_t last = 5;
    command.args[4] = {.value = &last};  // one that does not change among those that do
    prepare({command}, 32);
    std::vector<std::byte> values(3 * 32, std::byte{0xff});
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < 3; ++i) {
        const std::uint64_t wide = (i + 1) << 40;
        const auto narrow = static_cast<std::uint8_t>(200 + i);
        const auto middle = static_cast<std::uint16_t>(60'000 + i);
        std::memcpy(&values[i * 32 + 16], &wide, sizeof wide);
        std::memcpy(&values[i * 32 + 1], &narrow, sizeof narrow);
        std::memcpy(&values[i * 32 + 2], &middle, sizeof middle);
        expected += wide + narrow + middle + last;
    }
    queue->submit(*batch, 3, values);
    std::uint64_t result = 0;
    queue->timeline().wait(read_at(*queue, *a, 0, std::as_writable_bytes(std::span(&result, 1))));
    EXPECT_EQ(result, expected);
}

TEST_P(VulkanBatchTest, AValueThatNobodyReadsIsNoReasonToRecordAgain) {
    ir::Function fn;
    fn.name = "ignores";
    ir::Builder b(fn);
    const ir::NodeId data = b.buffer(ScalarType::I32, "data");
    b.param(ScalarType::I32, "unread");
    const ir::NodeId i = b.extract(b.emit(ir::Op::GlobalId, {}), 0);
    b.store(data, b.convert(i, ScalarType::I32), std::span(&i, 1));
    const auto ignores = device->compile(std::move(fn));
    const auto a = filled(100, 1);
    BatchCommand command = multiply_dynamic(*a, 100);
    command.program = ignores.get();
    EXPECT_EQ(prepare({command}, 16).recordings(), 1u);
    for (int k = 0; k < 20; ++k) submit(odd_numbers(9));
    EXPECT_EQ(static_cast<VulkanBatch&>(*batch).recordings(), 2u) << "of eight and of one";
    EXPECT_EQ(last_of(*a), 99u);
}

/// out[i] = sum of the inputs' element i, and the scalar
ir::Function batch_sum(unsigned buffers) {
    ir::Function fn;
    fn.name = "batch_sum";
    ir::Builder b(fn);
    const ir::NodeId out = b.buffer(ScalarType::I32, "out");
    std::vector<ir::NodeId> inputs;
    for (unsigned k = 0; k < buffers; ++k) inputs.push_back(b.buffer(ScalarType::I32, cat("in", k), true));
    ir::NodeId sum = b.param(ScalarType::I32, "scalar");
    const ir::NodeId i = b.extract(b.emit(ir::Op::GlobalId, {}), 0);
    sum = b.emit(ir::Op::Add, {sum, b.load(out, std::span(&i, 1))});
    for (const ir::NodeId input : inputs) sum = b.emit(ir::Op::Add, {sum, b.load(input, std::span(&i, 1))});
    b.store(out, sum, std::span(&i, 1));
    return fn;
}

TEST_P(VulkanBatchTest, TakesMoreArgumentsThanPushConstantsHold) {
    constexpr unsigned buffers = 40;
    const auto sum = device->compile(batch_sum(buffers));
    const auto in = filled(buffers * 1024, 1);
    for (const bool dynamic : {false, true}) {
        SCOPED_TRACE(dynamic);
        const auto out = filled(1000, 0);
        BatchCommand command = multiply(*out, 1000, {}, &five);
        command.program = sum.get();
        command.args.resize(buffers + 2);
        for (unsigned j = 0; j < buffers; ++j) {
            command.args[j + 1] = {.memory = in.get(), .offset = j * 4096, .elements = 1024};
        }
        command.args[buffers + 1] = dynamic ? Argument{.dynamic = 0} : Argument{.value = &five};
        prepare({command}, dynamic ? 16 : 0);
        if (dynamic) {
            submit(odd_numbers(7));
            EXPECT_EQ(last_of(*out), 7 * buffers + 49);
        } else {
            submit(7);
            EXPECT_EQ(last_of(*out), 7 * buffers + 35);
        }
    }
}

TEST_P(VulkanBatchTest, RunsGridsBeyondTheDriversLimit) {
    const std::uint32_t most = device->logical().physical().max_groups[0];
    // Of fewer buffers than make the arguments too large for push constants, and of more.
    for (const unsigned buffers : {1u, 40u}) {
        if (testing::sanitized && buffers > 1) continue;
        SCOPED_TRACE(buffers);
        const auto sum = device->compile(batch_sum(buffers));
        const std::uint32_t count = 2 * most + 5;
        const auto in = filled(count, 1);
        for (const bool dynamic : {false, true}) {
            SCOPED_TRACE(dynamic);
            const auto out = filled(count, 0);
            BatchCommand command = multiply(*out, count, {}, &five);
            command.program = sum.get();
            command.local = {1, 1, 1};
            command.args.resize(buffers + 2);
            for (unsigned j = 0; j < buffers; ++j)
                command.args[j + 1] = {.memory = in.get(), .elements = count};
            command.args[buffers + 1] = dynamic ? Argument{.dynamic = 0} : Argument{.value = &five};
            prepare({command}, dynamic ? 16 : 0);
            dynamic ? submit(std::vector<int>{2, 3}) : submit(2);
            const int expected = static_cast<int>(2 * buffers) + (dynamic ? 5 : 10);
            EXPECT_EQ(read_back(*queue, *out, count), std::vector<int>(count, expected));
        }
    }
}

TEST_P(VulkanBatchTest, LeavesNothingOutAtTheEndOfAStream) {
    const auto add = device->compile(batch_sum(0));  // a kernel for several elements an invocation
    for (const std::uint32_t count : {1024u, 1025u, 1031u, 4003u}) {
        for (const bool dynamic : {false, true}) {
            const auto out = filled(count, 1);
            BatchCommand command = multiply(*out, count, {}, &five);
            command.program = add.get();
            if (dynamic) command.args[1] = {.dynamic = 0};
            prepare({command}, dynamic ? 16 : 0);
            dynamic ? submit(odd_numbers(5)) : submit(5);
            EXPECT_EQ(read_back(*queue, *out, count), std::vector<int>(count, 26)) << count << dynamic;
        }
    }
}

// ---- what cannot be recorded ----

class PrintedByBatch {
public:
    PrintedByBatch() {
        set_print_sink([this](std::string_view line) {
            const std::scoped_lock lock(mutex_);
            lines_.emplace_back(line);
        });
    }
    ~PrintedByBatch() { set_print_sink({}); }
    std::vector<std::string> lines() {
        const std::scoped_lock lock(mutex_);
        return lines_;
    }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

TEST_P(VulkanBatchTest, KernelsThatPrintAreLaunchedBetweenRecordedParts) {
    ir::Function fn;
    fn.name = "show";
    ir::Builder b(fn);
    const ir::NodeId data = b.buffer(ScalarType::I32, "data", true);
    const ir::NodeId label = b.param(ScalarType::I32, "label");
    const ir::NodeId zero = b.constant_u32(0);
    const ir::NodeId printed_values[] = {label, b.load(data, std::span(&zero, 1))};
    b.print("{}: {}", printed_values);
    const auto show = device->compile(std::move(fn));
    const auto a = filled(1, 1);
    BatchCommand print = multiply_dynamic(*a, 1, {0}, 4);
    print.program = show.get();
    print.local = {1, 1, 1};
    VulkanBatch& own = prepare({multiply_dynamic(*a, 1), print, multiply(*a, 1, {1}, &five)}, 16);
    ASSERT_EQ(own.parts().size(), 3u);
    EXPECT_EQ(own.barriers(), 2u);
    PrintedByBatch printed;
    const std::vector<int> values = {2, 10, 0, 0, 3, 20, 0, 0, 7, 30, 0, 0};
    queue->timeline().wait(queue->submit(*batch, 3, bytes_of(values)));
    EXPECT_EQ(printed.lines(), (std::vector<std::string>{"10: 2", "20: 30", "30: 1050"}));
    EXPECT_EQ(last_of(*a), 5250u);
}

TEST_P(VulkanBatchTest, AValueOfAModuleMadeElsewhereIsPushedForEachInstance) {
    const auto raw = vulkan::multiply_add(*device);
    const auto a = filled(256, 1);
    BatchCommand command = multiply_dynamic(*a, 256);
    command.program = raw.get();
    EXPECT_EQ(prepare({command, multiply(*a, 256, {0})}, 16).parts().size(), 2u);
    submit(std::vector<int>{3, 5, 7});
    EXPECT_EQ(last_of(*a), after_all(1, {3, 2, 5, 2, 7, 2}, 255));
}

}  // namespace
}  // namespace volley::backends::vulkan
