// The process-wide print sink, and formatting of every element type.
#include "backends/common/print.hpp"

#include "core/text.hpp"
#include "passes/check_bounds.hpp"

#include <volley/error.hpp>
#include <volley/half.hpp>
#include <volley/print_sink.hpp>

#include <cstdio>
#include <cstring>
#include <mutex>

namespace volley {
namespace {

struct PrintState {
    std::mutex mutex;
    PrintSink sink;  // empty: stdout
};

// Never destroyed: kernels may print during process exit.
PrintState& state() {
    static PrintState& instance = *new PrintState;
    return instance;
}

template <class T>
T load(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

void append_scalar(std::string& line, ScalarType type, const std::byte* from) {
    switch (type) {
        case ScalarType::Bool: append(line, load<std::uint8_t>(from) != 0); return;
        case ScalarType::I8: append(line, static_cast<int>(load<std::int8_t>(from))); return;
        case ScalarType::U8: append(line, static_cast<int>(load<std::uint8_t>(from))); return;
        case ScalarType::I16: append(line, load<std::int16_t>(from)); return;
        case ScalarType::U16: append(line, load<std::uint16_t>(from)); return;
        case ScalarType::I32: append(line, load<std::int32_t>(from)); return;
        case ScalarType::U32: append(line, load<std::uint32_t>(from)); return;
        case ScalarType::I64: append(line, load<std::int64_t>(from)); return;
        case ScalarType::U64: append(line, load<std::uint64_t>(from)); return;
        case ScalarType::F16: append(line, static_cast<float>(load<half>(from))); return;
        case ScalarType::F32: append(line, load<float>(from)); return;
        case ScalarType::F64: append(line, load<double>(from)); return;
    }
}

void append_value(std::string& line, DType type, const std::byte* from) {
    if (type.is_scalar()) {
        append_scalar(line, type.scalar(), from);
        return;
    }
    line += type.is_struct() ? '{' : '(';
    for (std::uint64_t i = 0; i < type.count(); ++i) {
        if (i > 0) line += ", ";
        if (type.is_struct()) {
            line += type.fields()[static_cast<std::size_t>(i)].name;
            line += ": ";
        }
        append_value(line, type.part(i), from + type.part_offset(i));
    }
    line += type.is_struct() ? '}' : ')';
}

}  // namespace

void set_print_sink(PrintSink sink) {
    PrintState& print = state();
    const std::scoped_lock lock(print.mutex);
    print.sink = std::move(sink);
}

namespace backends {

std::string format_print(std::string_view format, std::span<const DType> types, const void* values) {
    std::string line;
    const auto* slot = static_cast<const std::byte*>(values);
    std::size_t next = 0;
    for (std::size_t i = 0; i < format.size(); ++i) {
        const char c = format[i];
        const char after = i + 1 < format.size() ? format[i + 1] : '\0';
        if ((c == '{' || c == '}') && after == c) {
            line += c;
            ++i;
        } else if (c == '{' && after == '}' && next < types.size()) {
            append_value(line, types[next], slot);
            slot += print_slot(types[next].size());
            ++next;
            ++i;
        } else {
            line += c;
        }
    }
    return line;
}

void print_line(std::string_view line) {
    PrintState& print = state();
    const std::scoped_lock lock(print.mutex);
    if (print.sink) {
        print.sink(line);
        return;
    }
    std::string text(line);
    text += '\n';
    std::fwrite(text.data(), 1, text.size(), stdout);
}

void deliver_print(const ir::Function& fn, std::string_view format, std::span<const DType> types,
                   const void* values) {
    std::string line = format_print(format, types, values);
    if (!format.starts_with(passes::bounds_report)) {
        print_line(line);
        return;
    }
    line.erase(0, passes::bounds_report.size());
    const std::size_t text = line.find(": index ");
    const std::string where = text == std::string::npos ? "" : cat(", ", line.substr(0, text));
    throw LaunchError(ErrorCode::IndexError,
                      cat("out of bounds: ", text == std::string::npos ? line : line.substr(text + 2)),
                      cat("kernel '", fn.name, "'", where),
                      "correct the index, or guard the access with $if");
}

}  // namespace backends
}  // namespace volley
