// libFuzzer's entry to the IR parser: any bytes are refused by an IrError, or give a function that prints and
// reads back to the same. Not part of the build; by hand:
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I include -I src
//   tests/fuzz/fuzz_parser.cpp
//       src/ir/*.cpp src/core/{dtype,error,hash}.cpp -o fuzz_parser
#include "ir/hash.hpp"
#include "ir/parser.hpp"
#include "ir/printer.hpp"

#include <volley/error.hpp>

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
