// Every failure of the library is an exception derived from volley::Error. It has a code to decide by and a
// message of three parts for the reader: what failed; on what; what to do.
#pragma once

#include <volley/api.hpp>

#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace volley {

/// What kind of failure it was. The numbers are stable: new codes are added at the end.
enum class ErrorCode {
    InvalidArgument,    ///< a value that is not legal here
    InvalidShape,       ///< negative extents, too many dimensions, padding smaller than the shape
    Overflow,           ///< a size or product that does not fit its type
    TypeMismatch,       ///< a dtype other than the one needed
    SizeMismatch,       ///< two sizes that should agree and do not
    InvalidView,        ///< a view outside of its storage, or misaligned
    IndexError,         ///< an index outside of its shape
    OutOfMemory,        ///< a device or the host has no memory left, or a limit was reached
    NotAllocated,       ///< memory was needed that has never been made
    NotHostAccessible,  ///< host access to memory that only a device can reach
    InvalidLaunch,      ///< sizes or arguments that no launch can have
    WrongContext,       ///< things of two contexts were mixed
    TraceError,         ///< the body of a kernel is not legal, or an operation is used outside of one
    IrError,            ///< the IR's verifier or parser refused it
    CompileError,       ///< a backend could not compile the kernel
    Unsupported,        ///< the device or this build cannot do it
    DeviceLost,         ///< the device stopped working
    Timeout,            ///< a wait took longer than allowed
    UnknownDevice,      ///< no device has that name
    Internal,           ///< a defect of the library itself
};

/// The code's name, as written in the enumeration.
[[nodiscard]] VOLLEY_API std::string_view to_string(ErrorCode code) noexcept;

/// The base of all exceptions that the library throws.
///
///     try { scale(buf, 2.0f); }
///     catch (const volley::Error& e) { report(e.code(), e.what()); }
class VOLLEY_API Error : public std::runtime_error {
public:
    /// The parts are joined with "; " into what(); empty parts are left out.
    Error(ErrorCode code, std::string_view what_failed, std::string_view subject = {},
          std::string_view advice = {});
    Error(const Error&) noexcept = default;
    Error& operator=(const Error&) noexcept = default;
    ~Error() override;

    [[nodiscard]] ErrorCode code() const noexcept { return code_; }

    /// The three parts. The views live as long as this exception does; any of them may be empty.
    [[nodiscard]] std::string_view what_failed() const noexcept;
    [[nodiscard]] std::string_view subject() const noexcept;
    [[nodiscard]] std::string_view advice() const noexcept;

private:
    // The parts are ranges of what(), so that copying an exception never allocates.
    struct MessagePart {
        std::size_t offset = 0;
        std::size_t size = 0;
    };
    ErrorCode code_;
    MessagePart what_failed_;
    MessagePart subject_;
    MessagePart advice_;
};

// The families, by what a program might do about a failure. Each has a most general code, used when none is
// given.

/// Wrong values, shapes, types, sizes, views, indices and settings.
class VOLLEY_API ArgumentError : public Error {
public:
    using Error::Error;
    explicit ArgumentError(std::string_view what_failed, std::string_view subject = {},
                           std::string_view advice = {})
        : Error(ErrorCode::InvalidArgument, what_failed, subject, advice) {}
};

/// Memory that could not be had or reached.
class VOLLEY_API MemoryError : public Error {
public:
    using Error::Error;
    explicit MemoryError(std::string_view what_failed, std::string_view subject = {},
                         std::string_view advice = {})
        : Error(ErrorCode::OutOfMemory, what_failed, subject, advice) {}
};

/// A launch or submission that cannot be made as it was asked for.
class VOLLEY_API LaunchError : public Error {
public:
    using Error::Error;
    explicit LaunchError(std::string_view what_failed, std::string_view subject = {},
                         std::string_view advice = {})
        : Error(ErrorCode::InvalidLaunch, what_failed, subject, advice) {}
};

/// A kernel's body that cannot be traced.
class VOLLEY_API TraceError : public Error {
public:
    using Error::Error;
    explicit TraceError(std::string_view what_failed, std::string_view subject = {},
                        std::string_view advice = {})
        : Error(ErrorCode::TraceError, what_failed, subject, advice) {}
};

/// IR that the verifier or the parser refuses.
class VOLLEY_API IrError : public Error {
public:
    using Error::Error;
    explicit IrError(std::string_view what_failed, std::string_view subject = {},
                     std::string_view advice = {})
        : Error(ErrorCode::IrError, what_failed, subject, advice) {}
};

/// A kernel that a backend cannot compile.
class VOLLEY_API CompileError : public Error {
public:
    using Error::Error;
    explicit CompileError(std::string_view what_failed, std::string_view subject = {},
                          std::string_view advice = {})
        : Error(ErrorCode::CompileError, what_failed, subject, advice) {}
};

/// A device that is unknown, lost, too slow, or lacks what was asked for.
class VOLLEY_API DeviceError : public Error {
public:
    using Error::Error;
    explicit DeviceError(std::string_view what_failed, std::string_view subject = {},
                         std::string_view advice = {})
        : Error(ErrorCode::Unsupported, what_failed, subject, advice) {}
};

/// A defect of the library: please report it.
class VOLLEY_API InternalError : public Error {
public:
    using Error::Error;
    explicit InternalError(std::string_view what_failed, std::string_view subject = {},
                           std::string_view advice = {})
        : Error(ErrorCode::Internal, what_failed, subject, advice) {}
};

namespace detail {

/// Throws the class that belongs to the code: the one way in which the library fails.
[[noreturn]] VOLLEY_API void fail(ErrorCode code, std::string_view what_failed, std::string_view subject = {},
                                  std::string_view advice = {});

}  // namespace detail
}  // namespace volley
