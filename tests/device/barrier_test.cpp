// Barriers: in workgroups of every size, in uniform loops and conditions, with values and variables of every
// type that live across them, and with buffer and shared memory accesses that they order.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"

namespace volley {
namespace {

using testing::expect_same;

constexpr u32 local_sizes[] = {1, 2, 3, 5, 8, 12, 17, 32, 33, 64, 100, 256};

VOLLEY_DEVICE_TEST(Barrier, LetsAWorkgroupOfAnySizeExchangeValues) {
    for (const u32 local : local_sizes) {
        SCOPED_TRACE(local);
        const u32 n = local * 3;
        Buffer<u32> out(n);
        kernel("reverse",
               [local](Buff<u32> to) {
                   Shared<u32> s(local);
                   const auto l = local_id().x;
                   s[l] = global_id().x * 10u;
                   barrier();
                   to[global_id().x] = s[local - 1u - l] + l;
               })
            .over(n)
            .local(local)(out);
        std::vector<u32> want;
        for (u32 i = 0; i < n; ++i)
            want.push_back((i / local * local + local - 1 - i % local) * 10 + i % local);
        expect_same(out.read(0), want);
    }
}

VOLLEY_DEVICE_TEST(Barrier, ScansInAUniformLoop) {
    for (const u32 local : {1u, 7u, 16u, 50u, 128u}) {
        SCOPED_TRACE(local);
        const u32 n = local * 2;
        Buffer<u32> data(n);
        Buffer<u32> total(2);
        kernel("scan",
               [local](Buff<u32> d, Buff<u32> t) {
                   Shared<u32> s(local);
                   const auto l = local_id().x;
                   s[l] = global_id().x + 1u;
                   barrier();
                   Var<u32> distance = 1u;
                   $while (distance < local) {
                       Var<u32> sum = s[l];
                       $if (l >= distance) {
                           sum += s[l - distance];
                       }
                       barrier();
                       s[l] = sum;
                       barrier();
                       distance *= 2u;
                   }
                   d[global_id().x] = s[l];
                   $if (l == 0u) {
                       t[group_id().x] = s[local - 1u];
                   }
               })
            .over(n)
            .local(local)(data, total);
        const auto got = data.read(0);
        u32 sum = 0;
        for (u32 i = 0; i < n; ++i) {
            if (i % local == 0) sum = 0;
            sum += i + 1;
            ASSERT_EQ(got[i], sum) << i;
        }
        EXPECT_EQ(total.read(0)[1], sum);
    }
}

struct Odd {
    u8 a;
    vec3 b;
    bool c;
    half d[3];
};
VOLLEY_STRUCT(Odd, a, b, c, d)

template <class Wide>
void check_what_is_kept() {
    for (const u32 local : {9u, 64u}) {
        const u32 n = local * 2;
        Buffer<u32> out(n);
        kernel("keep",
               [](Buff<u32> to) {
                   const auto i = global_id().x;
                   const auto flag = i % 3u == 1u;
                   const auto byte = cast<u8>(i * 7u);
                   const auto small = cast<half>(i % 100u);
                   const auto wide = cast<Wide>(i) * 0.5;
                   const auto vector = make_vec(cast<i16>(i), cast<i16>(3), cast<i16>(i + 1u));
                   const auto number = make_complex(cast<float>(i), 2.0f);
                   Var<bool> variable_flag = !flag;
                   Var<i64> long_variable = cast<i64>(i) - 1000;
                   Var<mat2> matrix;
                   matrix[1] = make_vec(cast<float>(i), 1.0f);
                   Array<u16, 5> array;
                   array[i % 5u] = cast<u16>(i + 1u);
                   Var<Odd> odd;
                   odd.a = cast<u8>(i);
                   odd.b.z = cast<float>(i) * 2.0f;
                   odd.c = flag;
                   odd.d[1] = cast<half>(i % 50u);
                   const auto copy = Value<Odd>(odd);
                   barrier();
                   odd.a += 1;
                   array[0] += 5;
                   long_variable += 2;
                   barrier();
                   Var<bool> right =
                       flag == (i % 3u == 1u) && byte == cast<u8>(i * 7u) && cast<u32>(small) == i % 100u;
                   right = right && wide == cast<Wide>(i) * 0.5 && vector.z - vector.x == 1 && vector.y == 3;
                   right = right && real(number) == cast<float>(i) && imag(number) == 2.0f &&
                           variable_flag == !flag;
                   right = right && long_variable == cast<i64>(i) - 998 && matrix[1].x == cast<float>(i) &&
                           matrix[0].y == 0.0f;
                   $if (i % 5u == 0u) {
                       right = right && array[0] == cast<u16>(i + 6u);
                   }
                   $else { right = right && array[0] == 5 && array[i % 5u] == cast<u16>(i + 1u); }
                   right = right && odd.a == cast<u8>(i + 1u) && copy.a == cast<u8>(i) &&
                           copy.b.z == odd.b.z && odd.c == flag;
                   right = right && copy.b.z == cast<float>(i) * 2.0f && cast<u32>(copy.d[1]) == i % 50u;
                   to[i] = cast<u32>(right) + i * 2u;
               })
            .over(n)
            .local(local)(out);
        std::vector<u32> want;
        for (u32 i = 0; i < n; ++i) want.push_back(1 + 2 * i);
        expect_same(out.read(0), want);
    }
}

VOLLEY_DEVICE_TEST(Barrier, KeepsValuesAndVariablesOfEveryType) {
    widest_float([]<class Wide>() { check_what_is_kept<Wide>(); });
}

VOLLEY_DEVICE_TEST(Barrier, WorksInUniformConditions) {
    static constexpr u32 local = 24;
    constexpr u32 groups = 4;
    auto run = kernel("conditions", [](Buff<u32> to, Buff<const u32> modes, Const<u32> mode) {
        Shared<u32> s(local);
        Shared<u32> choice(1);
        const auto l = local_id().x;
        const auto i = global_id().x;
        s[l] = i;
        Var<u32> v = 0u;
        $if (mode == 1u) {  // a parameter
            barrier();
            v += s[(l + 1u) % local];
            barrier();
        }
        $if (modes[group_id().x] == 2u) {  // loaded at a uniform address
            $if (l % 2u == 0u) {
                s[l] = i * 100u;
            }
            barrier();
            v += s[(l + 2u) % local];
            barrier();
        }
        $else {
            $if (group_id().x == 3u) {  // nested, by the workgroup's id
                barrier();
                v += 7u;
            }
        }
        $if (l == 5u) {
            choice[0] = modes[group_id().x] + mode;
        }
        barrier();
        $if (choice[0] == 3u) {  // from shared memory
            s[l] = l;
            barrier();
            v += s[local - 1u - l] * 10000u;
        }
        to[i] = v;
    });
    const std::vector<u32> modes = {0, 2, 3, 1};
    for (const u32 mode : {0u, 1u}) {
        Buffer<u32> out(local * groups);
        run.over(local * groups).local(local)(out, as_buffer(modes), mode);
        std::vector<u32> want;
        for (u32 g = 0; g < groups; ++g) {
            for (u32 l = 0; l < local; ++l) {
                u32 v = 0;
                if (mode == 1) v += g * local + (l + 1) % local;
                if (modes[g] == 2) {
                    const u32 other = (l + 2) % local;
                    v += (g * local + other) * (other % 2 == 0 ? 100 : 1);
                } else if (g == 3) {
                    v += 7;
                }
                if (modes[g] + mode == 3) v += (local - 1 - l) * 10000;
                want.push_back(v);
            }
        }
        expect_same(out.read(0), want);
    }
}

VOLLEY_DEVICE_TEST(Barrier, WorksInNestedLoopsWithUniformJumps) {
    static constexpr u32 local = 20;
    auto run = kernel("loops", [](Buff<u32> to, Const<u32> rounds) {
        Shared<u32> s(local);
        const auto l = local_id().x;
        Var<u32> v = global_id().x;
        $for (a, 0u, rounds) {
            $if (a == 3u) {
                $continue;
            }
            s[l] = v;
            barrier();
            Var<u32> sum = 0u;
            $for (b, 0u, a + 1u) {
                sum += s[(l + b) % local];
                $if (b == 2u) {
                    $break;
                }
                barrier();
                $if (l % 3u == 0u) {
                    sum += b;
                }  // divergent between barriers
            }
            barrier();
            v = v * 3u + sum;
            $if (a == 5u) {
                $break;
            }
        }
        to[global_id().x] = v;
    });
    for (const u32 rounds : {0u, 1u, 5u, 9u}) {
        Buffer<u32> out(local * 2);
        run.over(local * 2).local(local)(out, rounds);
        std::vector<u32> want;
        for (u32 g = 0; g < 2; ++g) {
            std::vector<u32> v(local);
            for (u32 l = 0; l < local; ++l) v[l] = g * local + l;
            for (u32 a = 0; a < rounds; ++a) {
                if (a == 3) continue;
                const std::vector<u32> s = v;
                for (u32 l = 0; l < local; ++l) {
                    u32 sum = 0;
                    for (u32 b = 0; b < a + 1; ++b) {
                        sum += s[(l + b) % local];
                        if (b == 2) break;
                        if (l % 3 == 0) sum += b;
                    }
                    v[l] = v[l] * 3 + sum;
                }
                if (a == 5) break;
            }
            want.insert(want.end(), v.begin(), v.end());
        }
        expect_same(out.read(0), want);
    }
}

// A loop controlled by shared memory: all lanes agree, though only one decides.
VOLLEY_DEVICE_TEST(Barrier, WorksInAWhileWithASharedCondition) {
    static constexpr u32 local = 30;
    Buffer<u32> out(local);
    kernel("sort",
           [](Buff<u32> to) {
               Shared<u32> s(local);
               Shared<u32> swapped(1);
               const auto l = local_id().x;
               s[l] = (l * 17u + 5u) % 31u;
               Var<u32> rounds = 0u;
               Var<bool> again = true;
               $while (again) {
                   barrier();
                   $if (l == 0u) {
                       swapped[0] = 0u;
                   }
                   barrier();
                   for (const u32 odd : {0u, 1u}) {
                       $if (l % 2u == odd) {
                           $if (l + 1u < local) {
                               const auto a = Value<u32>(s[l]);
                               const auto b = Value<u32>(s[l + 1u]);
                               $if (a > b) {
                                   s[l] = b;
                                   s[l + 1u] = a;
                                   swapped.atomic(0u).add(1u);
                               }
                           }
                       }
                       barrier();
                   }
                   again = swapped[0] != 0u;
                   ++rounds;
               }
               to[global_id().x] = s[l];
           })
        .over(local)
        .local(local)(out);
    std::vector<u32> want;
    for (u32 l = 0; l < local; ++l) want.push_back((l * 17 + 5) % 31);
    std::sort(want.begin(), want.end());
    expect_same(out.read(0), want);
}

VOLLEY_DEVICE_TEST(Barrier, OrdersAccessesOfBuffersToo) {
    static constexpr u32 local = 48;
    Buffer<u32> scratch(local * 3);
    Buffer<u32> out(local * 3);
    kernel("buffers",
           [](Buff<u32> a, Buff<u32> to) {
               const auto i = global_id().x;
               const auto first = group_id().x * local;
               a[i] = i * 5u;
               barrier();
               const auto other = a[first + (local_id().x + 11u) % local];
               barrier();
               a[i] = other + 1u;
               barrier();
               to[i] = a[first + (local_id().x + 1u) % local];
           })
        .over(local * 3)
        .local(local)(scratch, out);
    std::vector<u32> want;
    for (u32 i = 0; i < local * 3; ++i)
        want.push_back((i / local * local + (i % local + 12) % local) * 5 + 1);
    expect_same(out.read(0), want);
}

VOLLEY_DEVICE_TEST(Barrier, TransposesTilesInTwoDimensions) {
    for (const u32 tile : {4u, 5u, 16u}) {
        SCOPED_TRACE(tile);
        const u32 w = tile * 3;
        const u32 h = tile * 2;
        std::vector<float> in(w * h);
        for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<float>(k);
        Buffer<float> out(w * h);
        kernel("transpose",
               [tile](Buff<const float> x, Buff<float> y, Const<u32> width, Const<u32> height) {
                   Shared<float> s(tile, tile + 1);
                   const auto l = local_id();
                   const auto g = group_id();
                   s[l.y][l.x] = x[global_id().y * width + global_id().x];
                   barrier();
                   y[(g.x * tile + l.y) * height + g.y * tile + l.x] = s[l.x][l.y];
               })
            .over({w, h})
            .local({tile, tile})(as_buffer(in), out, w, h);
        std::vector<float> want(w * h);
        for (std::size_t y = 0; y < h; ++y) {
            for (std::size_t x = 0; x < w; ++x) want[x * h + y] = in[y * w + x];
        }
        expect_same(out.read(0), want);
    }
}

VOLLEY_DEVICE_TEST(Barrier, WorksInThreeDimensionalWorkgroups) {
    Buffer<u32> out(6 * 5 * 4);
    kernel("box",
           [](Buff<u32> to) {
               Shared<u32> s(4, 5, 3);
               const auto l = local_id();
               s(l.z, l.y, l.x) = local_index();
               barrier();
               const auto id = global_id();
               to[(id.z * 5u + id.y) * 6u + id.x] = s(3u - l.z, 4u - l.y, 2u - l.x) + group_id().x * 1000u;
           })
        .over({6, 5, 4})
        .local({3, 5, 4})(out);
    const auto got = out.read(0);
    for (u32 z = 0, at = 0; z < 4; ++z) {
        for (u32 y = 0; y < 5; ++y) {
            for (u32 x = 0; x < 6; ++x, ++at) {
                EXPECT_EQ(got[at], ((3 - z) * 5 + 4 - y) * 3 + 2 - x % 3 + x / 3 * 1000)
                    << x << " " << y << " " << z;
            }
        }
    }
}

VOLLEY_DEVICE_TEST(Barrier, IsSkippedByWorkgroupsThatReturn) {
    static constexpr u32 local = 16;
    Buffer<u32> out(local * 4);
    out.fill(5);
    kernel("return",
           [](Buff<u32> to, Const<u32> skip) {
               Shared<u32> s(local);
               $if (group_id().x == skip) {
                   $return;
               }
               s[local_id().x] = local_id().x;
               barrier();
               to[global_id().x] = s[(local_id().x + 1u) % local];
           })
        .over(local * 4)
        .local(local)(out, 2u);
    const auto got = out.read(0);
    for (u32 i = 0; i < local * 4; ++i) EXPECT_EQ(got[i], i / local == 2 ? 5 : (i + 1) % local) << i;
}

VOLLEY_DEVICE_TEST(Barrier, FencesCompileEverywhere) {
    Buffer<u32> out(40);
    kernel("fences", [](Buff<u32> to) {
        const auto i = global_id().x;
        to[i] = i;
        memory_barrier();
        memory_barrier_buffer();
        memory_barrier_shared();
        group_memory_barrier();
        $if (i % 2u == 0u) {
            memory_barrier();
        }
        subgroup_barrier();
        to[i] += 1u;
    })(out);
    const auto got = out.read(0);
    for (u32 i = 0; i < 40; ++i) EXPECT_EQ(got[i], i + 1) << i;
}

// Many workgroups run concurrently, each with its own shared memory.
VOLLEY_DEVICE_TEST(Barrier, SharedMemoryBelongsToOneWorkgroup) {
    const u32 groups = device().backend == "reference" ? 100 : 3000;
    static constexpr u32 local = 16;
    Buffer<u32> out(groups * local);
    kernel("own",
           [](Buff<u32> to) {
               Shared<u32> s(local);
               const auto l = local_id().x;
               s[l] = group_id().x;
               barrier();
               Var<u32> sum = 0u;
               $for (k, 0u, local) {
                   sum += s[k];
               }
               barrier();
               s[l] = sum;
               barrier();
               to[global_id().x] = s[(l + 5u) % local];
           })
        .over(groups * local)
        .local(local)(out);
    const auto got = out.read(0);
    std::size_t wrong = 0;
    for (u32 i = 0; i < got.size(); ++i) wrong += got[i] != i / local * local;
    EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace volley
