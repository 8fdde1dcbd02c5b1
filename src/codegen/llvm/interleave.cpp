// One step takes every p-th element, where p is a prime factor of n, and leaves p sequences of n / p vectors,
// each less interleaved.
#include "codegen/llvm/interleave.hpp"

#include <array>
#include <span>

namespace volley::codegen::llvm {
namespace {

/// Returns the p of a step. Narrow vectors use all of n at once: LLVM takes several times as long to combine
/// steps that cross 128-bit lanes there, and the code is no better.
unsigned step_of(unsigned n, unsigned width) {
    if (width < 16) return n;
    for (unsigned p = 2; p * p <= n; ++p) {
        if (n % p == 0) return p;
    }
    return n;
}

struct LanePosition {
    unsigned vector = 0;
    unsigned lane = 0;
};

/// Returns the vector whose lane l is the element that from(l) names. A shuffle has two operands, so vectors
/// are merged one at a time.
template <class From>
Val gather_lanes(CodeBuilder& c, std::span<const Val> vectors, const From& from) {
    Val v = nullptr;
    for (unsigned j = 0; j < vectors.size(); ++j) {
        std::array<int, 64> first{};   // lanes of vector j alone, or of it following v
        std::array<int, 64> second{};  // lanes of v and vector j
        bool used = false;
        for (unsigned l = 0; l < c.W; ++l) {
            const LanePosition source = from(l);
            const bool here = source.vector == j;
            used = used || here;
            first[l] = here ? static_cast<int>(source.lane) : -1;
            second[l] = here                ? static_cast<int>(c.W + source.lane)
                        : source.vector < j ? static_cast<int>(l)
                                            : -1;
        }
        if (!used) continue;
        v = v == nullptr ? c.shuffle(vectors[j], std::span<const int>(first.data(), c.W))
                         : c.shuffle(v, vectors[j], std::span<const int>(second.data(), c.W));
    }
    return v;
}

}  // namespace

std::vector<Val> deinterleave(CodeBuilder& c, const std::vector<Val>& items) {
    const auto n = static_cast<unsigned>(items.size());
    if (n == 1) return items;
    const unsigned p = step_of(n, c.W);
    std::vector<Val> components(n);
    for (unsigned r = 0; r < p; ++r) {
        std::vector<Val> every;
        for (unsigned j = 0; j < n / p; ++j) {
            every.push_back(gather_lanes(c, std::span(items).subspan(std::size_t{j} * p, p), [&](unsigned l) {
                return LanePosition{(l * p + r) / c.W, (l * p + r) % c.W};
            }));
        }
        const std::vector<Val> apart = deinterleave(c, every);
        for (unsigned k = 0; k < n / p; ++k) components[r + k * p] = apart[k];
    }
    return components;
}

std::vector<Val> interleave(CodeBuilder& c, const std::vector<Val>& components) {
    const auto n = static_cast<unsigned>(components.size());
    if (n == 1) return components;
    const unsigned p = step_of(n, c.W);
    std::vector<std::vector<Val>> every(p);
    for (unsigned r = 0; r < p; ++r) {
        std::vector<Val> part;
        for (unsigned k = r; k < n; k += p) part.push_back(components[k]);
        every[r] = interleave(c, part);
    }
    std::vector<Val> items;
    std::vector<Val> together(p);
    for (unsigned i = 0; i < n; ++i) {
        for (unsigned r = 0; r < p; ++r) together[r] = every[r][i / p];
        const unsigned first = i % p * c.W;  // position in the p vectors that replace these p
        items.push_back(gather_lanes(c, together, [&](unsigned l) {
            return LanePosition{(first + l) % p, (first + l) / p};
        }));
    }
    return items;
}

}  // namespace volley::codegen::llvm
