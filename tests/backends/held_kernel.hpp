// A kernel that runs until the test releases it, on devices that share the host's memory.
#pragma once

#include "backends/queue_support.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>

namespace volley::testing {

/// words[1] += 1 for each invocation that sees words[0] != 0 in one of its looks.
inline ir::Function held_kernel() {
    using ir::Op;
    ir::Function fn;
    fn.name = "held";
    ir::Builder b(fn);
    const ir::NodeId words = b.buffer(ScalarType::I32, "words");
    const ir::NodeId looks = b.param(ScalarType::I32, "looks");
    const ir::NodeId zero = b.constant_i32(0);
    const ir::NodeId one = b.constant_i32(1);
    b.begin_for(zero, looks, one);
    b.begin_if(b.emit(Op::Ne, {b.emit(Op::AtomicOr, {words, zero, zero}), zero}));
    b.emit(Op::AtomicAdd, {words, one, one});
    b.jump(Op::Break);
    b.end_if();
    b.end_for();
    return fn;
}

/// Launches of the kernel. They end by themselves after `looks`, which takes seconds, so that a test that
/// waits for them by mistake fails instead of hanging.
class HeldKernel {
public:
    explicit HeldKernel(backends::Device& device, int looks = 100'000'000)
        : program_(device.compile(held_kernel())), words_(device.allocate(64)), looks_(looks) {
        std::memset(words_->host(), 0, words_->size());
    }
    ~HeldKernel() { release(); }
    HeldKernel(const HeldKernel&) = delete;
    HeldKernel& operator=(const HeldKernel&) = delete;

    backends::Point launch(backends::Queue& queue, std::uint32_t invocations = 1) {
        std::array<backends::Argument, 2> args;
        args[0].memory = words_.get();
        args[0].elements = 16;
        args[1].value = &looks_;
        return queue.launch({program_.get(), {invocations, 1, 1}, {64, 1, 1}, args});
    }
    void release() { word(0).store(1); }
    /// Returns how many invocations have ended after the release.
    [[nodiscard]] int released() { return word(1).load(); }

private:
    std::atomic_ref<int> word(std::size_t index) {
        return std::atomic_ref<int>(reinterpret_cast<int*>(words_->host())[index]);
    }
    std::unique_ptr<backends::Program> program_;
    std::unique_ptr<backends::Memory> words_;
    int looks_;
};

}  // namespace volley::testing
