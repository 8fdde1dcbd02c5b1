// Tree reduction in workgroups through shared memory, one element per invocation: mostly barriers.
#include "harness.hpp"
#include "huge_array.hpp"
#include "raw_opencl.hpp"

#include <volley/volley.hpp>

#include <cstdlib>

namespace volley::bench {
namespace {

constexpr std::size_t count = std::size_t{1} << 22;
constexpr double seconds = 4;
constexpr double goal = 5;

// The usual loop, and the same unrolled by hand: PoCL compiles barriers in loops differently.
const char* const source = R"(
kernel void looped(global float* sums, global const float* data) {
    local float tile[LOCAL];
    uint i = get_local_id(0);
    tile[i] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = LOCAL / 2; half_size > 0; half_size >>= 1) {
        if (i < half_size) tile[i] += tile[i + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i == 0) sums[get_group_id(0)] = tile[0];
}
#define STEP(n) if (LOCAL > n) { if (i < n) tile[i] += tile[i + n]; barrier(CLK_LOCAL_MEM_FENCE); }
kernel void unrolled(global float* sums, global const float* data) {
    local float tile[LOCAL];
    uint i = get_local_id(0);
    tile[i] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    STEP(128) STEP(64) STEP(32) STEP(16) STEP(8) STEP(4) STEP(2) STEP(1)
    if (i == 0) sums[get_group_id(0)] = tile[0];
}
)";

void check_sums(std::span<const float> sums, unsigned local, std::size_t groups) {
    for (std::size_t k = 0; k < groups; k += groups / 16) {
        check(sums[k] == static_cast<float>(local), "the sums of a tree reduction");
    }
}

// PoCL chooses its workgroup method when it compiles a kernel for a local size.
class WorkGroupMethod {
public:
    explicit WorkGroupMethod(const char* method) {
        if (method != nullptr) ::setenv(variable, method, 1);
    }
    ~WorkGroupMethod() { ::unsetenv(variable); }
    WorkGroupMethod(const WorkGroupMethod&) = delete;
    WorkGroupMethod& operator=(const WorkGroupMethod&) = delete;

private:
    static constexpr const char* variable = "POCL_WORK_GROUP_METHOD";
};

/// Compares with PoCL. `method` is its workgroup method; null selects PoCL's default.
void compare(Report& report, unsigned local, const char* method, double wanted) {
    const auto reduce =
        kernel("tree_reduction", {.local = {local}}, [local](Buff<float> sums, Buff<const float> data) {
            Shared<float> tile(local);
            auto i = local_id().x;
            tile[i] = data[global_id().x];
            barrier();
            for (unsigned half_size = local / 2; half_size > 0; half_size /= 2) {
                $if (i < half_size) {
                    tile[i] += tile[i + half_size];
                }
                barrier();
            }
            $if (i == 0) {
                sums[group_id().x] = tile[0];
            }
        });
    const std::size_t groups = count / local;
    Buffer<float> data(count);
    data.fill(1.0F);
    const Buffer<float> sums(groups);
    const auto whole = reduce.over(count);
    whole(sums, data);
    check_sums(sums.read(0), local, groups);

    const HugeArray<float> cl_data(count, 1.0F), cl_sums(groups, 0.0F);
    ClBuffer cl_in, cl_out;
    std::vector<ClKernel> kernels;
    std::vector<Contender> contenders{{"volley", [&] { whole(sums, data).wait(); }}};
    if (ClDevice* device = pocl()) {
        const WorkGroupMethod in_this_scope(method);
        cl_in = device->wrap(cl_data.data(), cl_data.bytes());
        cl_out = device->wrap(cl_sums.data(), cl_sums.bytes());
        std::vector<Contender> forms;
        for (const char* form : {"looped", "unrolled"}) {
            kernels.push_back(device->kernel(
                source, form, "-DLOCAL=" + std::to_string(local) + (method != nullptr ? " -DMETHOD" : "")));
        }
        for (ClKernel& kernel : kernels) {
            kernel.bind(cl_out, cl_in);
            forms.push_back({"pocl", [device, local, &kernel] { device->run(kernel, count, local); }});
        }
        contenders.push_back(forms[fastest(forms, 0.5)]);
    }
    const std::vector<double> best = race(contenders, seconds);
    const auto speed = [&](std::size_t k) { return sizeof(float) * count / best[k] * 1e-9; };
    if (contenders.size() > 1) {
        check_sums(cl_sums.span(), local, groups);
        report.add(gigabytes, speed(0), "pocl", speed(1), wanted);
    } else {
        report.add(gigabytes, speed(0), "pocl", std::nullopt, wanted, missing_pocl());
    }
}

}  // namespace

VOLLEY_BENCH(tree_reduction_64, "foundation/tree_reduction_64") { compare(report, 64, nullptr, goal); }
VOLLEY_BENCH(tree_reduction_256, "foundation/tree_reduction_256") { compare(report, 256, nullptr, goal); }

// This method, which is not PoCL's default, replicates the code of work-items instead of looping over them.
VOLLEY_BENCH(tree_reduction_64_replicated, "foundation/tree_reduction_64_replicated") {
    compare(report, 64, "workitemrepl", 0);
}
VOLLEY_BENCH(tree_reduction_256_replicated, "foundation/tree_reduction_256_replicated") {
    compare(report, 256, "workitemrepl", 0);
}

}  // namespace volley::bench
