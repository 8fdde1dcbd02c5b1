#include "soak/resources.hpp"

#include <malloc.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace volley::soak {
namespace {

unsigned entries_of(const char* folder) {
    const std::filesystem::directory_iterator entries(folder);
    return static_cast<unsigned>(std::distance(begin(entries), end(entries)));
}

}  // namespace

Resources measure_resources() {
    ::malloc_trim(0);
    std::uint64_t pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return {resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)), entries_of("/proc/self/task"),
            entries_of("/proc/self/fd")};
}

}  // namespace volley::soak
