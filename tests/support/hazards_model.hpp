// The order of commands by its definition, to check runtime/hazards.hpp and runtime/command_order.hpp
// against. Two commands conflict if they use a common unit and at least one of them writes it. Conflicting
// commands, and commands on the same lane, are ordered as submitted; nothing else is ordered, except by
// transitivity.
//
// Programs are enumerated exhaustively or generated at random. A check returns the number of programs checked
// and describes the first one with a wrong order.
#pragma once

#include "runtime/hazards.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace volley::testing {

/// All programs of that many commands, each with one or more accesses: a range of a resource, read or
/// written.
struct Programs {
    unsigned commands = 3;
    unsigned resources = 1;
    unsigned units = 3;     // per resource
    unsigned accesses = 1;  // per command, at most: 1 or 2
    /// Each command has its own lane; if not 0, also enumerate all assignments to up to this many lanes.
    unsigned lanes = 0;
    /// Also enumerate neighbours on a lane whose uses are registered in the wrong order, and programs whose
    /// first commands have passed.
    bool disturbed = false;
    /// Also with fences instead of commands (CommandOrder).
    bool fences = false;
};

/// Large random programs.
struct RandomPrograms {
    std::uint64_t seed = 0;
    unsigned commands = 1000;
    unsigned resources = 3;
    unsigned units = 100;
    unsigned accesses = 3;
    unsigned longest = 100;  // of a range
    unsigned lanes = 0;      // 0: one per command
};

struct Checked {
    std::uint64_t programs = 0;
    std::string failure;  // empty: none
};

/// Checks AccessMap as a launch uses it: queries the conflicts of all accesses, then registers each.
[[nodiscard]] Checked check_all_maps(const Programs& programs);
/// Also forgets and clears now and then, and checks that no piece is split needlessly.
[[nodiscard]] Checked check_random_maps(const RandomPrograms& programs);

/// Checks CommandOrder: `after` orders what must be ordered, contains no dependency implied by another, and
/// levels are the longest paths.
[[nodiscard]] Checked check_all_orders(const Programs& programs);
[[nodiscard]] Checked check_random_orders(const RandomPrograms& programs);

/// Computes the expected result of merge_accesses by marking units.
[[nodiscard]] std::vector<runtime::Access> painted(const std::vector<runtime::Access>& accesses);

/// Returns a distinct address that identifies resource r.
[[nodiscard]] const void* resource_at(unsigned r);
[[nodiscard]] unsigned number_of(const void* resource);
/// Returns the accesses as text: "w0[1,3) r1[0,1)".
[[nodiscard]] std::string describe(const std::vector<runtime::Access>& accesses);

}  // namespace volley::testing
