// Memory that the host cannot address: every access throws, with advice what to do instead.
#include "buffers/buffer_support.hpp"
#include "runtime/runtime_support.hpp"

#include <functional>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;
using testing::NullContext;

/// Every host access to a buffer's memory.
std::vector<std::pair<const char*, std::function<void(Buffer<float>&)>>> ways_to_memory() {
    return {
        {"as_host_bytes", [](Buffer<float>& buffer) { static_cast<void>(buffer.as_host_bytes(0)); }},
            {"as_host_bytes, const",
             [](Buffer<float>& buffer) { static_cast<void>(std::as_const(buffer).as_host_bytes(0)); }},
            {"as_span", [](Buffer<float>& buffer) { static_cast<void>(buffer.as_span(0)); }},
            {"as_span, const",
             [](Buffer<float>& buffer) { static_cast<void>(std::as_const(buffer).as_span(0)); }},
            {"as_array", [](Buffer<float>& buffer) { static_cast<void>(buffer.as_array(0)); }},
            {"as_array, const",
             [](Buffer<float>& buffer) { static_cast<void>(std::as_const(buffer).as_array(0)); }},
            {"map", [](Buffer<float>& buffer) { static_cast<void>(buffer.map(0)); }},
            {"map, const", [](Buffer<float>& buffer) { static_cast<void>(std::as_const(buffer).map(0)); }},
#if __has_include(<dlpack/dlpack.h>)
        {
            "to_dlpack", [](Buffer<float>& buffer) { static_cast<void>(to_dlpack(buffer)); }
        }
#endif
    };
}

TEST(UnreachableMemory, IsRefusedWhicheverWayTheHostAsks) {
    NullContext null;  // null:0's memory is not host memory
    const auto use = null.context.use();
    Buffer<float> buffer(4, {.name = "far"});
    for (const bool written : {false, true}) {
        SCOPED_TRACE(written ? "written" : "without memory: reach is checked first");
        if (written) buffer.fill(1.0f);
        for (const auto& [name, ask] : ways_to_memory()) {
            SCOPED_TRACE(name);
            const std::string text =
                error_of(ErrorCode::NotHostAccessible, [&ask = ask, &buffer] { ask(buffer); });
            expect_contains(text, "'far'");
            expect_contains(text, "null:0");
            expect_contains(text, "use read() and write()");
        }
    }
}

TEST(UnreachableMemory, OfAnotherTypeIsATypeErrorFirst) {
    NullContext null;
    const auto use = null.context.use();
    const AnyBuffer any(dtype_of<float>(), {4});
    error_of(ErrorCode::TypeMismatch, [&] { static_cast<void>(Buffer<int>(any).as_span()); });
#if __has_include(<dlpack/dlpack.h>)
    error_of(ErrorCode::TypeMismatch, [] { static_cast<void>(to_dlpack(Buffer<mat3>(2))); });
#endif
    error_of(ErrorCode::IndexError, [&] { static_cast<void>(any.as_host_bytes(1)); });
}

TEST(UnreachableMemory, StaysFreeToUseWhenItWasRefused) {
    NullContext null;
    const auto use = null.context.use();
    Buffer<float> buffer(4);
    buffer.fill(1.0f);
    error_of(ErrorCode::NotHostAccessible, [&] { static_cast<void>(buffer.map(0)); });
    EXPECT_NO_THROW(buffer.fill(2.0f)) << "no mapping remains";
    EXPECT_EQ(buffer.read(0).size(), 4u);
}

TEST(UnreachableMemory, OfAHostsDeviceIsReached) {
    NullContext null({.devices = {"null:0", "null:1"}});
    const auto use = null.context.use();
    Buffer<float> buffer(4);
    error_of(ErrorCode::NotHostAccessible, [&] { static_cast<void>(buffer.as_span(0)); });
    error_of(ErrorCode::NotAllocated, [&] { static_cast<void>(buffer.as_span(1)); });
    buffer.fill(1.0f);
    error_of(ErrorCode::NotHostAccessible, [&] { static_cast<void>(buffer.as_span(0)); });
    EXPECT_EQ(buffer.as_span(1).size(), 4u);
}

}  // namespace
}  // namespace volley
