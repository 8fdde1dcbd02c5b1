// The libFuzzer entry point for the IR parser: every input either throws an IrError, or is a function that
// prints and reads back as the same function. The asan preset runs it briefly; to run it longer, in
// build/asan:
//   mkdir -p found && tests/fuzz/fuzz_parser -max_total_time=3600 found ../../tests/fuzz/corpus
#include "ir/hash.hpp"
#include "ir/parser.hpp"
#include "ir/printer.hpp"

#include <volley/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace volley;
    std::optional<ir::Function> fn;
    try {
        fn = ir::parse({reinterpret_cast<const char*>(data), size});
    } catch (const IrError&) {
        return 0;
    }
    if (ir::hash(ir::parse(ir::print(*fn))) != ir::hash(*fn)) __builtin_trap();
    return 0;
}
