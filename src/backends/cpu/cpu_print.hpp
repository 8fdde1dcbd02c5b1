// Receives what a running kernel prints.
#pragma once

#include <cstdint>
#include <exception>

namespace volley::backends::cpu {

class CpuProgram;

/// Prints of one piece of a launch. Machine code cannot be unwound, so an exception of the print sink is kept
/// until the piece has run.
class PrintJob {
public:
    explicit PrintJob(const CpuProgram& program) noexcept : program_(program) {}
    static void print(void* job, std::uint32_t format, const void* values) noexcept;
    /// Throws the first exception of the sink, if there was one.
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

private:
    const CpuProgram& program_;
    std::exception_ptr error_;
};

}  // namespace volley::backends::cpu
