// Builds programs and reads the compiler's log.
#include "backends/opencl/opencl_builder.hpp"

#include "backends/common/kept_file.hpp"
#include "core/compilers.hpp"
#include "core/fail.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace volley::backends::opencl {
namespace {

constexpr std::string_view mark = "volley opencl 1\n";
constexpr std::size_t longest_log = 4000;  // characters; the first errors matter most
constexpr std::size_t most_lines = 4;

/// Returns the line that a compiler message names as ":12:5:", or 0.
std::size_t line_named(std::string_view message) {
    for (std::size_t at = message.find(':'); at != std::string_view::npos; at = message.find(':', at + 1)) {
        const char* end = message.data() + message.size();
        std::size_t line = 0;
        std::size_t column = 0;
        const auto first = std::from_chars(message.data() + at + 1, end, line);
        if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ':') continue;
        const auto second = std::from_chars(first.ptr + 1, end, column);
        if (second.ec == std::errc{} && second.ptr != end && *second.ptr == ':') return line;
    }
    return 0;
}

std::string_view line_of(std::string_view text, std::size_t number) {
    for (; number > 1; --number) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    return text.substr(0, text.find('\n'));
}

/// Returns the source lines that errors in the log refer to, with their numbers.
std::string failing_lines(std::string_view log, std::string_view text) {
    std::vector<std::size_t> numbers;
    while (!log.empty() && numbers.size() < most_lines) {
        const std::size_t end = log.find('\n');
        const std::string_view message = log.substr(0, end);
        log.remove_prefix(end == std::string_view::npos ? log.size() : end + 1);
        if (message.find("error") == std::string_view::npos) continue;
        const std::size_t line = line_named(message);
        if (line != 0 && std::find(numbers.begin(), numbers.end(), line) == numbers.end())
            numbers.push_back(line);
    }
    std::string result;
    for (const std::size_t number : numbers) {
        const std::string_view line = trimmed(line_of(text, number));
        if (!line.empty()) result += cat("\n  line ", number, ": ", line);
    }
    return result;
}

}  // namespace

std::string ProgramBuilder::file_of(const std::string& text, const std::string& options) const {
    if (folder_.empty()) return {};
    const Hash128 key = Hasher()
                            .add(std::string_view(text), std::string_view(options),
                                 std::string_view(device_->physical().identity))
                            .digest();
    return cat(folder_, "/opencl-", key.to_string(), ".program");
}

std::string ProgramBuilder::log_of(cl_program program) const {
    std::size_t size = 0;
    const cl_device_id device = device_->physical().handle;
    if (device_->cl.GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) !=
        CL_SUCCESS)
        return {};
    std::string log(size, '\0');
    if (device_->cl.GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr) !=
        CL_SUCCESS)
        return {};
    log.resize(std::strlen(log.c_str()));
    log = std::string(trimmed(log));
    if (log.size() > longest_log) log = cat(log.substr(0, longest_log), "\n...");
    return log;
}

cl_program ProgramBuilder::from_binary(const std::vector<char>& binary, const std::string& options) const {
    const Api& cl = device_->cl;
    const cl_device_id device = device_->physical().handle;
    const std::size_t size = binary.size();
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    cl_int status = CL_SUCCESS;
    cl_int result = CL_SUCCESS;
    cl_program program =
        cl.CreateProgramWithBinary(device_->context(), 1, &device, &size, &bytes, &status, &result);
    if (result != CL_SUCCESS) return nullptr;
    if (status == CL_SUCCESS)
        status = cl.BuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr);
    if (status == CL_SUCCESS) return program;
    cl.ReleaseProgram(program);
    return nullptr;
}

void ProgramBuilder::keep(cl_program program, const std::string& file) const {
    const Api& cl = device_->cl;
    std::size_t size = 0;
    if (cl.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) != CL_SUCCESS ||
        size == 0)
        return;
    std::vector<char> binary(size);
    char* bytes = binary.data();
    if (cl.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, nullptr) != CL_SUCCESS) return;
    backends::store_file(file, mark, binary);
}

cl_program ProgramBuilder::build(std::string_view kernel, const std::string& text,
                                 const std::string& options) const {
    about_to_compile(kernel);
    device_->check_lost();
    const Api& cl = device_->cl;
    const std::string file = file_of(text, options);
    if (!file.empty()) {
        if (const std::vector<char> binary = backends::load_file(file, mark); !binary.empty()) {
            if (cl_program program = from_binary(binary, options)) return program;
        }
    }
    const char* source = text.c_str();
    const std::size_t length = text.size();
    cl_int result = CL_SUCCESS;
    cl_program program = cl.CreateProgramWithSource(device_->context(), 1, &source, &length, &result);
    device_->check(result, "clCreateProgramWithSource");
    const cl_device_id device = device_->physical().handle;
    result = cl.BuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr);
    if (result == CL_SUCCESS) {
        if (!file.empty()) keep(program, file);
        return program;
    }
    const std::string log = log_of(program);
    cl.ReleaseProgram(program);
    if (means_lost(result) || result == CL_OUT_OF_HOST_MEMORY) device_->fail_call(result, "clBuildProgram");
    const std::string said = log.empty() ? "" : cat(":\n", log, failing_lines(log, text), "\n");
    fail(ErrorCode::CompileError, cat("the driver cannot compile the kernel: ", result_text(result), said),
         cat("kernel '", kernel, "' on ", device_->name(), options.empty() ? "" : ", options ", options),
         "correct the source, or simplify the kernel; VOLLEY_DUMP=opencl shows the generated source");
}

}  // namespace volley::backends::opencl
