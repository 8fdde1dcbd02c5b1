// Computes sets of commands while it walks the log.
#include "support/null_order.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <stdexcept>

namespace volley::testing {

using backends::Point;
using backends::null::NullCommand;
using backends::null::NullEntry;
using backends::null::NullKind;
using backends::null::NullUse;

namespace {

bool meet(const NullUse& a, const NullUse& b) {
    return (a.writes || b.writes) && a.memory == b.memory &&
           std::max(a.offset, b.offset) < std::min(a.offset + a.bytes, b.offset + b.bytes);
}

bool meet(const std::vector<NullUse>& some, const std::vector<NullUse>& others) {
    return std::any_of(some.begin(), some.end(), [&](const NullUse& a) {
        return std::any_of(others.begin(), others.end(), [&](const NullUse& b) { return meet(a, b); });
    });
}

}  // namespace

NullOrder::NullOrder(std::vector<NullEntry> entries)
    : entries_(std::move(entries)), nodes_of_(entries_.size()) {
    for (std::size_t i = 0; i < entries_.size(); ++i) add(i);
}

void NullOrder::add(std::size_t number) {
    const Entry& entry = entries_[number];
    if (entry.kind == NullKind::Wait) {
        host_ |= done_at(entry.queue, entry.point);
        return;
    }
    if (entry.kind == NullKind::WaitFor)
        lanes_[entry.queue].waited |= done_at(entry.other_queue, entry.other_point);
    Lane& lane = lanes_[entry.queue];
    const Point followed = std::min(entry.after, entry.point - 1);
    const Set before = host_ | lane.waited | done_at(entry.queue, followed);
    if (entry.kind == NullKind::Batch) {
        add_batch(number, before);
    } else if (entry.kind == NullKind::Write) {
        add_write(number, before);
    } else {
        nodes_of_[number].push_back(add_node(number, entry.uses, entry.lines.front(), before));
    }
    Set done = done_at(entry.queue, entry.point - 1) | before;
    for (const std::size_t node : nodes_of_[number]) done.set(node);
    lane.passed.push_back({entry.point, done});
}

void NullOrder::add_batch(std::size_t number, const Set& before) {
    const Entry& entry = entries_[number];
    Set earlier = before;  // and the instances so far
    for (std::uint32_t instance = 0; instance < entry.instances; ++instance) {
        std::vector<std::size_t> own;
        for (std::size_t c = 0; c < entry.commands.size(); ++c) {
            const NullCommand& command = entry.commands[c];
            Set follows = earlier;
            for (const std::uint32_t other : command.after) {
                follows |= nodes_[own.at(other)].before;
                follows.set(own.at(other));
            }
            own.push_back(add_node(number, command.uses,
                                   cat(entry.lines.front(), ", instance ", instance, entry.lines.at(c + 1)),
                                   follows));
        }
        for (const std::size_t node : own) {
            earlier.set(node);
            nodes_of_[number].push_back(node);
        }
    }
}

void NullOrder::add_write(std::size_t number, const Set& before) {
    const Entry& entry = entries_[number];
    std::vector<NullUse> read;
    std::vector<NullUse> written;
    for (const NullUse& use : entry.uses) (use.writes ? written : read).push_back(use);
    const std::size_t by_host =
        add_node(number, std::move(read), cat("the host in ", entry.lines.front()), host_);
    nodes_[by_host].by_host = true;
    host_.set(by_host);
    nodes_of_[number].push_back(add_node(number, std::move(written), entry.lines.front(), before));
}

std::size_t NullOrder::add_node(std::size_t entry, std::vector<NullUse> uses, std::string name,
                                const Set& before) {
    if (nodes_.size() == max_commands) throw std::length_error("the log has too many commands for NullOrder");
    nodes_.push_back({entry, std::move(uses), std::move(name), before, false});
    return nodes_.size() - 1;
}

NullOrder::Set NullOrder::done_at(unsigned queue, Point point) const {
    const auto lane = lanes_.find(queue);
    if (lane == lanes_.end()) return {};
    const std::vector<Passed>& passed = lane->second.passed;
    const auto later = std::upper_bound(passed.begin(), passed.end(), point,
                                        [](Point value, const Passed& p) { return value < p.point; });
    return later == passed.begin() ? Set() : std::prev(later)->done;
}

std::vector<std::size_t> NullOrder::nodes_at(unsigned queue, Point point) const {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const Entry& entry = entries_[i];
        if (entry.kind != NullKind::Wait && entry.queue == queue && entry.point == point) return nodes_of_[i];
    }
    return {};
}

bool NullOrder::conflict(const std::vector<std::size_t>& some, const std::vector<std::size_t>& others) const {
    return std::any_of(some.begin(), some.end(), [&](std::size_t a) {
        return std::any_of(others.begin(), others.end(),
                           [&](std::size_t b) { return meet(nodes_[a].uses, nodes_[b].uses); });
    });
}

bool NullOrder::must_be_ordered(const Node& first, const Node& second) const {
    const Entry& a = entries_[first.entry];
    const Entry& b = entries_[second.entry];
    const bool call = a.kind == NullKind::Call || b.kind == NullKind::Call;
    return meet(first.uses, second.uses) || (call && a.queue == b.queue && !first.by_host && !second.by_host);
}

std::string NullOrder::unordered() const {
    for (std::size_t second = 0; second < nodes_.size(); ++second) {
        for (std::size_t first = 0; first < second; ++first) {
            if (!nodes_[second].before.test(first) && must_be_ordered(nodes_[first], nodes_[second]))
                return cat("not ordered: ", nodes_[first].name, " and ", nodes_[second].name);
        }
    }
    return {};
}

bool NullOrder::is_call(const std::vector<std::size_t>& nodes) const {
    return nodes.size() == 1 && entries_[nodes_[nodes[0]].entry].kind == NullKind::Call;
}

std::string NullOrder::needless_wait(std::size_t number) const {
    const Entry& wait = entries_[number];
    for (std::size_t i = 0; i < number; ++i) {
        const Entry& earlier = entries_[i];
        const bool by_queue = earlier.kind == NullKind::WaitFor && earlier.queue == wait.queue &&
                              earlier.other_queue == wait.other_queue &&
                              earlier.other_point >= wait.other_point;
        const bool by_host = earlier.kind == NullKind::Wait && earlier.queue == wait.other_queue &&
                             earlier.point >= wait.other_point;
        if (by_queue || by_host) return cat(earlier.lines.front(), " has waited for it");
    }
    const auto next = std::find_if(entries_.begin() + static_cast<std::ptrdiff_t>(number), entries_.end(),
                                   [&](const Entry& later) {
                                       return later.queue == wait.queue && later.kind != NullKind::WaitFor &&
                                              later.kind != NullKind::Wait;
                                   });
    const std::vector<std::size_t> other = nodes_at(wait.other_queue, wait.other_point);
    // A wait for a callback is needed even if nothing follows it.
    if (is_call(other)) return {};
    if (next == entries_.end()) return "nothing follows it";
    if (next->kind == NullKind::Call) return {};  // a callback follows everything before it
    if (conflict(other, nodes_of_[static_cast<std::size_t>(next - entries_.begin())])) return {};
    return cat(next->lines.front(), " does not conflict with it");
}

std::string NullOrder::needless() const {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const Entry& entry = entries_[i];
        if (entry.kind == NullKind::WaitFor && entry.other_queue != Entry::unknown) {
            if (const std::string why = needless_wait(i); !why.empty())
                return cat("needless: ", entry.lines.front(), ": ", why);
        }
        if (entry.kind == NullKind::Launch && entry.after != Entry::everything) {
            const std::vector<std::size_t> other = nodes_at(entry.queue, entry.after);
            if (!other.empty() && !is_call(other) && !conflict(other, nodes_of_[i]))
                return cat("needless: the dependency of ", entry.lines.front(), " on ", entry.after);
        }
        for (std::size_t c = 0; entry.instances != 0 && c < entry.commands.size(); ++c) {
            for (const std::uint32_t other : entry.commands[c].after) {
                if (!meet(entry.commands[other].uses, entry.commands[c].uses))
                    return cat("needless: the dependency of ", c, " on ", other, " in ", entry.lines.front());
            }
        }
    }
    return {};
}

bool NullOrder::is_before(std::size_t first, std::size_t second) const {
    const std::vector<std::size_t>& done = nodes_of_[first];
    const std::vector<std::size_t>& starts = nodes_of_[second];
    return std::all_of(starts.begin(), starts.end(), [&](std::size_t b) {
        return std::all_of(done.begin(), done.end(), [&](std::size_t a) { return nodes_[b].before.test(a); });
    });
}

std::string NullOrder::text() const {
    std::string text;
    for (const Entry& entry : entries_) {
        for (const std::string& line : entry.lines) text += line + "\n";
    }
    return text;
}

}  // namespace volley::testing
