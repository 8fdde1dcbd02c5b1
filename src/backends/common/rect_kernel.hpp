// Rects copied by a kernel, for drivers whose copy commands cost too much per short row.
//
// Each invocation copies one word, over a grid of {words of a row, rows, planes}. Both buffers begin at the
// first byte of the rect; all words of a grid are within 2^32 words of it.
#pragma once

#include "backends/api/program.hpp"
#include "backends/api/queue.hpp"
#include "backends/api/rect_parts.hpp"
#include "ir/function.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

namespace volley::backends {

/// Returns the size of the largest word, 1 to 16 bytes, of which rows, strides and addresses are multiples.
/// The addresses are those of the memory, without the offsets of the places.
[[nodiscard]] std::uint32_t word_of(const RectMove& move, std::uint64_t to_address,
                                    std::uint64_t from_address) noexcept;

/// Returns the kernel. Its parameters: to, from, and the strides of rows and planes in words, of `to`, then
/// of `from`.
[[nodiscard]] ir::Function rect_kernel(std::uint32_t word_bytes);

/// Returns the largest part that one launch can copy.
[[nodiscard]] Rect rect_launch_limit(const RectMove& move, std::uint32_t word_bytes) noexcept;

/// A launch with its arguments, which point into it.
class RectLaunch {
public:
    RectLaunch(Program& program, std::uint32_t word_bytes, Memory& to, const Memory& from,
               const RectMove& move) noexcept;
    RectLaunch(const RectLaunch&) = delete;
    RectLaunch& operator=(const RectLaunch&) = delete;
    [[nodiscard]] const Launch& launch() const noexcept { return launch_; }

private:
    std::array<std::uint32_t, 4> strides_;
    std::array<Argument, 6> args_;
    Launch launch_;
};

/// The kernel's programs on one device, one per word size. Thread-safe.
class RectPrograms {
public:
    using Compile = std::function<std::unique_ptr<Program>(ir::Function)>;
    explicit RectPrograms(Compile compile) : compile_(std::move(compile)) {}
    /// Compiles the program at the first request. Throws what compiling throws.
    [[nodiscard]] Program& of(std::uint32_t word_bytes);

private:
    Compile compile_;
    std::mutex mutex_;
    std::array<std::unique_ptr<Program>, 5> programs_;  // by log2 of the word's size
};

}  // namespace volley::backends
