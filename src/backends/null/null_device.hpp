// A backend that runs nothing: it keeps points, counts memory and writes down each command, so that the
// runtime's order, waits and lifetimes can be tested without a device. Its work is done when somebody waits
// for it, or finish() is called.
#pragma once

#include "backends/api/device.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace volley::backends::null {

/// What all devices of a driver did, in the order of the calls. Thread-safe.
class NullLog {
public:
    void add(std::string line);
    /// Such as "q0 launch scale 1024x1x1 local 64x1x1 -> 3", "q0 wait 3", "q1 write 64 -> 1".
    [[nodiscard]] std::vector<std::string> lines() const;
    void clear();

    std::atomic<std::uint64_t> live_bytes{0};
    std::atomic<std::uint64_t> live_blocks{0};
    std::atomic<std::uint64_t> blocks_made{0};
    std::atomic<std::uint64_t> programs_made{0};
    std::atomic<unsigned> queues_made{0};

private:
    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
};

class NullTimeline final : public backend::Timeline {
public:
    NullTimeline(std::shared_ptr<NullLog> log, unsigned queue) : log_(std::move(log)), queue_(queue) {}

    [[nodiscard]] backend::Point completed() const noexcept override { return completed_.load(); }
    void wait(backend::Point point) override;
    bool wait_for(backend::Point point, std::chrono::nanoseconds timeout) override;
    /// All work up to the point is done, as if the device had got so far.
    void finish(backend::Point point) noexcept;

private:
    std::shared_ptr<NullLog> log_;
    unsigned queue_;
    std::atomic<backend::Point> completed_{0};
};

class NullQueue final : public backend::Queue {
public:
    NullQueue(std::shared_ptr<NullLog> log, unsigned number);

    backend::Point launch(const backend::Launch& launch) override;
    backend::Point write(backend::Memory& to, std::uint64_t offset, std::span<const std::byte> data) override;
    backend::Point read(const backend::Memory& from, std::uint64_t offset,
                        std::span<std::byte> data) override;
    backend::Point copy(backend::Memory& to, std::uint64_t to_offset, const backend::Memory& from,
                        std::uint64_t from_offset, std::uint64_t bytes) override;
    backend::Point fill(backend::Memory& to, std::uint64_t offset, std::uint64_t bytes,
                        std::span<const std::byte> pattern) override;
    backend::Point call(std::function<void()> callback) override;
    backend::Point wait_for(backend::Timeline& other, backend::Point point) override;
    [[nodiscard]] NullTimeline& timeline() noexcept override { return timeline_; }
    [[nodiscard]] backend::Point last() const noexcept override { return last_.load(); }

private:
    backend::Point add(const std::string& what);

    std::shared_ptr<NullLog> log_;
    unsigned number_;
    std::mutex mutex_;
    std::atomic<backend::Point> last_{0};
    NullTimeline timeline_;
};

class NullDevice final : public backend::Device {
public:
    NullDevice(unsigned index, std::shared_ptr<NullLog> log, std::uint64_t memory_limit);

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] std::unique_ptr<backend::Memory> allocate(std::size_t bytes) override;
    [[nodiscard]] std::unique_ptr<backend::Program> compile(ir::Function fn) override;
    [[nodiscard]] std::unique_ptr<backend::Queue> make_queue() override;
    [[nodiscard]] ir::Dim3 default_local(const ir::Function& fn, ir::Dim3 global) const override;

private:
    DeviceInfo info_;
    std::shared_ptr<NullLog> log_;
    std::uint64_t memory_limit_;
};

/// What "null:index" is like. The memory of null:1 is host memory, that of the others is out of the host's
/// reach.
[[nodiscard]] DeviceInfo describe_null(unsigned index);

}  // namespace volley::backends::null
