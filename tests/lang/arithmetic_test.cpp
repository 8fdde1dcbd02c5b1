// Operators, host numbers as operands, and conversions: what each traces to.
#include "lang/traced.hpp"

namespace volley::test {
namespace {

TEST(Arithmetic, ReadsMultipliesAndStores) {
    EXPECT_EQ(body_of([](Buff<float> data, Const<float> alpha) {
                  auto i = global_id().x;
                  data[i] = data[i] * alpha;
              }),
              "  %0 = buffer f32 \"arg0\"\n"
              "  %1 = param f32 \"arg1\"\n"
              "  %2 = global_id : vec3<u32>\n"
              "  %3 = extract %2[0] : u32\n"
              "  %4 = load %0[%3] : f32\n"
              "  %5 = mul %4, %1 : f32\n"
              "  store %0[%3], %5\n");
}

TEST(Arithmetic, HostNumbersAdoptTheTypeOfTheValue) {
    const std::string text = body_of([](Const<float> x, Const<double> y, Const<u8> z, Const<half> h) {
        print("{} {} {} {} {} {}", x * 2, 0.5 * x, y + 1, z - 3u, h * 0.25, 1 / h);
    });
    EXPECT_THAT(text, HasSubstr("const 2.0 : f32"));
    EXPECT_THAT(text, HasSubstr("const 0.5 : f32"));
    EXPECT_THAT(text, HasSubstr("const 1.0 : f64"));
    EXPECT_THAT(text, HasSubstr("const 3 : u8"));
    EXPECT_THAT(text, HasSubstr("const 0.25 : f16"));
    EXPECT_THAT(text, HasSubstr("const 1.0 : f16"));
}

TEST(Arithmetic, NumbersThatDoNotFitAreErrors) {
    EXPECT_THAT(error_of([](Const<u32> x) { print("{}", x + -1); }),
                HasSubstr("the number -1 does not fit in u32"));
    EXPECT_THAT(error_of([](Const<i8> x) { print("{}", x + 128); }), HasSubstr("128 does not fit in i8"));
    EXPECT_THAT(error_of([](Const<u8> x) { print("{}", x + 256); }), HasSubstr("256 does not fit in u8"));
    EXPECT_THAT(error_of([](Const<half> x) { print("{}", x * 1e6); }),
                HasSubstr("1e+06 does not fit in f16"));
    EXPECT_THAT(error_of([](Const<float> x) { print("{}", x * 1e300); }), HasSubstr("does not fit in f32"));
    EXPECT_THAT(error_of([](Const<i64> x) { print("{}", x + ~u64{0}); }), HasSubstr("does not fit in i64"));
    EXPECT_EQ(error_of([](Const<i8> x) { print("{}", x + -128); }), "");
    EXPECT_EQ(error_of([](Const<u64> x) { print("{}", x + ~u64{0}); }), "");
    EXPECT_EQ(error_of([](Const<i64> x) { print("{}", x + std::numeric_limits<i64>::min()); }), "");
    EXPECT_EQ(error_of([](Const<float> x) { print("{}", x * inf<float>()); }), "");
}

TEST(Arithmetic, EveryOperatorHasItsOperation) {
    const std::string text = body_of(
        [](Const<i32> a, Const<i32> b, Const<bool> p, Const<bool> q, Buff<i32> out, Buff<bool> flags) {
            out[0] = a + b;
            out[1] = a - b;
            out[2] = a * b;
            out[3] = a / b;
            out[4] = a % b;
            out[5] = a & b;
            out[6] = a | b;
            out[7] = a ^ b;
            out[8] = a << b;
            out[9] = a >> b;
            out[10] = -a;
            out[11] = ~a;
            out[12] = +a;
            flags[0] = a == b;
            flags[1] = a != b;
            flags[2] = a < b;
            flags[3] = a <= b;
            flags[4] = a > b;
            flags[5] = a >= b;
            flags[6] = p && q;
            flags[7] = p || q;
            flags[8] = !p;
            flags[9] = p == q;
            flags[10] = p ^ q;
            flags[11] = p && true;
            flags[12] = false || q;
        });
    for (const char* op :
         {"add", "sub", "mul", "div", "rem", "shl", "shr", "neg", "eq", "ne", "lt", "le", "gt", "ge"}) {
        EXPECT_THAT(text, HasSubstr(std::string(" = ") + op + " ")) << op;
    }
    EXPECT_EQ(count_of(text, " = and "), 3u);
    EXPECT_EQ(count_of(text, " = or "), 3u);
    EXPECT_EQ(count_of(text, " = xor "), 2u);
    EXPECT_EQ(count_of(text, " = not "), 2u);
}

TEST(Arithmetic, NumbersOnEitherSideOfAComparison) {
    const std::string text = body_of([](Const<i32> a, Buff<bool> flags) {
        flags[0] = 3 == a;
        flags[1] = a == 3;
        flags[2] = 3 < a;
        flags[3] = 3 != a;
    });
    EXPECT_EQ(count_of(text, " = eq "), 2u);
    EXPECT_EQ(count_of(text, " = lt "), 1u);
    EXPECT_EQ(count_of(text, " = ne "), 1u);
}

TEST(Arithmetic, ScalarsWidenToVectorOperands) {
    EXPECT_EQ(body_of([](Buff<vec2> data, Const<float> x) { data[0] = x * data[1]; }),
              "  %0 = buffer vec2<f32> \"arg0\"\n"
              "  %1 = param f32 \"arg1\"\n"
              "  %2 = load %0[1] : vec2<f32>\n"
              "  %3 = construct %1, %1 : vec2<f32>\n"
              "  %4 = mul %3, %2 : vec2<f32>\n"
              "  store %0[0], %4\n");
    const std::string text = body_of([](Buff<vec3> data, Const<float> x) {
        data[0] = data[1] + 1;
        data[1] = data[2] * vec3(1, 2, 3);
        data[2] = x * vec3(1, 2, 3);
        data[3] = vec3(4, 5, 6) - x;
        data[4] = 7;
        data[5] = x;
        data[6] = max(data[6], 0);
        data[7] = clamp(data[7], 0, x);
        data[8] = select(data[8] > 0, data[8], 0);
    });
    EXPECT_THAT(text, HasSubstr("gt"));
    EXPECT_THAT(text, HasSubstr("select"));
}

TEST(Arithmetic, CompoundAssignmentOnVariablesAndElements) {
    const std::string text = body_of([](Buff<u32> data) {
        Var<u32> x = 1;
        x += 2;
        x <<= 3;
        x %= data[0];
        ++x;
        x--;
        data[1] ^= x;
        data[2] >>= 1;
    });
    for (const char* op : {"add", "shl", "rem", "sub", "xor", "shr"}) {
        EXPECT_THAT(text, HasSubstr(std::string(" = ") + op + " ")) << op;
    }
    EXPECT_EQ(count_of(text, "store"), 8u);
}

TEST(Arithmetic, PostIncrementReturnsTheOldValue) {
    EXPECT_EQ(body_of([](Buff<u32> data) {
                  Var<u32> x;
                  data[0] = x++;
              }),
              "  %0 = buffer u32 \"arg0\"\n"
              "  %1 = var u32\n"
              "  %2 = load %1 : u32\n"
              "  %3 = const 1 : u32\n"
              "  %4 = load %1 : u32\n"
              "  %5 = add %4, %3 : u32\n"
              "  store %1, %5\n"
              "  store %0[0], %2\n");
}

TEST(Arithmetic, Casts) {
    const std::string text = body_of([](Const<float> x, Const<vec3> v, Buff<i32> out) {
        out[0] = cast<i32>(x);
        Value<vec<i32, 3>> each = cast<i32>(v);
        out[1] = each.x;
        out[2] = cast<ivec3>(v).y;
        out[3] = bit_cast<i32>(x);
        out[4] = cast<i32>(x > 0);
        Value<complex<float>> z = cast<complex<float>>(x);
        out[5] = cast<i32>(real(z));
        out[6] = cast<i32>(7);
    });
    EXPECT_THAT(text, HasSubstr("convert %1 : vec3<i32>"));
    EXPECT_THAT(text, HasSubstr("bitcast %0 : i32"));
    EXPECT_THAT(text, HasSubstr(": complex<f32>"));
}

TEST(Arithmetic, CastToTheSameTypeRecordsNothing) {
    EXPECT_EQ(count_of(body_of([](Const<float> x, Buff<float> out) { out[0] = cast<float>(x); }), "convert"),
              0u);
}

TEST(Arithmetic, SelectOfTwoHostNumbers) {
    EXPECT_THAT(body_of([](Const<bool> c, Buff<float> out) { out[0] = select(c, 1.f, 0.f); }),
                HasSubstr("select %0"));
}

TEST(Arithmetic, HelpersTakeAndReturnValues) {
    struct Helper {
        static Value<float> square(const Value<float>& x) { return x * x; }
        static Value<float> choose(Value<float> x) { return select(x > 0, x, -x); }
    };
    const auto generic = [](auto x, auto y) { return x + y; };
    const std::string text = body_of([&](Buff<float> data) {
        Var<float> v = Helper::square(data[0]);
        data[1] = Helper::choose(v);
        data[2] = generic(v, data[3]);
    });
    EXPECT_EQ(count_of(text, "mul"), 1u);
    EXPECT_EQ(count_of(text, "select"), 1u);
}

TEST(Arithmetic, VarsDeduceTheirType) {
    body_of([](Buff<float> data) {
        Var sum = 0.f;
        Var x = data[0];
        static_assert(std::same_as<decltype(sum), Var<float>> && std::same_as<decltype(x), Var<float>>);
        sum = x;
        data[1] = sum;
    });
}

TEST(Arithmetic, EachOperationKnowsItsLine) {
    const int line = __LINE__;
    const auto kernel = lang::trace_kernel("k", [](Buff<float> data, Const<float> x) {
        data[0] = x + 1;
        Var<float> v = x;
        v = 3;
        v *= x;
        data[2] = -x;
        data[3] = sqrt(x);
        barrier();
        $if (x > 0) {
            $return;
        }
    });
    const std::string text = kernel.to_string();
    const auto at = [&](int k) { return "lang/arithmetic_test.cpp:" + std::to_string(line + k); };
    const auto line_of = [&](std::string_view piece) {
        const std::size_t start = text.find(piece);
        return text.substr(start, text.find('\n', start) - start);
    };
    EXPECT_THAT(line_of("add"), HasSubstr(at(2)));
    EXPECT_THAT(line_of("var"), HasSubstr(at(3)));
    EXPECT_THAT(line_of("const 3.0"), HasSubstr(at(4)));
    EXPECT_THAT(line_of("mul"), HasSubstr(at(5)));
    EXPECT_THAT(line_of("neg"), HasSubstr(at(6)));
    EXPECT_THAT(line_of("sqrt"), HasSubstr(at(7)));
    EXPECT_THAT(line_of("barrier"), HasSubstr(at(8)));
    EXPECT_THAT(line_of("return"), HasSubstr(at(10)));
}

}  // namespace
}  // namespace volley::test
