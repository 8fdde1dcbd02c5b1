// Control flow that diverges between invocations, nested in every way, against the same program on the host.
#include "support/device_test.hpp"

#include <volley/volley.hpp>

#include <numeric>

namespace volley::testing {
namespace {

constexpr u32 count = 203;  // not a multiple of any width

template <class T>
std::vector<T> iota(u32 n) {
    std::vector<T> values(n);
    std::iota(values.begin(), values.end(), T(0));
    return values;
}

// Runs body(i) -> u32 for each invocation and compares with host(i).
template <class Body, class Host>
void check(Body body, Host host) {
    Buffer<u32> out(count);
    kernel("control", [body](Buff<u32> result) {
        const Value<u32> i = global_id().x;
        Var<u32> value = 0u;
        body(i, value);
        result[i] = value;
    })(out);
    const auto actual = out.read(0);
    for (u32 i = 0; i < count; ++i) ASSERT_EQ(actual[i], host(i)) << "invocation " << i;
}

VOLLEY_DEVICE_TEST(Control, ElifChainsTakeTheFirstTrueBranch) {
    check(
        [](const Value<u32>& i, Var<u32>& v) {
            $if (i % 5 == 0) {
                v = 1u;
            }
            $elif (i % 3 == 0) {
                v = 2u;
            }
            $elif (i % 2 == 0) {
                v = 3u;
            }
            $else { v = 4u; }
        },
        [](u32 i) {
            return i % 5 == 0 ? 1u : i % 3 == 0 ? 2u : i % 2 == 0 ? 3u : 4u;
        });
}

VOLLEY_DEVICE_TEST(Control, DivergentIfsNest) {
    check(
        [](const Value<u32>& i, Var<u32>& v) {
            $if (i > 10) {
                v += 1u;
                $if (i % 2 == 0) {
                    v += 10u;
                    $if (i % 3 == 0) {
                        v += 100u;
                    }
                    $else { v += 1000u; }
                }
                $else {
                    $if (i > 100) {
                        v += 5u;
                    }
                }
                v *= 2u;
            }
        },
        [](u32 i) {
            u32 v = 0;
            if (i > 10) {
                v += 1;
                if (i % 2 == 0) {
                    v += 10;
                    v += i % 3 == 0 ? 100 : 1000;
                } else if (i > 100) {
                    v += 5;
                }
                v *= 2;
            }
            return v;
        });
}

VOLLEY_DEVICE_TEST(Control, LoopsRunADifferentNumberOfTimes) {
    check(
        [](const Value<u32>& i, Var<u32>& v) {
            $for (k, 0u, i % 17) {
                v += k * k;
            }
        },
        [](u32 i) {
            u32 v = 0;
            for (u32 k = 0; k < i % 17; ++k) v += k * k;
            return v;
        });
}

VOLLEY_DEVICE_TEST(Control, BreakAndContinueActOnTheInnermostLoop) {
    check(
        [](const Value<u32>& i, Var<u32>& v) {
            $for (a, 0u, 9u) {
                $if (a == i % 7) {
                    $continue;
                }
                $for (b, 0u, 9u) {
                    $if (b > i % 5) {
                        $break;
                    }
                    $if (b % 2 == 1) {
                        $continue;
                    }
                    v += a * 10 + b;
                }
                $if (v > 300u) {
                    $break;
                }
                v += 1u;
            }
        },
        [](u32 i) {
            u32 v = 0;
            for (u32 a = 0; a < 9; ++a) {
                if (a == i % 7) continue;
                for (u32 b = 0; b < 9; ++b) {
                    if (b > i % 5) break;
                    if (b % 2 == 1) continue;
                    v += a * 10 + b;
                }
                if (v > 300) break;
                v += 1;
            }
            return v;
        });
}

VOLLEY_DEVICE_TEST(Control, WhileTestsBeforeEachRound) {
    check(  // the steps of the Collatz sequence
        [](const Value<u32>& i, Var<u32>& v) {
            Var<u32> n = i + 1u;
            $while (n != 1u) {
                $if (n % 2 == 0) {
                    n = n / 2;
                }
                $else { n = n * 3 + 1; }
                v += 1u;
            }
        },
        [](u32 i) {
            u32 v = 0;
            for (u32 n = i + 1; n != 1; ++v) n = n % 2 == 0 ? n / 2 : n * 3 + 1;
            return v;
        });
}

VOLLEY_DEVICE_TEST(Control, ForStepsDownAndByMoreThanOne) {
    check(
        [](const Value<u32>& i, Var<u32>& v) {
            const auto n = cast<i32>(i % 20);
            $for (k, n, -3, -2) {
                v = v * 3 + cast<u32>(k + 10);
            }
            $for (k, 0, n, 7) {
                v = v * 5 + cast<u32>(k);
            }
        },
        [](u32 i) {
            u32 v = 0;
            const i32 n = static_cast<i32>(i % 20);
            for (i32 k = n; k > -3; k -= 2) v = v * 3 + static_cast<u32>(k + 10);
            for (i32 k = 0; k < n; k += 7) v = v * 5 + static_cast<u32>(k);
            return v;
        });
}

VOLLEY_DEVICE_TEST(Control, TheIndexOfAForNeverWraps) {
    Buffer<u32> out(1);
    kernel("narrow", [](Buff<u32> result) {
        Var<u32> rounds = 0u;
        $for (k, cast<u8>(250u), cast<u8>(255u), cast<u8>(3u)) {
            rounds += cast<u32>(k);
        }
        result[0] = rounds;
    }).over(1)(out);
    EXPECT_EQ(out.read(0)[0], 250u + 253u);
}

VOLLEY_DEVICE_TEST(Control, ReturnEndsAnInvocationInsideOfLoops) {
    std::vector<u32> start(count, 99);
    Buffer<u32> out = as_buffer(start);
    kernel("returns", [](Buff<u32> result) {
        const auto i = global_id().x;
        $if (i % 11 == 0) {
            $return;
        }
        $for (k, 0u, 50u) {
            result[i] = k;
            $if (k * 3 > i) {
                $if (i % 2 == 0) {
                    $return;
                }
                $break;
            }
        }
        result[i] = result[i] + 1000u;
    })(out);
    const auto actual = out.read(0);
    for (u32 i = 0; i < count; ++i) {
        u32 expected = 99;
        if (i % 11 != 0) {
            bool returned = false;
            for (u32 k = 0; k < 50; ++k) {
                expected = k;
                if (k * 3 > i) {
                    returned = i % 2 == 0;
                    break;
                }
            }
            if (!returned) expected += 1000;
        }
        ASSERT_EQ(actual[i], expected) << i;
    }
}

VOLLEY_DEVICE_TEST(Control, AVariableStartsAnewAtEachDeclaration) {
    check(
        [](const Value<u32>& i, Var<u32>& v) {
            $for (k, 0u, 4u) {
                Var<u32> fresh;
                $if (i % 2 == 0) {
                    fresh += 1u;
                }
                v = v * 10 + fresh + k;
            }
        },
        [](u32 i) {
            u32 v = 0;
            for (u32 k = 0; k < 4; ++k) v = v * 10 + (i % 2 == 0 ? 1 : 0) + k;
            return v;
        });
}

VOLLEY_DEVICE_TEST(Control, LocalArraysTakeComputedIndices) {
    check(
        [](const Value<u32>& i, Var<u32>& v) {
            Array<u32, 8> a;
            $for (k, 0u, 8u) {
                a[(k * 3 + i) % 8] = k;
            }
            $for (k, 0u, 8u) {
                v = v * 7 + a[k];
            }
        },
        [](u32 i) {
            u32 a[8];
            for (u32 k = 0; k < 8; ++k) a[(k * 3 + i) % 8] = k;
            u32 v = 0;
            for (const u32 x : a) v = v * 7 + x;
            return v;
        });
}

VOLLEY_DEVICE_TEST(Control, ALoadIsGuardedByItsCondition) {
    // Inactive lanes must not touch memory: their index is far outside of the buffer.
    const auto table = iota<u32>(10);
    Buffer<u32> in = as_buffer(table);
    Buffer<u32> out(count);
    kernel("guarded", [](Buff<const u32> t, Buff<u32> result) {
        const auto i = global_id().x;
        Var<u32> v = 7u;
        const auto far = i * 1000003u;
        $if (i < 10) {
            v = t[select(i < 10, i, far)];
        }
        $if (i == 3) {
            v += t[far - 3000009u];
        }
        result[i] = v;
    }).over(count)(in, out);
    const auto actual = out.read(0);
    for (u32 i = 0; i < count; ++i) ASSERT_EQ(actual[i], i == 3 ? 3u : i < 10 ? i : 7u) << i;
}

VOLLEY_DEVICE_TEST(Control, ElementsAreReadWhereTheyAreWritten) {
    Buffer<i32> data = as_buffer({5});
    Buffer<i32> out(2);
    kernel("order", [](Buff<i32> d, Buff<i32> result) {
        const auto old = d[0];
        d[0] = 9;
        result[0] = old;
        result[1] = d[0];
    }).over(1)(data, out);
    EXPECT_EQ(out.read(0), (std::vector<i32>{5, 9}));
}

}  // namespace
}  // namespace volley::testing
