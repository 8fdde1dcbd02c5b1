// A device as the runtime sees it: memory, programs and queues. Each backend implements this interface, with
// the same file names: <backend>_device.cpp, <backend>_queue.cpp, <backend>_memory.cpp,
// <backend>_program.cpp.
#pragma once

#include "backends/api/queue.hpp"
#include "ir/foreign.hpp"

#include <volley/device.hpp>
#include <volley/native.hpp>

#include <memory>
#include <string_view>
#include <vector>

namespace volley::backends {

/// What a context may ask of its devices. Zero means: the environment's setting, else the backend's own
/// choice.
struct DeviceOptions {
    unsigned cpu_width = 0;          // lanes of a vector, a power of two up to 64
    unsigned cpu_threads = 0;        // threads that compute, the waiting one included
    std::uint64_t memory_limit = 0;  // bytes that may be live at once
};

class Device {
public:
    virtual ~Device() = default;

    [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;
    /// Uninitialised memory. Throws MemoryError (OutOfMemory) naming the size and the device.
    [[nodiscard]] virtual std::unique_ptr<Memory> allocate(std::size_t bytes) = 0;
    /// Host memory that the device reads and writes fastest: page-locked where the driver can. host() is
    /// never null; a multiple of a page. For Queue::copy and copy_rect of this device, and for everybody's
    /// read() and write(). Where device memory is host memory, it is the same.
    [[nodiscard]] virtual std::unique_ptr<Memory> allocate_host(std::size_t bytes) { return allocate(bytes); }
    /// What import_host asks of the address and the size; 0: it cannot. 1: any memory will do, and it costs
    /// nothing.
    [[nodiscard]] virtual std::size_t import_alignment() const noexcept { return 0; }
    /// The caller's bytes as memory of the device, without a copy. They stay the caller's and outlive the
    /// Memory. Throws DeviceError (Unsupported) or ArgumentError (InvalidArgument: alignment).
    [[nodiscard]] virtual std::unique_ptr<Memory> import_host(std::span<std::byte> bytes);
    /// An object of the driver's as memory, not owned: it outlives the Memory. Throws DeviceError
    /// (Unsupported) for another driver's object, ArgumentError for one that does not fit.
    [[nodiscard]] virtual std::unique_ptr<Memory> import_native(const NativeBuffer& buffer);
    [[nodiscard]] virtual NativeDevice native() const { return {}; }
    /// Whether compile() takes functions whose code is written in that language (ir/foreign.hpp).
    [[nodiscard]] virtual bool runs(ir::Language) const noexcept { return false; }
    /// `fn` is verified and optimised, or foreign in a language that the device runs. Throws CompileError or
    /// Unsupported (a feature that the device lacks, with the source line).
    [[nodiscard]] virtual std::unique_ptr<Program> compile(ir::Function fn) = 0;
    [[nodiscard]] virtual std::unique_ptr<Queue> make_queue() = 0;
    /// A good workgroup size for a kernel that declares none.
    [[nodiscard]] virtual ir::Dim3 default_local(const ir::Function& fn, ir::Dim3 global) const = 0;

protected:
    /// Throws ArgumentError where there are no bytes, or the first is no multiple of import_alignment().
    void check_import(std::span<const std::byte> bytes) const;
};

/// A backend: finds its devices. Constructing one opens its driver; a machine without it has no devices.
/// <backend>_driver.hpp declares `std::unique_ptr<backends::Driver> make_driver()` in the backend's
/// namespace.
class Driver {
public:
    virtual ~Driver() = default;
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;  // "cpu"
    /// Whether looking for devices that are used unnamed can find any. Cheap, and opens nothing: where it is
    /// false, a context that names no device leaves this driver closed.
    [[nodiscard]] virtual bool may_have_preferred() const { return true; }
    /// All devices, in the driver's order, without side effects. The index is DeviceInfo::index.
    [[nodiscard]] virtual std::vector<DeviceInfo> devices() = 0;
    /// Opens one; each call makes a new device object (a context's own).
    [[nodiscard]] virtual std::unique_ptr<Device> open(unsigned index, const DeviceOptions& options) = 0;
};

}  // namespace volley::backends
