// Grids of one to three dimensions, with and without full last workgroups; indices; several threads; print.
#include "support/device_test.hpp"

#include <volley/volley.hpp>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

namespace volley::testing {
namespace {

VOLLEY_DEVICE_TEST(Grid, EverySizeRunsEachInvocationOnce) {
    const auto add = kernel("add", [](Buff<u32> d) {
        const auto i = global_id().x;
        d[i] = d[i] + i + 1;
    });
    for (const u32 n : {1u, 2u, 3u, 7u, 8u, 9u, 15u, 16u, 17u, 31u, 63u, 64u, 65u, 100u, 1000u, 4097u}) {
        // A guard behind the end: a partial vector must not touch it.
        Buffer<u32> data = as_buffer(std::vector<u32>(n + 20, 5u));
        add.over(n)(data);
        const auto actual = data.read(0);
        for (u32 i = 0; i < n + 20; ++i)
            ASSERT_EQ(actual[i], i < n ? i + 6 : 5) << "size " << n << ", element " << i;
    }
}

VOLLEY_DEVICE_TEST(Grid, LocalSizesNeedNotDivideTheGlobalSize) {
    const auto ids = kernel("ids", [](Buff<vec<u32, 4>> d) {
        const auto i = global_id().x;
        d[i] = make_vec(local_id().x, group_id().x, local_size().x, group_count().x);
    });
    for (const u32 local : {1u, 3u, 8u, 10u, 33u, 64u, 128u}) {
        constexpr u32 n = 101;
        Buffer<vec<u32, 4>> data(n);
        ids.over(n).local(local)(data);
        const auto actual = data.read(0);
        for (u32 i = 0; i < n; ++i) {
            ASSERT_EQ(actual[i], (vec<u32, 4>(i % local, i / local, local, (n + local - 1) / local)))
                << local << " " << i;
        }
    }
}

VOLLEY_DEVICE_TEST(Grid, TwoAndThreeDimensionsNumberXFastest) {
    struct Shape {
        u32 global[3];
        u32 local[3];
    };
    const Shape shapes[] = {{{13, 7, 1}, {4, 4, 1}},
                            {{16, 3, 5}, {8, 1, 1}},
                            {{5, 6, 7}, {2, 3, 2}},
                            {{1, 1, 9}, {1, 1, 4}},
                            {{70, 2, 1}, {1, 2, 1}}};
    for (const Shape& s : shapes) {
        const u32 n = s.global[0] * s.global[1] * s.global[2];
        Buffer<vec<u32, 4>> data(n);
        Buffer<u32> indices(n);
        kernel("grid",
               [](Buff<vec<u32, 4>> d, Buff<u32> l) {
                   const auto g = global_id();
                   const auto size = global_size();
                   const auto at = g.x + size.x * (g.y + size.y * g.z);
                   d[at] = make_vec(g, group_id().y);
                   l[at] = local_index();
               })
            .over({s.global[0], s.global[1], s.global[2]})
            .local({s.local[0], s.local[1], s.local[2]})(data, indices);
        const auto actual = data.read(0);
        const auto index = indices.read(0);
        for (u32 at = 0; at < n; ++at) {
            const u32 x = at % s.global[0], y = at / s.global[0] % s.global[1],
                      z = at / s.global[0] / s.global[1];
            ASSERT_EQ(actual[at], (vec<u32, 4>(x, y, z, y / s.local[1]))) << at;
            ASSERT_EQ(index[at], (z % s.local[2] * s.local[1] + y % s.local[1]) * s.local[0] + x % s.local[0])
                << at;
        }
    }
}

VOLLEY_DEVICE_TEST(Grid, GroupsAndDeclaredLocalSizes) {
    Buffer<u32> data(96);
    kernel("groups", [](Buff<u32> d) { d[global_id().x] = group_count().x * 1000 + local_size().x; })
        .groups({4})
        .local({24})(data);
    EXPECT_EQ(data.read(0), std::vector<u32>(96, 4024u));
    kernel("declared", {.local = {32}}, [](Buff<u32> d) { d[global_id().x] = local_size().x; })(data);
    EXPECT_EQ(data.read(0), std::vector<u32>(96, 32u));
}

VOLLEY_DEVICE_TEST(Grid, AnEmptyLaunchDoesNothing) {
    Buffer<u32> data = as_buffer({1u});
    kernel("nothing", [](Buff<u32> d) { d[0] = 2u; }).over(0)(data).wait();
    EXPECT_EQ(data.read(0)[0], 1u);
}

VOLLEY_DEVICE_TEST(Grid, StridedReversedAndGatheredAccesses) {
    constexpr u32 n = 77;
    std::vector<i32> values(3 * n + 5);
    std::iota(values.begin(), values.end(), 0);
    Buffer<i32> in = as_buffer(values);
    Buffer<i32> out(6 * n);
    kernel("accesses", [](Buff<const i32> a, Buff<i32> b) {
        const auto i = global_id().x;
        b[i] = a[i + 5];
        b[n + i] = a[n - 1 - i];
        b[2 * n + i] = a[i * 3];
        b[3 * n + i] = a[i * 7 % n];
        b[4 * n + i] = a[2] + a[i / 4];
        b[6 * n - 1 - i] = a[i] - a[i % 5];
    }).over(n)(in, out);
    const auto b = out.read(0);
    for (u32 k = 0; k < n; ++k) {
        const i32 i = static_cast<i32>(k), m = static_cast<i32>(n);
        ASSERT_EQ(b[k], i + 5);
        ASSERT_EQ(b[n + k], m - 1 - i);
        ASSERT_EQ(b[2 * n + k], i * 3);
        ASSERT_EQ(b[3 * n + k], i * 7 % m);
        ASSERT_EQ(b[4 * n + k], 2 + i / 4);
        ASSERT_EQ(b[6 * n - 1 - k], i - i % 5);
    }
}

VOLLEY_DEVICE_TEST(Grid, BuffersKnowTheirSize) {
    Buffer<double> data(123);
    Buffer<u64> out(2);
    kernel("size", [](Buff<const double> d, Buff<u64> o) {
        o[0] = cast<u64>(d.size());
        o[1] = d.size64();
    }).over(1)(data, out);
    EXPECT_EQ(out.read(0), (std::vector<u64>{123, 123}));
}

VOLLEY_DEVICE_TEST(Index, UnravelAndRavelAreInverse) {
    constexpr u32 n = 3 * 5 * 4;
    Buffer<vec<u32, 3>> parts(n);
    Buffer<u32> back(n), rows(n);
    kernel("ravel", [](Buff<vec<u32, 3>> p, Buff<u32> b, Buff<u32> r, Const<u32> width) {
        const auto i = global_id().x;
        const auto [z, y, x] = unravel_index(i, 3u, 5u, 4u);
        p[i] = make_vec(z, y, x);
        b[i] = ravel_index(std::array{z, y, x}, 3u, 5u, 4u);
        const auto [row, column] = unravel_index(i, 15u, width);
        r[i] = row * 100 + column;
    }).over(n)(parts, back, rows, 4u);
    const auto p = parts.read(0);
    const auto b = back.read(0), r = rows.read(0);
    for (u32 i = 0; i < n; ++i) {
        ASSERT_EQ(p[i], (vec<u32, 3>(i / 20, i / 4 % 5, i % 4)));
        ASSERT_EQ(b[i], i);
        ASSERT_EQ(r[i], i / 4 * 100 + i % 4);
    }
}

VOLLEY_DEVICE_TEST(Threads, TraceAndLaunchAtOnce) {
    // Each thread makes its own kernels, half of them the same as the other thread's, and shares one with it.
    const Context context = current_context();
    const auto shared = kernel("shared", [](Buff<i32> d, Const<i32> k) {
        const auto i = global_id().x;
        d[i] = d[i] * 2 + k;
    });
    const auto work = [&](i32 who) {
        const auto scope = context.use();
        for (i32 round = 0; round < 8; ++round) {
            constexpr u32 n = 300;
            Buffer<i32> data = as_buffer(std::vector<i32>(n, who));
            const i32 constant = round % 2 == 0 ? round : who * 100 + round;
            kernel("own", [constant](Buff<i32> d) {
                const auto i = global_id().x;
                $if (i % 2 == 0) {
                    d[i] = d[i] + constant;
                }
                $else { d[i] = d[i] - constant; }
            })(data);
            shared(data, round);
            const auto actual = data.read(0);
            for (u32 i = 0; i < n; ++i) {
                const i32 expected = (i % 2 == 0 ? who + constant : who - constant) * 2 + round;
                if (actual[i] != expected) {
                    ADD_FAILURE() << "thread " << who << ", round " << round << ", element " << i << ": "
                                  << actual[i];
                    return;
                }
            }
        }
    };
    std::thread first(work, 1), second(work, 2);
    first.join();
    second.join();
}

VOLLEY_DEVICE_TEST(Threads, LaunchesOfOneBufferStayInOrder) {
    Buffer<u32> data = as_buffer(std::vector<u32>(500, 0u));
    const auto step = kernel("step", [](Buff<u32> d, Const<u32> k) {
        const auto i = global_id().x;
        d[i] = d[i] * 3 + k;
    });
    u32 expected = 0;
    for (u32 k = 0; k < 200; ++k) {
        step(data, k);
        expected = expected * 3 + k;
    }
    EXPECT_EQ(data.read(0), std::vector<u32>(500, expected));
}

// Collects lines for as long as it lives.
class Lines {
public:
    Lines() {
        set_print_sink([this](std::string_view line) {
            const std::lock_guard lock(mutex_);
            lines_.insert(std::string(line));
        });
    }
    ~Lines() { set_print_sink({}); }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;
    [[nodiscard]] std::multiset<std::string> take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(lines_, {});
    }

private:
    std::mutex mutex_;
    std::multiset<std::string> lines_;
};

VOLLEY_DEVICE_TEST(Print, OneLineForEachInvocationThatReachesIt) {
    Lines lines;
    Buffer<float> data = as_buffer({0.5f, 1.5f, 2.5f, 3.5f, 4.5f});
    kernel("print",
           [](Buff<const float> d) {
               const auto i = global_id().x;
               $if (i % 2 == 0) {
                   print("i={} x={}", i, d[i]);
               }
           })(data)
        .wait();
    EXPECT_EQ(lines.take(), (std::multiset<std::string>{"i=0 x=0.5", "i=2 x=2.5", "i=4 x=4.5"}));
}

VOLLEY_DEVICE_TEST(Print, EveryKindOfValue) {
    Lines lines;
    Buffer<i32> dummy(1);
    kernel("kinds",
           [](Buff<i32> d) {
               const auto i = cast<i32>(global_id().x);
               print("{{{}}} {} {} {}", i == 0, cast<i8>(i - 5), cast<u64>(7u), cast<half>(i) + half(0.5f));
               print("{} {}", make_vec(i, i + 1, i + 2), make_complex(cast<double>(i), -1.0));
               print("nothing");
               d[0] = 1;
           })
        .over(1)(dummy)
        .wait();
    EXPECT_EQ(lines.take(), (std::multiset<std::string>{"{true} -5 7 0.5", "(0, 1, 2) (0, -1)", "nothing"}));
}

}  // namespace
}  // namespace volley::testing
