// One life of a context in the soak test: it is created on random devices, used at random while the results
// are compared with a model on the host, and dropped, perhaps with work pending.
#pragma once

#include "soak/kernels.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace volley::soak {

struct LifeOptions {
    std::vector<std::string> devices;  // to choose from
    unsigned actions = 150;
    bool faults = true;
};

/// What many lives did.
struct Tally {
    std::uint64_t lives = 0;
    std::uint64_t actions = 0;
    std::uint64_t checks = 0;    // comparisons of a whole array
    std::uint64_t failures = 0;  // injected failures that the library reported

    void add(const Tally& other) {
        lives += other.lives;
        actions += other.actions;
        checks += other.checks;
        failures += other.failures;
    }
};

/// Lives one life. Throws std::runtime_error with the devices and the last actions if a result is wrong or
/// the library reports an unexpected error.
void live(std::uint64_t seed, const LifeOptions& options, const Kernels& kernels, Tally& tally);

}  // namespace volley::soak
