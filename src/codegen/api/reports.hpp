// What a kernel says while it runs on a device whose code cannot call the host: prints, failed bounds checks,
// and loops that met a driver's limit. Code writes records into a buffer, the host reads them when the launch
// is done.
#pragma once

#include <volley/dtype.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace volley::codegen {

/// The buffer begins with it. The host clears the header before a launch and reads records after it. Records
/// lie one behind the other from the header's end, each a whole number of 16-byte units: a RecordHeader, then
/// the operands as backends::print_slot() places them.
struct ReportHeader {
    std::uint32_t capacity = 0;    // bytes behind the header, set by the host
    std::uint32_t used = 0;        // bytes claimed, may pass the capacity: what did not fit is lost
    std::uint32_t lost = 0;        // records that did not fit
    std::uint32_t loop_limit = 0;  // node id + 1 of a loop that met the driver's limit; 0: none did
};

struct RecordHeader {
    std::uint32_t print = 0;  // index of the print in the kernel's list of PrintSites
    std::uint32_t bytes = 0;  // of the record with its header
    std::uint32_t reserved[2] = {};
};

/// One print of the kernel, as the caller of backends::deliver_print needs it.
struct PrintSite {
    std::string format;
    std::vector<DType> types;
};

}  // namespace volley::codegen
