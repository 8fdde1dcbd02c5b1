// Functions that are traced by themselves and called by kernels: their types, their identity, and the copies
// of their operations.
#include "lang/traced.hpp"

#include <volley/lang/any_function.hpp>

#include <stdexcept>
#include <thread>
#include <vector>

namespace volley::test {
namespace {

struct Ray {
    vec3 origin;
    float length;
};
VOLLEY_STRUCT(Ray, origin, length)

template <class... X>
std::vector<lang::Ref> refs(const X&... x) {
    return {ref_of(x)...};
}

TEST(AnyFunction, HasTheTypesOfItsLambda) {
    const AnyFunction f =
        trace_function([](Value<u32> i, Const<float> s, Buff<const half> in, Buff<int> out) {
            return in[i] * cast<half>(s) + cast<half>(out[0]);
        });
    ASSERT_EQ(f.parameters().size(), 4U);
    EXPECT_EQ(f.parameters()[0].type, dtype_of<u32>());
    EXPECT_FALSE(f.parameters()[1].is_buffer);
    EXPECT_TRUE(f.parameters()[2].is_buffer);
    EXPECT_TRUE(f.parameters()[2].read_only);
    EXPECT_EQ(f.parameters()[2].type, dtype_of<half>());
    EXPECT_FALSE(f.parameters()[3].read_only);
    EXPECT_EQ(f.result(), dtype_of<half>());
    EXPECT_TRUE(trace_function([](Buff<int> out) { out[0] = 1; }).result().is_void());
    EXPECT_EQ(f.hash().size(), 32U);
}

TEST(AnyFunction, IsIdentifiedByItsOperations) {
    const auto scaled = [](float by) { return trace_function([by](Value<float> x) { return x * by; }); };
    EXPECT_EQ(scaled(2).hash(), scaled(2).hash());
    EXPECT_NE(scaled(2).hash(), scaled(3).hash());
    EXPECT_NE(trace_function([](Value<float> x, Value<float> y) { return x - y; }).hash(),
              trace_function([](Value<float> x, Value<float> y) { return y - x; }).hash());
    EXPECT_NE(trace_function([](Value<float> x) { return x + x; }).hash(),
              trace_function([](Value<int> x) { return x + x; }).hash());
    EXPECT_NE(trace_function([](Value<float> x) { return x; }).hash(),
              trace_function([](Value<float> x, Value<float>) { return x; }).hash());
    EXPECT_NE(trace_function([](Buff<const float> a) { return a[0]; }).hash(),
              trace_function([](Buff<const float> a) { return a(0U); }).hash());
    EXPECT_NE(trace_function([](Value<bool> c, Value<float> x) { return select(c, x, -x); }).hash(),
              trace_function([](Value<bool> c, Value<float> x) { return select(c, -x, x); }).hash());
}

TEST(AnyFunction, RecordsItsOperationsInItsCaller) {
    const AnyFunction f = trace_function([](Value<float> x, Value<float> y) { return (x + y) * 2.f - y; });
    EXPECT_EQ(body_of([&](Buff<float> data) {
                  const Value<float> a = data[0], b = data[1];
                  data[2] = f.call({a, b}).as<float>();
                  data[3] = f.call({b, b}).as<float>();
              }),
              body_of([](Buff<float> data) {
                  const Value<float> a = data[0], b = data[1];
                  data[2] = (a + b) * 2.f - b;
                  data[3] = (b + b) * 2.f - b;
              }));
}

TEST(AnyFunction, ReturnsAParameterOrAConstant) {
    const AnyFunction same = trace_function([](Value<float> x) { return x; });
    const AnyFunction five = trace_function([](Value<float>) { return Value<float>(5.f); });
    EXPECT_EQ(body_of([&](Buff<float> data) {
                  const Value<float> a = data[0];
                  data[1] = same.call({a}).as<float>();
                  data[2] = five.call({a}).as<float>();
              }),
              body_of([](Buff<float> data) {
                  const Value<float> a = data[0];
                  data[1] = a;
                  data[2] = 5.f;
              }));
}

template <class X, class B>
Value<u32> steps_of(const X& start, const B& seen) {
    Var<u32> n = start;
    Var<u32> steps = 0U;
    Array<u32, 4> last;
    $while (n != 1U) {
        $if (n % 2U == 0U) {
            n = n / 2U;
        }
        $elif (n > 1000U) {
            $break;
        }
        $else {
            $for (k, 0U, 3U) {
                $if (k == 2U) {
                    $continue;
                }
                last[k] = n + k;
                seen[k] = n;
            }
            n = n * 3U + 1U;
        }
        steps += 1U;
        print("n={} of {}", n, steps);
    }
    return steps + last[1];
}

TEST(AnyFunction, CopiesNestedControlFlowVariablesAndPrints) {
    const AnyFunction f =
        trace_function([](Value<u32> start, Buff<u32> seen) { return steps_of(start, seen); });
    const std::string called = body_of([&](Buff<u32> data, Buff<u32> seen) {
        const Value<u32> start = data[0];
        data[1] = Value<u32>(ref_of(f.call(refs(start, seen))));
    });
    const std::string direct = body_of([](Buff<u32> data, Buff<u32> seen) {
        const Value<u32> start = data[0];
        data[1] = steps_of(start, seen);
    });
    EXPECT_EQ(called, direct);
    EXPECT_EQ(count_of(called, "print"), 1U);
}

TEST(AnyFunction, IsCalledInControlFlow) {
    const AnyFunction add = trace_function([](Value<float> x, Value<float> y) { return x + y; });
    EXPECT_EQ(body_of([&](Buff<float> data, Const<bool> c) {
                  Var<float> sum = 0.f;
                  $for (k, 0U, 4U) {
                      $if (c) {
                          sum = add.call({sum, Value<float>(data[k])}).as<float>();
                      }
                  }
                  data[0] = sum;
              }),
              body_of([](Buff<float> data, Const<bool> c) {
                  Var<float> sum = 0.f;
                  $for (k, 0U, 4U) {
                      $if (c) {
                          const Value<float> old = sum;
                          const Value<float> x = data[k];
                          sum = old + x;
                      }
                  }
                  data[0] = sum;
              }));
    EXPECT_THAT(error_of([&](Buff<float> data, Const<bool> c) {
                    std::vector<AnyValue> inner;
                    $if (c) {
                        const Value<float> x = data[0];
                        inner.push_back(add.call({x, x}));
                    }
                    data[0] = inner[0].as<float>();
                }),
                HasSubstr("after the end of the body"));
}

TEST(AnyFunction, TakesAndReturnsStructs) {
    const AnyFunction longer = trace_function([](Value<Ray> ray, Value<float> by) {
        Var<Ray> result = ray;
        result.length = ray.length * by + ray.origin.y;
        return Value<Ray>(result);
    });
    EXPECT_EQ(longer.result(), dtype_of<Ray>());
    const std::string body = body_of([&](Buff<Ray> rays) {
        const AnyValue ray = longer.call({Value<Ray>(rays[0]), Value<float>(2.f)});
        rays[0].length = ray.part(1).as<float>();
        rays[1].origin = ray.as<Ray>().origin;
    });
    EXPECT_EQ(count_of(body, "store"), 4U) << body;
}

TEST(AnyFunction, AccessesBuffersByPosition) {
    const AnyFunction at = trace_function(
        [](Value<u32> y, Value<u32> x, Buff<const float> a) { return a(y, x) * cast<float>(a.extent(0)); });
    EXPECT_EQ(body_of([&](Buff<float> out, Buff<const float> in) {
                  const Value<u32> y = global_id().y, x = global_id().x;
                  out(y, x) = Value<float>(ref_of(at.call(refs(y, x, in))));
              }),
              body_of([](Buff<float> out, Buff<const float> in) {
                  const Value<u32> y = global_id().y, x = global_id().x;
                  const Value<float> v = in(y, x) * cast<float>(in.extent(0));
                  out(y, x) = v;
              }));
    const auto mixed = [&](bool first) {
        return error_of([&, first](Buff<float> data) {
            if (first) static_cast<void>(at.call(refs(Value<u32>(0U), Value<u32>(0U), data)));
            const Value<float> x = data(0U);
            data[0] = x;
            if (!first) static_cast<void>(at.call(refs(Value<u32>(0U), Value<u32>(0U), data)));
        });
    };
    EXPECT_THAT(mixed(true), HasSubstr("accessed with 1 index and with 2 elsewhere"));
    EXPECT_THAT(mixed(false), HasSubstr("accessed with 2 indices, and with 1 elsewhere"));
}

TEST(AnyFunction, PassesOneBufferTwice) {
    const AnyFunction copy =
        trace_function([](Value<u32> i, Buff<float> to, Buff<const float> from) { to(i, 0U) = from(0U, i); });
    EXPECT_EQ(body_of([&](Buff<float> data) { copy.call(refs(Value<u32>(3U), data, data)); }),
              body_of([](Buff<float> data) {
                  const Value<u32> i = 3U;
                  data(i, 0U) = data(0U, i);
              }));
}

TEST(AnyFunction, RefusesWrongArguments) {
    const AnyFunction f = trace_function([](Value<u32> i, Buff<const float> a) { return a[i]; });
    EXPECT_THAT(error_of([&](Buff<float> data) { static_cast<void>(f.call(refs(data))); }),
                HasSubstr("a function with 2 parameters is called with 1 arguments"));
    EXPECT_THAT(error_of([&](Buff<float> data) { static_cast<void>(f.call(refs(Value<int>(1), data))); }),
                HasSubstr("argument 1 of a function has the type i32, but the parameter is u32"));
    EXPECT_THAT(error_of([&](Buff<int> data) { static_cast<void>(f.call(refs(Value<u32>(1U), data))); }),
                HasSubstr("argument 2"));
    EXPECT_THAT(error_of([&](Buff<float> data) {
                    const Value<float> value = data[0];
                    static_cast<void>(f.call(refs(Value<u32>(1U), value)));
                }),
                HasSubstr("argument 2 of a function is a value"));
    EXPECT_THAT(error_of([&](Buff<u32> data, Buff<float> a) { static_cast<void>(f.call(refs(data, a))); }),
                HasSubstr("argument 1 of a function is a buffer"));
    EXPECT_FALSE(lang::tracing());
}

TEST(AnyFunction, MustNotWriteToAReadOnlyBuffer) {
    const AnyFunction f = trace_function([](Buff<float> a) { a[0] = 1.f; });
    try {
        static_cast<void>(lang::trace_kernel("k", [&](Buff<float> out, Buff<const float> data) {
            out[0] = 1.f;
            f.call(refs(data));
        }));
        FAIL();
    } catch (const IrError& error) {
        EXPECT_THAT(error.what(), HasSubstr("would write to the read-only buffer"));
    }
    EXPECT_FALSE(lang::tracing());
}

TEST(AnyFunction, MustNotUseValuesOfAnotherTrace) {
    std::vector<AnyValue> kept;
    body_of([&](Buff<float> data) { kept.emplace_back(Value<float>(data[0])); });
    const AnyFunction f = trace_function([](Value<float> x) { return x; });
    EXPECT_THAT(error_of([&](Buff<float>) { static_cast<void>(f.call({kept[0]})); }),
                HasSubstr("of another kernel"));
    EXPECT_THROW(static_cast<void>(f.call({kept[0]})), TraceError);
    EXPECT_THROW(static_cast<void>(trace_function([&](Value<float>) { return kept[0].as<float>(); })),
                 TraceError);
}

template <class F>
std::string function_error(F f) {
    try {
        static_cast<void>(trace_function(f));
    } catch (const TraceError& error) {
        EXPECT_FALSE(lang::tracing());
        return error.what();
    }
    return {};
}

TEST(AnyFunction, ContainsNeitherReturnNorBarrier) {
    const int line = __LINE__ + 4;
    const std::string text = function_error([](Value<u32> i) {
        $for (k, 0U, i) {
            $if (k > 3U) {
                $return;
            }
        }
        return i;
    });
    EXPECT_THAT(text, HasSubstr("contains $return"));
    EXPECT_THAT(text, HasSubstr("any_function_test.cpp:" + std::to_string(line)));
    EXPECT_THAT(function_error([](Value<u32> i) {
                    barrier();
                    return i;
                }),
                HasSubstr("contains barrier()"));
}

TEST(AnyFunction, ReportsErrorsOfItsBody) {
    EXPECT_THAT(function_error([](Value<u32> i) {
                    if (lang::tracing()) throw std::runtime_error("no such table");
                    return i;
                }),
                HasSubstr("no such table"));
    EXPECT_THAT(function_error([](Value<u32> i) {
                    $break;
                    return i;
                }),
                HasSubstr("$break"));
}

TEST(AnyFunction, IsNotTracedInAKernel) {
    EXPECT_THAT(
        error_of([](Buff<float>) { static_cast<void>(trace_function([](Value<float> x) { return x; })); }),
        HasSubstr("created in the body of another kernel"));
}

TEST(AnyFunction, IsCalledByManyThreads) {
    const AnyFunction f =
        trace_function([](Value<u32> start, Buff<u32> seen) { return steps_of(start, seen); });
    const auto body = [&f] {
        return body_of([&](Buff<u32> data, Buff<u32> seen) {
            const Value<u32> start = data[0];
            data[1] = Value<u32>(ref_of(f.call(refs(start, seen))));
        });
    };
    const std::string expected = body();
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k) {
        threads.emplace_back([&] {
            for (int n = 0; n < 20; ++n) EXPECT_EQ(body(), expected);
        });
    }
    for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace volley::test
