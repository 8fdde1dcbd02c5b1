// Scans: inclusive and exclusive, with any operator and type, along every axis, in segments, reversed, of
// views and maps, in graphs and by many threads, against loops on the host.
#include "support/backend_test.hpp"
#include "support/random.hpp"

#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/scan.hpp>

#include <cmath>
#include <functional>
#include <numeric>
#include <thread>

namespace volley {

// A linear function: composition is associative, but not commutative.
struct ScanLinear {
    u32 factor;
    u32 offset;
    friend bool operator==(const ScanLinear&, const ScanLinear&) = default;
};

VOLLEY_STRUCT(ScanLinear, factor, offset)

namespace {

using testing::Random;

struct HostScan {
    bool exclusive = false;
    bool reverse = false;
    int axis = -1;
};

/// Scans on the host. `starts` returns whether a segment starts at an element, given as (number, number of
/// the element before it in the order of the scan).
template <class T, class Op>
std::vector<T> scan_on_host(const std::vector<T>& x, const Shape& shape, const HostScan& how, Op op,
                            std::optional<T> initial = {},
                            const std::function<bool(std::size_t, std::size_t)>& starts = {}) {
    const int axis = how.axis < 0 ? how.axis + shape.rank() : how.axis;
    const auto n = static_cast<std::size_t>(shape[axis]);
    std::size_t inner = 1;
    for (int k = axis + 1; k < shape.rank(); ++k) inner *= static_cast<std::size_t>(shape[k]);
    std::vector<T> result(x.size());
    for (std::size_t line = 0; n > 0 && line < x.size() / n; ++line) {
        const std::size_t base = line / inner * n * inner + line % inner;
        std::optional<T> sum = initial;
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t at = base + (how.reverse ? n - 1 - k : k) * inner;
            const std::size_t before = how.reverse ? at + inner : at - inner;
            if (k > 0 && starts && starts(at, before)) sum = initial;
            if (how.exclusive) result[at] = *sum;
            sum = sum ? op(*sum, x[at]) : x[at];
            if (!how.exclusive) result[at] = *sum;
        }
    }
    return result;
}

std::vector<u32> random_numbers(Random& random, std::size_t count, u32 below = 1000) {
    std::vector<u32> values(count);
    for (u32& value : values) value = static_cast<u32>(random.below(below));
    return values;
}

constexpr auto plus = [](auto a, auto b) { return static_cast<decltype(a)>(a + b); };
constexpr auto add_u32 = [](Value<u32> a, Value<u32> b) { return a + b; };

std::vector<ScanLinear> random_functions(Random& random, std::size_t count) {
    std::vector<ScanLinear> values(count);
    for (ScanLinear& f : values) f = {static_cast<u32>(random.bits()) | 1U, static_cast<u32>(random.bits())};
    return values;
}
// First a, then b.
constexpr auto compose_on_host = [](ScanLinear a, ScanLinear b) {
    return ScanLinear{b.factor * a.factor, b.factor * a.offset + b.offset};
};
constexpr auto compose = [](Value<ScanLinear> a, Value<ScanLinear> b) {
    return make<ScanLinear>(b.factor * a.factor, b.factor * a.offset + b.offset);
};

/// Lengths at the edges of vectors, parts and tiles.
const std::vector<std::int64_t> lengths = {1,  2,   3,   7,   8,   15,  16,   17,   31,   63,  64,
                                           65, 127, 255, 257, 511, 513, 1000, 1024, 1025, 4999};

VOLLEY_DEVICE_TEST(Scan, SumsLinesOfEveryLength) {
    const std::uint64_t seed = testing::seed_or(1);
    SCOPED_TRACE(seed);
    Random random(seed);
    for (const std::int64_t n : lengths) {
        const Shape shape(n);
        const std::vector<u32> x = random_numbers(random, static_cast<std::size_t>(n));
        const Buffer<u32> from = as_buffer(x);
        EXPECT_EQ(scan::inclusive_sum(from).read(0), scan_on_host(x, shape, {}, plus)) << n;
        EXPECT_EQ(scan::exclusive_sum(from).read(0),
                  scan_on_host<u32>(x, shape, {.exclusive = true}, plus, 0))
            << n;
    }
}

// Small parts and tiles cut lines as large arrays do.
VOLLEY_DEVICE_TEST(Scan, CutsLinesIntoPartsAndTiles) {
    const std::uint64_t seed = testing::seed_or(2);
    SCOPED_TRACE(seed);
    Random random(seed);
    const ScanTuning small{.part = 5, .tile_bytes = 128, .enough_lines = 1'000'000};
    for (const Shape& shape : {Shape{1237}, Shape{2, 130, 20}}) {
        const std::vector<u32> x = random_numbers(random, static_cast<std::size_t>(shape.elements()));
        const Buffer<u32> from = as_buffer(x, shape);
        for (int axis = shape.rank() - 1; axis >= shape.rank() / 2; --axis) {
            for (const bool reverse : {false, true}) {
                const ScanOptions options{.axis = axis, .reverse = reverse, .tuning = small};
                EXPECT_EQ(scan::inclusive_sum(from, options).read(0),
                          scan_on_host(x, shape, {.reverse = reverse, .axis = axis}, plus))
                    << shape.to_string() << ' ' << axis << reverse;
                EXPECT_EQ(scan::inclusive(7U, add_u32, from, options).read(0),
                          scan_on_host<u32>(x, shape, {.reverse = reverse, .axis = axis}, plus, 7))
                    << shape.to_string() << ' ' << axis << reverse;
                EXPECT_EQ(scan::exclusive(7U, add_u32, from, options).read(0),
                          scan_on_host<u32>(x, shape, {.exclusive = true, .reverse = reverse, .axis = axis},
                                            plus, 7))
                    << shape.to_string() << ' ' << axis << reverse;
            }
        }
    }
}

VOLLEY_DEVICE_TEST(Scan, TakesEveryAxis) {
    const std::uint64_t seed = testing::seed_or(3);
    SCOPED_TRACE(seed);
    Random random(seed);
    for (const Shape& shape :
         {Shape{5, 37}, Shape{40, 3}, Shape{2, 3, 4, 5, 6}, Shape{3, 1, 20}, Shape{2, 33, 17}}) {
        const std::vector<u32> x = random_numbers(random, static_cast<std::size_t>(shape.elements()));
        const Buffer<u32> from = as_buffer(x, shape);
        for (int axis = -shape.rank(); axis < shape.rank(); ++axis) {
            EXPECT_EQ(scan::inclusive_sum(from, {.axis = axis}).read(0),
                      scan_on_host(x, shape, {.axis = axis}, plus))
                << shape.to_string() << ' ' << axis;
        }
    }
}

VOLLEY_DEVICE_TEST(Scan, KeepsTheOrderOfOperands) {
    const std::uint64_t seed = testing::seed_or(4);
    SCOPED_TRACE(seed);
    Random random(seed);
    for (const ScanTuning& tuning : {ScanTuning{}, ScanTuning{.part = 7, .tile_bytes = 256}}) {
        for (const std::int64_t n : {40, 1337}) {
            const std::vector<ScanLinear> x = random_functions(random, static_cast<std::size_t>(n));
            const Buffer<ScanLinear> from = as_buffer(x);
            const ScanLinear initial{3, 4};
            EXPECT_EQ(scan::inclusive(compose, from, {.tuning = tuning}).read(0),
                      scan_on_host(x, Shape(n), {}, compose_on_host));
            EXPECT_EQ(scan::exclusive(initial, compose, from, {.reverse = true, .tuning = tuning}).read(0),
                      scan_on_host<ScanLinear>(x, Shape(n), {.exclusive = true, .reverse = true},
                                               compose_on_host, initial));
        }
    }
}

struct SegmentedCase {
    Shape shape;
    int axis;
    bool reverse;
    ScanTuning tuning;
};

VOLLEY_DEVICE_TEST(Scan, StopsAtSegments) {
    const std::uint64_t seed = testing::seed_or(5);
    SCOPED_TRACE(seed);
    Random random(seed);
    const ScanTuning small{.part = 6, .tile_bytes = 192};
    const std::vector<SegmentedCase> cases = {{Shape{1100}, 0, false, small},
                                              {Shape{1100}, 0, true, small},
                                              {Shape{90, 2}, 0, true, small},
                                              {Shape{3, 50}, 1, false, {}}};
    for (const auto& [shape, axis, reverse, tuning] : cases) {
        const auto count = static_cast<std::size_t>(shape.elements());
        const std::vector<u32> x = random_numbers(random, count);
        // Segments are long in the first half and short in the second.
        std::vector<int> keys(count);
        std::vector<u32> flags(count);
        int key = 0;
        for (std::size_t k = 0; k < count; ++k) {
            if (random.chance(k < count / 2 ? 1 : 30)) ++key;
            keys[k] = key;
            flags[k] = random.chance(k < count / 2 ? 1 : 30) ? 5 : 0;
        }
        const Buffer<u32> from = as_buffer(x, shape);
        const HostScan inclusive{.reverse = reverse, .axis = axis};
        const HostScan exclusive{.exclusive = true, .reverse = reverse, .axis = axis};
        const auto new_key = [&](std::size_t at, std::size_t before) { return keys[at] != keys[before]; };
        const auto new_flag = [&](std::size_t at, std::size_t before) {
            return flags[std::max(at, before)] != 0;
        };
        const ScanOptions keyed{.axis = axis,
                                .reverse = reverse,
                                .segments = scan::by_key(as_buffer(keys, shape)),
                                .tuning = tuning};
        EXPECT_EQ(scan::inclusive_sum(from, keyed).read(0),
                  scan_on_host<u32>(x, shape, inclusive, plus, {}, new_key));
        EXPECT_EQ(scan::exclusive(9U, add_u32, from, keyed).read(0),
                  scan_on_host<u32>(x, shape, exclusive, plus, 9, new_key));
        if (shape.rank() > 1) continue;
        EXPECT_EQ(scan::inclusive(9U, add_u32, from, keyed).read(0),
                  scan_on_host<u32>(x, shape, inclusive, plus, 9, new_key));
        const ScanOptions flagged{.axis = axis,
                                  .reverse = reverse,
                                  .segments = scan::by_flags(as_buffer(flags, shape)),
                                  .tuning = tuning};
        EXPECT_EQ(scan::inclusive_sum(from, flagged).read(0),
                  scan_on_host<u32>(x, shape, inclusive, plus, {}, new_flag));
    }
}

}  // namespace
}  // namespace volley
