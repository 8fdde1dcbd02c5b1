// Random regions of random arrays against a host model: elements of every size, up to eight axes, all words
// of a selection, padding of buffers and of host arrays, within a device and between two. A failure prints
// the seed of its case; VOLLEY_SEED=n runs only that case.
#include "buffers/buffer_support.hpp"

#include "support/random.hpp"
#include "support/sanitized.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>

namespace volley {
namespace {

using testing::Bytes;
using testing::bytes_on;
using testing::Random;
using Extents = std::vector<std::int64_t>;

/// An array with padding, and a selection with the requested shape.
struct RandomRegion {
    DType dtype;
    Extents shape, padded;
    std::vector<Selector> selectors;
    std::vector<std::size_t> positions = {0};  // of the selected elements in row-major order, by brute force

    [[nodiscard]] Selection selection() const { return Selection(std::span<const Selector>(selectors)); }
    [[nodiscard]] std::size_t bytes() const {
        std::size_t count = dtype.size();
        for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
        return count;
    }
    [[nodiscard]] AnyBuffer make(const Bytes& data, const Placement& placement) const {
        AnyBuffer buffer(dtype, Shape(shape), {.padded_shape = Shape(padded), .placement = placement});
        buffer.write_bytes(data);
        return buffer;
    }
    [[nodiscard]] Bytes selected_of(const Bytes& data) const {
        Bytes result(positions.size() * dtype.size());
        for (std::size_t i = 0; i < positions.size(); ++i)
            std::memcpy(&result[i * dtype.size()], &data[positions[i] * dtype.size()], dtype.size());
        return result;
    }
    /// `selected` may hold one element for all positions.
    void put_into(Bytes& data, const Bytes& selected) const {
        const std::size_t step = selected.size() == dtype.size() ? 0 : dtype.size();
        for (std::size_t i = 0; i < positions.size(); ++i)
            std::memcpy(&data[positions[i] * dtype.size()], &selected[i * step], dtype.size());
    }
};

std::int64_t below(Random& random, std::int64_t n) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)));
}

/// Replaces adjacent whole axes by `...`, drops whole axes at the end, or inserts a `...` for no axes.
void shorten(Random& random, std::vector<Selector>& selectors) {
    const auto is_all = [](const Selector& selector) { return selector.kind() == Selector::Kind::All; };
    if (random.chance(30)) {
        while (!selectors.empty() && is_all(selectors.back()) && random.chance(80)) selectors.pop_back();
        return;
    }
    if (!random.chance(40)) return;
    const auto at = selectors.begin() + below(random, static_cast<std::int64_t>(selectors.size()) + 1);
    const auto end = std::find_if_not(at, selectors.end(), is_all);
    const auto place = selectors.erase(at, end);
    selectors.insert(place, ellipsis);
}

RandomRegion random_region(Random& random, DType dtype, const Extents& wanted) {
    RandomRegion region;
    region.dtype = dtype;
    const auto add_axis = [&](std::int64_t extent, std::int64_t begin, std::int64_t step, std::int64_t length,
                              const Selector& selector) {
        std::vector<std::size_t> next;
        for (const std::size_t position : region.positions) {
            for (std::int64_t i = 0; i < length; ++i)
                next.push_back(position * static_cast<std::size_t>(extent) +
                               static_cast<std::size_t>(begin + i * step));
        }
        region.positions = std::move(next);
        region.shape.push_back(extent);
        region.padded.push_back(extent + (random.chance(50) ? 0 : below(random, 3)));
        region.selectors.push_back(selector);
    };
    const auto add_index = [&] {
        const std::int64_t extent = 1 + below(random, 4);
        const std::int64_t index = below(random, extent);
        add_axis(extent, index, 1, 1, random.chance(50) ? index : index - extent);
    };
    for (std::size_t d = 0; d < wanted.size(); ++d) {
        if (region.shape.size() + (wanted.size() - d) < max_rank && random.chance(25)) add_index();
        const std::int64_t length = wanted[d];
        if (length == 1 && random.chance(25)) {
            region.selectors.emplace_back(newaxis);
            continue;
        }
        if (random.chance(40)) {
            add_axis(length, 0, 1, length, all);
            continue;
        }
        const std::int64_t step = 1 + below(random, 3);
        const std::int64_t begin = below(random, 3);
        const std::int64_t last = begin + (length - 1) * step;
        const std::int64_t extent = last + 1 + below(random, 3);
        const bool open = last + step >= extent && random.chance(50);
        const Bound end = open ? Bound(none) : Bound(last + 1);
        add_axis(extent, begin, step, length, slice(begin - (random.chance(50) ? extent : 0), end, step));
    }
    if (region.shape.size() < max_rank && (region.shape.empty() || random.chance(10))) add_index();
    shorten(random, region.selectors);
    return region;
}

Extents random_shape(Random& random) {
    const bool many = random.chance(15);
    Extents shape(many ? 5 + random.below(4) : random.below(5));
    for (std::int64_t& extent : shape) extent = 1 + below(random, many ? 2 : 5);
    return shape;
}

DType random_type(Random& random) {
    return random.pick({dtype_of<u8>(), dtype_of<u16>(), dtype_of<u32>(), dtype_of<u64>(), dtype_of<vec3>(),
                        dtype_of<vec4>()});
}

Bytes random_bytes(Random& random, std::size_t count) {
    Bytes bytes(count);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.bits());
    return bytes;
}

/// Returns a host array of the given shape with random padding.
AnyHostArray random_host_array(Random& random, const AnyBuffer& like) {
    Extents padded(like.shape().begin(), like.shape().end());
    for (std::int64_t& extent : padded) extent += random.chance(50) ? 0 : below(random, 3);
    return {like.dtype(), like.shape(), {.padded_shape = Shape(padded)}};
}

/// Returns the address of each element of a host array, in row-major order.
std::vector<std::byte*> places_of(const AnyHostArray& array) {
    std::vector<std::byte*> places = {array.bytes()};
    for (int d = 0; d < array.shape().rank(); ++d) {
        std::vector<std::byte*> next;
        for (std::byte* place : places) {
            for (std::int64_t i = 0; i < array.shape()[d]; ++i)
                next.push_back(place + i * array.strides()[d]);
        }
        places = std::move(next);
    }
    return places;
}

/// Moves a region between two arrays and the host. Each array has a list of the queues with a replica.
class RegionCase {
public:
    struct Side {
        Placement placement;
        std::vector<unsigned> queues;
    };

    RegionCase(std::uint64_t seed, const Side& from, const Side& to)
        : random_(seed), from_side_(from), to_side_(to) {
        const DType dtype = random_type(random_);
        const Extents shape = random_shape(random_);
        a_ = random_region(random_, dtype, shape);
        b_ = random_region(random_, dtype, shape);
        from_model_ = random_bytes(random_, a_.bytes());
        to_model_ = random_bytes(random_, b_.bytes());
    }

    void run() {
        const AnyBuffer from = a_.make(from_model_, from_side_.placement);
        to_ = b_.make(to_model_, to_side_.placement);
        const AnyBuffer source = from.sub(a_.selection());
        target_ = to_.sub(b_.selection());
        ASSERT_EQ(source.shape(), target_.shape());
        moved_ = a_.selected_of(from_model_);
        target_.copy_from(source);
        check_target("copied");
        const unsigned k = random_.pick(from_side_.queues);
        if (random_.chance(50)) {
            EXPECT_EQ(bytes_on(k, source), moved_) << "read";
        } else {
            read_into_host_array(source, k);
        }
        moved_ = random_bytes(random_, moved_.size());
        switch (random_.below(3)) {
            case 0: target_.write_bytes(moved_); break;
            case 1: write_from_host_array(); break;
            default:
                moved_.resize(a_.dtype.size());
                target_.fill_bytes(moved_);
                break;
        }
        check_target("written");
    }
    [[nodiscard]] std::string text() const {
        return a_.dtype.name() + " " + Shape(a_.shape).to_string() + a_.selection().to_string() + " to " +
               Shape(b_.shape).to_string() + b_.selection().to_string();
    }

private:
    void check_target(const char* how) {
        b_.put_into(to_model_, moved_);
        EXPECT_EQ(bytes_on(random_.pick(to_side_.queues), to_), to_model_) << how;
    }
    void read_into_host_array(const AnyBuffer& source, unsigned k) {
        const AnyHostArray array = random_host_array(random_, source);
        source.read_async(array, k).wait();
        const std::vector<std::byte*> places = places_of(array);
        for (std::size_t i = 0; i < places.size(); ++i)
            ASSERT_EQ(std::memcmp(places[i], &moved_[i * a_.dtype.size()], a_.dtype.size()), 0)
                << "read into a host array, element " << i;
    }
    void write_from_host_array() {
        const AnyHostArray array = random_host_array(random_, target_);
        const std::vector<std::byte*> places = places_of(array);
        for (std::size_t i = 0; i < places.size(); ++i)
            std::memcpy(places[i], &moved_[i * a_.dtype.size()], a_.dtype.size());
        target_.write_async(array);
    }

    Random random_;
    Side from_side_, to_side_;
    RandomRegion a_, b_;
    Bytes from_model_, to_model_, moved_;
    AnyBuffer to_, target_;
};

void run_cases(std::uint64_t first_seed, int cases, const RegionCase::Side& from,
               const RegionCase::Side& to) {
    const bool one = std::getenv("VOLLEY_SEED") != nullptr;
    for (int i = 0; i < (one ? 1 : cases); ++i) {
        const std::uint64_t seed = testing::seed_or(first_seed + static_cast<std::uint64_t>(i));
        RegionCase now(seed, from, to);
        SCOPED_TRACE("VOLLEY_SEED=" + std::to_string(seed) + ": " + now.text());
        now.run();
        if (::testing::Test::HasFailure()) return;
    }
}

VOLLEY_BACKEND_TEST(Region, RandomOnesAgreeWithAHostModel) {
    const int cases =
        configuration().unmapped ? 400 : 2000;  // each case blocks for staging memory several times
    run_cases(1000, testing::unless_sanitized(cases, 60), {{}, {0, 1}}, {{}, {0, 1}});
}

TEST(RegionDevices, RandomOnesMoveBetweenEachTwo) {
    constexpr int cases = testing::unless_sanitized(150, 15);
    const std::vector<std::string> names = {"cpu:0", "vulkan:llvmpipe", "opencl:0"};
    for (const std::string& a : names) {
        for (const std::string& b : names) {
            if (a == b) continue;
            SCOPED_TRACE(a + " to " + b);
            std::optional<Context> context;
            try {
                context = make_context({.devices = {a, b}});
            } catch (const DeviceError& error) {
                if (error.code() != ErrorCode::UnknownDevice) throw;
                continue;
            }
            const auto use = context->use();
            run_cases(5000, cases, {Placement::on(queue(0)), {0}}, {Placement::on(queue(1)), {1}});
            if (HasFailure()) return;
        }
    }
}

}  // namespace
}  // namespace volley
