// The order of commands by its definition, to hold runtime/hazards.hpp and runtime/command_order.hpp against:
// two commands conflict when they touch a common unit and at least one of them writes it; every conflicting
// pair is ordered as given, and so are the commands of one lane; nothing else is ordered, but for what
// follows from these.
//
// Programs are enumerated, all of a kind, or made at random. A check says how many programs it has seen, and
// describes the first in which the order is another one.
#pragma once

#include "runtime/hazards.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace volley::testing {

/// All programs of that many commands, of which each has one access or more: a range of a resource, read or
/// written.
struct Programs {
    unsigned commands = 3;
    unsigned resources = 1;
    unsigned units = 3;     // of each resource
    unsigned accesses = 1;  // of a command, at most: 1 or 2
    /// Each command on a lane of its own; if not 0, also all ways to put them on up to so many lanes.
    unsigned lanes = 0;
    /// Also: neighbours on a lane whose uses are told in the wrong order, and first commands that have
    /// passed.
    bool disturbed = false;
    /// Also with fences in the place of commands (CommandOrder).
    bool fences = false;
};

/// Random programs, large ones.
struct RandomPrograms {
    std::uint64_t seed = 0;
    unsigned commands = 1000;
    unsigned resources = 3;
    unsigned units = 100;
    unsigned accesses = 3;
    unsigned longest = 100;  // range
    unsigned lanes = 0;      // 0: each command has its own
};

struct Checked {
    std::uint64_t programs = 0;
    std::string failure;  // empty: none
};

/// AccessMap, used as a launch uses it: what all accesses must follow is asked for, then each is told.
[[nodiscard]] Checked check_all_maps(const Programs& programs);
/// The same; what is forgotten and cleared now and then, and that no two pieces are there where one would do.
[[nodiscard]] Checked check_random_maps(const RandomPrograms& programs);

/// CommandOrder: `after` orders what must be ordered, holds nothing that one of it implies, and levels are
/// the longest ways.
[[nodiscard]] Checked check_all_orders(const Programs& programs);
[[nodiscard]] Checked check_random_orders(const RandomPrograms& programs);

/// merge_accesses by painting units: what it should return.
[[nodiscard]] std::vector<runtime::Access> painted(const std::vector<runtime::Access>& accesses);

/// What tells resource r from others.
[[nodiscard]] const void* resource_at(unsigned r);
[[nodiscard]] unsigned number_of(const void* resource);
/// "w0[1,3) r1[0,1)": what each access does to which resource.
[[nodiscard]] std::string describe(const std::vector<runtime::Access>& accesses);

}  // namespace volley::testing
