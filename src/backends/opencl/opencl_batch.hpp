// A batch on an OpenCL device. Launches that follow each other, those of several instances too, are one
// command of the queue: one point, and one flush to the device. Their cl_kernels are made with the batch,
// with all arguments set but the dynamic ones.
//
// Copies, fills and kernels that report are commands of their own, given as they would be outside of a batch.
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
    /// Throws CompileError, DeviceError, LaunchError as a launch would.
    OpenClBatch(backends::BatchPlan plan, const std::shared_ptr<LogicalDevice>& device);

    /// A launch with a cl_kernel that has its arguments.
    struct Ready {
        const Kernel* kernel = nullptr;
        KernelObject* object = nullptr;  // commands that differ in dynamic values alone share it
        std::uint32_t patches_begin = 0, patches_end = 0;
    };
    /// None where the command is to be given on its own.
    [[nodiscard]] const Ready* ready(std::uint32_t place) const noexcept {
        return ready_[place].object != nullptr ? &ready_[place] : nullptr;
    }
    /// Sets the instance's values of it: for the queue alone, under its lock.
    void patch(const Ready& ready, std::span<const std::byte> values) const;

    [[nodiscard]] backends::Launch launch(std::uint32_t place) const noexcept {
        return plain_[place].launch();
    }
    [[nodiscard]] backends::PlainBatch& plain() noexcept { return plain_; }
    [[nodiscard]] std::uint32_t size() const noexcept { return plain_.size(); }

private:
    /// A dynamic value's way into an argument.
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
