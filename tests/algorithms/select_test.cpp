// Selections, against plain loops on the host.
#include "support/device_fixture.hpp"
#include "support/expect_error.hpp"

#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/select.hpp>
#include <volley/algorithms/transpose.hpp>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <thread>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;

constexpr unsigned select_seed = 20261119;

/// Numbers from 0 to `limit` - 1.
template <class T>
std::vector<T> random_numbers(std::size_t count, unsigned limit, unsigned seed = select_seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(static_cast<float>(random() % limit));
    return values;
}

struct HostSelection {
    std::vector<u32> kept, others;
};
template <class F>
HostSelection select_on_host(std::size_t count, F&& selected) {
    HostSelection result;
    for (std::size_t i = 0; i < count; ++i)
        (selected(i) ? result.kept : result.others).push_back(static_cast<u32>(i));
    return result;
}
template <class T>
std::vector<T> at_indices(const std::vector<T>& from, const std::vector<u32>& indices) {
    std::vector<T> result;
    for (const u32 i : indices) result.push_back(from[i]);
    return result;
}
/// The first elements, and whether the others still have a value.
template <class T>
void expect_first(const Buffer<T>& to, const std::vector<T>& expected, const T& untouched) {
    const std::vector<T> all = to.read(0);
    ASSERT_LE(expected.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        ASSERT_EQ(all[i], i < expected.size() ? expected[i] : untouched) << i << " of " << all.size();
}

void expect_selects(std::size_t n, const SelectOptions& options = {}) {
    SCOPED_TRACE(n);
    const std::vector<int> data = random_numbers<int>(n, 4);
    const Buffer<int> from = as_buffer(data);
    const HostSelection host = select_on_host(n, [&](std::size_t i) { return data[i] == 1; });
    const HostSelection heads =
        select_on_host(n, [&](std::size_t i) { return i == 0 || data[i] != data[i - 1]; });
    std::vector<u32> run_lengths;
    for (std::size_t k = 0; k < heads.kept.size(); ++k)
        run_lengths.push_back((k + 1 < heads.kept.size() ? heads.kept[k + 1] : static_cast<u32>(n)) -
                              heads.kept[k]);
    const auto is_one = [](Value<int> x) { return x == 1; };

    EXPECT_EQ(copy_if(from, is_one, options).read(0), at_indices(data, host.kept));
    EXPECT_EQ(unique(from, options).read(0), at_indices(data, heads.kept));
    EXPECT_EQ(indices_if(from, lazy(from) == 1, options).read(0), host.kept);
    const auto runs = run_length_encode(from, options);
    EXPECT_EQ(runs.values.read(0), at_indices(data, heads.kept));
    EXPECT_EQ(runs.lengths.read(0), run_lengths);

    const std::int64_t room = static_cast<std::int64_t>(n) + 3;
    const auto outputs = [&] {
        Buffer<int> to(room);
        to.fill(-7);
        return to;
    };
    const Buffer<u32> count(1);
    Buffer<int> to = outputs();
    copy_if(to, count, from, is_one, options);
    EXPECT_EQ(count.item(), host.kept.size());
    expect_first(to, at_indices(data, host.kept), -7);
    to = outputs();
    unique(to, count, from, options);
    EXPECT_EQ(count.item(), heads.kept.size());
    expect_first(to, at_indices(data, heads.kept), -7);
    to = outputs();
    partition(to, count, from, is_one, options);
    EXPECT_EQ(count.item(), host.kept.size());
    std::vector<int> divided = at_indices(data, host.kept), others = at_indices(data, host.others);
    divided.insert(divided.end(), others.begin(), others.end());
    expect_first(to, divided, -7);
    Buffer<u32> indices(room);
    indices.fill(77);
    indices_if(indices, count, from, is_one, options);
    EXPECT_EQ(count.item(), host.kept.size());
    expect_first(indices, host.kept, 77U);
    to = outputs();
    indices.fill(77);
    run_length_encode(to, indices, count, from, options);
    EXPECT_EQ(count.item(), heads.kept.size());
    expect_first(to, at_indices(data, heads.kept), -7);
    expect_first(indices, run_lengths, 77U);
}

VOLLEY_DEVICE_TEST(Select, KeepsTheOrderOfElements) {
    for (const std::size_t n : {0, 1, 2, 7, 16, 255, 257, 1021}) expect_selects(n);
    expect_selects(33'001);
}

VOLLEY_DEVICE_TEST(Select, IsTheSameForAllTunings) {
    for (const SelectTuning& tuning : std::initializer_list<SelectTuning>{
             {.tile_bytes = 64, .strip = 1},
             {.tile_bytes = 4, .strip = 7},
             {.tile_bytes = 1000, .strip = 32768},
             {.tile_bytes = 256, .strip = 100, .two_passes = 1},
         })
        expect_selects(2'003, {.tuning = tuning});
}

template <class T>
void expect_type(const std::vector<T>& data) {
    const Buffer<T> from = as_buffer(data);
    const std::vector<u32> mask = random_numbers<u32>(data.size(), 2);
    const HostSelection host = select_on_host(data.size(), [&](std::size_t i) { return mask[i] == 1; });
    const auto chosen = lazy(as_buffer(mask)) == 1U;
    EXPECT_EQ(copy_if(from, chosen).read(0), at_indices(data, host.kept));
    const Buffer<T> to(data.size());
    const Buffer<u32> count(1);
    copy_if(to, count, from, chosen);
    std::vector<T> selected = to.read(0);
    selected.resize(count.item());
    EXPECT_EQ(selected, at_indices(data, host.kept));
}

VOLLEY_DEVICE_TEST(Select, HasElementsOfAnyType) {
    every_type<i8, u16, f16, float, u64, double, bool>(
        [&]<class T>() { expect_type(random_numbers<T>(403, 100)); });
    std::vector<vec<float, 3>> vectors;
    std::vector<std::complex<double>> numbers;
    for (std::size_t i = 0; i < 200; ++i) {
        const auto x = static_cast<float>(i);
        vectors.push_back({x, -x, x / 2});
        numbers.emplace_back(x, -x);
    }
    expect_type(vectors);
    expect_type(numbers);
}

VOLLEY_DEVICE_TEST(Select, ComparesFloatsAsNumbers) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    const std::vector<float> data = {0, -0.F, 1, 1, nan, nan, inf, inf, -inf, -inf, 0};
    const Buffer<float> from = as_buffer(data);
    const std::vector<float> heads = unique(from).read(0);
    ASSERT_EQ(heads.size(), 7U);
    EXPECT_FALSE(std::signbit(heads[0]));
    EXPECT_TRUE(std::isnan(heads[2]) && std::isnan(heads[3]));
    EXPECT_EQ(nonzero(from).read(0), (std::vector<u32>{2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(run_length_encode(from).lengths.read(0), (std::vector<u32>{2, 2, 1, 1, 2, 2, 1}));
}

Value<bool> above_twenty(Value<int> x) { return x > 20; }

VOLLEY_DEVICE_TEST(Select, TakesAnEqualityOfNeighbours) {
    const Buffer<int> from = as_buffer(std::vector<int>{10, 11, 19, 20, 25, 31, 12, 10});
    const auto same_ten = [](Value<int> a, Value<int> b) { return a / 10 == b / 10; };
    EXPECT_EQ(unique(from, same_ten).read(0), (std::vector<int>{10, 20, 31, 12}));
    const auto runs = run_length_encode(from, same_ten);
    EXPECT_EQ(runs.lengths.read(0), (std::vector<u32>{3, 2, 1, 2}));
    // The earlier element comes first.
    EXPECT_EQ(unique(from, [](Value<int> a, Value<int> b) { return a < b; }).read(0),
              (std::vector<int>{10, 12, 10}));
    EXPECT_EQ(copy_if(from, above_twenty).read(0), (std::vector<int>{25, 31}));
    const Buffer<vec<int, 2>> pairs =
        as_buffer(std::vector<vec<int, 2>>{{1, 2}, {1, 2}, {1, 3}, {2, 3}, {2, 3}});
    EXPECT_EQ(unique(pairs).read(0), (std::vector<vec<int, 2>>{{1, 2}, {1, 3}, {2, 3}}));
}

VOLLEY_DEVICE_TEST(Select, FusesMapsMasksAndStoreMaps) {
    const std::vector<int> data = random_numbers<int>(40 * 30, 50);
    const Buffer<int> whole = as_buffer(data, Shape{40, 30});
    const Buffer<int> part = whole.sub({slice(1, 40, 3), slice(2, 29)});
    const std::vector<int> read = part.read(0);
    const HostSelection host = select_on_host(read.size(), [&](std::size_t i) { return read[i] < 20; });
    EXPECT_EQ(copy_if(part, lazy(part) < 20).read(0), at_indices(read, host.kept));
    EXPECT_EQ(indices_if(lazy(part) * 2, [](Value<int> x) { return x < 40; }).read(0), host.kept);
    EXPECT_EQ(nonzero(lazy(part) < 20).read(0), host.kept);
    const std::vector<int> turned = evaluate(transpose(part)).read(0);
    EXPECT_EQ(copy_if(transpose(part), [](Value<int> x) { return x < 20; }).read(0),
              at_indices(turned,
                         select_on_host(turned.size(), [&](std::size_t i) { return turned[i] < 20; }).kept));
    const auto numbers = map([](Value<u32> y, Value<u32> x) { return y * 100U + x; }).over({3, 50})();
    const std::vector<u32> odd = copy_if(numbers, [](Value<u32> x) { return (x & 1U) == 1U; }).read(0);
    ASSERT_EQ(odd.size(), 75U);
    for (u32 i = 0; i < 75; ++i) EXPECT_EQ(odd[i], i / 25 * 100 + i % 25 * 2 + 1);

    // Backwards into every second element; the count goes to a map, too.
    Buffer<int> to(2 * read.size());
    to.fill(-1);
    const auto backwards = store_map(
        [](Value<u32> i, Value<int> x, Buff<int> out, Const<u32> n) { out[(n - 1U - i) * 2U] = x + 1; });
    const auto doubled = store_map([](Value<u32> i, Value<u32> n, Buff<u32> out) { out[i] = n * 2U; });
    const Buffer<u32> count(1);
    const auto n = static_cast<u32>(read.size());
    copy_if(backwards.over(Shape(read.size()))(to, n), doubled(count), part, lazy(part) < 20);
    EXPECT_EQ(count.item(), 2 * host.kept.size());
    std::vector<int> expected(2 * read.size(), -1);
    for (std::size_t k = 0; k < host.kept.size(); ++k)
        expected[(read.size() - 1 - k) * 2] = read[host.kept[k]] + 1;
    EXPECT_EQ(to.read(0), expected);
    // Views: every third element, and one element of an array of counts.
    Buffer<int> strided(3 * read.size());
    strided.fill(-1);
    const Buffer<u32> counts = as_buffer(std::vector<u32>{5, 6, 7});
    partition(strided.sub({slice(1, none, 3)}), counts.sub({slice(1, 2)}), part, lazy(part) < 20);
    std::vector<int> divided = at_indices(read, host.kept), others = at_indices(read, host.others);
    divided.insert(divided.end(), others.begin(), others.end());
    EXPECT_EQ(strided.sub({slice(1, none, 3)}).read(0), divided);
    EXPECT_EQ(strided.sub({slice(2, none, 3)}).read(0), std::vector<int>(read.size(), -1));
    EXPECT_EQ(counts.read(0), (std::vector<u32>{5, static_cast<u32>(host.kept.size()), 7}));
}

VOLLEY_DEVICE_TEST(Select, RecordsInGraphs) {
    const std::vector<int> data = random_numbers<int>(5'000, 100);
    const Buffer<int> from = as_buffer(data);
    const Buffer<int> kept({3, 5'000}), heads(5'000);
    const Buffer<u32> counts(3), run_lengths(5'000), runs(1);
    const auto below = map([](Value<u32> i, Buff<const int> x, Const<int> limit) { return x[i] < limit; });
    auto graph = record([&] {
        const Buffer<int> to = temporary<int>(5'000);
        const Buffer<u32> count = temporary<u32>(1);
        copy_if(to, count, from, below(from, dyn<int>("limit")));
        const auto put = store_map(
            [](Value<u32> i, Value<int> x, Buff<int> out, Const<u32> row) { out[row * 5'000U + i] = x; });
        const auto put_count =
            store_map([](Value<u32>, Value<u32> x, Buff<u32> out, Const<u32> row) { out[row] = x; });
        transform(put.over(Shape(5'000))(kept, dyn<u32>("row")), to);
        transform(put_count.over(Shape(1))(counts, dyn<u32>("row")), count);
        run_length_encode(heads, run_lengths, runs, from);
        error_of(ErrorCode::InvalidArgument, [&] { (void)copy_if(from, lazy(from) > 1); });
    });
    graph.bind("limit", {20, 50, 90});
    graph.bind("row", {0U, 1U, 2U});
    graph.submit({.instances = 3}).wait();
    const std::vector<u32> numbers = counts.read(0);
    const std::vector<int> rows = kept.read(0);
    for (std::size_t k = 0; k < 3; ++k) {
        const int limit = std::array{20, 50, 90}[k];
        const HostSelection host =
            select_on_host(data.size(), [&](std::size_t i) { return data[i] < limit; });
        ASSERT_EQ(numbers[k], host.kept.size());
        const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(k * 5'000);
        EXPECT_EQ(std::vector<int>(begin, begin + numbers[k]), at_indices(data, host.kept));
    }
    EXPECT_EQ(runs.item(), unique(from).size());
}

VOLLEY_DEVICE_TEST(Select, RunsInTwoThreadsAtOnce) {
    const Context context = current_context();
    const auto work = [&](unsigned seed) {
        const ContextScope scope = context.use();
        const std::vector<float> data = random_numbers<float>(3'000, 10, seed);
        const Buffer<float> from = as_buffer(data);
        for (int k = 0; k < 5; ++k) {
            const auto limit = static_cast<float>(k);
            const HostSelection host =
                select_on_host(data.size(), [&](std::size_t i) { return data[i] > limit; });
            EXPECT_EQ(copy_if(from, lazy(from) > limit).read(0), at_indices(data, host.kept));
        }
    };
    std::thread other([&] { work(1); });
    work(2);
    other.join();
}

TEST(SelectErrors, SayWhatToChange) {
    const Context context = make_context({.devices = {"cpu"}});
    const ContextScope scope = context.use();
    const Buffer<float> x = as_buffer(std::vector<float>{1, 2, 3, 4});
    Buffer<float> to(4);
    to.fill(9);
    Buffer<u32> count = as_buffer(std::vector<u32>{9});
    const auto positive = lazy(x) > 0.F;
    expect_contains(error_of(ErrorCode::TypeMismatch, [&] { copy_if(Buffer<int>(4), count, x, positive); }),
                    "the output takes i32");
    expect_contains(error_of(ErrorCode::SizeMismatch, [&] { copy_if(Buffer<float>(3), count, x, positive); }),
                    "up to 4 elements");
    error_of(ErrorCode::SizeMismatch, [&] { copy_if(Buffer<float>({2, 2}), count, x, positive); });
    error_of(ErrorCode::TypeMismatch, [&] { copy_if(to, Buffer<int>(1), x, positive); });
    error_of(ErrorCode::SizeMismatch, [&] { copy_if(to, Buffer<u32>(2), x, positive); });
    expect_contains(error_of(ErrorCode::InvalidView, [&] { copy_if(x, count, x, positive); }), "overlaps");
    error_of(ErrorCode::InvalidView, [&] { unique(x, count, x); });
    const Buffer<u32> numbers(4);
    error_of(ErrorCode::InvalidView, [&] { nonzero(numbers, numbers.sub({slice(0, 1)}), x); });
    error_of(ErrorCode::InvalidView, [&] { run_length_encode(to, numbers, numbers.sub({slice(1, 2)}), x); });
    expect_contains(
        error_of(ErrorCode::SizeMismatch, [&] { copy_if(to, count, x, lazy(Buffer<float>(3)) > 0.F); }),
        "mask");
    error_of(ErrorCode::TypeMismatch, [&] { (void)nonzero(Buffer<vec<float, 2>>(3)); });
    error_of(ErrorCode::InvalidArgument,
             [&] { (void)copy_if(x, positive, {.tuning = {.strip = 1U << 20U}}); });
    EXPECT_THROW(copy_if(to, count, x,
                         [](Value<float> a) {
                             if (true) throw std::runtime_error("no");
                             return a > 0.F;
                         }),
                 std::runtime_error);
    EXPECT_EQ(to.read(0), std::vector<float>(4, 9));
    EXPECT_EQ(count.item(), 9U);
}

TEST(SelectReplicas, MayDifferOnlyIfTheQueueIsNamed) {
    const Context context = make_context({.devices = {"cpu"}, .queues_per_device = 2});
    const ContextScope scope = context.use();
    Buffer<int> x(3, {.placement = Placement::replicated});
    x.write(std::vector<int>{1, 0, 1}, 0);
    x.write(std::vector<int>{0, 0, 1}, 1);
    error_of(ErrorCode::SizeMismatch, [&] { (void)nonzero(x); });
    EXPECT_EQ(nonzero(x, {.queue = current_context().queue(1)}).read(1), std::vector<u32>{2});
    const Buffer<u32> to(3), count(1);
    nonzero(to, count, x);
    EXPECT_EQ(count.item(0), 2U);
    EXPECT_EQ(count.item(1), 1U);
}

TEST(SelectReplicas, AreWrittenOnDevicesOfDifferentKinds) {
    const Context context = make_context({.devices = {"cpu", "reference"}});
    const ContextScope scope = context.use();
    const std::vector<int> data = random_numbers<int>(3'000, 4);
    const HostSelection host = select_on_host(data.size(), [&](std::size_t i) { return data[i] == 2; });
    const Buffer<int> from = as_buffer(data);
    const Buffer<int> kept = copy_if(from, lazy(from) == 2);
    const auto divided = partition(from, lazy(from) == 2);
    for (unsigned queue = 0; queue < 2; ++queue) {
        EXPECT_EQ(kept.read(queue), at_indices(data, host.kept));
        EXPECT_EQ(divided.count.item(queue), host.kept.size());
        std::vector<int> first = divided.elements.read(queue);
        first.resize(host.kept.size());
        EXPECT_EQ(first, at_indices(data, host.kept));
    }
}

}  // namespace
}  // namespace volley
