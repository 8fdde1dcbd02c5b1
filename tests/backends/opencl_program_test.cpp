// Kernels on OpenCL devices: variants, arguments, foreign sources, and cached binaries.
#include "backends/opencl_support.hpp"
#include "core/text.hpp"
#include "support/expect_error.hpp"

#include <volley/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

namespace volley::backends::opencl {
namespace {

using ::testing::Test;

void expect_contains(std::string_view text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string_view::npos) << "'" << part << "' is not in: " << text;
}

class OpenClProgramTest : public OpenClTest {
protected:
    void SetUp() override {
        OpenClTest::SetUp();
        if (!IsSkipped()) use({});
    }
    void use(const OpenClOptions& options) {
        queue.reset();
        device = open_first(options);
        queue = device->make_queue();
    }
    std::vector<int> run(backends::Program& program, std::vector<int> data, ir::Dim3 local = {8, 1, 1},
                         std::uint64_t offset = 0) {
        const auto count = static_cast<std::uint32_t>(data.size());
        const auto memory = device->allocate(offset + 4 * data.size());
        write_at(*queue, *memory, offset, bytes_of(data));
        backends::Argument arg;
        arg.memory = memory.get();
        arg.offset = offset;
        arg.elements = count;
        queue->launch({&program, {count, 1, 1}, local, std::span(&arg, 1)});
        return read_back(*queue, *memory, data.size(), offset);
    }

    std::unique_ptr<OpenClDevice> device;
    std::unique_ptr<backends::Queue> queue;
};

TEST_F(OpenClProgramTest, ArgumentsBeyondTheDevicesLimitAreALaunchError) {
    const auto program = device->compile(sum_many(200));
    try {
        (void)static_cast<const OpenClProgram&>(*program).kernel({{64, 1, 1}, true});
        GTEST_SKIP() << "this device accepts them";
    } catch (const LaunchError& error) {
        expect_contains(error.what(), "arguments take");
        expect_contains(error.what(), "sum_many");
    }
}

TEST_F(OpenClProgramTest, BuildsEachVariantOnce) {
    const auto program = device->compile(multiply_add_kernel());
    const auto& own = static_cast<const OpenClProgram&>(*program);
    const KernelVariant& first = own.kernel({{64, 1, 1}, true});
    const KernelVariant& second = own.kernel({{32, 1, 1}, true});
    const KernelVariant& partial = own.kernel({{64, 1, 1}, false});
    EXPECT_NE(&first, &second);
    EXPECT_NE(&first, &partial);
    EXPECT_EQ(&own.kernel({{64, 1, 1}, true}), &first);
}

TEST_F(OpenClProgramTest, ShowsItsCode) {
    const auto program = device->compile(multiply_add_kernel());
    expect_contains(program->code({64, 1, 1}), "kernel");
    expect_contains(program->code({64, 1, 1}), "multiply_add");
}

TEST_F(OpenClProgramTest, SourcesRunInLocalSizesThatDivideTheGrid) {
    const ir::Function raw = raw_kernel("", "raw");
    for (const ir::Dim3 global : grids()) {
        const ir::Dim3 local = device->default_local(raw, global);
        for (std::size_t d = 0; d < 3; ++d)
            EXPECT_EQ(global[d] % local[d], 0u) << "exactly the requested number of invocations";
    }
}

int arguments_set = 0;
decltype(Api::SetKernelArg) real_set = nullptr;
cl_int CL_API_CALL count_set(cl_kernel kernel, cl_uint number, std::size_t size, const void* value) {
    ++arguments_set;
    return real_set(kernel, number, size, value);
}

TEST_F(OpenClProgramTest, SetsOnlyTheArgumentsThatChanged) {
    real_set = std::exchange(device->logical().cl.SetKernelArg, count_set);
    const auto program = device->compile(multiply_add_kernel());
    const auto memory = device->allocate(4000);
    const auto launch = [&](backends::Queue& on, int factor) {
        arguments_set = 0;
        launch_multiply_add(on, *program, *memory, factor, 64);
        return arguments_set;
    };
    EXPECT_GE(launch(*queue, 2), 2) << "all";
    EXPECT_EQ(launch(*queue, 2), 0);
    EXPECT_EQ(launch(*queue, 3), 1) << "the factor";
    const auto other = device->make_queue();
    EXPECT_GE(launch(*other, 3), 2) << "another queue has its own kernel object";
    EXPECT_EQ(launch(*queue, 3), 0);
    queue->timeline().wait(queue->last());
    other->timeline().wait(other->last());
}

TEST_F(OpenClProgramTest, ReallocatedMemoryIsNotMistakenForTheOldOne) {
    const auto program = device->compile(multiply_add_kernel());
    for (int k = 0; k < 20; ++k) {
        const auto memory = device->allocate(64 * 4);  // often at the previous one's address
        write_at(*queue, *memory, 0, bytes_of(std::vector<int>(64, k)));
        launch_multiply_add(*queue, *program, *memory, 2, 64);
        EXPECT_EQ(read_back(*queue, *memory, 64)[10], 2 * k + 10);
    }
}

TEST_F(OpenClProgramTest, CanBeLaunchedFromManyThreadsOnManyQueues) {
    const auto program = device->compile(multiply_add_kernel());
    std::vector<std::thread> threads;
    for (int t = 1; t <= 4; ++t) {
        threads.emplace_back([&, t] {
            const auto own = device->make_queue();
            const auto memory = device->allocate(256 * 4);
            write_at(*own, *memory, 0, bytes_of(std::vector<int>(256, t)));
            for (int k = 0; k < 100; ++k) launch_multiply_add(*own, *program, *memory, 1, 256);
            EXPECT_EQ(read_back(*own, *memory, 256)[9], t + 900);
        });
    }
    for (std::thread& thread : threads) thread.join();
}

// ---- foreign sources ----

constexpr std::string_view twice_source = R"(
kernel void twice(global int* data) { data[get_global_id(0)] *= 2; }
kernel void thrice(global int* data) { data[get_global_id(0)] *= 3; }
)";

TEST_F(OpenClProgramTest, RunsASource) {
    const auto program = device->compile(raw_kernel(twice_source, "thrice"));
    EXPECT_EQ(run(*program, counting(64))[63], 189);
    EXPECT_EQ(program->code({64, 1, 1}), twice_source);
}

TEST_F(OpenClProgramTest, PassesTheFirstElementOfAViewToASource) {
    const auto program = device->compile(raw_kernel(twice_source, "twice"));
    EXPECT_EQ(run(*program, counting(64), {8, 1, 1}, 4096)[63], 126);
    EXPECT_EQ(run(*program, counting(64), {8, 1, 1}, 0)[63], 126);
    if (device->info().host_memory) {
        EXPECT_EQ(run(*program, counting(64), {8, 1, 1}, 12)[63], 126);
    }
    OpenClOptions options;
    options.heap.share = false;
    use(options);
    const auto again = device->compile(raw_kernel(twice_source, "twice"));
    EXPECT_EQ(run(*again, counting(64), {8, 1, 1}, 4096)[63], 126);
    try {
        (void)run(*again, counting(64), {8, 1, 1}, 12);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidView);
        expect_contains(error.what(), "byte 12");
        expect_contains(error.what(), "argument 1 of kernel 'twice'");
    }
}

std::string refusal(OpenClDevice& device, ir::Function fn) {
    try {
        (void)device.compile(std::move(fn));
    } catch (const CompileError& error) {
        EXPECT_FALSE(error.advice().empty()) << error.what();
        return error.what();
    }
    return "nothing was rejected";
}

TEST_F(OpenClProgramTest, ABadSourceIsAnErrorWithTheLogAndTheLine) {
    const std::string text = refusal(*device, raw_kernel(R"(kernel void bad(global int* data) {
        data[0] = 1;
        data[1] = no_such_thing + 2;
    })",
                                                         "bad"));
    expect_contains(text, "kernel 'bad'");
    expect_contains(text, "no_such_thing");
    expect_contains(text, "line 3: data[1] = no_such_thing + 2;");
    expect_contains(text, device->info().name);
    EXPECT_EQ(run(*device->compile(raw_kernel(twice_source, "twice")), counting(8))[7], 14)
        << "the device still works";
}

TEST_F(OpenClProgramTest, AMissingEntryIsAnError) {
    expect_contains(refusal(*device, raw_kernel(twice_source, "four_times")),
                    "no kernel function 'four_times'");
}

TEST_F(OpenClProgramTest, MismatchedArgumentsAreErrors) {
    const auto with = [](std::string_view source, ir::ParamKind kind, DType type) {
        ir::Function fn = raw_kernel(source, "f");
        fn.params.push_back({kind, type, "second", false, ir::none});
        return fn;
    };
    using enum ir::ParamKind;
    const DType f32 = ScalarType::F32;
    const DType i32 = ScalarType::I32;
    expect_contains(refusal(*device, with("kernel void f(global int* a) {}", Const, f32)),
                    "declares 1 arguments, but 2 were passed");
    expect_contains(refusal(*device, with("kernel void f(global int* a, local float* b) {}", Buffer, f32)),
                    "argument 2 is a pointer to local memory");
    expect_contains(refusal(*device, with("kernel void f(global int* a, float b) {}", Buffer, f32)),
                    "argument 2 is a value");
    expect_contains(refusal(*device, with("kernel void f(global int* a, global float* b) {}", Const, f32)),
                    "argument 2 is a pointer");
    expect_contains(refusal(*device, with("kernel void f(global int* a, double b) {}", Const, f32)),
                    "has 4 bytes (f32), but the source's double has 8");
    expect_contains(refusal(*device, with("kernel void f(global int* a, global int* b) {}", Buffer, f32)),
                    "argument 2 points to int");
    expect_contains(refusal(*device, with("kernel void f(global int* a, global float3* b) {}", Buffer, f32)),
                    "is stored as four components");
    EXPECT_NO_THROW(
        (void)device->compile(with("kernel void f(global int* a, constant float4* b) {}", Buffer, f32)));
    EXPECT_NO_THROW((void)device->compile(with("kernel void f(global int* a, uint b) {}", Const, i32)));
}

TEST_F(OpenClProgramTest, ASourceThatDeclaresItsLocalSizeRejectsOthers) {
    const auto program =
        device->compile(raw_kernel("__attribute__((reqd_work_group_size(16, 1, 1))) kernel void f(global "
                                   "int* a) { a[get_global_id(0)]++; }",
                                   "f"));
    EXPECT_EQ(run(*program, counting(32), {16, 1, 1})[31], 32);
    try {
        (void)run(*program, counting(32), {8, 1, 1});
        ADD_FAILURE() << "nothing was thrown";
    } catch (const LaunchError& error) {
        expect_contains(error.what(), "declares a local size of 16 x 1 x 1");
    }
}

TEST_F(OpenClProgramTest, BuildOptionsReachTheCompiler) {
    ir::Function fn = raw_kernel("kernel void f(global int* a) { a[get_global_id(0)] = N; }", "f");
    auto code = std::make_shared<ir::ForeignCode>(*fn.foreign);
    code->options = "-D N=77";
    fn.foreign = std::move(code);
    EXPECT_EQ(run(*device->compile(std::move(fn)), counting(8))[3], 77);
}

// ---- binaries ----

int built_from_source = 0;
decltype(Api::CreateProgramWithSource) real_create = nullptr;
cl_program CL_API_CALL count_sources(cl_context context, cl_uint count, const char** texts,
                                     const std::size_t* sizes, cl_int* result) {
    ++built_from_source;
    return real_create(context, count, texts, sizes, result);
}

class OpenClBinaryTest : public OpenClProgramTest {
protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() / cat("volley-opencl-", ::getpid());
        std::filesystem::remove_all(folder_);
        OpenClProgramTest::SetUp();
        if (!IsSkipped()) start_anew();
    }
    void TearDown() override {
        queue.reset();
        std::filesystem::remove_all(folder_);
    }
    /// Opens the device again, as a new process would.
    void start_anew() {
        OpenClOptions options;
        options.cache_folder = (folder_ / "deep").string();
        use(options);
        real_create = std::exchange(device->logical().cl.CreateProgramWithSource, count_sources);
        built_from_source = 0;
    }
    int compute() {
        const auto program = device->compile(raw_kernel(twice_source, "twice"));
        EXPECT_EQ(run(*program, counting(16))[15], 30);
        return built_from_source;
    }
    std::vector<std::filesystem::path> files() const {
        if (!std::filesystem::exists(folder_ / "deep")) return {};
        std::vector<std::filesystem::path> found;
        for (const auto& entry : std::filesystem::directory_iterator(folder_ / "deep"))
            found.push_back(entry.path());
        return found;
    }
    std::filesystem::path folder_;
};

TEST_F(OpenClBinaryTest, AreReusedByTheNextRun) {
    EXPECT_EQ(compute(), 1);
    ASSERT_EQ(files().size(), 1u);
    start_anew();
    EXPECT_EQ(compute(), 0);
    EXPECT_EQ(device->builder().file_of("a", ""), device->builder().file_of("a", ""));
    EXPECT_NE(device->builder().file_of("a", ""), device->builder().file_of("b", ""));
    EXPECT_NE(device->builder().file_of("a", ""), device->builder().file_of("a", "-w"));
}

TEST_F(OpenClBinaryTest, AreReplacedIfDamaged) {
    EXPECT_EQ(compute(), 1);
    ASSERT_EQ(files().size(), 1u);
    const auto size = std::filesystem::file_size(files()[0]);
    for (const auto length : {std::uintmax_t{0}, std::uintmax_t{20}, size / 2}) {
        std::filesystem::resize_file(files()[0], length);
        start_anew();
        EXPECT_EQ(compute(), 1) << length;
        EXPECT_EQ(std::filesystem::file_size(files()[0]), size);
    }
    {
        std::fstream file(files()[0], std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(size / 2));
        file.put('!');
        file.put('?');
    }
    start_anew();
    EXPECT_EQ(compute(), 1);
}

cl_program CL_API_CALL refuse_binary(cl_context /*context*/, cl_uint /*count*/,
                                     const cl_device_id* /*devices*/, const std::size_t* /*sizes*/,
                                     const unsigned char** /*binaries*/, cl_int* /*status*/, cl_int* result) {
    *result = CL_INVALID_BINARY;
    return nullptr;
}

TEST_F(OpenClBinaryTest, AreRebuiltIfTheDriverRejectsThem) {
    EXPECT_EQ(compute(), 1);
    start_anew();
    device->logical().cl.CreateProgramWithBinary = refuse_binary;
    EXPECT_EQ(compute(), 1);
}

TEST_F(OpenClBinaryTest, AreNotCachedIfTheFolderCannotBeCreated) {
    OpenClOptions options;
    options.cache_folder = "/dev/null/nowhere";
    use(options);
    EXPECT_EQ(run(*device->compile(raw_kernel(twice_source, "twice")), counting(16))[15], 30);
}

TEST_F(OpenClBinaryTest, AreNotCachedForABadSource) {
    (void)refusal(*device, raw_kernel("kernel void bad(", "bad"));
    EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace volley::backends::opencl
