// Builds a cl_program from source with the driver's compiler, or loads its cached binary. A missing, damaged
// or incompatible file is ignored.
#pragma once

#include "backends/opencl/opencl_logical.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace volley::backends::opencl {

class ProgramBuilder {
public:
    /// `folder` holds cached binaries; empty disables the cache.
    ProgramBuilder(std::shared_ptr<LogicalDevice> device, std::string folder)
        : device_(std::move(device)), folder_(std::move(folder)) {}

    /// Builds a program, which the caller releases. Takes some milliseconds up to a second. Throws
    /// CompileError with the compiler's log and the source lines that it refers to. Thread-safe.
    [[nodiscard]] cl_program build(std::string_view kernel, const std::string& text,
                                   const std::string& options) const;
    /// Returns the path of the cached binary of a source; for tests.
    [[nodiscard]] std::string file_of(const std::string& text, const std::string& options) const;

private:
    [[nodiscard]] cl_program from_binary(const std::vector<char>& binary, const std::string& options) const;
    void keep(cl_program program, const std::string& file) const;
    [[nodiscard]] std::string log_of(cl_program program) const;

    std::shared_ptr<LogicalDevice> device_;
    std::string folder_;
};

}  // namespace volley::backends::opencl
