// Support for runtime tests: checks of error messages, and contexts on the null backend, which only logs its
// commands.
#pragma once

#include "core/text.hpp"
#include "runtime/drivers.hpp"
#include "support/counting.hpp"
#include "support/expect_error.hpp"
#include "support/null/null_driver.hpp"

#include <volley/volley.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace volley::testing {

/// A context on the null backend, and its log. null:0 has device memory, null:1 host memory.
struct NullContext {
    std::shared_ptr<backends::null::NullLog> log = std::make_shared<backends::null::NullLog>();
    Context context;

    explicit NullContext(ContextOptions options = {.devices = {"null:0"}},
                         backends::null::NullOptions driver = {})
        : context(make(log, options, driver)) {}

private:
    static Context make(const std::shared_ptr<backends::null::NullLog>& log, const ContextOptions& options,
                        const backends::null::NullOptions& driver) {
        runtime::Drivers::instance().add(backends::null::make_driver(log, driver));
        return make_context(options);
    }
};

inline auto make_touch() {
    return kernel("touch", [](Buff<int> data) { data[global_id().x] = 1; });
}
inline auto make_scale() {
    return kernel("scale", [](Buff<float> data, Const<float> alpha) {
        auto i = global_id().x;
        data[i] = data[i] * alpha;
    });
}

}  // namespace volley::testing
