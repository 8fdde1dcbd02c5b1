// Programs of every device: arguments and default local sizes.
#include "backends/queue_support.hpp"
#include "backends/subjects.hpp"

namespace volley::testing {
namespace {

class ProgramTest : public SubjectTest {};
VOLLEY_EVERY_SUBJECT_SUITE(ProgramTest);

// More than the push constants of Vulkan hold, and so many launches that their argument memory is reused.
TEST_P(ProgramTest, AcceptsManyArguments) {
    constexpr unsigned buffers = 40;
    const auto program = device->compile(sum_many(buffers));
    const auto out = device->allocate(1000 * 4);
    const auto in = device->allocate(buffers * 1024 * 4);
    write_at(*queue, *in, 0, bytes_of(counting(buffers * 1024)));
    for (int k = 0; k < 200; ++k) {
        std::vector<backends::Argument> args(buffers + 2);
        args[0].memory = out.get();
        args[0].elements = 1000;
        for (unsigned j = 0; j < buffers; ++j) {
            args[j + 1].memory = in.get();
            args[j + 1].offset = j * 4096;
            args[j + 1].elements = 1024;
        }
        args[buffers + 1].value = &k;  // copied before the call returns
        queue->launch({program.get(), {1000, 1, 1}, {64, 1, 1}, args});
        if (k % 50 != 0) continue;
        int expected = k;
        for (int j = 0; j < static_cast<int>(buffers); ++j) expected += j * 1024 + 999;
        EXPECT_EQ(read_back(*queue, *out, 1000)[999], expected);
    }
    wait();
}

TEST_P(ProgramTest, ChoosesLocalSizesWithinTheLimits) {
    const ir::Function fn = multiply_add_kernel();
    const DeviceInfo& info = device->info();
    for (const ir::Dim3 global : grids()) {
        const ir::Dim3 local = device->default_local(fn, global);
        EXPECT_LE(std::uint64_t{local[0]} * local[1] * local[2], info.max_local_size);
        for (std::size_t d = 0; d < 3; ++d) {
            EXPECT_GE(local[d], 1u);
            EXPECT_LE(local[d], info.max_local_dims[d]);
        }
    }
    ir::Function declared = fn;
    declared.local_size = ir::Dim3{24, 1, 1};
    EXPECT_EQ(device->default_local(declared, {1000, 1, 1}), (ir::Dim3{24, 1, 1}));
}

}  // namespace
}  // namespace volley::testing
