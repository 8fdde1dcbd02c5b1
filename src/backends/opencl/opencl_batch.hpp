// A batch on an OpenCL device. Consecutive launches, also of several instances, form one command of the
// queue: one point, and one flush to the device. Their cl_kernels are created with the batch, with all
// arguments set except the dynamic ones.
//
// Copies, fills and kernels that report are submitted as separate commands, as they are outside a batch.
#pragma once

#include "backends/api/batch.hpp"
#include "backends/opencl/opencl_kernel.hpp"
#include "backends/opencl/opencl_program.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace volley::backends::opencl {

class OpenClBatch final : public backends::Batch {
public:
    /// Throws CompileError, DeviceError and LaunchError like a launch.
    OpenClBatch(backends::BatchPlan plan, const std::shared_ptr<LogicalDevice>& device);

    /// A launch whose cl_kernel has its arguments set.
    struct Ready {
        const KernelVariant* kernel = nullptr;
        KernelObject* object = nullptr;  // shared by commands that differ only in dynamic values
        std::uint32_t patches_begin = 0, patches_end = 0;
    };
    /// Returns nullptr if the command has to be submitted on its own.
    [[nodiscard]] const Ready* ready(std::uint32_t place) const noexcept {
        return ready_[place].object != nullptr ? &ready_[place] : nullptr;
    }
    /// Sets an instance's values. For the queue, under its lock.
    void patch(const Ready& ready, std::span<const std::byte> values) const;

    [[nodiscard]] backends::Launch launch(std::uint32_t place) const noexcept {
        return plain_[place].launch();
    }
    [[nodiscard]] backends::PlainBatch& plain() noexcept { return plain_; }
    [[nodiscard]] std::uint32_t size() const noexcept { return plain_.size(); }

private:
    /// Copies a dynamic value to an argument.
    struct Patch {
        std::uint32_t number = 0;  // of the cl_kernel's arguments
        std::uint32_t from = 0;    // in the instance's values
    };

    void prepare(Ready& ready, const backends::BatchCommand& command,
                 const std::shared_ptr<LogicalDevice>& device);

    backends::PlainBatch plain_;
    std::vector<Ready> ready_;  // of each command
    std::vector<Patch> patches_;
    std::map<std::string, std::unique_ptr<KernelObject>> objects_;  // by kernel and arguments
};

}  // namespace volley::backends::opencl
