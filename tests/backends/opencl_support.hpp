// Helpers for tests of the OpenCL backend below the runtime. The tests run on the first OpenCL device,
// typically PoCL, and are skipped if there is none.
#pragma once

#include "backends/opencl/opencl_device.hpp"
#include "backends/opencl/opencl_platforms.hpp"
#include "backends/queue_support.hpp"
#include "ir/foreign.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

namespace volley::backends::opencl {

using namespace volley::testing;  // NOLINT(google-build-using-namespace)

/// Returns null if there is no device.
inline std::unique_ptr<OpenClDevice> open_first(const OpenClOptions& options = {}) {
    const Platforms& platforms = Platforms::open();
    if (platforms.devices.empty()) return nullptr;
    return std::make_unique<OpenClDevice>(*platforms.api, platforms.devices[0], options);
}

class OpenClTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (Platforms::open().devices.empty()) GTEST_SKIP() << "this machine has no OpenCL device";
    }
};

/// Returns an OpenCL C kernel with one buffer of ints; tests add further parameters.
inline ir::Function raw_kernel(std::string_view text, std::string_view entry) {
    auto code = std::make_shared<ir::ForeignCode>();
    code->language = ir::Language::OpenCL;
    code->text = text;
    code->entry = entry;
    ir::Function fn;
    fn.name = entry;
    fn.params.push_back({ir::ParamKind::Buffer, ScalarType::I32, "data", false, ir::none});
    fn.foreign = std::move(code);
    return fn;
}

/// Replaces clCreateBuffer to simulate a device without memory.
inline cl_mem CL_API_CALL refuse_buffer(cl_context /*context*/, cl_mem_flags /*flags*/, std::size_t /*size*/,
                                        void* /*host*/, cl_int* result) {
    *result = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return nullptr;
}

}  // namespace volley::backends::opencl
