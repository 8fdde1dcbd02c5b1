// The parts of OpenCL that the peers need, for PoCL's CPU device. Without the OpenCL headers or PoCL, pocl()
// returns null and missing_pocl() names the missing package.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

struct _cl_context;
struct _cl_command_queue;
struct _cl_device_id;
struct _cl_kernel;
struct _cl_mem;
struct _cl_program;

namespace volley::bench {

/// A handle that is released with its owner.
template <class T>
class ClHandle {
public:
    ClHandle() = default;
    ClHandle(T* handle, void (*release)(T*)) : handle_(handle), release_(release) {}
    ~ClHandle() {
        if (handle_ != nullptr) release_(handle_);
    }
    ClHandle(ClHandle&& other) noexcept : handle_(other.handle_), release_(other.release_) {
        other.handle_ = nullptr;
    }
    ClHandle& operator=(ClHandle&& other) noexcept {
        std::swap(handle_, other.handle_);
        std::swap(release_, other.release_);
        return *this;
    }
    [[nodiscard]] T* get() const noexcept { return handle_; }

private:
    T* handle_ = nullptr;
    void (*release_)(T*) = nullptr;
};

using ClBuffer = ClHandle<_cl_mem>;
using ClProgram = ClHandle<_cl_program>;

class ClKernel {
public:
    /// Sets all arguments: buffers and plain values.
    template <class... A>
    void bind(const A&... arguments) {
        unsigned number = 0;
        (set(number++, arguments), ...);
    }
    [[nodiscard]] _cl_kernel* get() const noexcept { return kernel_.get(); }

private:
    friend class ClDevice;
    void set(unsigned number, const ClBuffer& buffer);
    void set_bytes(unsigned number, std::size_t size, const void* value);
    template <class T>
    void set(unsigned number, const T& value) {
        set_bytes(number, sizeof value, &value);
    }
    ClProgram program_;
    ClHandle<_cl_kernel> kernel_;
};

/// Rows of bytes with gaps on both sides, in the form of clEnqueue*BufferRect. `to` is the destination,
/// `from` the source, on the host or the device.
struct ClRect {
    std::array<std::size_t, 3> region;                // bytes of a row, rows of a plane, planes
    std::array<std::size_t, 3> to, from;              // the start: byte, row, plane
    std::array<std::size_t, 2> to_pitch, from_pitch;  // bytes from row to row, from plane to plane
};

class ClDevice {
public:
    explicit ClDevice(_cl_device_id* device);
    ~ClDevice();
    ClDevice(const ClDevice&) = delete;
    ClDevice& operator=(const ClDevice&) = delete;

    /// "pocl 3.1 ..."
    [[nodiscard]] std::string version() const;
    /// Uses host memory, which must outlive the buffer.
    [[nodiscard]] ClBuffer wrap(void* memory, std::size_t bytes);
    /// Allocates page-locked memory of the driver, permanently mapped at `*host`.
    [[nodiscard]] ClBuffer pinned(std::size_t bytes, void** host);
    // Blocking transfers of whole buffers and of rects.
    void write(const ClBuffer& to, const void* from, std::size_t bytes);
    void read(void* to, const ClBuffer& from, std::size_t bytes);
    void copy_rect(const ClBuffer& to, const ClBuffer& from, const ClRect& rect);
    void write_rect(const ClBuffer& to, const void* from, const ClRect& rect);
    void read_rect(void* to, const ClBuffer& from, const ClRect& rect);
    [[nodiscard]] ClProgram build(const std::string& source, const std::string& options = "");
    [[nodiscard]] ClKernel kernel(const std::string& source, const std::string& name,
                                  const std::string& options = "");
    /// With a local size of 0, the driver chooses.
    void enqueue(const ClKernel& kernel, std::size_t global, std::size_t local);
    void finish();
    void run(const ClKernel& kernel, std::size_t global, std::size_t local) {
        enqueue(kernel, global, local);
        finish();
    }

private:
    [[maybe_unused]] _cl_device_id* device_;
    [[maybe_unused]] _cl_context* context_ = nullptr;
    [[maybe_unused]] _cl_command_queue* queue_ = nullptr;
};

/// Returns PoCL's device, opened at the first call; null if there is none.
[[nodiscard]] ClDevice* pocl();
[[nodiscard]] std::string_view missing_pocl();

}  // namespace volley::bench
