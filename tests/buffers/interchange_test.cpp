// Imports and exports: the caller's memory, DLPack tensors, drivers' objects.
#include "buffers/buffer_support.hpp"

#include <array>
#include <complex>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#define HAS_DLPACK
#endif

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;
using testing::make_twice;
using testing::numbers;

constexpr std::size_t page = 4096;

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};

/// Page-aligned ints that fill whole pages.
std::unique_ptr<int[], Free> pages(std::size_t count) {
    return std::unique_ptr<int[], Free>(static_cast<int*>(std::aligned_alloc(page, count * page)));
}

/// Returns whether the device may refuse the caller's memory: all of it, or memory that is not whole pages.
bool is_choosy(const DeviceInfo& device) { return device.backend != "cpu" && device.backend != "reference"; }

VOLLEY_BACKEND_TEST(Interchange, UsesTheCallersMemoryWithoutACopy) {
    const auto memory = pages(2);
    const std::span<int> span(memory.get(), 2 * page / sizeof(int));
    for (std::size_t i = 0; i < span.size(); ++i) span[i] = static_cast<int>(i);
    Buffer<int> buffer;
    try {
        buffer = import_host(span, {.name = "mine"});
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.code(), ErrorCode::Unsupported);
        GTEST_SKIP() << device_name() << " cannot: " << error.what();
    }
    EXPECT_EQ(buffer.read(0), numbers(span.size()));
    make_twice().on(current_context().queue(0))(buffer);
    EXPECT_EQ(buffer.read(0)[100], 200);
    buffer.write(numbers(span.size(), 5));
    wait();
    // OpenCL guarantees that the import is the caller's memory only for devices that share all host memory.
    if (device().host_memory && device().backend != "opencl") {
        EXPECT_EQ(span[100], 105);
        EXPECT_EQ(buffer.as_span().data(), span.data());
    }
    EXPECT_EQ(buffer.read(1)[1], 6) << "queues of a device share it";
}

VOLLEY_BACKEND_TEST(Interchange, RefusesMemoryThatItCannotUse) {
    const auto memory = pages(2);
    error_of(ErrorCode::SizeMismatch, [&] {
        static_cast<void>(import_host(std::span<int>(memory.get(), 100), Shape({10, 11})));
    });
    error_of(ErrorCode::InvalidArgument, [&] {
        auto* bytes = reinterpret_cast<std::byte*>(memory.get()) + 1;
        static_cast<void>(import_host(dtype_of<int>(), {4}, {bytes, 16}));
    });
    error_of(ErrorCode::InvalidArgument,
             [&] { static_cast<void>(import_host(std::span<int>(static_cast<int*>(nullptr), 4))); });
    if (device().backend == "cpu" || device().backend == "reference") return;
    try {
        static_cast<void>(import_host(std::span<int>(memory.get() + 1, 4)));
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
        if (error.code() != ErrorCode::Unsupported) expect_contains(error.what(), "4096");
    }
}

VOLLEY_BACKEND_TEST(Interchange, KeepsAnOwnerUntilTheLastUse) {
    const auto owner = std::make_shared<int>(1);
    const auto memory = pages(1);
    const std::span<int> span(memory.get(), page / sizeof(int));
    std::fill(span.begin(), span.end(), 1);
    try {
        Buffer<int> buffer = import_host(span, {.owner = owner});
        make_twice().on(current_context().queue(0))(buffer);
        EXPECT_EQ(owner.use_count(), 2);
    } catch (const DeviceError& error) {
        ASSERT_TRUE(is_choosy(device())) << error.what();
        GTEST_SKIP() << error.what();
    }
    wait();
    trim();
    EXPECT_EQ(owner.use_count(), 1);
}

VOLLEY_BACKEND_TEST(Interchange, OfNoMemoryIsABufferOfNothing) {
    const auto owner = std::make_shared<int>(1);
    {
        Buffer<int> buffer = import_host(std::span<int>(), {.owner = owner});
        EXPECT_EQ(buffer.size(), 0u);
        buffer.fill(1).wait();
        buffer.write(std::vector<int>());
        EXPECT_TRUE(buffer.read(0).empty());
        EXPECT_EQ(owner.use_count(), 2);
    }
    wait();
    trim();
    EXPECT_EQ(owner.use_count(), 1);
}

VOLLEY_BACKEND_TEST(Interchange, RefusalsNameTheBuffer) {
    const auto memory = pages(1);
    const auto refused = [](auto&& f) {
        try {
            f();
            ADD_FAILURE() << "nothing was thrown";
        } catch (const Error& error) {
            expect_contains(error.what(), "buffer 'mine'");
        }
    };
    const std::int64_t huge = std::int64_t{1} << 40;
    const std::span<int> span(memory.get(), 4);
    refused([&] { static_cast<void>(import_host(span, Shape({huge, huge}), {.name = "mine"})); });
    refused([&] { static_cast<void>(import_host(span, Shape(5), {.name = "mine"})); });
    refused([&] { static_cast<void>(import_native<int>({4}, VulkanBuffer{.bytes = 16}, {.name = "mine"})); });
    refused([&] { static_cast<void>(import_native<int>({4}, OpenClBuffer{.bytes = 16}, {.name = "mine"})); });
    refused([&] {
        static_cast<void>(import_native<int>({4}, OpenClBuffer{.offset = 2, .bytes = 16}, {.name = "mine"}));
    });
    refused([&] { static_cast<void>(import_native<int>({4}, NativeBuffer{}, {.name = "mine"})); });
    if (device().backend == "cpu" || device().backend == "reference") return;
    refused([&] { static_cast<void>(import_host(span.subspan(1), {.name = "mine"})); });
}

VOLLEY_BACKEND_TEST(Interchange, AViewOfMisalignedMemoryIsAnErrorWhereItsTypeIsNotAligned) {
    alignas(64) std::array<std::uint8_t, 128> memory{};
    Buffer<std::uint8_t> bytes;
    try {
        bytes = import_host(std::span(memory).subspan(1, 64));
    } catch (const Error& error) {
        ASSERT_TRUE(is_choosy(device())) << error.what();
        GTEST_SKIP() << error.what();
    }
    expect_contains(error_of(ErrorCode::InvalidView, [&] { static_cast<void>(bytes.view_as<float>()); }),
                    "1 bytes after");
    const Buffer<float> aligned = bytes.view(3, 8).view_as<float>();
    EXPECT_EQ(static_cast<const void*>(aligned.as_span().data()), &memory[4]);
    error_of(ErrorCode::InvalidView, [&] { static_cast<void>(bytes.view(3, 8).view_as<double>()); });
}

VOLLEY_BACKEND_TEST(Interchange, TellsTheDriversObjects) {
    Buffer<int> buffer = as_buffer(numbers(64));
    const NativeBuffer native = native_buffer(buffer.view(16, 16), 1);
    const NativeDevice driver = native_device(current_context().queue(0));
    if (device().backend == "vulkan") {
        EXPECT_NE(std::get<VulkanBuffer>(native).buffer, 0u);
        EXPECT_EQ(std::get<VulkanBuffer>(native).bytes, 64u);
        EXPECT_NE(std::get<VulkanDeviceHandles>(driver).device, nullptr);
    } else if (device().backend == "opencl") {
        EXPECT_NE(std::get<OpenClBuffer>(native).buffer, nullptr);
        EXPECT_EQ(std::get<OpenClBuffer>(native).offset, 64u);
        EXPECT_NE(std::get<OpenClDeviceHandles>(driver).context, nullptr);
    } else {
        EXPECT_TRUE(std::holds_alternative<std::monostate>(native));
        error_of(ErrorCode::Unsupported,
                 [&] { static_cast<void>(import_native<int>({4}, VulkanBuffer{.buffer = 1, .bytes = 16})); });
        return;
    }
    // Exported and imported again: the same memory.
    const NativeBuffer whole = native_buffer(buffer, 0);
    Buffer<int> again = import_native<int>({64}, whole, {.name = "again"});
    make_twice().on(current_context().queue(0))(again);
    wait();
    EXPECT_EQ(buffer.read(0)[5], 10);
    error_of(ErrorCode::SizeMismatch, [&] { static_cast<void>(import_native<int>({65}, whole)); });
}

#ifdef HAS_DLPACK

VOLLEY_BACKEND_TEST(DlPack, SharesAReplicaWithOthers) {
    Buffer<float> buffer({2, 3}, {.padded_shape = {4, 8}});
    buffer.write(numbers<float>(6));
    if (!device().host_memory) {
        error_of(ErrorCode::NotHostAccessible, [&] { static_cast<void>(to_dlpack(buffer)); });
        return;
    }
    DLManagedTensor* tensor = to_dlpack(buffer, 1);
    EXPECT_EQ(tensor->dl_tensor.ndim, 2);
    EXPECT_EQ(tensor->dl_tensor.shape[1], 3);
    EXPECT_EQ(tensor->dl_tensor.strides[0], 8);
    EXPECT_EQ(tensor->dl_tensor.dtype.code, kDLFloat);
    EXPECT_EQ(tensor->dl_tensor.dtype.bits, 32);
    auto* data = static_cast<float*>(tensor->dl_tensor.data);
    EXPECT_EQ(data[8 + 2], 5);
    data[0] = 100;
    EXPECT_EQ(buffer.read(1)[0], 100);
    buffer = Buffer<float>();
    EXPECT_EQ(data[1], 1) << "the tensor keeps the memory";
    tensor->deleter(tensor);
    DLManagedTensor* vectors = to_dlpack(as_buffer(std::vector<vec3>{{1, 2, 3}, {4, 5, 6}}), 0);
    EXPECT_EQ(vectors->dl_tensor.ndim, 2);
    EXPECT_EQ(vectors->dl_tensor.shape[1], 3);
    vectors->deleter(vectors);
    error_of(ErrorCode::TypeMismatch, [] { static_cast<void>(to_dlpack(as_buffer(std::vector<mat3>(2)))); });
    error_of(ErrorCode::NotAllocated, [] { static_cast<void>(to_dlpack(Buffer<float>(4))); });
}

/// A foreign tensor: three rows, each at the start of a page or `shift` elements after it.
struct Foreign {
    static constexpr std::int64_t row = page / sizeof(double);

    std::unique_ptr<double[], Free> memory{static_cast<double*>(std::aligned_alloc(page, 4 * page))};
    std::int64_t shape[2] = {3, 4};
    std::int64_t strides[2] = {row, 1};
    bool* deleted = nullptr;
    DLManagedTensor tensor{};

    static DLManagedTensor* make(bool& deleted, std::int64_t columns = 4, std::int64_t shift = 0) {
        auto* foreign = new Foreign;
        foreign->deleted = &deleted;
        foreign->shape[1] = columns;
        double* data = foreign->memory.get() + shift;
        std::iota(data, data + 3 * row, 0.0);
        DLTensor& tensor = foreign->tensor.dl_tensor;
        tensor.data = data;
        tensor.device = {kDLCPU, 0};
        tensor.ndim = 2;
        tensor.dtype = {kDLFloat, 64, 1};
        tensor.shape = &foreign->shape[0];
        tensor.strides = &foreign->strides[0];
        foreign->tensor.manager_ctx = foreign;
        foreign->tensor.deleter = [](DLManagedTensor* self) {
            auto* owner = static_cast<Foreign*>(self->manager_ctx);
            *owner->deleted = true;
            delete owner;
        };
        return &foreign->tensor;
    }
};

/// Returns whether the driver imports the caller's pages. Expects that only SwiftShader refuses them.
bool imports_pages(const testing::DeviceTest& test) {
    bool deleted = false;
    DLManagedTensor* tensor = Foreign::make(deleted, Foreign::row);
    try {
        static_cast<void>(from_dlpack(tensor));
        return true;
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.code(), ErrorCode::Unsupported) << error.what();
        EXPECT_TRUE(test.configuration().label.starts_with("swiftshader")) << error.what();
        tensor->deleter(tensor);
        return false;
    }
}

VOLLEY_BACKEND_TEST(DlPack, TakesPagesOver) {
    if (!imports_pages(*this)) GTEST_SKIP() << device_name() << " cannot import host memory";
    bool deleted = false;
    {
        Buffer<double> buffer(from_dlpack(Foreign::make(deleted, Foreign::row), {.name = "tensor"}));
        EXPECT_EQ(buffer.shape(), Shape({3, Foreign::row}));
        EXPECT_EQ(buffer.read(0), numbers<double>(3 * Foreign::row));
        buffer.view(7, 1).fill(-1.0);
        EXPECT_EQ(buffer.read(1)[7], -1.0);
        EXPECT_FALSE(deleted);
    }
    wait();
    trim();
    EXPECT_TRUE(deleted) << "after the last use";
}

VOLLEY_BACKEND_TEST(DlPack, TakesOtherTensorsOverWhereMemoryIsTheHosts) {
    const bool pages_only = is_choosy(device());
    const ErrorCode refusal =
        !pages_only || imports_pages(*this) ? ErrorCode::InvalidArgument : ErrorCode::Unsupported;
    bool deleted = false;
    DLManagedTensor* tensor = Foreign::make(deleted, 4, 1);
    if (pages_only) {
        const std::string text = error_of(refusal, [&] { static_cast<void>(from_dlpack(tensor)); });
        if (refusal == ErrorCode::InvalidArgument) expect_contains(text, "4096");
        EXPECT_FALSE(deleted) << "the caller still owns the tensor";
        tensor->deleter(tensor);
        return;
    }
    {
        const Buffer<double> buffer(from_dlpack(tensor));
        EXPECT_EQ(buffer.read(0),
                  (std::vector<double>{0, 1, 2, 3, 512, 513, 514, 515, 1024, 1025, 1026, 1027}));
        EXPECT_FALSE(deleted);
    }
    wait();
    trim();
    EXPECT_TRUE(deleted);
}

VOLLEY_BACKEND_TEST(DlPack, LeavesTheGapsOfATensorAlone) {
    bool deleted = false;
    DLManagedTensor* tensor = Foreign::make(deleted);
    auto* const data = static_cast<double*>(tensor->dl_tensor.data);
    Buffer<double> buffer;
    try {
        buffer = Buffer<double>(from_dlpack(tensor));
    } catch (const Error& error) {
        tensor->deleter(tensor);
        ASSERT_TRUE(is_choosy(device())) << error.what();
        GTEST_SKIP() << error.what();
    }
    const std::vector<double> before(data, data + 3 * Foreign::row);
    const auto others_are_as_before = [&] {
        wait();
        for (std::size_t i = 0; i < before.size(); ++i) {
            const bool in_gap = i % Foreign::row >= 4;
            ASSERT_TRUE(!in_gap || data[i] == before[i]) << i;
        }
    };
    const Shape padded({3, Foreign::row});
    const HostArray<double> host({3, 4}, {.padded_shape = padded});
    std::fill_n(host.data(), 3 * Foreign::row, -2.0);
    Buffer<double> source({3, 4}, {.padded_shape = padded});
    source.view(0, 3 * Foreign::row).fill(-3.0);
    buffer.zero();
    others_are_as_before();
    buffer.fill(-1.0);
    others_are_as_before();
    buffer.write(host);
    others_are_as_before();
    buffer.write_async(host);
    others_are_as_before();
    EXPECT_EQ(buffer.read(0), std::vector<double>(12, -2.0));
    buffer.copy_from(source);
    others_are_as_before();
    CommandGraph graph = record([&] { buffer.fill(-4.0); });
    graph.submit().wait();
    others_are_as_before();
    EXPECT_EQ(buffer.read(0), std::vector<double>(12, -4.0));
}

TEST(DlPackEnd, ATensorKeepsItsMemoryWhateverBecomesOfBufferAndContext) {
    for (const char* name : {"reference:0", "cpu:0", "vulkan:llvmpipe", "opencl:0"}) {
        SCOPED_TRACE(name);
        DLManagedTensor* first = nullptr;
        DLManagedTensor* second = nullptr;
        Buffer<int> third;
        std::optional<Mapping<int>> mapped;
        try {
            const Context context = make_context({.devices = {name}});
            if (!context.devices()[0].host_memory) continue;
            const ContextScope scope = context.use();
            Buffer<int> destroyed = as_buffer(numbers(100'000)), gone = as_buffer(numbers(100'000, 1));
            first = to_dlpack(destroyed);
            destroyed.destroy();
            second = to_dlpack(gone);
            third = as_buffer(numbers(100'000, 2));
            mapped.emplace(third.map());
            EXPECT_EQ(static_cast<const int*>(first->dl_tensor.data)[99'999], 99'999);
        } catch (const DeviceError&) {
            continue;  // this machine has no such device
        }
        EXPECT_EQ(static_cast<const int*>(first->dl_tensor.data)[50'000], 50'000);
        EXPECT_EQ(static_cast<const int*>(second->dl_tensor.data)[50'000], 50'001);
        EXPECT_EQ((*mapped)(50'000), 50'002);
        error_of(ErrorCode::WrongContext, [&] { static_cast<void>(third.read(0)); });
        first->deleter(first);
        second->deleter(second);
    }
}

VOLLEY_BACKEND_TEST(DlPack, OfNoElementsIsABufferOfNothing) {
    bool deleted = false;
    DLManagedTensor* tensor = Foreign::make(deleted, 0);
    tensor->dl_tensor.data = nullptr;
    EXPECT_EQ(Buffer<double>(from_dlpack(tensor)).shape(), Shape({3, 0}));
    trim();
    EXPECT_TRUE(deleted);
}

VOLLEY_BACKEND_TEST(DlPack, RefusesTensorsThatBuffersCannotBe) {
    bool deleted = false;
    DLManagedTensor* tensor = Foreign::make(deleted);
    DLTensor& inside = tensor->dl_tensor;
    const auto refused = [&](ErrorCode code) {
        expect_contains(error_of(code, [&] { static_cast<void>(from_dlpack(tensor, {.name = "theirs"})); }),
                        "'theirs'");
    };
    inside.dtype.bits = 80;
    refused(ErrorCode::TypeMismatch);
    inside.dtype = {kDLFloat, 64, 4};
    refused(ErrorCode::TypeMismatch);
    inside.dtype = {kDLFloat, 64, 1};
    inside.device.device_type = kDLCUDA;
    refused(ErrorCode::NotHostAccessible);
    inside.device.device_type = kDLCPU;
    inside.strides[0] = 1;
    inside.strides[1] = 3;
    refused(ErrorCode::InvalidArgument);
    inside.strides[0] = -4;
    refused(ErrorCode::InvalidArgument);
    inside.strides[0] = std::int64_t{1} << 62;
    inside.strides[1] = 1;
    refused(ErrorCode::Overflow);
    inside.strides[0] = Foreign::row;
    inside.dtype = {kDLComplex, 129, 1};
    refused(ErrorCode::TypeMismatch);
    inside.dtype = {kDLFloat, 64, 1};
    void* const data = std::exchange(inside.data, nullptr);
    refused(ErrorCode::InvalidArgument);
    inside.byte_offset = page;
    refused(ErrorCode::InvalidArgument);
    inside.data = data;
    inside.byte_offset = 0;
    inside.shape[0] = -3;
    refused(ErrorCode::InvalidShape);
    inside.shape[0] = std::int64_t{1} << 61;
    refused(ErrorCode::Overflow);
    inside.shape[0] = 3;
    std::int64_t* const shape = std::exchange(inside.shape, nullptr);
    refused(ErrorCode::InvalidArgument);
    inside.shape = shape;
    inside.ndim = -1;
    refused(ErrorCode::InvalidShape);
    inside.ndim = 9;
    refused(ErrorCode::InvalidShape);
    error_of(ErrorCode::InvalidArgument, [] { static_cast<void>(from_dlpack(nullptr)); });
    EXPECT_FALSE(deleted);
    tensor->deleter(tensor);
}

#endif

}  // namespace
}  // namespace volley
