// Types of parameters and kernels: their compile-time properties, and what the trace declares.
#include "lang/traced.hpp"

namespace volley::test {
namespace {

void plain_function(Buff<float> data) { data[0] = 1.f; }

struct Functor {
    void operator()(const Buff<int>& data) const { data[0] = 1; }
};

TEST(Signature, ParameterTypes) {
    const auto f = [](Buff<float>, Buff<const int>, Const<double> x, const Value<vec3>& y) {
        print("{} {}", x, y);
    };
    using Params = lang::params_t<decltype(f)>;
    static_assert(
        std::same_as<Params, lang::ParamList<Buff<float>, Buff<const int>, Const<double>, Value<vec3>>>);
    static_assert(lang::ParamTraits<Buff<const int>>::read_only && !lang::ParamTraits<Buff<int>>::read_only);
    static_assert(std::same_as<lang::ParamTraits<Buff<const int>>::element, int>);
    static_assert(lang::ParamTraits<Value<vec3>>::kind == lang::ParameterKind::Value);
    static_assert(!lang::ParamTraits<float>::valid);

    const auto kernel = lang::trace_kernel("k", f, {.names = {"out", "in", "x"}});
    const auto& params = kernel.function().params;
    ASSERT_EQ(params.size(), 4u);
    EXPECT_EQ(params[0].kind, ir::ParamKind::Buffer);
    EXPECT_EQ(params[0].name, "out");
    EXPECT_FALSE(params[0].read_only);
    EXPECT_TRUE(params[1].read_only);
    EXPECT_EQ(params[2].kind, ir::ParamKind::Const);
    EXPECT_EQ(params[2].type, dtype_of<double>());
    EXPECT_EQ(params[3].kind, ir::ParamKind::Const);
    EXPECT_EQ(params[3].type, dtype_of<vec3>());
    EXPECT_EQ(params[3].name, "arg3");
}

TEST(Signature, FunctionsFunctorsAndMutableLambdas) {
    EXPECT_EQ(count_of(body_of(plain_function), "store"), 1u);
    EXPECT_EQ(count_of(body_of(&plain_function), "store"), 1u);
    EXPECT_EQ(count_of(body_of(Functor{}), "store"), 1u);
    int calls = 0;
    EXPECT_EQ(count_of(body_of([&calls, n = 1](Buff<int> data) mutable {
                           ++calls;
                           data[0] = n++;
                       }),
                       "store"),
              1u);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(body_of([]() noexcept {}), "");
}

TEST(Signature, TheDeclaredLocalSize) {
    const auto kernel = lang::trace_kernel("k", [](Buff<float>) {}, {.local_size = {64}});
    ASSERT_TRUE(kernel.function().local_size.has_value());
    EXPECT_EQ(*kernel.function().local_size, (ir::Dim3{64, 1, 1}));
    EXPECT_FALSE(lang::trace_kernel("k", [](Buff<float>) {}).function().local_size.has_value());
}

TEST(Signature, DTypesOfCppTypes) {
    EXPECT_EQ(dtype_of<bool>().name(), "bool");
    EXPECT_EQ(dtype_of<i8>().name(), "i8");
    EXPECT_EQ(dtype_of<u64>().name(), "u64");
    EXPECT_EQ(dtype_of<long long>().name(), "i64");
    EXPECT_EQ(dtype_of<half>().name(), "f16");
    EXPECT_EQ(dtype_of<complex<double>>().name(), "complex<f64>");
    EXPECT_EQ(dtype_of<ivec4>().name(), "vec4<i32>");
    EXPECT_EQ((dtype_of<mat<double, 4, 3>>().name()), "mat4x3<f64>");
    EXPECT_EQ((dtype_of<std::array<vec2, 5>>().name()), "array<vec2<f32>, 5>");
    EXPECT_EQ(dtype_of<vec3>().size(), sizeof(vec3));
}

}  // namespace
}  // namespace volley::test
