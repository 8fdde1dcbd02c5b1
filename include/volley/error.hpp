// The library reports every failure as an exception derived from volley::Error. It has a code for programs
// and a message of three parts for people: what failed; on what; what to do.
#pragma once

#include <volley/api.hpp>

#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace volley {

/// The kind of failure. The values are stable: new codes are added at the end.
enum class ErrorCode {
    InvalidArgument,    ///< a value is not valid here
    InvalidShape,       ///< negative extent, too many dimensions, or padding smaller than the shape
    Overflow,           ///< a size or product does not fit its type
    TypeMismatch,       ///< a dtype differs from the required one
    SizeMismatch,       ///< two sizes differ that must be equal
    InvalidView,        ///< a view exceeds its storage or is misaligned
    IndexError,         ///< an index is out of range
    OutOfMemory,        ///< a device or the host has no memory left, or its limit is reached
    NotAllocated,       ///< the operation needs memory that was never allocated
    NotHostAccessible,  ///< the host cannot access the memory
    InvalidLaunch,      ///< sizes or arguments of a launch are not valid
    WrongContext,       ///< objects of two contexts were mixed, or the context was destroyed
    TraceError,         ///< a kernel body is not valid, or its operations are used outside one
    IrError,            ///< the verifier or the parser rejected the IR
    CompileError,       ///< a backend could not compile the kernel
    Unsupported,        ///< the device or this build does not support it
    DeviceLost,         ///< the device stopped working
    Timeout,            ///< a wait exceeded its time limit
    UnknownDevice,      ///< no device has that name
    Internal,           ///< a bug in the library
};

/// Returns the name of the enumerator.
[[nodiscard]] VOLLEY_API std::string_view to_string(ErrorCode code) noexcept;

/// The base class of all exceptions that the library throws.
///
///     try { scale(buf, 2.0f); }
///     catch (const volley::Error& e) { report(e.code(), e.what()); }
class VOLLEY_API Error : public std::runtime_error {
public:
    /// Joins the parts with "; " into what(); omits empty parts.
    Error(ErrorCode code, std::string_view what_failed, std::string_view subject = {},
          std::string_view advice = {});
    Error(const Error&) noexcept = default;
    Error& operator=(const Error&) noexcept = default;
    ~Error() override;

    [[nodiscard]] ErrorCode code() const noexcept { return code_; }

    /// Return the parts of the message, each of which may be empty. The views refer to this exception.
    [[nodiscard]] std::string_view what_failed() const noexcept;
    [[nodiscard]] std::string_view subject() const noexcept;
    [[nodiscard]] std::string_view advice() const noexcept;

private:
    // Parts are ranges of what(), so copying an exception never allocates.
    struct MessagePart {
        std::size_t offset = 0;
        std::size_t size = 0;
    };
    ErrorCode code_;
    MessagePart what_failed_;
    MessagePart subject_;
    MessagePart advice_;
};

// The classes group errors by how a program can respond. The constructors without a code use the most general
// one of the class.

/// An invalid value, shape, type, size, view, index or setting.
class VOLLEY_API ArgumentError : public Error {
public:
    using Error::Error;
    explicit ArgumentError(std::string_view what_failed, std::string_view subject = {},
                           std::string_view advice = {})
        : Error(ErrorCode::InvalidArgument, what_failed, subject, advice) {}
};

/// Memory cannot be allocated or accessed.
class VOLLEY_API MemoryError : public Error {
public:
    using Error::Error;
    explicit MemoryError(std::string_view what_failed, std::string_view subject = {},
                         std::string_view advice = {})
        : Error(ErrorCode::OutOfMemory, what_failed, subject, advice) {}
};

/// A launch or submission cannot be executed as requested.
class VOLLEY_API LaunchError : public Error {
public:
    using Error::Error;
    explicit LaunchError(std::string_view what_failed, std::string_view subject = {},
                         std::string_view advice = {})
        : Error(ErrorCode::InvalidLaunch, what_failed, subject, advice) {}
};

/// A kernel body cannot be traced.
class VOLLEY_API TraceError : public Error {
public:
    using Error::Error;
    explicit TraceError(std::string_view what_failed, std::string_view subject = {},
                        std::string_view advice = {})
        : Error(ErrorCode::TraceError, what_failed, subject, advice) {}
};

/// The verifier or the parser rejects the IR.
class VOLLEY_API IrError : public Error {
public:
    using Error::Error;
    explicit IrError(std::string_view what_failed, std::string_view subject = {},
                     std::string_view advice = {})
        : Error(ErrorCode::IrError, what_failed, subject, advice) {}
};

/// A backend cannot compile a kernel.
class VOLLEY_API CompileError : public Error {
public:
    using Error::Error;
    explicit CompileError(std::string_view what_failed, std::string_view subject = {},
                          std::string_view advice = {})
        : Error(ErrorCode::CompileError, what_failed, subject, advice) {}
};

/// A device is unknown, lost, too slow, or lacks a requested feature.
class VOLLEY_API DeviceError : public Error {
public:
    using Error::Error;
    explicit DeviceError(std::string_view what_failed, std::string_view subject = {},
                         std::string_view advice = {})
        : Error(ErrorCode::Unsupported, what_failed, subject, advice) {}
};

/// A bug in the library; please report it.
class VOLLEY_API InternalError : public Error {
public:
    using Error::Error;
    explicit InternalError(std::string_view what_failed, std::string_view subject = {},
                           std::string_view advice = {})
        : Error(ErrorCode::Internal, what_failed, subject, advice) {}
};

namespace detail {

/// Throws the exception class of the code. All errors of the library are thrown here.
[[noreturn]] VOLLEY_API void fail(ErrorCode code, std::string_view what_failed, std::string_view subject = {},
                                  std::string_view advice = {});

}  // namespace detail
}  // namespace volley
