// The report buffer carries prints, failed bounds checks and exceeded loop limits from devices whose code
// cannot call the host. Kernels write records into it, and the host reads them after the launch.
#pragma once

#include <volley/dtype.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace volley::codegen {

/// Start of the report buffer. The host clears it before a launch. Records follow the header contiguously;
/// each is a multiple of 16 bytes: a RecordHeader, then the operands at the offsets of
/// backends::print_slot().
struct ReportHeader {
    std::uint32_t capacity = 0;  // bytes after the header, set by the host
    std::uint32_t used = 0;  // bytes claimed; may exceed the capacity, and records that did not fit are lost
    std::uint32_t lost = 0;  // records that did not fit
    std::uint32_t loop_limit = 0;  // node id + 1 of a loop that exceeded the driver's limit, or 0
};

struct RecordHeader {
    std::uint32_t print = 0;  // index of the print in the kernel's list of PrintSites
    std::uint32_t bytes = 0;  // size of the record, including this header
    std::uint32_t reserved[2] = {};
};

/// One print of the kernel, as backend::deliver_print takes it.
struct PrintSite {
    std::string format;
    std::vector<DType> types;
};

}  // namespace volley::codegen
