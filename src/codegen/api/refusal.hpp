// The error that every code generator throws when the device lacks a feature that the kernel needs.
#pragma once

#include "core/fail.hpp"
#include "core/text.hpp"
#include "ir/function.hpp"

#include <string>
#include <string_view>

namespace volley::codegen {

/// The node being emitted, for error messages.
struct EmittedNode {
    const ir::Function& fn;
    const std::string& device;
    ir::NodeId node = ir::none;  // none: the kernel as a whole

    /// Throws "opencl:0 (...) has no f64; kernel 'scale', mul at scale.cpp:8; ...".
    [[noreturn]] void refuse(std::string_view lacks, std::string_view advice) const {
        const std::string where = node == ir::none ? std::string() : fn.where(fn[node].loc);
        std::string subject = cat("kernel '", fn.name, "'");
        if (node != ir::none) subject += cat(", ", ir::mnemonic(fn[node].op));
        if (!where.empty()) subject += cat(" at ", where);
        fail(ErrorCode::Unsupported, cat(device.empty() ? "the device" : device, " has no ", lacks), subject,
             advice);
    }
};

}  // namespace volley::codegen
