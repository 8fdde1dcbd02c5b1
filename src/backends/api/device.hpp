// The interface between the runtime and a device: memory, programs and queues. Each backend implements it in
// files of the same names: <backend>_device.cpp, <backend>_queue.cpp, <backend>_memory.cpp,
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

/// Options that a context passes to its devices. Zero selects the environment's setting, or the backend's
/// default if there is none.
struct DeviceOptions {
    unsigned cpu_width = 0;          // lanes per vector, a power of two up to 64
    unsigned cpu_threads = 0;        // worker threads, including the waiting thread
    std::uint64_t memory_limit = 0;  // maximum bytes allocated at a time
};

class Device {
public:
    virtual ~Device() = default;

    [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;
    /// Allocates uninitialised memory. Throws MemoryError (OutOfMemory) with the size and the device.
    [[nodiscard]] virtual std::unique_ptr<Memory> allocate(std::size_t bytes) = 0;
    /// Allocates the host memory that the device accesses fastest: page-locked if the driver supports it.
    /// host() is never null and is page-aligned. Queue::copy and copy_rect of this device accept it, and
    /// read() and write() of every device. Equivalent to allocate() if device memory is host memory.
    [[nodiscard]] virtual std::unique_ptr<Memory> allocate_host(std::size_t bytes) { return allocate(bytes); }
    /// Returns the alignment that import_host requires of the address and the size. 0: import_host is not
    /// supported. 1: any memory is accepted, at no cost.
    [[nodiscard]] virtual std::size_t import_alignment() const noexcept { return 0; }
    /// Wraps host memory as device memory without a copy. The caller keeps ownership, and the bytes must
    /// outlive the Memory. Throws DeviceError (Unsupported) or ArgumentError (InvalidArgument: alignment).
    [[nodiscard]] virtual std::unique_ptr<Memory> import_host(std::span<std::byte> bytes);
    /// Wraps a native buffer of the driver without taking ownership; it must outlive the Memory. Throws
    /// DeviceError (Unsupported) for another driver's object, ArgumentError for an unsuitable one.
    [[nodiscard]] virtual std::unique_ptr<Memory> import_native(const NativeBuffer& buffer);
    [[nodiscard]] virtual NativeDevice native() const { return {}; }
    /// Returns whether compile() accepts foreign functions written in this language (ir/foreign.hpp).
    [[nodiscard]] virtual bool runs(ir::Language) const noexcept { return false; }
    /// Compiles `fn`, which is verified and optimised, or foreign in a language that the device runs. Throws
    /// CompileError or Unsupported (a missing device feature, with the source line).
    [[nodiscard]] virtual std::unique_ptr<Program> compile(ir::Function fn) = 0;
    [[nodiscard]] virtual std::unique_ptr<Queue> make_queue() = 0;
    /// Returns a good workgroup size for a kernel that declares none.
    [[nodiscard]] virtual ir::Dim3 default_local(const ir::Function& fn, ir::Dim3 global) const = 0;

    /// Returns whether it belongs to a driver, whose threads and static objects the library does not control.
    [[nodiscard]] virtual bool uses_driver() const noexcept { return false; }
    /// Saves what outlives the process. Called at exit, when all work has completed and the driver still
    /// works. The device may be used afterwards, or never be destroyed.
    virtual void before_exit() noexcept {}
    /// Called in the child process after a fork, unless uses_driver(): its threads do not exist there.
    virtual void forked() {}

protected:
    /// Throws ArgumentError if `bytes` is empty or its address is not a multiple of import_alignment().
    void check_import(std::span<const std::byte> bytes) const;
};

/// A backend, which enumerates and opens its devices. The constructor opens the driver; if the machine has
/// none, the device list is empty. <backend>_driver.hpp declares `std::unique_ptr<backends::Driver>
/// make_driver()` in the backend's namespace.
class Driver {
public:
    virtual ~Driver() = default;
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;  // "cpu"
    /// Returns whether this driver may have devices that are selected without being named. Cheap; opens
    /// nothing. If false, a context that names no device never opens this driver.
    [[nodiscard]] virtual bool may_have_preferred() const { return true; }
    /// Lists all devices in the driver's order, without side effects. A device's position is
    /// DeviceInfo::index.
    [[nodiscard]] virtual std::vector<DeviceInfo> devices() = 0;
    /// Returns whether a forked child can open devices although its parent has used the driver.
    [[nodiscard]] virtual bool survives_fork() const noexcept { return true; }
    /// Opens a device. Each call creates a new Device, owned by one context.
    [[nodiscard]] virtual std::unique_ptr<Device> open(unsigned index, const DeviceOptions& options) = 0;
};

}  // namespace volley::backends
