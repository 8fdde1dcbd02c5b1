// The timeline of a Vulkan queue. Points are the values of one timeline semaphore, but for those of commands
// that the host runs itself, and a point has passed only when also what the host has to do after it is done
// (bytes to copy out of staging memory, reports to read).
//
// Invariant: completed() == min(max(semaphore, host's own points), first point with host work left - 1), and
// it never goes back.
#pragma once

#include "backends/api/timeline.hpp"
#include "backends/vulkan/vulkan_reports.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace volley::backends::vulkan {

/// What the host does when the device has reached a point.
struct Epilogue {
    backend::Point point = 0;
    // Bytes to bring home.
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    std::size_t bytes = 0;
    std::unique_ptr<VulkanMemory> staging;  // where `from` is no part of a ring
    // Reports to read.
    const VulkanProgram* program = nullptr;
    const Kernel* kernel = nullptr;
    std::unique_ptr<ReportBuffer> reports;
    bool prints = false;  // may run a sink of the user's: not from completed()
};

class VulkanTimeline final : public backend::Timeline {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr auto forever = Clock::time_point::max();

    explicit VulkanTimeline(std::shared_ptr<LogicalDevice> device, ReportPool& reports);
    ~VulkanTimeline() override;
    VulkanTimeline(const VulkanTimeline&) = delete;
    VulkanTimeline& operator=(const VulkanTimeline&) = delete;

    [[nodiscard]] backend::Point completed() const noexcept override;
    void wait(backend::Point point) override;
    bool wait_for(backend::Point point, std::chrono::nanoseconds timeout) override;

    // For the queue:
    [[nodiscard]] VkSemaphore semaphore() const noexcept { return semaphore_; }
    [[nodiscard]] const LogicalDevice& device() const noexcept { return *device_; }
    [[nodiscard]] backend::Point last() const noexcept { return issued_.load(std::memory_order_acquire); }
    /// All up to here was given to the device, or is done.
    [[nodiscard]] backend::Point handed() const noexcept { return handed_.load(std::memory_order_acquire); }
    /// Gives a point out, whose command waits for the host.
    void issue(backend::Point point) noexcept { issued_.store(point, std::memory_order_release); }
    /// Gives a point out that the device has already been given: the hot path, nobody can wait for it yet.
    void submitted(backend::Point point) noexcept {
        handed_.store(point, std::memory_order_release);
        issued_.store(point, std::memory_order_release);
    }
    /// The device has been given an issued point; wakes those who wait for that.
    void hand(backend::Point point) noexcept;
    /// A point of the host's own has passed.
    void pass(backend::Point point) noexcept;
    /// Before its point is handed to the device. Points only grow.
    void add(Epilogue epilogue);
    /// Takes the last one back: its command could not be submitted.
    void cancel() noexcept;
    /// The first epilogue that may print, or 0: someone has to wait for it.
    [[nodiscard]] backend::Point first_print() const;
    /// Waits and does what the host has to; false when the deadline passed first. Never throws a command's
    /// error. On a lost device everything has passed.
    bool await(backend::Point point, Clock::time_point deadline);
    void add_error(backend::Point point, std::exception_ptr error) noexcept;

private:
    [[nodiscard]] backend::Point reached(bool ask) const noexcept;
    void run_epilogues(backend::Point reached, bool prints) noexcept;
    void run(Epilogue& epilogue) noexcept;
    void sleep(backend::Point point, Clock::time_point deadline);
    void throw_error(backend::Point point);

    std::shared_ptr<LogicalDevice> device_;
    ReportPool& reports_;
    VkSemaphore semaphore_ = VK_NULL_HANDLE;
    std::atomic<backend::Point> issued_{0};
    std::atomic<backend::Point> handed_{0};
    mutable std::atomic<backend::Point> reached_{0};  // the highest known value of semaphore and host
    std::atomic<backend::Point> next_epilogue_{~backend::Point{0}};

    std::atomic<bool> running_{false};  // some thread runs epilogues; others leave them to it
    mutable std::mutex mutex_;          // epilogues_, errors_
    std::condition_variable progress_;  // handed_ has grown
    std::deque<Epilogue> epilogues_;
    std::atomic<bool> failed_{false};  // errors_ is not empty
    std::vector<std::pair<backend::Point, std::exception_ptr>> errors_;
};

}  // namespace volley::backends::vulkan
