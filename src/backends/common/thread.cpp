// The error of a thread that could not be started.
#include "backends/common/thread.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

namespace volley::backends {

void fail_thread(std::string_view what, const std::system_error& error) {
    fail(ErrorCode::OutOfMemory, cat("no thread could be started: ", error.code().message()), what,
         "raise the limit of threads (ulimit -u, the pids.max of the control group), or set "
         "VOLLEY_CPU_THREADS");
}

}  // namespace volley::backends
