// Runs programs through the interface that every backend implements, with guards after each buffer.
#include "backends/api/device.hpp"
#include "random/execution.hpp"

#include <algorithm>
#include <memory>

namespace volley::testing {
namespace {

constexpr std::size_t guard_bytes = 64;
constexpr std::byte guard{0xee};

}  // namespace

Execution run_on(backends::Device& device, const Program& program, const ir::Function& fn) {
    const std::unique_ptr<backends::Program> compiled = device.compile(fn);
    std::vector<std::unique_ptr<backends::Memory>> blocks(program.args.size());
    const std::unique_ptr<backends::Queue> queue =
        device.make_queue();  // destroyed first; waits for its work
    std::vector<backends::Argument> arguments(program.args.size());
    for (std::size_t i = 0; i < program.args.size(); ++i) {
        const ProgramArg& arg = program.args[i];
        if (arg.elements == 0) {
            arguments[i].value = arg.bytes.data();
            continue;
        }
        std::vector<std::byte> bytes = arg.bytes;
        bytes.resize(bytes.size() + guard_bytes, guard);
        blocks[i] = device.allocate(bytes.size());
        queue->write(*blocks[i], bytes.data(), backends::RectMove::contiguous(0, 0, bytes.size()));
        arguments[i].memory = blocks[i].get();
        arguments[i].elements = arg.elements;
    }
    queue->launch({compiled.get(), program.global, program.local, arguments});
    Execution result(program.args.size());
    for (std::size_t i = 0; i < program.args.size(); ++i) {
        if (program.args[i].elements == 0) continue;
        result[i].resize(program.args[i].bytes.size() + guard_bytes);
        queue->read(result[i].data(), *blocks[i], backends::RectMove::contiguous(0, 0, result[i].size()));
    }
    queue->timeline().wait(queue->last());
    for (std::size_t i = 0; i < program.args.size(); ++i) {
        if (program.args[i].elements == 0) continue;
        const auto end = result[i].begin() + static_cast<std::ptrdiff_t>(program.args[i].bytes.size());
        if (std::any_of(end, result[i].end(), [](std::byte b) { return b != guard; }))
            throw GuardError("the kernel wrote past the end of a buffer");
        result[i].erase(end, result[i].end());
    }
    return result;
}

}  // namespace volley::testing
