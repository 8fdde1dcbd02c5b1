// The names of commands and the bytes that they use.
#include "support/null/null_uses.hpp"

#include "core/text.hpp"
#include "support/null/null_memory.hpp"
#include "support/null/null_program.hpp"

namespace volley::backends::null {

NullUse use_of(const backends::Memory& memory, std::uint64_t offset, std::uint64_t bytes, bool writes) {
    return static_cast<const NullMemory&>(memory).use(offset, bytes, writes);
}

NullUse host_use(const void* data, std::uint64_t bytes, bool writes) {
    return {NullUse::host, reinterpret_cast<std::uintptr_t>(data), bytes, writes};
}

void add_rows(std::vector<NullUse>& uses, NullUse base, const backends::RectPlace& place,
              const backends::Rect& rect) {
    const std::size_t first = uses.size();
    for (std::uint64_t plane = 0; plane < rect.count[1]; ++plane) {
        for (std::uint64_t row = 0; row < rect.count[0]; ++row) {
            const std::uint64_t offset =
                base.offset + place.offset + plane * place.stride[1] + row * place.stride[0];
            if (uses.size() > first && uses.back().offset + uses.back().bytes == offset) {
                uses.back().bytes += rect.row;
            } else {
                uses.push_back({base.memory, offset, rect.row, base.writes});
            }
        }
    }
}

std::vector<NullUse> uses_of(const backends::Launch& launch) {
    const auto& program = static_cast<const NullProgram&>(*launch.program);
    const passes::BufferUses& known = program.uses();
    std::vector<NullUse> uses;
    for (std::size_t i = 0; i < launch.args.size(); ++i) {
        const backends::Argument& argument = launch.args[i];
        if (argument.memory == nullptr || (!known.reads[i] && !known.writes[i])) continue;
        const std::uint64_t bytes = argument.elements * program.function().params[i].type.size();
        uses.push_back(use_of(*argument.memory, argument.offset, bytes, known.writes[i]));
    }
    return uses;
}

std::string text_of(const backends::Rect& rect) {
    if (rect.rows() == 1) return cat(rect.row);
    return cat(rect.count[0], "x", rect.count[1], " rows of ", rect.row);
}

std::string text_of(const backends::Launch& launch) {
    return cat("launch ", launch.program->function().name, " ", join(launch.global, "x"), " local ",
               join(launch.local, "x"));
}

}  // namespace volley::backends::null
