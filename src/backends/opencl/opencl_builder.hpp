// From source to cl_program: the driver's compiler, or its binary of an earlier run. A file that is missing,
// broken or another driver's is as good as none.
#pragma once

#include "backends/opencl/opencl_logical.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace volley::backends::opencl {

class Builder {
public:
    /// `folder` is where binaries are kept; empty: nowhere.
    Builder(std::shared_ptr<LogicalDevice> device, std::string folder)
        : device_(std::move(device)), folder_(std::move(folder)) {}

    /// Built and ready; the caller releases it. Takes from some milliseconds to a second. Throws CompileError
    /// with the compiler's log and the lines that it names. Thread-safe.
    [[nodiscard]] cl_program build(std::string_view kernel, const std::string& text,
                                   const std::string& options) const;
    /// Where the binary of that source is kept: for tests.
    [[nodiscard]] std::string file_of(const std::string& text, const std::string& options) const;

private:
    [[nodiscard]] cl_program from_binary(const std::vector<char>& binary, const std::string& options) const;
    void keep(cl_program program, const std::string& file) const;
    [[nodiscard]] std::string log_of(cl_program program) const;

    std::shared_ptr<LogicalDevice> device_;
    std::string folder_;
};

}  // namespace volley::backends::opencl
