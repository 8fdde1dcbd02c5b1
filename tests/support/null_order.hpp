// Derives the happens-before order from the log of the null backend: whether all commands that use common
// bytes, of which one writes them, are ordered, and whether each wait between queues is needed.
//
// A command follows
// - everything that the host had waited for when it was submitted;
// - everything that its queue had to wait for before;
// - all commands of its queue, or those up to Launch::after.
// The exception is the host's part of a write: the host reads the data during submission. In a batch, a
// command also follows earlier instances, and the commands that its `after` names, transitively.
#pragma once

#include "support/null/null_log.hpp"

#include <bitset>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace volley::testing {

class NullOrder {
public:
    static constexpr std::size_t max_commands = 1024;

    /// `entries` is the log since a moment when all earlier work had completed.
    explicit NullOrder(std::vector<backends::null::NullEntry> entries);

    /// Describes two unordered commands that use common bytes, or a callback not ordered with its queue's
    /// commands. Returns an empty string if there are none.
    [[nodiscard]] std::string unordered() const;
    /// Describes a wait between queues for a command that the next one does not conflict with or that was
    /// already waited for, or an unneeded dependency of a launch or a batch command. Returns an empty string
    /// if there is none.
    [[nodiscard]] std::string needless() const;
    /// Returns whether entry `first` has completed when `second` starts.
    [[nodiscard]] bool is_before(std::size_t first, std::size_t second) const;
    [[nodiscard]] std::size_t commands() const noexcept { return nodes_.size(); }
    /// Returns the log, one line per entry.
    [[nodiscard]] std::string text() const;

private:
    using Entry = backends::null::NullEntry;
    using Set = std::bitset<max_commands>;
    /// One command, or one command of one instance of a batch.
    struct Node {
        std::size_t entry = 0;
        std::vector<backends::null::NullUse> uses;
        std::string name;
        Set before;
        bool by_host = false;  // the host's part of a write
    };
    struct Passed {
        backends::Point point = 0;
        Set done;  // completed when the point has passed
    };
    struct Lane {
        std::vector<Passed> passed;  // by point
        Set waited;                  // for other queues
    };

    void add(std::size_t entry);
    void add_batch(std::size_t entry, const Set& before);
    void add_write(std::size_t entry, const Set& before);
    std::size_t add_node(std::size_t entry, std::vector<backends::null::NullUse> uses, std::string name,
                         const Set& before);
    [[nodiscard]] Set done_at(unsigned queue, backends::Point point) const;
    /// Returns the nodes of the command at that point; none for points before the log.
    [[nodiscard]] std::vector<std::size_t> nodes_at(unsigned queue, backends::Point point) const;
    [[nodiscard]] bool conflict(const std::vector<std::size_t>& some,
                                const std::vector<std::size_t>& others) const;
    [[nodiscard]] bool must_be_ordered(const Node& first, const Node& second) const;
    [[nodiscard]] bool is_call(const std::vector<std::size_t>& nodes) const;
    [[nodiscard]] std::string needless_wait(std::size_t entry) const;

    std::vector<Entry> entries_;
    std::vector<Node> nodes_;
    std::vector<std::vector<std::size_t>> nodes_of_;  // by entry: on its queue
    std::map<unsigned, Lane> lanes_;                  // by queue
    Set host_;                                        // what the host has waited for
};

}  // namespace volley::testing
