// The compiled kernels of a context, by the hash of their traced IR. A kernel that a function creates on each
// call is traced each time, but optimised and compiled only once.
#pragma once

#include "backends/api/device.hpp"
#include "backends/api/program.hpp"
#include "ir/function.hpp"
#include "ir/hash.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace volley::runtime {

/// The properties of a kernel that a launch needs.
struct KernelFacts {
    bool has_barrier = false;
    std::uint64_t shared_bytes = 0;
    std::vector<bool> reads;    // by parameter: whether it is a buffer that the kernel loads from
    std::vector<bool> writes;   // by parameter: whether it is a buffer that the kernel stores to
    std::size_t arguments = 0;  // passed by the caller; extents and strides of buffers follow
    bool uses_layout = false;   // has such parameters, or accesses a buffer by position
};
[[nodiscard]] KernelFacts find_facts(const ir::Function& fn);

/// A kernel in one context: optimised once, and compiled for each device on first use.
class CachedKernel {
public:
    CachedKernel(ir::Function optimised, unsigned devices);

    [[nodiscard]] const ir::Function& function() const noexcept { return function_; }
    [[nodiscard]] const KernelFacts& facts() const noexcept { return facts_; }
    /// Returns the program for a device; the first call compiles it, later ones cost a load. Throws
    /// CompileError or DeviceError (Unsupported).
    [[nodiscard]] backends::Program& program(unsigned index, backends::Device& device) {
        backends::Program* program = programs_[index].load(std::memory_order_acquire);
        return program != nullptr ? *program : compile(index, device);
    }

private:
    backends::Program& compile(unsigned index, backends::Device& device);

    ir::Function function_;
    KernelFacts facts_;
    std::mutex mutex_;
    std::vector<std::atomic<backends::Program*>> programs_;  // indexed by device
    std::vector<std::unique_ptr<backends::Program>> owned_;
};

class ProgramCache {
public:
    explicit ProgramCache(unsigned devices) : devices_(devices) {}
    /// Returns the kernel with this IR; verifies and optimises it if it is new. Throws IrError and the errors
    /// of the passes.
    [[nodiscard]] CachedKernel& find(const ir::Function& traced);
    void clear();

private:
    CachedKernel& keep(const Hash128& key, ir::Function fn);

    unsigned devices_;
    std::mutex mutex_;
    std::unordered_map<Hash128, std::unique_ptr<CachedKernel>> kernels_;
};

}  // namespace volley::runtime
