// The default batch.
#include "backends/api/batch.hpp"

#include "backends/api/times.hpp"

#include <optional>

namespace volley::backends {

KeptValues keep_values(BatchPlan& plan) {
    KeptValues kept;
    for (BatchCommand& command : plan.commands) {
        if (command.kind != BatchKind::Launch) continue;
        const std::vector<ir::Param>& params = command.program->function().params;
        for (std::size_t i = 0; i < params.size(); ++i) {
            Argument& argument = command.args[i];
            if (argument.value == nullptr) continue;
            const auto* bytes = static_cast<const std::byte*>(argument.value);
            // The bytes of a vector stay where they are when the outer vector grows.
            argument.value = kept.emplace_back(bytes, bytes + params[i].type.size()).data();
        }
    }
    return kept;
}

PlainBatch::PlainBatch(BatchPlan plan) : plan_(std::move(plan)), kept_(keep_values(plan_)) {}

Point PlainBatch::submit(Queue& queue, std::uint32_t place, std::uint32_t instance,
                         std::span<const std::byte> values) {
    BatchCommand& command = plan_.commands[place];
    std::optional<TimesScope> timed;
    if (const TimesTag times = TimesScope::tag())
        timed.emplace(TimesTag{times.times, instance * size() + place});
    const RectMove& move = command.move;
    if (command.kind == BatchKind::Copy) return queue.copy(*command.to, *command.from, move);
    if (command.kind == BatchKind::Fill) return queue.fill(*command.to, move.to, move.rect, command.pattern);
    for (Argument& argument : command.args) {
        if (argument.dynamic != Argument::fixed) argument.value = values.data() + argument.dynamic;
    }
    return queue.launch(command.launch());
}

std::unique_ptr<Batch> Queue::prepare(BatchPlan plan) {
    return std::make_unique<PlainBatch>(std::move(plan));
}

Point Queue::submit(Batch& batch, std::uint32_t instances, std::span<const std::byte> values) {
    auto& plain = static_cast<PlainBatch&>(batch);
    const std::size_t stride = instances == 0 ? 0 : values.size() / instances;
    Point point = last();
    for (std::uint32_t i = 0; i < instances; ++i) {
        for (std::uint32_t place = 0; place < plain.size(); ++place)
            point = plain.submit(*this, place, i, values.subspan(i * stride, stride));
    }
    return point;
}

}  // namespace volley::backends
