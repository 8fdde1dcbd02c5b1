// Host memory allocated by the device, imported host memory, and native buffers of the driver.
#include "backends/queue_support.hpp"
#include "backends/subjects.hpp"
#include "support/expect_error.hpp"

#include <volley/native.hpp>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <variant>

namespace volley::testing {
namespace {

constexpr std::size_t page = 4096;

bool is_aligned(const void* address, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

/// Page-aligned host memory for imports.
class Pages {
public:
    explicit Pages(std::size_t bytes) : bytes_(bytes) {
        memory_ = static_cast<std::byte*>(std::aligned_alloc(page, (bytes + page - 1) / page * page));
        std::memset(memory_, 0, bytes);
    }
    ~Pages() { std::free(memory_); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    [[nodiscard]] std::span<std::byte> bytes() const { return {memory_, bytes_}; }
    [[nodiscard]] std::span<int> ints() const {
        return {reinterpret_cast<int*>(memory_), bytes_ / sizeof(int)};
    }

private:
    std::byte* memory_;
    std::size_t bytes_;
};

class HostMemoryTest : public SubjectTest {
protected:
    [[nodiscard]] bool has_driver() const {
        return device->info().backend == "opencl" || device->info().backend == "vulkan";
    }
};
VOLLEY_EVERY_SUBJECT_SUITE(HostMemoryTest);

TEST_P(HostMemoryTest, IsAddressableAndPageAligned) {
    with_each_memory([&] {
        std::vector<std::unique_ptr<backends::Memory>> blocks;
        for (const std::size_t size : {1u, 100u, 4096u, 5000u, 3u << 20, 100u}) {
            blocks.push_back(device->allocate_host(size));
            const backends::Memory& memory = *blocks.back();
            EXPECT_EQ(memory.size(), size);
            ASSERT_NE(memory.host(), nullptr);
            EXPECT_TRUE(is_aligned(memory.host(), page)) << size;
            std::memset(memory.host(), static_cast<int>(blocks.size()), size);
        }
        for (std::size_t k = 0; k < blocks.size(); ++k) {
            const std::byte mark{static_cast<unsigned char>(k + 1)};
            EXPECT_EQ(blocks[k]->host()[0], mark);
            EXPECT_EQ(blocks[k]->host()[blocks[k]->size() - 1], mark);
        }
    });
}

TEST_P(HostMemoryTest, CopiesToTheDeviceAndBackInOrder) {
    with_each_memory([&] {
        const auto program = GetParam().multiply_add(*device);
        constexpr std::uint32_t count = 200'000;
        const auto memory = device->allocate(count * sizeof(int));
        const auto in = device->allocate_host(count * sizeof(int));
        const auto out = device->allocate_host(count * sizeof(int));
        const std::vector<int> values = counting(count, 7);
        std::memcpy(in->host(), values.data(), in->size());
        copy_at(*queue, *memory, 0, *in, 0, in->size());
        launch_multiply_add(*queue, *program, *memory, 2, count);
        queue->timeline().wait(copy_at(*queue, *out, 0, *memory, 0, out->size()));
        const int* results = reinterpret_cast<const int*>(out->host());
        for (std::uint32_t i = 0; i < count; ++i)
            ASSERT_EQ(results[i], 2 * (7 + static_cast<int>(i)) + static_cast<int>(i));
    });
}

TEST_P(HostMemoryTest, IsWrittenAndReadInQueueOrder) {
    with_each_memory([&] {
        const auto memory = device->allocate(4000);
        const auto host = device->allocate_host(4000);
        Gate gate;
        queue->call([&] { gate.pass(); });
        write_at(*queue, *host, 0, bytes_of(counting(1000)));  // like any other memory
        copy_at(*queue, *memory, 0, *host, 0, 4000);
        fill_at(*queue, *host, 0, 4000, std::vector<std::byte>(4, std::byte{1}));
        copy_at(*queue, *host, 400, *memory, 0, 400);
        std::vector<int> back(1000);
        read_at(*queue, *host, 0, std::as_writable_bytes(std::span(back)));
        gate.open();
        wait();
        EXPECT_EQ(back[0], 0x01010101);
        EXPECT_EQ(back[100], 0);
        EXPECT_EQ(back[199], 99);
        EXPECT_EQ(back[200], 0x01010101);
        EXPECT_EQ(std::memcmp(back.data(), host->host(), 4000), 0);
        EXPECT_EQ(read_back(*queue, *memory, 1000)[999], 999);
    });
}

TEST_P(HostMemoryTest, OutlivesItsQueueAndDevice) {
    auto host = device->allocate_host(1000);
    queue.reset();
    device.reset();
    std::memset(host->host(), 1, 1000);
    host.reset();
}

// ---- imported host memory ----

TEST_P(HostMemoryTest, KernelsUseImportedMemoryWithoutACopy) {
    with_each_memory([&] {
        if (device->import_alignment() == 0) return;
        ASSERT_LE(device->import_alignment(), page);
        const auto program = GetParam().multiply_add(*device);
        const Pages mine(4 * page);
        for (int& value : mine.ints()) value = 10;
        const std::uint32_t count = 4 * page / sizeof(int);
        {
            const auto memory = device->import_host(mine.bytes());
            EXPECT_EQ(memory->size(), 4 * page);
            EXPECT_TRUE(memory->host() == nullptr || memory->host() == mine.bytes().data());
            launch_multiply_add(*queue, *program, *memory, 3, count);
            const std::vector<int> result = read_back(*queue, *memory, count);
            for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(result[i], 30 + static_cast<int>(i));
            if (memory->host() != nullptr) {
                EXPECT_EQ(std::memcmp(mine.ints().data(), result.data(), 4 * page), 0);
            }
        }
        mine.ints()[0] = 1;  // the caller may still write it
    });
}

TEST_P(HostMemoryTest, TransfersUseImportedMemory) {
    with_each_memory([&] {
        if (device->import_alignment() == 0) return;
        const Pages mine(2 * page);
        const auto imported = device->import_host(mine.bytes());
        const auto memory = device->allocate(2 * page);
        Gate gate;
        queue->call([&] { gate.pass(); });
        write_at(*queue, *imported, 0, bytes_of(counting(2048)));
        copy_at(*queue, *memory, 0, *imported, 0, 2 * page);
        fill_at(*queue, *imported, 4, 400, std::vector<std::byte>(4, std::byte{2}));
        queue->copy(*imported, *memory, {{4, {100, 1}}, {4096, {8, 0}}, {0, {4, 0}}});
        gate.open();
        const std::vector<int> result = read_back(*queue, *imported, 2048);
        EXPECT_EQ(result[0], 0);
        EXPECT_EQ(result[1], 0x02020202);
        EXPECT_EQ(result[101], 101);
        EXPECT_EQ(result[1024], 0);
        EXPECT_EQ(result[1025], 1025);
        EXPECT_EQ(result[1026], 1);
        EXPECT_EQ(read_back(*queue, *memory, 2048), counting(2048));
    });
}

TEST_P(HostMemoryTest, ImportRequiresAlignment) {
    if (device->import_alignment() == 0) GTEST_SKIP() << "the device cannot import host memory";
    if (device->import_alignment() == 1) GTEST_SKIP() << "the device imports any memory";
    const Pages mine(2 * page);
    const std::string text = error_of(ErrorCode::InvalidArgument, [&] {
        (void)device->import_host(mine.bytes().subspan(device->import_alignment() / 2, page));
    });
    EXPECT_NE(text.find(std::to_string(device->import_alignment())), std::string::npos) << text;
    EXPECT_NO_THROW((void)device->import_host(mine.bytes()));
}

TEST_P(HostMemoryTest, ImportRejectsAnEmptyRange) {
    if (device->import_alignment() == 0) GTEST_SKIP() << "the device cannot import host memory";
    error_of(ErrorCode::InvalidArgument, [&] { (void)device->import_host({}); });
}

TEST_P(HostMemoryTest, ImportFailsOnADeviceWithoutSupport) {
    if (device->import_alignment() != 0) GTEST_SKIP() << "the device supports it";
    const Pages mine(page);
    error_of(ErrorCode::Unsupported, [&] { (void)device->import_host(mine.bytes()); });
}

// ---- native buffers ----

TEST_P(HostMemoryTest, NativeHandlesAreExposed) {
    with_each_memory([&] {
        const auto memory = device->allocate(1000);
        const NativeDevice own = device->native();
        const NativeBuffer buffer = memory->native();
        if (!has_driver()) {
            EXPECT_TRUE(std::holds_alternative<std::monostate>(own));
            EXPECT_TRUE(std::holds_alternative<std::monostate>(buffer));
        } else if (const auto* opencl = std::get_if<OpenClDeviceHandles>(&own)) {
            EXPECT_TRUE(opencl->platform != nullptr && opencl->device != nullptr &&
                        opencl->context != nullptr);
            ASSERT_TRUE(std::holds_alternative<OpenClBuffer>(buffer));
            EXPECT_NE(std::get<OpenClBuffer>(buffer).buffer, nullptr);
            EXPECT_EQ(std::get<OpenClBuffer>(buffer).bytes, 1000u);
        } else if (const auto* vulkan = std::get_if<VulkanDeviceHandles>(&own)) {
            EXPECT_TRUE(vulkan->instance != nullptr && vulkan->physical_device != nullptr &&
                        vulkan->device != nullptr);
            ASSERT_TRUE(std::holds_alternative<VulkanBuffer>(buffer));
            EXPECT_NE(std::get<VulkanBuffer>(buffer).buffer, 0u);
            EXPECT_EQ(std::get<VulkanBuffer>(buffer).bytes, 1000u);
        }
    });
}

/// Returns the part of a native buffer that starts at `offset`.
NativeBuffer part_of(NativeBuffer buffer, std::uint64_t offset, std::uint64_t bytes) {
    const auto cut = [&](auto& part) {
        part.offset += offset;
        part.bytes = bytes;
    };
    if (auto* opencl = std::get_if<OpenClBuffer>(&buffer)) cut(*opencl);
    if (auto* vulkan = std::get_if<VulkanBuffer>(&buffer)) cut(*vulkan);
    return buffer;
}

TEST_P(HostMemoryTest, ANativeBufferServesAsMemory) {
    with_each_memory([&] {
        const auto memory = device->allocate(8192);
        if (std::holds_alternative<std::monostate>(memory->native())) return;
        const auto program = GetParam().multiply_add(*device);
        write_at(*queue, *memory, 0, bytes_of(counting(2048)));
        wait();
        for (const std::uint64_t offset : {0u, 64u, 4096u}) {
            SCOPED_TRACE(offset);
            const auto part = device->import_native(part_of(memory->native(), offset, 4096));
            EXPECT_EQ(part->size(), 4096u);
            EXPECT_EQ(read_back(*queue, *part, 1024), counting(1024, static_cast<int>(offset / 4)));
            launch_multiply_add(*queue, *program, *part, 2, 64);  // multiplies by 2, adds the index
            fill_at(*queue, *part, 400, 40, std::vector<std::byte>(4, std::byte{3}));
            queue->write(*part, reinterpret_cast<const std::byte*>(counting(4, -9).data()),
                         {{4, {4, 1}}, {800, {8, 0}}, {0, {4, 0}}});
            copy_at(*queue, *part, 2000, *part, 0, 400);
            wait();
            const std::vector<int> all = read_back(*queue, *memory, 2048);
            const auto first = static_cast<std::size_t>(offset / 4);
            const auto value = [&](std::size_t i) { return all[first + i]; };
            for (int i = 0; i < 64; ++i)
                ASSERT_EQ(value(static_cast<std::size_t>(i)), 2 * (static_cast<int>(first) + i) + i);
            EXPECT_EQ(value(100), 0x03030303);
            EXPECT_EQ(value(109), 0x03030303);
            EXPECT_EQ(value(200), -9);
            EXPECT_EQ(value(206), -6);
            EXPECT_EQ(value(201), static_cast<int>(first) + 201);
            EXPECT_EQ(value(500 + 63), value(63));
            write_at(*queue, *memory, 0, bytes_of(counting(2048)));
            wait();
        }
    });
}

TEST_P(HostMemoryTest, AnUnsuitableNativeBufferIsRejected) {
    const auto memory = device->allocate(1000);
    const NativeBuffer own = memory->native();
    error_of(ErrorCode::Unsupported, [&] { (void)device->import_native({}); });
    if (!std::holds_alternative<OpenClBuffer>(own))
        error_of(ErrorCode::Unsupported, [&] {
            (void)device->import_native(OpenClBuffer{device.get(), 0, 4});
        });
    if (!std::holds_alternative<VulkanBuffer>(own))
        error_of(ErrorCode::Unsupported, [&] { (void)device->import_native(VulkanBuffer{1, 0, 0, 4}); });
    if (std::holds_alternative<OpenClBuffer>(own)) {
        error_of(ErrorCode::InvalidArgument, [&] {
            (void)device->import_native(OpenClBuffer{nullptr, 0, 4});
        });
        error_of(ErrorCode::InvalidArgument, [&] { (void)device->import_native(part_of(own, 0, 0)); });
        error_of(ErrorCode::InvalidArgument, [&] { (void)device->import_native(part_of(own, 500, 501)); });
    } else if (std::holds_alternative<VulkanBuffer>(own)) {
        error_of(ErrorCode::InvalidArgument, [&] { (void)device->import_native(VulkanBuffer{0, 0, 0, 4}); });
        error_of(ErrorCode::InvalidArgument, [&] { (void)device->import_native(part_of(own, 0, 0)); });
        error_of(ErrorCode::InvalidArgument, [&] { (void)device->import_native(part_of(own, 4, 4)); });
    }
}

}  // namespace
}  // namespace volley::testing
