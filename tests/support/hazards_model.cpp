// The enumeration keeps the state at every depth, so that each program costs only its last command.
#include "support/hazards_model.hpp"

#include "core/text.hpp"
#include "runtime/command_order.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace volley::testing {

using runtime::Access;
using runtime::AccessMap;
using runtime::CommandOrder;
using runtime::Use;

namespace {

constexpr unsigned max_resources = 8;
constexpr std::array<char, max_resources> resources{};

}  // namespace

const void* resource_at(unsigned r) { return &resources.at(r); }

unsigned number_of(const void* resource) {
    return static_cast<unsigned>(static_cast<const char*>(resource) - resources.data());
}

std::string describe(const std::vector<Access>& accesses) {
    std::string text;
    for (const Access& access : accesses) {
        text += cat(text.empty() ? "" : " ", access.writes ? "w" : "r", number_of(access.resource), "[",
                    access.range.begin, ",", access.range.end, ")");
    }
    return text.empty() ? "nothing" : text;
}

std::vector<Access> painted(const std::vector<Access>& accesses) {
    std::map<const void*, std::map<std::uint64_t, bool>, std::less<>> units;  // whether it is written
    for (const Access& access : accesses) {
        for (std::uint64_t u = access.range.begin; u < access.range.end; ++u) {
            bool& written = units[access.resource][u];
            written = written || access.writes;
        }
    }
    std::vector<Access> result;
    for (const auto& [resource, of_resource] : units) {
        for (const auto& [u, written] : of_resource) {
            if (!result.empty() && result.back().resource == resource && result.back().range.end == u &&
                result.back().writes == written) {
                ++result.back().range.end;
            } else {
                result.push_back({resource, {u, u + 1}, written});
            }
        }
    }
    return result;
}

// ---- enumeration ----

namespace {

using Mask = std::uint64_t;  // of units, or of commands
constexpr unsigned max_commands = 8;

/// A command, and its units as masks: those of resource r start at bit r * units.
struct Candidate {
    std::vector<Access> accesses;
    Mask touched = 0;
    Mask written = 0;
    bool fence = false;
    [[nodiscard]] bool conflicts(const Candidate& other) const noexcept {
        return fence || other.fence || (touched & other.written) != 0 || (written & other.touched) != 0;
    }
};

std::vector<Access> all_accesses(const Programs& programs) {
    std::vector<Access> accesses;
    for (unsigned r = 0; r < programs.resources; ++r) {
        for (unsigned begin = 0; begin < programs.units; ++begin) {
            for (unsigned end = begin + 1; end <= programs.units; ++end) {
                for (const bool writes : {false, true})
                    accesses.push_back({resource_at(r), {begin, end}, writes});
            }
        }
    }
    return accesses;
}

Candidate make_candidate(std::vector<Access> accesses, const Programs& programs) {
    Candidate candidate;
    for (const Access& access : accesses) {
        const Mask units = ((Mask{1} << (access.range.end - access.range.begin)) - 1)
                           << (number_of(access.resource) * programs.units + access.range.begin);
        candidate.touched |= units;
        if (access.writes) candidate.written |= units;
    }
    candidate.accesses = std::move(accesses);
    return candidate;
}

std::vector<Candidate> single_candidates(const Programs& programs) {
    std::vector<Candidate> candidates;
    for (const Access& access : all_accesses(programs))
        candidates.push_back(make_candidate({access}, programs));
    return candidates;
}

std::vector<Candidate> all_candidates(const Programs& programs) {
    std::vector<Candidate> candidates = single_candidates(programs);
    if (programs.accesses >= 2) {
        const std::vector<Access> accesses = all_accesses(programs);
        for (std::size_t i = 0; i < accesses.size(); ++i) {
            for (std::size_t j = i + 1; j < accesses.size(); ++j) {
                const Access& a = accesses[i];
                const Access& b = accesses[j];
                candidates.push_back(make_candidate({a, b}, programs));
                // The order of the accesses may affect the result.
                if (a.resource == b.resource && a.writes != b.writes && intersects(a.range, b.range))
                    candidates.push_back(make_candidate({b, a}, programs));
            }
        }
    }
    return candidates;
}

/// Renaming resources yields an equivalent program, so only programs whose first access is to the first
/// resource are enumerated. Returns whether the command qualifies as the first.
bool is_first_of_its_kind(const Candidate& candidate) {
    return candidate.fence || candidate.accesses.front().resource == resource_at(0);
}

/// Assigns commands to lanes and points, and defines disturbances.
struct Setting {
    static constexpr unsigned never = ~0u;

    std::vector<unsigned> lane;             // by command
    std::vector<std::uint64_t> point;       // by command
    std::vector<std::vector<unsigned>> at;  // commands by lane and point - 1
    unsigned late = never;                  // registered after the next command, which is on the same lane
    unsigned passed = 0;  // number of commands that have passed when the next one is submitted

    explicit Setting(std::vector<unsigned> lanes) : lane(std::move(lanes)) {
        at.resize(lane.size());
        for (unsigned c = 0; c < lane.size(); ++c) {
            at[lane[c]].push_back(c);
            point.push_back(at[lane[c]].size());
        }
    }
    [[nodiscard]] unsigned command(const Use& use) const { return at[use.lane][use.point - 1]; }
    /// Returns the previous command on its lane.
    [[nodiscard]] std::optional<unsigned> before(unsigned c) const {
        if (point[c] == 1) return {};
        return at[lane[c]][point[c] - 2];
    }
};

std::vector<Setting> all_settings(const Programs& programs) {
    const unsigned count = programs.commands;
    std::vector<Setting> settings;
    std::vector<unsigned> lanes(count);
    // Enumerate each division into lanes once: lanes are numbered in order of first use.
    const auto place = [&](const auto& self, unsigned c, unsigned used) -> void {
        if (c == count) {
            if (used <= programs.lanes || used == count) settings.emplace_back(lanes);
            return;
        }
        for (unsigned lane = 0; lane <= used; ++lane) {
            lanes[c] = lane;
            self(self, c + 1, std::max(used, lane + 1));
        }
    };
    place(place, 0, 0);
    if (!programs.disturbed) return settings;
    const std::vector<Setting> plain = settings;
    for (const Setting& setting : plain) {
        for (unsigned late = 0; late + 2 < count; ++late) {
            if (setting.lane[late] != setting.lane[late + 1]) continue;
            settings.push_back(setting);
            settings.back().late = late;
        }
        for (unsigned passed = 1; passed < count; ++passed) {
            settings.push_back(setting);
            settings.back().passed = passed;
        }
    }
    return settings;
}

/// All programs in one setting. The last command has one access: the dependencies of two accesses are the
/// union of each one's.
class MapEnumeration {
public:
    MapEnumeration(const Programs& programs, const std::vector<Candidate>& candidates,
                   const std::vector<Candidate>& last)
        : programs_(programs), candidates_(candidates), last_(last) {
        for (std::vector<AccessMap>& maps : maps_) maps.resize(programs.resources);
    }

    void run(const Setting& setting, Checked& checked) {
        setting_ = &setting;
        checked_ = &checked;
        submit(0);
    }

private:
    void submit(unsigned c) {
        const bool is_last = c + 1 == programs_.commands;
        std::vector<AccessMap>& maps = maps_[c];
        if (c == 0) {
            for (AccessMap& map : maps) map.clear();
        }
        if (c != 0 && c == setting_->passed) {
            for (AccessMap& map : maps)
                map.forget([&](const Use& use) { return setting_->command(use) < setting_->passed; });
        }
        for (const Candidate& candidate : is_last ? last_ : candidates_) {
            if (c == 0 && !is_last && !is_first_of_its_kind(candidate)) continue;
            chosen_[c] = &candidate;
            if (!is_as_defined(c)) return fail(c);
            if (is_last) {
                ++checked_->programs;
                continue;
            }
            maps_[c + 1] = maps;
            if (setting_->late != c) report(c, maps_[c + 1]);
            if (c != 0 && setting_->late == c - 1) report(c - 1, maps_[c + 1]);
            submit(c + 1);
            if (!checked_->failure.empty()) return;
        }
    }
    void report(unsigned c, std::vector<AccessMap>& maps) const {
        const Use use{setting_->lane[c], setting_->point[c]};
        for (const Access& access : chosen_[c]->accesses)
            maps[number_of(access.resource)].add(access.range, access.writes, use);
    }
    bool is_as_defined(unsigned c) {
        Mask found = 0;
        bool over = false;
        for (const Access& access : chosen_[c]->accesses) {
            maps_[c][number_of(access.resource)].conflicts(access.range, access.writes, [&](const Use& use) {
                const unsigned other = setting_->command(use);
                over = over || (c >= setting_->passed && other < setting_->passed);
                found |= Mask{1} << other | found_[other];
            });
        }
        Mask defined = 0;
        for (unsigned other = 0; other < c; ++other) {
            if (chosen_[c]->conflicts(*chosen_[other])) defined |= Mask{1} << other | defined_[other];
        }
        if (const std::optional<unsigned> before = setting_->before(c)) {
            found |= Mask{1} << *before | found_[*before];
            defined |= Mask{1} << *before | defined_[*before];
        }
        found_[c] = found;
        defined_[c] = defined;
        const Mask looked_at = c >= setting_->passed ? ~((Mask{1} << setting_->passed) - 1) : ~Mask{0};
        return !over && (found & looked_at) == (defined & looked_at);
    }
    void fail(unsigned c) {
        std::string& text = checked_->failure;
        for (unsigned i = 0; i <= c; ++i) {
            text += cat("command ", i, " on lane ", setting_->lane[i], ": ", describe(chosen_[i]->accesses),
                        "\n");
        }
        if (setting_->late != Setting::never)
            text += cat("command ", setting_->late, " is registered late\n");
        if (setting_->passed != 0) text += cat("the first ", setting_->passed, " have passed\n");
        text += cat("command ", c, " follows (as a bit set) ", found_[c], " and should follow ", defined_[c]);
    }

    const Programs& programs_;
    const std::vector<Candidate>& candidates_;
    const std::vector<Candidate>& last_;
    const Setting* setting_ = nullptr;
    Checked* checked_ = nullptr;
    std::array<std::vector<AccessMap>, max_commands> maps_;  // before each command
    std::array<const Candidate*, max_commands> chosen_{};
    std::array<Mask, max_commands> found_{};  // predecessors by the maps, and by definition
    std::array<Mask, max_commands> defined_{};
};

/// Enumerates all programs for a CommandOrder.
class OrderEnumeration {
public:
    OrderEnumeration(const Programs& programs, const std::vector<Candidate>& candidates)
        : programs_(programs), candidates_(candidates) {}

    Checked run() {
        submit(0);
        return checked_;
    }

private:
    void submit(unsigned c) {
        for (const Candidate& candidate : candidates_) {
            if (c == 0 && !is_first_of_its_kind(candidate)) continue;
            chosen_[c] = &candidate;
            orders_[c + 1] = orders_[c];
            const std::uint32_t number =
                candidate.fence ? orders_[c + 1].add_fence() : orders_[c + 1].add(candidate.accesses);
            const std::string wrong = number != c ? cat("its number is ", number) : what_is_wrong(c);
            if (!wrong.empty()) {
                for (unsigned i = 0; i <= c; ++i)
                    checked_.failure += cat("command ", i, ": ", describe(chosen_[i]->accesses), "\n");
                checked_.failure += wrong;
                return;
            }
            if (c + 1 == programs_.commands) {
                ++checked_.programs;
                continue;
            }
            submit(c + 1);
            if (!checked_.failure.empty()) return;
        }
    }
    std::string what_is_wrong(unsigned c) {
        const CommandOrder& order = orders_[c + 1];
        const std::vector<std::uint32_t>& after = order.after(c);
        Mask found = 0;
        Mask implied = 0;
        for (std::size_t i = 0; i < after.size(); ++i) {
            if (after[i] >= c || (i != 0 && after[i - 1] >= after[i])) return "`after` is not in order";
            found |= Mask{1} << after[i] | found_[after[i]];
            for (const std::uint32_t further : order.after(after[i])) implied |= Mask{1} << further;
        }
        for (const std::uint32_t other : after) {
            if ((implied >> other & 1) != 0)
                return cat("the dependency of ", c, " on ", other, " is implied by others");
        }
        Mask defined = 0;
        unsigned level = 0;
        for (unsigned other = 0; other < c; ++other) {
            if (!chosen_[c]->conflicts(*chosen_[other])) continue;
            defined |= Mask{1} << other | found_[other];
            level = std::max(level, levels_[other] + 1);
        }
        found_[c] = found;
        levels_[c] = level;
        if (found != defined)
            return cat("command ", c, " follows (as a bit set) ", found, " and should follow ", defined);
        if (order.level(c) != level) return cat("its level is ", order.level(c), " instead of ", level);
        const unsigned levels = *std::max_element(levels_.begin(), levels_.begin() + c + 1) + 1;
        if (order.levels() != levels) return cat("there are ", order.levels(), " levels instead of ", levels);
        return {};
    }

    const Programs& programs_;
    const std::vector<Candidate>& candidates_;
    Checked checked_;
    std::array<CommandOrder, max_commands + 1> orders_;  // before each command
    std::array<const Candidate*, max_commands> chosen_{};
    std::array<Mask, max_commands> found_{};
    std::array<unsigned, max_commands> levels_{};
};

}  // namespace

Checked check_all_maps(const Programs& programs) {
    const std::vector<Candidate> candidates = all_candidates(programs);
    const std::vector<Candidate> last = single_candidates(programs);
    MapEnumeration enumeration(programs, candidates, last);
    Checked checked;
    for (const Setting& setting : all_settings(programs)) {
        enumeration.run(setting, checked);
        if (!checked.failure.empty()) break;
    }
    return checked;
}

Checked check_all_orders(const Programs& programs) {
    std::vector<Candidate> candidates = all_candidates(programs);
    if (programs.fences) candidates.emplace_back().fence = true;
    return OrderEnumeration(programs, candidates).run();
}

}  // namespace volley::testing
