// Blocks of three-dimensional arrays: rows that lie apart on both sides, 32 MiB of them. Speeds count each
// byte that is moved once.
#include "harness.hpp"
#include "huge_array.hpp"
#include "peers.hpp"
#include "raw_opencl.hpp"
#include "software_devices.hpp"
#include "worker_pool.hpp"

#include <volley/volley.hpp>

#include <algorithm>
#include <functional>
#include <vector>

namespace volley::bench {
namespace {

constexpr std::size_t moved = std::size_t{32} << 20;
constexpr std::size_t rows = 1024;
constexpr double seconds = 3;
constexpr double goal = 0.8;

/// A block in an array that is larger in each axis; it lies elsewhere in the source than in the target.
struct Volume {
    explicit Volume(std::size_t row_bytes, std::size_t gap_bytes)
        : columns(row_bytes / sizeof(float)),
          gap(gap_bytes / sizeof(float)),
          planes(moved / row_bytes / rows),
          shape{planes + 2, rows + 16, columns + gap} {}

    [[nodiscard]] Selection target() const {
        return {slice(1, planes + 1), slice(8, rows + 8), slice(gap, none)};
    }
    [[nodiscard]] Selection source() const { return {slice(2, none), slice(0, rows), slice(0, columns)}; }
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(shape.elements()); }
    [[nodiscard]] std::size_t row_stride() const { return columns + gap; }
    [[nodiscard]] std::size_t plane_stride() const { return row_stride() * (rows + 16); }
    [[nodiscard]] std::size_t target_offset() const { return plane_stride() + 8 * row_stride() + gap; }
    [[nodiscard]] std::size_t source_offset() const { return 2 * plane_stride(); }
    [[nodiscard]] double bytes() const {
        return static_cast<double>(columns * sizeof(float) * rows * planes);
    }

    std::size_t columns, gap, planes;
    Shape shape;
};

enum class Kind { Copy, Write, Read };

/// What the target holds when the block was moved is what the source has there, and zeros around it.
float element(std::size_t i) { return static_cast<float>(i % 4099 + 1); }

/// Volley's side: between two buffers, or a buffer and an array of the host's.
class Ours {
public:
    Ours(const Volume& volume, Kind kind) : volume_(volume), kind_(kind) {
        std::vector<float> values(volume.size());
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = element(i);
        std::copy(values.begin(), values.end(), host_.data());
        if (kind == Kind::Read) std::fill_n(host_.data(), host_.size(), 0.0F);
        if (kind != Kind::Write) from_.write(values);
        if (kind != Kind::Read) to_.zero();
        wait();
    }

    void run() {
        switch (kind_) {
            case Kind::Copy: copy_region(to_, volume_.target(), from_, volume_.source()).wait(); break;
            case Kind::Write:
                to_.write_region(volume_.target(), in_host(volume_.source()));
                wait();
                break;
            case Kind::Read: from_.read_region(0, volume_.source(), in_host(volume_.target())); break;
        }
    }

    /// What is in the target now.
    [[nodiscard]] std::vector<float> result() const {
        if (kind_ == Kind::Read) return {host_.data(), host_.data() + host_.size()};
        return to_.read(0);
    }

private:
    [[nodiscard]] ArrayView<float> in_host(const Selection& block) const {
        return ArrayView<float>(host_.data(), volume_.shape)[block];
    }

    const Volume& volume_;
    Kind kind_;
    Buffer<float> from_{volume_.shape};
    Buffer<float> to_{volume_.shape};
    HugeArray<float> host_{volume_.size(), 0.0F};
};

/// The peers' arrays, in the same state as Volley's at first.
struct Theirs {
    explicit Theirs(const Volume& volume) : from(volume.size(), 0.0F), to(volume.size(), 0.0F) {
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = element(i);
    }
    HugeArray<float> from, to;
};

void compare(Report& report, const Volume& volume, Kind kind, const char* peer, const Theirs& theirs,
             const std::vector<std::function<void()>>& ways) {
    for (const auto& way : ways) {
        std::fill_n(theirs.to.data(), theirs.to.size(), 0.0F);
        way();
        Ours once(volume, kind);
        once.run();
        const std::vector<float> result = once.result();
        check(std::equal(result.begin(), result.end(), theirs.to.data()), "a region");
    }
    Ours ours(volume, kind);
    const Duel best = duel([&] { ours.run(); }, ways, seconds);
    report.add(gigabytes, volume.bytes() / best.volley * 1e-9, peer, volume.bytes() / best.peer * 1e-9,
               kind == Kind::Copy ? goal : 0);
}

void compare_with_loop(Report& report, const Volume& volume, Kind kind) {
    const Theirs theirs(volume);
    const peer::Block block{volume.columns,        rows,
                            volume.planes,         volume.row_stride(),
                            volume.plane_stride(), volume.row_stride(),
                            volume.plane_stride()};
    const auto by = [&](void (*copy)(float*, const float*, const peer::Block&, std::size_t, std::size_t)) {
        return [&, copy] {
            const std::size_t grain = std::max<std::size_t>(volume.planes / (4 * workers().threads()), 1);
            workers().for_each(volume.planes, grain, [&](std::size_t begin, std::size_t end) {
                copy(theirs.to.data() + volume.target_offset(), theirs.from.data() + volume.source_offset(),
                     block, begin, end);
            });
        };
    };
    compare(report, volume, kind, "loop", theirs,
            {by(peer::copy_block_by_rows), by(peer::copy_block_by_floats)});
}

void compare_with_opencl(Report& report, const Volume& volume, Kind kind) {
    if (!go_to_pocl(report, gigabytes, "raw-opencl", kind == Kind::Copy ? goal : 0)) return;
    const OnDevice on_pocl(pocl_name);
    ClDevice& raw = *pocl();
    const Theirs theirs(volume);
    const ClBuffer from = raw.wrap(theirs.from.data(), theirs.from.bytes());
    const ClBuffer to = raw.wrap(theirs.to.data(), theirs.to.bytes());
    constexpr std::size_t size = sizeof(float);
    const std::array<std::size_t, 2> pitch{volume.row_stride() * size, volume.plane_stride() * size};
    const ClRect rect{
        {volume.columns * size, rows, volume.planes}, {volume.gap * size, 8, 1}, {0, 0, 2}, pitch, pitch};
    const auto run = [&] {
        switch (kind) {
            case Kind::Copy: raw.copy_rect(to, from, rect); break;
            case Kind::Write: raw.write_rect(to, theirs.from.data(), rect); break;
            case Kind::Read: raw.read_rect(theirs.to.data(), from, rect); break;
        }
    };
    compare(report, volume, kind, "raw-opencl", theirs, {run});
}

void compare_regions(Report& report, const Volume& volume, Kind kind = Kind::Copy) {
    compare_with_loop(report, volume, kind);
    compare_with_opencl(report, volume, kind);
}

}  // namespace

VOLLEY_BENCH(region_4, "buffers/region_3d_4") { compare_regions(report, Volume(4, 4)); }
VOLLEY_BENCH(region_40, "buffers/region_3d_40") { compare_regions(report, Volume(40, 24)); }
VOLLEY_BENCH(region_256, "buffers/region_3d_256") { compare_regions(report, Volume(256, 64)); }
VOLLEY_BENCH(region_4096, "buffers/region_3d_4096") { compare_regions(report, Volume(4096, 256)); }
VOLLEY_BENCH(write_region, "buffers/write_region_256") {
    compare_regions(report, Volume(256, 64), Kind::Write);
}
VOLLEY_BENCH(read_region, "buffers/read_region_256") { compare_regions(report, Volume(256, 64), Kind::Read); }

}  // namespace volley::bench
