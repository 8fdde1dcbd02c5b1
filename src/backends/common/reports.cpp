// Reads the records of a launch.
#include "backends/common/reports.hpp"

#include "backends/common/print.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "passes/check_bounds.hpp"

#include <volley/log.hpp>

#include <algorithm>
#include <cstring>
#include <new>

namespace volley::backends {

using codegen::RecordHeader;
using codegen::ReportHeader;

namespace {

constexpr std::uint64_t smallest = std::uint64_t{64} << 10;
constexpr std::uint64_t largest = std::uint64_t{64} << 20;
constexpr std::size_t kept = 8;  // buffers kept for later launches

[[noreturn]] void fail_loop(const ReportSource& source, std::uint32_t node) {
    const ir::Function& fn = *source.function;
    const std::string where = node < fn.nodes.size() ? fn.where(fn[node].loc) : std::string();
    fail(ErrorCode::InvalidLaunch,
         cat("a loop was cut short: the driver limits an invocation to ", source.max_iterations,
             " iterations, so the results are wrong"),
         cat("kernel '", fn.name, "'", where.empty() ? "" : ", ", where, ", on ", source.device),
         "run fewer iterations per invocation (more invocations, or several launches), or use another "
         "device");
}

}  // namespace

std::uint64_t print_bytes(std::span<const codegen::PrintSite> prints) noexcept {
    std::uint64_t sum = 0;
    for (const codegen::PrintSite& site : prints) {
        if (site.format.starts_with(passes::bounds_report)) continue;  // rare, and only the first is reported
        sum += sizeof(RecordHeader);
        for (const DType& type : site.types) sum += print_slot(type.size());
    }
    return sum;
}

ReportBuffer::ReportBuffer(std::unique_ptr<Memory> memory, std::byte* mapped)
    : memory_(std::move(memory)), bytes_(mapped) {
    if (bytes_ == nullptr) {
        copy_.resize(memory_->size());
        bytes_ = copy_.data();
    }
    std::memset(bytes_, 0, memory_->size());
}

std::uint64_t ReportBuffer::capacity() const noexcept { return memory_->size() - sizeof(ReportHeader); }

void ReportBuffer::arm() noexcept {
    ReportHeader header;
    header.capacity = static_cast<std::uint32_t>(capacity());
    std::memcpy(bytes_, &header, sizeof header);
}

void ReportBuffer::drain(const ReportSource& source) {
    ReportHeader header;
    std::byte* records = bytes_ + sizeof header;
    std::memcpy(&header, bytes_, sizeof header);
    const auto used = static_cast<std::size_t>(std::min<std::uint64_t>(header.used, capacity()));
    const ir::Function& fn = *source.function;
    const auto clear = [&]() noexcept { std::memset(records, 0, used); };
    try {
        for (std::size_t at = 0; at + sizeof(RecordHeader) <= used;) {
            RecordHeader record;
            std::memcpy(&record, records + at, sizeof record);
            // A size of zero marks space claimed by a record that did not fit.
            if (record.bytes < sizeof record || record.bytes > used - at ||
                record.print >= source.prints.size())
                break;
            const codegen::PrintSite& site = source.prints[record.print];
            deliver_print(fn, site.format, site.types, records + at + sizeof record);
            at += record.bytes;
        }
        if (header.lost > 0) {
            log_message(
                LogLevel::Warning,
                cat("kernel '", fn.name, "' on ", source.device, ": ", header.lost,
                    " printed line(s) were dropped because the print buffer is full; print less per launch"));
        }
        if (header.loop_limit != 0) fail_loop(source, header.loop_limit - 1);
    } catch (...) {
        clear();
        throw;
    }
    clear();
}

std::unique_ptr<ReportBuffer> ReportPool::take(std::uint64_t print_bytes, std::uint64_t invocations) {
    const std::uint64_t requested =
        std::clamp(print_bytes == 0 ? 0 : print_bytes * std::min(invocations, largest), smallest, largest);
    {
        const std::scoped_lock lock(mutex_);
        const auto fits = [&](const auto& buffer) { return buffer->capacity() >= requested; };
        const auto found = std::find_if(free_.begin(), free_.end(), fits);
        if (found != free_.end()) {
            std::unique_ptr<ReportBuffer> buffer = std::move(*found);
            free_.erase(found);
            return buffer;
        }
    }
    return make_(sizeof(ReportHeader) + requested);
}

void ReportPool::give_back(std::unique_ptr<ReportBuffer> buffer) noexcept {
    const std::scoped_lock lock(mutex_);
    if (free_.capacity() < kept) {
        try {
            free_.reserve(kept);
        } catch (const std::bad_alloc&) {
            return;
        }
    }
    if (free_.size() < kept && buffer->capacity() <= largest / 16) free_.push_back(std::move(buffer));
}

}  // namespace volley::backends
