// Loops: For with every sign of step and bounds at the limits of the types, While, break, continue and return
// in nests of uniform and divergent loops, and lanes that never enter.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"
#include "support/host_model.hpp"

#include <algorithm>

namespace volley {
namespace {

namespace model = testing::model;
using testing::expect_same;

template <class T>
struct Bounds {
    T begin, end, step;
};

/// Returns the trip count of a For (docs/ir.md, section 7).
template <class T>
u64 trip_count(Bounds<T> b) {
    const auto begin = static_cast<u64>(b.begin);
    const auto end = static_cast<u64>(b.end);
    const auto step = static_cast<u64>(b.step);
    if (b.step > 0 && b.begin < b.end) return (end - begin - 1) / step + 1;
    if (b.step < 0 && b.begin > b.end) return (begin - end - 1) / (0 - step) + 1;
    return 0;
}

template <class T>
std::vector<Bounds<T>> all_bounds() {
    constexpr T low = std::numeric_limits<T>::min();
    constexpr T high = std::numeric_limits<T>::max();
    const auto t = [](auto v) { return static_cast<T>(v); };
    std::vector<Bounds<T>> list = {
        {0, 10, 1},
        {3, 10, 3},
        {0, 9, 3},
        {5, 5, 1},
        {6, 5, 1},
        {0, 10, 0},
        {10, 0, 0},
        {t(high - 3), high, 1},
        {t(high - 3), high, 2},
        {t(high - 1), high, 100},
        {0, high, t(high / 7)},
        {low, high, t(high / 5 + 3)},
        {high, high, 1},
        {low, low, 1},
        {0, 100, high},
        {low, t(low + 20), 7},
    };
    if (sizeof(T) == 1) {
        list.push_back({0, high, 1});
        list.push_back({low, high, 1});
    }
    if constexpr (std::is_signed_v<T>) {
        for (const Bounds<T> b : std::vector<Bounds<T>>{{10, 0, -1},
                                                        {10, -10, -3},
                                                        {-5, 5, 2},
                                                        {0, 10, -1},
                                                        {t(low + 3), low, -1},
                                                        {t(low + 5), low, -2},
                                                        {high, low, t(low / 3)},
                                                        {high, low, low},
                                                        {-1, 0, 1},
                                                        {0, -1, -1},
                                                        {high, -1, low},
                                                        {-10, 10, t(high - 2)}}) {
            list.push_back(b);
        }
        if (sizeof(T) == 1) list.push_back({high, low, -1});
    }
    return list;
}

/// Returns count, first, last and sum of the indices.
template <class T>
std::array<T, 4> walk(Bounds<T> b) {
    std::array<T, 4> seen{};
    const u64 count = trip_count(b);
    for (u64 k = 0; k < count; ++k) {
        const T index = model::add(b.begin, static_cast<T>(k * static_cast<u64>(b.step)));
        if (k == 0) seen[1] = index;
        seen[2] = index;
        seen[3] = model::add(seen[3], index);
        seen[0] = model::add(seen[0], T(1));
    }
    return seen;
}

template <class T, class B, class E, class S>
void walk_on_device(Var<std::array<T, 4>>& seen, const B& begin, const E& end, const S& step) {
    $for (k, begin, end, step) {
        $if (seen[0] == 0) {
            seen[1] = k;
        }
        seen[2] = k;
        seen[3] += k;
        seen[0] += 1;
    }
}

template <class T>
void check_for() {
    const auto list = all_bounds<T>();
    const std::size_t n = list.size();
    std::vector<T> begin, end, step;
    std::vector<std::array<T, 4>> want;
    for (const Bounds<T>& b : list) {
        begin.push_back(b.begin);
        end.push_back(b.end);
        step.push_back(b.step);
        want.push_back(walk(b));
    }
    Buffer<std::array<T, 4>> out(n);
    auto divergent =
        kernel("for", [](Buff<const T> b, Buff<const T> e, Buff<const T> s, Buff<std::array<T, 4>> to) {
            const auto i = global_id().x;
            Array<T, 4> seen;
            walk_on_device<T>(seen, b[i], e[i], s[i]);
            to[i] = seen;
        });
    divergent.over(n)(as_buffer(begin), as_buffer(end), as_buffer(step), out);
    expect_same(out.read(0), want, "divergent bounds");

    auto uniform =
        kernel("for", [](Buff<std::array<T, 4>> to, Const<T> b, Const<T> e, Const<T> s, Const<u32> at) {
            Array<T, 4> seen;
            walk_on_device<T>(seen, b, e, s);
            $if (global_id().x == 0u) {
                to[at] = seen;
            }
        });
    for (std::size_t k = 0; k < n; ++k) {
        uniform.over(3)(out, list[k].begin, list[k].end, list[k].step, static_cast<u32>(k));
    }
    expect_same(out.read(0), want, "uniform bounds");

    // With constants, the compiler may unroll and eliminate loops.
    auto constant = kernel("for", [list](Buff<std::array<T, 4>> to) {
        for (u32 k = 0; k < list.size(); ++k) {
            Array<T, 4> seen;
            walk_on_device<T>(seen, Value<T>(list[k].begin), Value<T>(list[k].end), Value<T>(list[k].step));
            to[k] = seen;
        }
    });
    constant.over(1)(out);
    expect_same(out.read(0), want, "constant bounds");
}

VOLLEY_DEVICE_TEST(Loop, ForNeverWrapsAtTheEndsOfItsType) {
    each_type<u8, i8, u16, i16>([]<class T>() { check_for<T>(); });
}
VOLLEY_DEVICE_TEST(Loop, ForNeverWrapsAtTheEndsOfWideTypes) {
    each_type<u32, i32, u64, i64>([]<class T>() { check_for<T>(); });
}

VOLLEY_DEVICE_TEST(Loop, BreakAndContinueInNestsOfDivergentLoops) {
    constexpr u32 n = 123;
    Buffer<u32> out(n);
    kernel("nest", [](Buff<u32> to) {
        const auto i = global_id().x;
        Var<u32> sum = 0u;
        $for (a, 0u, i % 9u) {
            $if (a == 5u) {
                $continue;
            }
            $for (b, a, 12u) {
                $if ((a + b + i) % 7u == 6u) {
                    $break;
                }
                $if (b % 3u == i % 3u) {
                    $continue;
                }
                Var<u32> c = b;
                $while (c < 30u) {
                    c = c * 2u + 1u;
                    $if (c % 5u == 0u) {
                        $break;
                    }
                    $if (c % 4u == 3u) {
                        $continue;
                    }
                    sum += c;
                }
                sum += a * 100u + b;
            }
            $if (sum > 4000u) {
                $break;
            }
            sum += 7u;
        }
        to[i] = sum;
    })(out);
    std::vector<u32> want;
    for (u32 i = 0; i < n; ++i) {
        u32 sum = 0;
        for (u32 a = 0; a < i % 9; ++a) {
            if (a == 5) continue;
            for (u32 b = a; b < 12; ++b) {
                if ((a + b + i) % 7 == 6) break;
                if (b % 3 == i % 3) continue;
                u32 c = b;
                while (c < 30) {
                    c = c * 2 + 1;
                    if (c % 5 == 0) break;
                    if (c % 4 == 3) continue;
                    sum += c;
                }
                sum += a * 100 + b;
            }
            if (sum > 4000) break;
            sum += 7;
        }
        want.push_back(sum);
    }
    EXPECT_EQ(out.read(0), want);
}

VOLLEY_DEVICE_TEST(Loop, WhileRunsUntilItsLaneIsDone) {
    constexpr u32 n = 300;
    Buffer<u32> steps(n);
    Buffer<u64> peak(n);
    kernel("collatz", [](Buff<u32> s, Buff<u64> p) {
        const auto i = global_id().x;
        Var<u64> v = cast<u64>(i) + 1u;
        Var<u64> most = v;
        Var<u32> count = 0u;
        $while (v != 1u) {
            $if (v % 2u == 0u) {
                v /= 2u;
            }
            $else { v = v * 3u + 1u; }
            most = max(most, v);
            ++count;
        }
        s[i] = count;
        p[i] = most;
    })(steps, peak);
    std::vector<u32> want_steps;
    std::vector<u64> want_peak;
    for (u64 i = 1; i <= n; ++i) {
        u64 v = i;
        u64 most = v;
        u32 count = 0;
        while (v != 1) {
            v = v % 2 == 0 ? v / 2 : v * 3 + 1;
            most = std::max(most, v);
            ++count;
        }
        want_steps.push_back(count);
        want_peak.push_back(most);
    }
    EXPECT_EQ(steps.read(0), want_steps);
    EXPECT_EQ(peak.read(0), want_peak);
}

VOLLEY_DEVICE_TEST(Loop, LanesThatNeverEnterKeepTheirState) {
    constexpr u32 n = 99;
    Buffer<i32> out(n);
    kernel("some", [](Buff<i32> to) {
        const auto i = cast<i32>(global_id().x);
        Var<i32> v = -i;
        $if (i % 4 == 1) {
            $for (k, 0, i) {
                $if (k > 20) {
                    $break;
                }
                v += k;
            }
        }
        // None of the last lanes enters, and only some of the others.
        $while (v > 50 && i < 80) {
            v -= 7;
        }
        $for (k, i, 3) {
            v = v * 2 + k;
        }
        to[global_id().x] = v;
    })(out);
    std::vector<i32> want;
    for (i32 i = 0; i < static_cast<i32>(n); ++i) {
        i32 v = -i;
        if (i % 4 == 1) {
            for (i32 k = 0; k < i && k <= 20; ++k) v += k;
        }
        while (v > 50 && i < 80) v -= 7;
        for (i32 k = i; k < 3; ++k) v = v * 2 + k;
        want.push_back(v);
    }
    EXPECT_EQ(out.read(0), want);
}

VOLLEY_DEVICE_TEST(Loop, ReturnLeavesAllLoopsOfItsLaneOnly) {
    constexpr u32 n = 111;
    Buffer<u32> out(2 * n);
    out.fill(0);
    kernel("return", [](Buff<u32> to) {
        const auto i = global_id().x;
        Var<u32> count = 0u;
        $if (i == 17u) {
            $return;
        }
        $for (a, 0u, 10u) {
            $for (b, 0u, 10u) {
                ++count;
                to[2u * i] = count;
                $if (count == i) {
                    $return;
                }
                $if (b > i % 5u + 3u) {
                    $break;
                }
            }
            $while (true) {
                ++count;
                $if (count % 3u == 0u) {
                    $break;
                }
                $if (count > 90u) {
                    to[2u * i + 1u] = 99u;
                    $return;
                }
            }
        }
        to[2u * i + 1u] = count + 1000u;
    }).over(n)(out);
    std::vector<u32> want(2 * n);
    const auto run = [&](u32 i) {
        u32 count = 0;
        if (i == 17) return;
        for (u32 a = 0; a < 10; ++a) {
            for (u32 b = 0; b < 10; ++b) {
                ++count;
                want[2 * i] = count;
                if (count == i) return;
                if (b > i % 5 + 3) break;
            }
            while (true) {
                ++count;
                if (count % 3 == 0) break;
                if (count > 90) {
                    want[2 * i + 1] = 99;
                    return;
                }
            }
        }
        want[2 * i + 1] = count + 1000;
    };
    for (u32 i = 0; i < n; ++i) run(i);
    EXPECT_EQ(out.read(0), want);
}

VOLLEY_DEVICE_TEST(Loop, UniformLoopsAndDivergentOnesNestInEachOther) {
    constexpr u32 n = 77;
    Buffer<u32> out(n);
    auto run = kernel("mixed", [](Buff<u32> to, Const<u32> rounds, Const<u32> stop) {
        const auto i = global_id().x;
        Var<u32> h = i;
        $for (a, 0u, rounds) {
            $if (a == stop) {
                $break;
            }  // uniform
            $if (a % 2u == 1u) {
                $continue;
            }                           // uniform
            $for (b, 0u, i % 5u) {      // divergent
                $for (c, 0u, rounds) {  // uniform inside divergent
                    $if (c > a) {
                        $break;
                    }
                    h = h * 31u + c;
                }
                $if (h % 11u == 3u) {
                    $break;
                }
            }
            h ^= a;
        }
        to[i] = h;
    });
    for (const u32 stop : {0u, 3u, 100u}) {
        run(out, 8u, stop);
        std::vector<u32> want;
        for (u32 i = 0; i < n; ++i) {
            u32 h = i;
            for (u32 a = 0; a < 8; ++a) {
                if (a == stop) break;
                if (a % 2 == 1) continue;
                for (u32 b = 0; b < i % 5; ++b) {
                    for (u32 c = 0; c < 8 && c <= a; ++c) h = h * 31 + c;
                    if (h % 11 == 3) break;
                }
                h ^= a;
            }
            want.push_back(h);
        }
        EXPECT_EQ(out.read(0), want) << "stop " << stop;
    }
}

struct Walker {
    vec3 place;
    i16 turns;
    bool alive;
};
VOLLEY_STRUCT(Walker, place, turns, alive)

VOLLEY_DEVICE_TEST(Loop, VariablesOfEveryKindAreCarriedAround) {
    constexpr u32 n = 50;
    Buffer<Walker> out(n);
    kernel("walk", [](Buff<Walker> to) {
        const auto i = global_id().x;
        Var<Walker> w;
        w.alive = true;
        Var<complex<float>> z = complex<float>(0, 0);
        Array<u8, 3> visits;
        $while (w.alive) {
            w.place += vec3(1, 2, 0);
            w.place.z = cast<float>(i);
            w.turns += 1;
            z += complex<float>(1, -1);
            visits[cast<u32>(w.turns) % 3u] += 1;
            w.alive = w.turns < cast<i16>(i % 13u);
        }
        w.place.y += real(z) - imag(z) + cast<float>(visits[1] + visits[2] * 10);
        to[i] = w;
    })(out);
    const auto got = out.read(0);
    for (u32 i = 0; i < n; ++i) {
        const int turns = std::max(1, static_cast<int>(i % 13));
        const auto t = static_cast<float>(turns);
        const int ones = (turns + 2) / 3;
        const int twos = (turns + 1) / 3;
        EXPECT_EQ(got[i].turns, turns) << i;
        EXPECT_FALSE(got[i].alive) << i;
        EXPECT_TRUE(got[i].place ==
                    vec3(t, 2 * t + 2 * t + static_cast<float>(ones + 10 * twos), static_cast<float>(i)))
            << testing::show(got[i].place) << " at " << i;
    }
}

// Values of the last iteration are used after the loop, which lanes leave from its middle at different times.
VOLLEY_DEVICE_TEST(Loop, LanesKeepTheirValuesAfterLeaving) {
    constexpr u32 n = 75;
    std::vector<u32> values;
    for (u32 k = 0; k < 8 * n; ++k) values.push_back(k * 7 + 3);
    Buffer<u32> loaded(n);
    Buffer<vec3> vectors(n);
    Buffer<u32> nested(n);
    Buffer<u32> counter(1);
    Buffer<u32> drawn(n);
    Buffer<float> floats(n);
    counter.fill(0);
    kernel("leave", [](Buff<const u32> in, Buff<u32> a, Buff<vec3> b, Buff<u32> c, Buff<u32> draw,
                       Buff<u32> d, Buff<float> e) {
        const auto i = global_id().x;
        Var<u32> k = 0u;
        Var<u32> x = 0u;
        Var<vec3> v;
        Array<u32, 3> last;
        $while (Value<bool>(true)) {
            x = in[i * 8u + k];
            v = cast<vec3>(make_vec(in[k], in[k + 1u], x));
            last[k % 3u] = x;
            k += 1u;
            $if (k > i % 7u) {
                $break;
            }
        }
        a[i] = x;
        b[i] = v;
        e[i] = cast<float>(last[i % 7u % 3u]);
        // Nested loops: values leave through two exits.
        Var<u32> rounds = 0u;
        Var<u32> y = 0u;
        $while (Value<bool>(true)) {
            Var<u32> inner = 0u;
            $while (Value<bool>(true)) {
                y = in[i + inner] + rounds;
                inner += 1u;
                $if (inner >= i % 3u + 1u) {
                    $break;
                }
            }
            rounds += 1u;
            $if (rounds > i % 5u) {
                $break;
            }
        }
        c[i] = y;
        Var<u32> ticket = 0u;
        Var<u32> tries = 0u;
        $while (Value<bool>(true)) {
            ticket = draw.atomic(0u).add(1u);
            tries += 1u;
            $if (tries > i % 4u) {
                $break;
            }
        }
        d[i] = ticket;
    }).over(n)(as_buffer(values), loaded, vectors, nested, counter, drawn, floats);
    const auto a = loaded.read(0);
    const auto b = vectors.read(0);
    const auto c = nested.read(0);
    const auto e = floats.read(0);
    auto d = drawn.read(0);
    u32 draws = 0;
    for (u32 i = 0; i < n; ++i) {
        const u32 k = i % 7;
        const u32 x = values[i * 8 + k];
        EXPECT_EQ(a[i], x) << i;
        EXPECT_EQ(b[i], vec3(static_cast<float>(values[k]), static_cast<float>(values[k + 1]),
                             static_cast<float>(x)))
            << i;
        EXPECT_EQ(c[i], values[i + i % 3] + i % 5) << i;
        EXPECT_EQ(e[i], static_cast<float>(x)) << i;
        draws += i % 4 + 1;
    }
    EXPECT_EQ(counter.read(0)[0], draws);
    std::sort(d.begin(), d.end());
    EXPECT_TRUE(std::adjacent_find(d.begin(), d.end()) == d.end()) << "a ticket was drawn twice";
    EXPECT_EQ(d.back(), draws - 1);
}

VOLLEY_DEVICE_TEST(Loop, TheOtherNamesMeanTheSame) {
    Buffer<u32> out(20);
    kernel("names", [](Buff<u32> to) {
        const auto i = global_id().x;
        Var<u32> v = 0u;
        VOLLEY_FOR (k, 0u, 10u) {
            VOLLEY_IF (k == i) {
                VOLLEY_BREAK;
            }
            VOLLEY_ELIF (k % 2u == 1u) {
                VOLLEY_CONTINUE;
            }
            VOLLEY_ELSE { v += k; }
            VOLLEY_WHILE (v > 100u) {
                v -= 1u;
            }
        }
        VOLLEY_IF (i > 15u) {
            VOLLEY_RETURN;
        }
        to[i] = v;
    }).over(20)(out);
    const auto got = out.read(0);
    for (u32 i = 0; i < 16; ++i) {
        u32 v = 0;
        for (u32 k = 0; k < 10 && k != i; k += 1) v += k % 2 == 0 ? k : 0;
        EXPECT_EQ(got[i], v) << i;
    }
}

}  // namespace
}  // namespace volley
