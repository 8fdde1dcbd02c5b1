// Checks random programs unit by unit: each unit records all its uses.
#include "support/hazards_model.hpp"

#include "core/text.hpp"
#include "runtime/command_order.hpp"
#include "support/random.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

namespace volley::testing {

using runtime::Access;
using runtime::AccessMap;
using runtime::ByteRange;
using runtime::CommandOrder;
using runtime::Use;

namespace {

using WordBits = std::uint64_t;

/// A set of command numbers.
class Set {
public:
    explicit Set(std::size_t count = 0) : words_((count + 63) / 64) {}
    void add(std::size_t i) { words_[i / 64] |= WordBits{1} << i % 64; }
    [[nodiscard]] bool has(std::size_t i) const { return (words_[i / 64] >> i % 64 & 1) != 0; }
    void add(const Set& other) {
        for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
    }
    void remove(const Set& other) {
        for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
    }
    template <class F>
    void for_each(F&& f) const {
        for (std::size_t w = 0; w < words_.size(); ++w) {
            for (WordBits rest = words_[w]; rest != 0; rest &= rest - 1)
                f(w * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
        }
    }
    friend bool operator==(const Set&, const Set&) = default;

private:
    std::vector<WordBits> words_;
};

/// Returns the first few commands that are in only one of the sets.
std::string difference(const Set& found, const Set& defined) {
    Set missing = defined;
    missing.remove(found);
    Set surplus = found;
    surplus.remove(defined);
    std::string text;
    missing.for_each([&](std::size_t i) {
        if (text.size() < 200) text += cat(" not ", i);
    });
    surplus.for_each([&](std::size_t i) {
        if (text.size() < 400) text += cat(" but ", i);
    });
    return text;
}

/// One unit: all its uses, for the definition; and its state as hazards.hpp defines it.
struct UnitModel {
    Set readers;
    Set writers;
    Use write;
    std::map<unsigned, Use> reads;  // by lane
    [[nodiscard]] bool used() const noexcept { return !write.none() || !reads.empty(); }
    [[nodiscard]] bool same_state(const UnitModel& other) const {
        return write == other.write && reads == other.reads;
    }
};

/// The commands ordered before each command by definition.
class Definition {
public:
    explicit Definition(const RandomPrograms& programs)
        : commands_(programs.commands), units_(programs.resources), before_(commands_, Set(commands_)) {
        for (std::vector<UnitModel>& units : units_)
            units.assign(programs.units, {Set(commands_), Set(commands_), {}, {}});
    }
    [[nodiscard]] std::vector<UnitModel>& units(unsigned r) { return units_[r]; }
    [[nodiscard]] const Set& before(std::size_t c) const { return before_[c]; }

    void order(std::size_t first, std::size_t second) {
        before_[second].add(before_[first]);
        before_[second].add(first);
    }
    /// Orders the command after all that it conflicts with, then registers its own uses.
    void add(std::size_t c, const std::vector<Access>& accesses) {
        Set conflicts(commands_);
        for_each_unit(accesses, [&](UnitModel& unit, bool writes) {
            conflicts.add(unit.writers);
            if (writes) conflicts.add(unit.readers);
        });
        conflicts.for_each([&](std::size_t other) { order(other, c); });
        for_each_unit(accesses,
                      [&](UnitModel& unit, bool writes) { (writes ? unit.writers : unit.readers).add(c); });
    }
    template <class F>
    void for_each_unit(const std::vector<Access>& accesses, F&& f) {
        for (const Access& access : accesses) {
            for (std::uint64_t u = access.range.begin; u < access.range.end; ++u)
                f(units_[number_of(access.resource)][u], access.writes);
        }
    }

private:
    std::size_t commands_;
    std::vector<std::vector<UnitModel>> units_;  // by resource
    std::vector<Set> before_;
};

ByteRange random_range(Random& random, const RandomPrograms& programs) {
    // Repeated boundaries create pieces that merge.
    const std::uint64_t grain = random.chance(50) ? 1 : std::max(programs.units / 8, 1u);
    const std::uint64_t begin = random.below(programs.units) / grain * grain;
    const std::uint64_t length = (random.below(programs.longest) / grain + 1) * grain;
    return {begin, std::min<std::uint64_t>(begin + length, programs.units)};
}

std::vector<Access> random_accesses(Random& random, const RandomPrograms& programs) {
    std::vector<Access> accesses;
    const std::uint64_t count = random.below(programs.accesses + 1);
    for (std::uint64_t i = 0; i < count; ++i) {
        accesses.push_back({resource_at(static_cast<unsigned>(random.below(programs.resources))),
                            random_range(random, programs), random.chance(40)});
    }
    return accesses;
}

/// Runs a random program through AccessMaps.
class RandomMaps {
public:
    explicit RandomMaps(const RandomPrograms& programs)
        : programs_(programs),
          random_(programs.seed),
          definition_(programs),
          maps_(programs.resources),
          found_(programs.commands, Set(programs.commands)),
          passed_(programs.commands) {
        const unsigned lanes = programs.lanes == 0 ? programs.commands : programs.lanes;
        lanes_.resize(lanes);
    }

    Checked run() {
        Checked checked;
        std::vector<Access> waiting;  // accesses of the previous command, registered late
        for (unsigned c = 0; c < programs_.commands; ++c) {
            const unsigned lane =
                programs_.lanes == 0 ? c : static_cast<unsigned>(random_.below(programs_.lanes));
            const std::vector<Access> accesses = random_accesses(random_, programs_);
            const bool same_lane = c != 0 && lane == uses_.back().lane;
            if (!same_lane) report(waiting, c - 1);
            if (waiting.empty()) {
                if (random_.chance(3)) forget(c);
                if (random_.chance(2)) clear();
                checked.failure = what_is_wrong_with_pieces();
                if (!checked.failure.empty()) break;
            }
            lanes_[lane].push_back(c);
            uses_.push_back({lane, lanes_[lane].size()});
            checked.failure = submit(c, accesses);
            if (!checked.failure.empty()) break;
            if (waiting.empty() && random_.chance(20)) {
                waiting = accesses;
            } else {
                report(accesses, c);
                report(waiting, c - 1);
            }
        }
        ++checked.programs;
        return checked;
    }

private:
    /// Determines its predecessors both ways, and updates the state of its units by definition.
    std::string submit(unsigned c, const std::vector<Access>& accesses) {
        const Use use = uses_[c];
        for (const Access& access : accesses) {
            maps_[number_of(access.resource)].conflicts(access.range, access.writes, [&](const Use& other) {
                follow(lanes_[other.lane][other.point - 1], c);
            });
        }
        if (use.point > 1) {
            const std::size_t before = lanes_[use.lane][use.point - 2];
            follow(before, c);
            definition_.order(before, c);
        }
        definition_.add(c, accesses);
        definition_.for_each_unit(accesses, [&](UnitModel& unit, bool writes) {
            if (writes) {
                unit.write = use;
                unit.reads.clear();
            } else {
                unit.reads[use.lane] = use;
            }
        });
        Set found = found_[c];
        Set defined = definition_.before(c);
        found.remove(passed_);
        defined.remove(passed_);
        if (found == defined) return {};
        return cat("command ", c, ": ", describe(accesses), " follows", difference(found, defined));
    }
    void follow(std::size_t other, std::size_t c) {
        found_[c].add(other);
        found_[c].add(found_[other]);
    }
    void report(std::vector<Access>& accesses, unsigned c) {
        report(std::as_const(accesses), c);
        accesses.clear();
    }
    void report(const std::vector<Access>& accesses, unsigned c) {
        for (const Access& access : accesses)
            maps_[number_of(access.resource)].add(access.range, access.writes, uses_[c]);
    }
    /// Marks all commands before a random one as passed.
    void forget(unsigned now) {
        const std::uint64_t end = random_.below(now + 1);
        for (std::size_t c = 0; c < end; ++c) passed_.add(c);
        const auto passed = [&](const Use& use) { return passed_.has(lanes_[use.lane][use.point - 1]); };
        for (unsigned r = 0; r < programs_.resources; ++r) {
            maps_[r].forget(passed);
            for (UnitModel& unit : definition_.units(r)) {
                if (!unit.write.none() && passed(unit.write)) unit.write = {};
                std::erase_if(unit.reads, [&](const auto& read) { return passed(read.second); });
            }
        }
    }
    /// Clears a random range, as if the host had waited for all its uses.
    void clear() {
        const auto r = static_cast<unsigned>(random_.below(programs_.resources));
        const ByteRange range = random_range(random_, programs_);
        maps_[r].clear(range);
        for (std::uint64_t u = range.begin; u < range.end; ++u) {
            UnitModel& unit = definition_.units(r)[u];
            const auto pass = [&](const Use& use) {
                const std::size_t c = lanes_[use.lane][use.point - 1];
                passed_.add(c);
                passed_.add(definition_.before(c));
            };
            if (!unit.write.none()) pass(unit.write);
            for (const auto& read : unit.reads) pass(read.second);
            unit.write = {};
            unit.reads.clear();
        }
    }
    std::string what_is_wrong_with_pieces() {
        for (unsigned r = 0; r < programs_.resources; ++r) {
            const std::vector<UnitModel>& units = definition_.units(r);
            std::size_t pieces = 0;
            for (std::size_t u = 0; u < units.size(); ++u)
                pieces += units[u].used() && (u == 0 || !units[u].same_state(units[u - 1])) ? 1u : 0u;
            if (maps_[r].pieces() != pieces)
                return cat("resource ", r, " has ", maps_[r].pieces(), " pieces instead of ", pieces);
        }
        return {};
    }

    const RandomPrograms& programs_;
    Random random_;
    Definition definition_;
    std::vector<AccessMap> maps_;
    std::vector<std::vector<std::size_t>> lanes_;  // commands
    std::vector<Use> uses_;                        // by command
    std::vector<Set> found_;                       // predecessors of each command by the maps
    Set passed_;
};

}  // namespace

Checked check_random_maps(const RandomPrograms& programs) {
    Checked checked = RandomMaps(programs).run();
    if (!checked.failure.empty()) checked.failure = cat("VOLLEY_SEED=", programs.seed, ": ", checked.failure);
    return checked;
}

Checked check_random_orders(const RandomPrograms& programs) {
    Random random(programs.seed);
    Definition definition(programs);
    CommandOrder order;
    std::vector<Set> found(programs.commands, Set(programs.commands));
    std::vector<unsigned> levels;
    std::optional<unsigned> fence;
    Checked checked{1, {}};
    const auto fail = [&](const auto&... parts) {
        checked.failure = cat("VOLLEY_SEED=", programs.seed, ": ", parts...);
        return checked;
    };
    for (unsigned c = 0; c < programs.commands; ++c) {
        if (random.chance(1)) {
            order.add_fence();
            for (unsigned other = 0; other < c; ++other) definition.order(other, c);
            fence = c;
        } else {
            const std::vector<Access> accesses = random_accesses(random, programs);
            order.add(accesses);
            definition.add(c, accesses);
            if (fence) definition.order(*fence, c);
        }
        unsigned level = 0;
        definition.before(c).for_each([&](std::size_t other) { level = std::max(level, levels[other] + 1); });
        levels.push_back(level);
        const std::vector<std::uint32_t>& after = order.after(c);
        Set implied(programs.commands);
        for (const std::uint32_t other : after) {
            found[c].add(other);
            found[c].add(found[other]);
            for (const std::uint32_t further : order.after(other)) implied.add(further);
        }
        for (const std::uint32_t other : after) {
            if (implied.has(other))
                return fail("the dependency of ", c, " on ", other, " is implied by others");
        }
        if (found[c] != definition.before(c))
            return fail("command ", c, " follows", difference(found[c], definition.before(c)));
        if (order.level(c) != level)
            return fail("the level of ", c, " is ", order.level(c), " instead of ", level);
    }
    return checked;
}

}  // namespace volley::testing
