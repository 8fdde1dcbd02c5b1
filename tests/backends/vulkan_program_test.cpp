// Kernels on Vulkan devices: pipelines and their cache, arguments, large grids, reports.
#include "backends/vulkan_support.hpp"
#include "core/text.hpp"
#include "support/sanitized.hpp"

#include <volley/error.hpp>
#include <volley/print_sink.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

namespace volley::backends::vulkan {
namespace {

class VulkanProgramTest : public VulkanTest {
protected:
    void SetUp() override {
        VulkanTest::SetUp();
        if (IsSkipped()) return;
        device = open();
        queue = device->make_queue();
    }
    std::unique_ptr<VulkanDevice> device;
    std::unique_ptr<backends::Queue> queue;
};
VOLLEY_VULKAN_SUITE(VulkanProgramTest);

ir::NodeId global_x(ir::Builder& b) { return b.extract(b.emit(ir::Op::GlobalId, {}), 0); }

/// Computes data[0] += 1 with atomics.
ir::Function count_invocations() {
    ir::Function fn;
    fn.name = "count_invocations";
    ir::Builder b(fn);
    const ir::NodeId data = b.buffer(ScalarType::U32, "data");
    b.emit(ir::Op::AtomicAdd, {data, b.constant_u32(1), b.constant_u32(0)});
    return fn;
}

/// Computes data[i] += i, where i is the position in the grid.
ir::Function add_place() {
    ir::Function fn;
    fn.name = "add_place";
    ir::Builder b(fn);
    const ir::NodeId data = b.buffer(ScalarType::U32, "data");
    const ir::NodeId id = b.emit(ir::Op::GlobalId, {});
    const ir::NodeId size = b.emit(ir::Op::GlobalSize, {});
    const auto mul = [&](ir::NodeId x, ir::NodeId y) { return b.emit(ir::Op::Mul, {x, y}); };
    const auto add = [&](ir::NodeId x, ir::NodeId y) { return b.emit(ir::Op::Add, {x, y}); };
    const ir::NodeId row = add(mul(b.extract(id, 2), b.extract(size, 1)), b.extract(id, 1));
    const ir::NodeId i = add(mul(row, b.extract(size, 0)), b.extract(id, 0));
    b.store(data, add(b.load(data, std::span(&i, 1)), i), std::span(&i, 1));
    return fn;
}

TEST_P(VulkanProgramTest, RunsGridsBeyondTheDriversLimit) {
    const auto program = device->compile(add_place());
    const std::uint32_t most = device->logical().physical().max_groups[0];
    struct Case {
        ir::Dim3 global, local;
    };
    std::vector<Case> cases = {{{testing::unless_sanitized(3, 1) * most + 5, 1, 1}, {1, 1, 1}},
                               {{1, 1, most + 2}, {1, 1, 1}}};
    if (!testing::sanitized) {
        cases.push_back({{2 * most + 7, 1, 1}, {2, 1, 1}});
        cases.push_back({{2, most + 3, 1}, {2, 1, 1}});
    }
    for (const Case& c : cases) {
        const std::size_t count = std::size_t{c.global[0]} * c.global[1] * c.global[2];
        const auto memory = device->allocate(count * 4);
        fill_at(*queue, *memory, 0, count * 4, std::vector<std::byte>(4));
        backends::Argument arg;
        arg.memory = memory.get();
        arg.elements = count;
        queue->launch({program.get(), c.global, c.local, std::span(&arg, 1)});
        EXPECT_EQ(read_back(*queue, *memory, count), counting(count)) << "each position once";
    }
}

/// Computes large[base + i] += i with a u64 index, beyond the range of 32 bits.
ir::Function add_far_away(ScalarType element, ScalarType index) {
    ir::Function fn;
    fn.name = "add_far_away";
    ir::Builder b(fn);
    const ir::NodeId large = b.buffer(element, "large");
    const ir::NodeId base = b.param(index, "base");
    const ir::NodeId i = global_x(b);
    const ir::NodeId place = b.emit(ir::Op::Add, {base, b.convert(i, index)});
    const ir::NodeId value =
        b.emit(ir::Op::Add, {b.load(large, std::span(&place, 1)), b.convert(i, element)});
    b.store(large, value, std::span(&place, 1));
    return fn;
}

// The kernel is passed a buffer of many gigabytes, but accesses only a small existing block in it: the
// address of the first element precedes the block by the block's offset in the buffer.
TEST_P(VulkanProgramTest, IndexesBeyondFourGibiElements) {
    constexpr std::size_t count = 1000;
    for (const ScalarType element : {ScalarType::U8, ScalarType::U16, ScalarType::U32, ScalarType::U64}) {
        const std::uint64_t bytes = size_of(element);
        for (const std::uint64_t base :
             {std::uint64_t{0xffffff00}, (std::uint64_t{5} << 30) + 12, std::uint64_t{3} << 33}) {
            for (const ScalarType wide : {ScalarType::U64, ScalarType::I64}) {
                const auto program = device->compile(add_far_away(element, wide));
                const auto memory = device->allocate(count * bytes);
                fill_at(*queue, *memory, 0, count * bytes, std::vector<std::byte>(bytes));
                std::array<backends::Argument, 2> args;
                args[0].memory = memory.get();
                args[0].offset = std::uint64_t{0} - base * bytes;
                args[0].elements = base + count;
                args[1].value = &base;
                queue->launch({program.get(), {count, 1, 1}, {64, 1, 1}, args});
                std::vector<std::byte> read(count * bytes);
                queue->timeline().wait(read_at(*queue, *memory, 0, read));
                for (std::size_t i = 0; i != count; ++i) {
                    std::uint64_t value = 0;
                    std::memcpy(&value, read.data() + i * bytes, bytes);
                    ASSERT_EQ(value, bytes == 1 ? i & 0xff : i)
                        << bytes << " bytes, element " << base << " + " << i;
                }
            }
        }
    }
}

TEST_P(VulkanProgramTest, CreatesAPipelineOncePerVariant) {
    const auto program = device->compile(count_invocations());
    const auto& vulkan = static_cast<const VulkanProgram&>(*program);
    const KernelVariant& first = vulkan.kernel({{64, 1, 1}, true});
    const KernelVariant& second = vulkan.kernel({{32, 1, 1}, true});
    const KernelVariant& partial = vulkan.kernel({{64, 1, 1}, false});
    EXPECT_NE(first.pipeline, second.pipeline);
    EXPECT_NE(first.pipeline, partial.pipeline);
    EXPECT_EQ(&vulkan.kernel({{64, 1, 1}, true}), &first);
}

TEST_P(VulkanProgramTest, AForeignModuleHasOneLocalSize) {
    const auto program = multiply_add(*device);
    const auto memory = device->allocate(64);
    int factor = 1;
    backends::Argument args[2];
    args[0].memory = memory.get();
    args[0].elements = 16;
    args[1].value = &factor;
    EXPECT_THROW(queue->launch({program.get(), {16, 1, 1}, {16, 1, 1}, args}), LaunchError);
    EXPECT_NO_THROW(queue->launch({program.get(), {16, 1, 1}, {64, 1, 1}, args}));
    EXPECT_NO_THROW(queue->timeline().wait(queue->last()));
}

TEST_P(VulkanProgramTest, ShowsItsCode) {
    const auto program = device->compile(count_invocations());
    EXPECT_NE(program->code({64, 1, 1}).find("OpAtomicIAdd"), std::string::npos);
}

// ---- reports ----

/// Counts data[0] up to n.
ir::Function long_loop() {
    ir::Function fn;
    fn.name = "long_loop";
    ir::Builder b(fn);
    const ir::NodeId data = b.buffer(ScalarType::U32, "data");
    const ir::NodeId n = b.param(ScalarType::U32, "n");
    const ir::NodeId zero = b.constant_u32(0);
    const ir::NodeId sum = b.var(ScalarType::U32);
    b.begin_for(zero, n, b.constant_u32(1));
    b.store(sum, b.emit(ir::Op::Add, {b.load(sum, {}), b.constant_u32(1)}), {});
    b.end_for();
    b.store(data, b.load(sum, {}), std::span(&zero, 1));
    return fn;
}

TEST_P(VulkanProgramTest, ALoopCutShortByTheDriverIsReported) {
    const auto program = device->compile(long_loop());
    const auto memory = device->allocate(4);
    const auto run = [&](unsigned n) {
        backends::Argument args[2];
        args[0].memory = memory.get();
        args[0].elements = 1;
        args[1].value = &n;
        queue->timeline().wait(queue->launch({program.get(), {1, 1, 1}, {1, 1, 1}, args}));
        return static_cast<unsigned>(read_back(*queue, *memory, 1)[0]);
    };
    EXPECT_EQ(run(50'000), 50'000u);
    if (device->logical().physical().target.max_iterations == 0) {
        EXPECT_EQ(run(200'000), 200'000u);
        return;
    }
    try {
        (void)run(200'000);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const LaunchError& error) {
        EXPECT_NE(error.subject().find("long_loop"), std::string_view::npos) << error.what();
        EXPECT_NE(error.subject().find(device->info().name), std::string_view::npos) << error.what();
        EXPECT_NE(error.what_failed().find("65535"), std::string_view::npos) << error.what();
        EXPECT_FALSE(error.advice().empty());
    }
    EXPECT_EQ(run(1000), 1000u) << "the queue continues";
}

TEST_P(VulkanProgramTest, KnowsHowTheDriverRoundsFma) {
    // Measures what the table of drivers claims, in the way used for drivers that are not in it.
    EXPECT_EQ(device->measures_fused_fma(), device->logical().physical().target.fused_fma);
}

// ---- the pipeline cache ----

std::vector<char> cache_data;

VKAPI_ATTR VkResult VKAPI_CALL give_cache_data(VkDevice /*device*/, VkPipelineCache /*cache*/,
                                               std::size_t* size, void* data) {
    if (data != nullptr) std::memcpy(data, cache_data.data(), std::min(*size, cache_data.size()));
    *size = cache_data.size();
    return VK_SUCCESS;
}

std::vector<char> initial_data;
PFN_vkCreatePipelineCache real_create_cache = nullptr;

VKAPI_ATTR VkResult VKAPI_CALL note_initial_data(VkDevice device, const VkPipelineCacheCreateInfo* info,
                                                 const VkAllocationCallbacks* callbacks,
                                                 VkPipelineCache* cache) {
    const auto* data = static_cast<const char*>(info->pInitialData);
    initial_data.assign(data, data + info->initialDataSize);
    VkPipelineCacheCreateInfo empty = *info;
    empty.initialDataSize = 0;
    return real_create_cache(device, &empty, callbacks, cache);
}

class VulkanPipelineCacheTest : public VulkanTest {
protected:
    void SetUp() override {
        VulkanTest::SetUp();
        if (IsSkipped()) return;
        folder =
            std::filesystem::temp_directory_path() / cat("volley-test-", ::getpid(), "-", GetParam().label);
        std::filesystem::remove_all(folder);
        const PhysicalDevice& physical = instance->devices()[static_cast<std::size_t>(index)];
        device = std::make_shared<LogicalDevice>(instance, physical);
        device->vk.vkGetPipelineCacheData = give_cache_data;
        real_create_cache = std::exchange(device->vk.vkCreatePipelineCache, note_initial_data);
        VkPipelineCacheHeaderVersionOne header{};
        header.headerSize = sizeof header;
        header.headerVersion = VK_PIPELINE_CACHE_HEADER_VERSION_ONE;
        header.vendorID = physical.vendor_id;
        header.deviceID = physical.device_id;
        std::copy(physical.cache_uuid.begin(), physical.cache_uuid.end(),
                  std::begin(header.pipelineCacheUUID));
        cache_data.resize(sizeof header);
        std::memcpy(cache_data.data(), &header, sizeof header);
        initial_data.clear();
    }
    void TearDown() override {
        if (!folder.empty()) std::filesystem::remove_all(folder);
        VulkanTest::TearDown();
    }
    /// Opens the cache and closes it again; returns its file's name.
    std::string visit() { return PipelineCache(device, folder.string()).file(); }
    void add_pipeline() { cache_data.insert(cache_data.end(), {'c', 'o', 'd', 'e'}); }

    std::filesystem::path folder;
    std::shared_ptr<LogicalDevice> device;
};
VOLLEY_VULKAN_SUITE(VulkanPipelineCacheTest);

TEST_P(VulkanPipelineCacheTest, WritesNoFileForAnEmptyCache) {
    EXPECT_FALSE(std::filesystem::exists(visit()));
    EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_P(VulkanPipelineCacheTest, PassesTheSavedDataToTheDriverOnTheNextRun) {
    add_pipeline();
    EXPECT_TRUE(std::filesystem::exists(visit()));
    EXPECT_TRUE(initial_data.empty());
    (void)visit();
    EXPECT_EQ(initial_data, cache_data);
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++files;
    EXPECT_EQ(files, 1u) << "no temporary file is left";
}

TEST_P(VulkanPipelineCacheTest, IgnoresADamagedFile) {
    add_pipeline();
    const std::string file = visit();
    const std::string whole = [&] {
        std::ifstream in(file, std::ios::binary);
        return std::string{std::istreambuf_iterator<char>(in), {}};
    }();
    std::string flipped = whole;
    flipped[flipped.size() - 2] ^= 1;
    for (const std::string& broken :
         {std::string(), whole.substr(0, 10), whole.substr(0, whole.size() - 1), flipped}) {
        std::ofstream(file, std::ios::binary | std::ios::trunc) << broken;
        (void)visit();
        EXPECT_TRUE(initial_data.empty());
    }
    (void)visit();
    EXPECT_EQ(initial_data, cache_data) << "a valid file has replaced it";
}

TEST_P(VulkanPipelineCacheTest, AFolderThatCannotBeCreatedIsNotAnError) {
    add_pipeline();
    EXPECT_NO_THROW(PipelineCache(device, "/proc/no such place"));
}

}  // namespace
}  // namespace volley::backends::vulkan
