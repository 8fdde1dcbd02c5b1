// Checks a plan and logs its commands.
#include "support/null/null_batch.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"
#include "support/null/null_uses.hpp"

#include <algorithm>

namespace volley::backends::null {
namespace {

void check_order(const std::vector<BatchCommand>& commands, std::uint32_t number) {
    const BatchCommand& command = commands[number];
    const auto wrong = [&](std::string_view what) {
        fail_internal(what, cat("command ", number, " of a batch"));
    };
    std::uint32_t level = 0;
    for (std::size_t i = 0; i < command.after.size(); ++i) {
        const std::uint32_t other = command.after[i];
        if (other >= number) wrong("it depends on a later command");
        if (i != 0 && command.after[i - 1] >= other) wrong("its dependencies are not sorted");
        level = std::max(level, commands[other].level + 1);
    }
    if (command.level != level) wrong("its level is not the length of the longest path to it");
    if (number != 0 && commands[number - 1].level > level)
        wrong("its level is lower than that of the previous command");
}

void check_arguments(const BatchCommand& command, std::uint32_t number, std::uint32_t value_bytes) {
    const auto wrong = [&](std::string_view what) {
        fail_internal(what, cat("command ", number, " of a batch"));
    };
    const std::vector<ir::Param>& params = command.program->function().params;
    if (command.args.size() != params.size()) wrong("the number of arguments differs from the kernel's");
    for (std::size_t i = 0; i < params.size(); ++i) {
        const backends::Argument& argument = command.args[i];
        const bool dynamic = argument.dynamic != backends::Argument::fixed;
        const int given =
            (argument.memory != nullptr ? 1 : 0) + (argument.value != nullptr ? 1 : 0) + (dynamic ? 1 : 0);
        if (given != 1) wrong("an argument is not exactly one of memory, value and dynamic value");
        if ((params[i].kind == ir::ParamKind::Buffer) != (argument.memory != nullptr))
            wrong("the kind of an argument differs from that of its parameter");
        if (dynamic && std::uint64_t{argument.dynamic} + params[i].type.size() > value_bytes)
            wrong("a dynamic value is outside the values of its instance");
    }
}

std::string moved_text(std::string_view what, const backends::Rect& rect) {
    return cat(what, " ", text_of(rect));
}

}  // namespace

NullBatch::NullBatch(const backends::BatchPlan& plan) : value_bytes_(plan.value_bytes) {
    if (plan.value_bytes % 16 != 0)
        fail_internal("the size of an instance's values is not a multiple of 16 bytes", "a batch");
    for (std::uint32_t number = 0; number < plan.commands.size(); ++number) {
        const BatchCommand& command = plan.commands[number];
        check_order(plan.commands, number);
        NullCommand& own = commands_.emplace_back();
        own.after = command.after;
        own.level = command.level;
        std::string text;
        switch (command.kind) {
            case BatchKind::Launch:
                check_arguments(command, number, plan.value_bytes);
                own.kind = NullKind::Launch;
                own.uses = uses_of(command.launch());
                text = text_of(command.launch());
                break;
            case BatchKind::Copy:
                own.kind = NullKind::Copy;
                add_rows(own.uses, use_of(*command.from, 0, 0, false), command.move.from, command.move.rect);
                add_rows(own.uses, use_of(*command.to, 0, 0, true), command.move.to, command.move.rect);
                text = moved_text("copy", command.move.rect);
                break;
            case BatchKind::Fill:
                own.kind = NullKind::Fill;
                add_rows(own.uses, use_of(*command.to, 0, 0, true), command.move.to, command.move.rect);
                text = moved_text("fill", command.move.rect);
                break;
        }
        if (!own.after.empty()) text += cat(" after ", join(own.after, " "), " (level ", own.level, ")");
        lines_.push_back(cat("  ", number, ": ", text));
    }
}

}  // namespace volley::backends::null
