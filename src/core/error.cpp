// Joins the three parts of an error message and maps error codes to exception classes.
#include <volley/error.hpp>

#include <string>

namespace volley {
namespace {

constexpr std::string_view separator = "; ";

std::string join(std::string_view what_failed, std::string_view subject, std::string_view advice) {
    std::string text;
    text.reserve(what_failed.size() + subject.size() + advice.size() + 2 * separator.size());
    for (const std::string_view part : {what_failed, subject, advice}) {
        if (part.empty()) continue;
        if (!text.empty()) text += separator;
        text += part;
    }
    return text;
}

}  // namespace

std::string_view to_string(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::InvalidArgument: return "InvalidArgument";
        case ErrorCode::InvalidShape: return "InvalidShape";
        case ErrorCode::Overflow: return "Overflow";
        case ErrorCode::TypeMismatch: return "TypeMismatch";
        case ErrorCode::SizeMismatch: return "SizeMismatch";
        case ErrorCode::InvalidView: return "InvalidView";
        case ErrorCode::IndexError: return "IndexError";
        case ErrorCode::OutOfMemory: return "OutOfMemory";
        case ErrorCode::NotAllocated: return "NotAllocated";
        case ErrorCode::NotHostAccessible: return "NotHostAccessible";
        case ErrorCode::InvalidLaunch: return "InvalidLaunch";
        case ErrorCode::WrongContext: return "WrongContext";
        case ErrorCode::TraceError: return "TraceError";
        case ErrorCode::IrError: return "IrError";
        case ErrorCode::CompileError: return "CompileError";
        case ErrorCode::Unsupported: return "Unsupported";
        case ErrorCode::DeviceLost: return "DeviceLost";
        case ErrorCode::Timeout: return "Timeout";
        case ErrorCode::UnknownDevice: return "UnknownDevice";
        case ErrorCode::Internal: return "Internal";
    }
    return "unknown";
}

Error::Error(ErrorCode code, std::string_view what_failed, std::string_view subject, std::string_view advice)
    : std::runtime_error(join(what_failed, subject, advice)), code_(code) {
    std::size_t end = 0;
    auto place = [&end](std::string_view part) {
        if (part.empty()) return MessagePart{end, 0};
        const std::size_t offset = end == 0 ? 0 : end + separator.size();
        end = offset + part.size();
        return MessagePart{offset, part.size()};
    };
    what_failed_ = place(what_failed);
    subject_ = place(subject);
    advice_ = place(advice);
}

Error::~Error() = default;

std::string_view Error::what_failed() const noexcept {
    return {what() + what_failed_.offset, what_failed_.size};
}
std::string_view Error::subject() const noexcept { return {what() + subject_.offset, subject_.size}; }
std::string_view Error::advice() const noexcept { return {what() + advice_.offset, advice_.size}; }

void detail::fail(ErrorCode code, std::string_view what_failed, std::string_view subject,
                  std::string_view advice) {
    switch (code) {
        case ErrorCode::InvalidArgument:
        case ErrorCode::InvalidShape:
        case ErrorCode::Overflow:
        case ErrorCode::TypeMismatch:
        case ErrorCode::SizeMismatch:
        case ErrorCode::InvalidView:
        case ErrorCode::IndexError: throw ArgumentError(code, what_failed, subject, advice);
        case ErrorCode::OutOfMemory:
        case ErrorCode::NotAllocated:
        case ErrorCode::NotHostAccessible: throw MemoryError(code, what_failed, subject, advice);
        case ErrorCode::InvalidLaunch:
        case ErrorCode::WrongContext: throw LaunchError(code, what_failed, subject, advice);
        case ErrorCode::TraceError: throw TraceError(code, what_failed, subject, advice);
        case ErrorCode::IrError: throw IrError(code, what_failed, subject, advice);
        case ErrorCode::CompileError: throw CompileError(code, what_failed, subject, advice);
        case ErrorCode::Unsupported:
        case ErrorCode::DeviceLost:
        case ErrorCode::Timeout:
        case ErrorCode::UnknownDevice: throw DeviceError(code, what_failed, subject, advice);
        case ErrorCode::Internal: break;
    }
    throw InternalError(code, what_failed, subject, advice);
}

}  // namespace volley
