// Counts uses of compilers, and refuses them at exit.
#include "core/compilers.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <atomic>
#include <bit>

namespace volley {
namespace {

constinit std::atomic<unsigned> all_compiler_uses{0};
constinit std::atomic<unsigned> counted_compiler_uses{0};
constinit std::atomic<bool> compilers_ended{false};

}  // namespace

void about_to_compile(std::string_view kernel) {
    if (compilers_ended.load(std::memory_order_acquire)) {
        fail(ErrorCode::WrongContext, "nothing can be compiled any more: the process is ending",
             cat("kernel '", kernel, "'"),
             "launch it once, with the same sizes, before main returns; or not in destructors of static "
             "objects");
    }
    const unsigned before = all_compiler_uses.fetch_add(1, std::memory_order_relaxed);
    if (before < 64 || std::has_single_bit(before))
        counted_compiler_uses.fetch_add(1, std::memory_order_relaxed);
}

unsigned compiler_uses() noexcept { return counted_compiler_uses.load(std::memory_order_relaxed); }

void end_compilers() noexcept {
    if (compiler_uses() != 0) compilers_ended.store(true, std::memory_order_release);
}

}  // namespace volley
