// Rows moved by the host alone, through the caches and past them, against plain loops: random ones.
#include "backends/common/host_rect.hpp"
#include "backends/rect_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

namespace volley::testing {
namespace {

/// Aligned, so that rows of whole cache lines can start at line boundaries.
struct Block {
    explicit Block(Random& random) {
        const Bytes some = random_bytes(random, bytes.size());
        std::copy(some.begin(), some.end(), bytes.begin());
    }
    alignas(64) std::array<std::byte, 120'000> bytes;
};

/// Some rows consist of whole, aligned cache lines.
std::pair<Rect, RectPlace> random_case(Random& random) {
    Rect rect = random_rect(random, 30'000);
    RectPlace place = random_place(random, rect);
    if (random.chance(30)) {
        const auto up = [](std::uint64_t n) { return (n + 63) / 64 * 64; };
        rect = {up(std::min<std::uint64_t>(rect.row, 600)), {std::min<std::uint64_t>(rect.count[0], 20), 3}};
        place.offset = up(place.offset);
        place.stride[0] = up(rect.row + random.below(100));
        place.stride[1] = place.stride[0] * rect.count[0] + random.pick<std::uint64_t>({0, 64, 128});
    }
    return {rect, place};
}

TEST(HostRectRandom, CopiesWhatLoopsWould) {
    Random random(seed_or(1));
    const auto from = std::make_unique<Block>(random);
    const auto to = std::make_unique<Block>(random);
    for (int k = 0; k < 3000; ++k) {
        const auto [rect, at] = random_case(random);
        const RectPlace from_at = random_place(random, rect);
        if (std::max(end_of(at, rect), end_of(from_at, rect)) > from->bytes.size()) continue;
        const bool dense = random.chance(30);
        const RectPlace to_at = dense ? RectPlace{at.offset, {rect.row, rect.row * rect.count[0]}} : at;
        auto model = to->bytes;
        copy_on_host(model.data(), to_at, from->bytes.data(), from_at, rect);
        const bool streaming = random.chance(60);
        backends::copy_rows(to->bytes.data(), from->bytes.data(), {rect, to_at, from_at}, streaming);
        ASSERT_EQ(std::memcmp(to->bytes.data(), model.data(), model.size()), 0)
            << "case " << k << ": " << rect << " " << to_at << " from " << from_at << " streaming "
            << streaming;
    }
}

TEST(HostRectRandom, FillsWhatLoopsWould) {
    Random random(seed_or(2));
    const auto to = std::make_unique<Block>(random);
    for (int k = 0; k < 3000; ++k) {
        const auto [rect, at] = random_case(random);
        if (end_of(at, rect) > to->bytes.size()) continue;
        const Bytes pattern = random_pattern(random, rect.row);
        auto model = to->bytes;
        fill_on_host(model.data(), at, rect, pattern);
        const bool streaming = random.chance(60);
        backends::fill_rows(to->bytes.data(), at, rect, pattern, streaming);
        ASSERT_EQ(std::memcmp(to->bytes.data(), model.data(), model.size()), 0)
            << "case " << k << ": " << rect << " " << at << " pattern " << pattern.size() << " streaming "
            << streaming;
    }
}

TEST(HostRectRandom, ARowMayEndInAPartOfThePattern) {
    Random random(seed_or(3));
    for (const std::size_t size : {3u, 24u, 64u, 5000u}) {
        const Bytes pattern = random_bytes(random, size);
        for (const std::size_t row : {1u, 10u, 4096u, 10'001u}) {
            for (const bool streaming : {false, true}) {
                Bytes bytes(row + 2, std::byte{9});
                backends::fill_rows(bytes.data(), {1, {}}, {row, {1, 1}}, pattern, streaming);
                EXPECT_EQ(bytes.front(), std::byte{9});
                EXPECT_EQ(bytes.back(), std::byte{9});
                bool same = true;
                for (std::size_t i = 0; i < row; ++i) same = same && bytes[1 + i] == pattern[i % size];
                EXPECT_TRUE(same) << size << " in " << row;
            }
        }
    }
}

TEST(HostRectRandom, CopiesOfAnySizeGoPastTheCaches) {
    Random random(seed_or(4));
    const Bytes from = random_bytes(random, 3000);
    for (std::size_t k = 0; k < 500; ++k) {
        const std::size_t bytes = random.below(2000);
        const std::size_t from_at = random.below(900);
        const std::size_t to_at = random.below(900);
        Bytes to(3000, std::byte{7});
        Bytes model = to;
        std::memcpy(model.data() + to_at, from.data() + from_at, bytes);
        if (k % 2 == 0) {
            backends::stream_copy(to.data() + to_at, from.data() + from_at, bytes);
        } else {
            backends::stream_part(to.data() + to_at, from.data() + from_at, bytes);
            backends::stream_fence();
        }
        ASSERT_EQ(to, model) << bytes << " from " << from_at << " to " << to_at;
    }
}

}  // namespace
}  // namespace volley::testing
