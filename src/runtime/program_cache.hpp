// The kernels that a context has compiled, by the hash of their IR as it was traced: a kernel that is made
// again inside of a function is traced again, but never optimised or compiled again.
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

/// What a launch has to know of a kernel.
struct KernelFacts {
    bool has_barrier = false;
    std::uint64_t shared_bytes = 0;
    std::vector<bool> reads;   // by parameter: a buffer that it loads from,
    std::vector<bool> writes;  //   that it stores to
};
[[nodiscard]] KernelFacts find_facts(const ir::Function& fn);

/// One kernel in one context: optimised once, compiled for a device when it first runs there.
class CachedKernel {
public:
    CachedKernel(ir::Function optimised, unsigned devices);

    [[nodiscard]] const ir::Function& function() const noexcept { return function_; }
    [[nodiscard]] const KernelFacts& facts() const noexcept { return facts_; }
    /// Throws CompileError, or DeviceError (Unsupported). A load when it is there.
    [[nodiscard]] backends::Program& program(unsigned index, backends::Device& device) {
        backends::Program* program = programs_[index].load(std::memory_order_acquire);
        return program != nullptr ? *program : compile(index, device);
    }

private:
    backends::Program& compile(unsigned index, backends::Device& device);

    ir::Function function_;
    KernelFacts facts_;
    std::mutex mutex_;
    std::vector<std::atomic<backends::Program*>> programs_;  // by device
    std::vector<std::unique_ptr<backends::Program>> owned_;
};

class ProgramCache {
public:
    explicit ProgramCache(unsigned devices) : devices_(devices) {}
    /// The kernel with that IR; verifies and optimises it when it is new. Throws IrError and what the passes
    /// throw.
    [[nodiscard]] CachedKernel& find(const ir::Function& traced);
    void clear();

private:
    CachedKernel& keep(const Hash128& key, ir::Function fn);

    unsigned devices_;
    std::mutex mutex_;
    std::unordered_map<Hash128, std::unique_ptr<CachedKernel>> kernels_;
};

}  // namespace volley::runtime
