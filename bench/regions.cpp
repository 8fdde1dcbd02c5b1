// Copies of blocks of three-dimensional arrays: 32 MiB in rows with gaps on both sides. Speeds count each
// moved byte once.
#include "harness.hpp"
#include "huge_array.hpp"
#include "peers.hpp"
#include "raw_opencl.hpp"
#include "raw_vulkan.hpp"
#include "software_devices.hpp"
#include "worker_pool.hpp"

#include <volley/volley.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <vector>

namespace volley::bench {
namespace {

constexpr std::size_t moved = std::size_t{32} << 20;
constexpr std::size_t rows = 1024;
constexpr double seconds = 2.5;
constexpr double copy_goal = 0.8;

/// A block in an array that is larger in each axis. Its position differs between source and target.
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

double goal_of(Kind kind) { return kind == Kind::Copy ? copy_goal : 0; }

/// Fills the source of a contender. Targets start with zeros, which shows bytes written outside the block.
void fill_source(const Volume& volume, float* source) {
    for (std::size_t i = 0; i < volume.size(); ++i) source[i] = static_cast<float>(i % 4099 + 1);
}

/// Volley's side: between two buffers, or between a buffer and a host array.
class Ours {
public:
    Ours(const Volume& volume, Kind kind) : volume_(volume), kind_(kind) {
        fill_source(volume, host_.data());
        if (kind != Kind::Write) from_.write(host_.span());
        if (kind != Kind::Read) to_.zero();
        wait();
        if (kind == Kind::Read) std::fill_n(host_.data(), host_.size(), 0.0F);
    }

    void run() {
        switch (kind_) {
            case Kind::Copy: copy_region(to_, volume_.target(), from_, volume_.source()).wait(); break;
            case Kind::Write:
                write_region(to_, volume_.target(), in_host(volume_.source()));
                wait();
                break;
            case Kind::Read: from_.sub(volume_.source()).read_into(in_host(volume_.target()), 0); break;
        }
    }

    /// Returns the contents of the target.
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

using Ways = std::vector<std::function<void()>>;

/// Each of the peer's methods moves the block to the array at `target`.
void compare(Report& report, const Volume& volume, Kind kind, const char* peer, float* target,
             const Ways& ways, double wanted) {
    Ours ours(volume, kind);
    ours.run();
    const std::vector<float> result = ours.result();
    for (const auto& way : ways) {
        std::fill_n(target, volume.size(), 0.0F);
        way();
        check(std::equal(result.begin(), result.end(), target), "a region");
    }
    const Duel best = duel([&] { ours.run(); }, ways, seconds);
    report.add(gigabytes, volume.bytes() / best.volley * 1e-9, peer, volume.bytes() / best.peer * 1e-9,
               wanted);
}

using CopyPlanes = void (*)(float*, const float*, const peer::Block&, std::size_t, std::size_t);

/// Copies the planes [begin, end).
void run_loop(const Volume& volume, CopyPlanes copy, float* to, const float* from, std::size_t begin,
              std::size_t end) {
    const peer::Block block{volume.columns,        rows,
                            volume.planes,         volume.row_stride(),
                            volume.plane_stride(), volume.row_stride(),
                            volume.plane_stride()};
    copy(to + volume.target_offset(), from + volume.source_offset(), block, begin, end);
}

void compare_with_loop(Report& report, const Volume& volume, Kind kind) {
    const HugeArray<float> from(volume.size(), 0.0F);
    fill_source(volume, from.data());
    const HugeArray<float> to(volume.size(), 0.0F);
    const auto by = [&](CopyPlanes copy) {
        return [&, copy] {
            const std::size_t grain = std::max<std::size_t>(volume.planes / (4 * workers().threads()), 1);
            workers().for_each(volume.planes, grain, [&](std::size_t begin, std::size_t end) {
                run_loop(volume, copy, to.data(), from.data(), begin, end);
            });
        };
    };
    compare(report, volume, kind, "loop", to.data(),
            {by(peer::copy_block_by_rows), by(peer::copy_block_by_floats)}, goal_of(kind));
}

/// The peer copies by the host in mapped memory and, if there are few rows, by the device with a list of
/// regions.
void compare_with_vulkan(Report& report, const Volume& volume, Kind kind) {
    if (!go_to_lavapipe(report, gigabytes, "raw-vulkan", 0)) return;
    const OnDevice lavapipe(lavapipe_name);
    RawVulkan& raw = *raw_vulkan();
    const std::size_t bytes = volume.size() * sizeof(float);
    const RawBuffer from(raw, bytes);
    const RawBuffer to(raw, bytes);
    fill_source(volume, from.data());
    const auto by = [&](CopyPlanes copy) {
        return [&, copy] { run_loop(volume, copy, to.data(), from.data(), 0, volume.planes); };
    };
    Ways ways{by(peer::copy_block_by_rows), by(peer::copy_block_by_floats)};
    if (kind == Kind::Copy && volume.columns >= 64) {
        std::vector<VkBufferCopy> regions;
        for (std::size_t plane = 0; plane < volume.planes; ++plane) {
            for (std::size_t row = 0; row < rows; ++row) {
                const std::size_t at = plane * volume.plane_stride() + row * volume.row_stride();
                regions.push_back({(volume.source_offset() + at) * sizeof(float),
                                   (volume.target_offset() + at) * sizeof(float),
                                   volume.columns * sizeof(float)});
            }
        }
        const VkCommandBuffer commands = raw.make_commands();
        raw.record_copy(commands, to, from, regions);
        ways.push_back([&raw, commands] { raw.wait(raw.submit(commands)); });
    }
    compare(report, volume, kind, "raw-vulkan", to.data(), ways, 0);
}

void compare_with_opencl(Report& report, const Volume& volume, Kind kind) {
    if (!go_to_pocl(report, gigabytes, "raw-opencl", goal_of(kind))) return;
    const OnDevice on_pocl(pocl_name);
    ClDevice& raw = *pocl();
    const HugeArray<float> from(volume.size(), 0.0F);
    fill_source(volume, from.data());
    const HugeArray<float> to(volume.size(), 0.0F);
    const ClBuffer cl_from = raw.wrap(from.data(), from.bytes());
    const ClBuffer cl_to = raw.wrap(to.data(), to.bytes());
    constexpr std::size_t size = sizeof(float);
    const std::array<std::size_t, 2> pitch{volume.row_stride() * size, volume.plane_stride() * size};
    const ClRect rect{
        {volume.columns * size, rows, volume.planes}, {volume.gap * size, 8, 1}, {0, 0, 2}, pitch, pitch};
    const auto run = [&] {
        switch (kind) {
            case Kind::Copy: raw.copy_rect(cl_to, cl_from, rect); break;
            case Kind::Write: raw.write_rect(cl_to, from.data(), rect); break;
            case Kind::Read: raw.read_rect(to.data(), cl_from, rect); break;
        }
    };
    compare(report, volume, kind, "raw-opencl", to.data(), {run}, goal_of(kind));
}

void compare_regions(Report& report, const Volume& volume, Kind kind = Kind::Copy) {
    compare_with_loop(report, volume, kind);
    compare_with_vulkan(report, volume, kind);
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
