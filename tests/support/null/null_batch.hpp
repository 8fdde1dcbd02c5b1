// The batch of the null backend: its commands as the log records them. Checks every guarantee of batch.hpp,
// so that a runtime that violates one fails here and not on some driver.
#pragma once

#include "backends/api/batch.hpp"
#include "support/null/null_log.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace volley::backends::null {

class NullBatch final : public backends::Batch {
public:
    /// Throws InternalError if the plan is not valid.
    explicit NullBatch(const backends::BatchPlan& plan);

    [[nodiscard]] const std::vector<NullCommand>& commands() const noexcept { return commands_; }
    [[nodiscard]] const std::vector<std::string>& lines() const noexcept { return lines_; }
    [[nodiscard]] std::uint32_t value_bytes() const noexcept { return value_bytes_; }

private:
    std::vector<NullCommand> commands_;
    std::vector<std::string> lines_;  // one per command
    std::uint32_t value_bytes_ = 0;
};

}  // namespace volley::backends::null
