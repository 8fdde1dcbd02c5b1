// Per-thread memory for running kernels: the shared memory of the current workgroup, and values that live
// across a barrier. Grows on demand, is reused by later launches and is freed with the thread.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace volley::backends::cpu {

class Scratch {
public:
    [[nodiscard]] static Scratch& of_this_thread() {
        thread_local Scratch scratch;
        return scratch;
    }

    /// Return at least `bytes` bytes, 64-byte aligned, with undefined contents.
    [[nodiscard]] std::byte* shared(std::size_t bytes) { return shared_.at_least(bytes); }
    [[nodiscard]] std::byte* spill(std::size_t bytes) { return spill_.at_least(bytes); }

private:
    struct Free {
        void operator()(std::byte* p) const noexcept { ::operator delete(p, std::align_val_t(64)); }
    };
    struct Block {
        std::unique_ptr<std::byte, Free> memory;
        std::size_t size = 0;

        std::byte* at_least(std::size_t bytes) {
            if (bytes > size) {
                memory.reset();
                size = 0;
                memory.reset(static_cast<std::byte*>(::operator new(bytes, std::align_val_t(64))));
                size = bytes;
            }
            return memory.get();
        }
    };
    Block shared_;
    Block spill_;
};

}  // namespace volley::backends::cpu
