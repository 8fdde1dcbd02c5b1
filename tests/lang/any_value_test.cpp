// Values, variables and arrays of run-time types: they record what typed ones record, and check their types.
#include "lang/traced.hpp"

#include <volley/lang/any_value.hpp>

#include <array>
#include <string>
#include <thread>
#include <vector>

namespace volley::test {
namespace {

struct Sample {
    float weight;
    vec2 at;
    int id;
};
VOLLEY_STRUCT(Sample, weight, at, id)

template <class T>
AnyArray any(const Buff<T>& buffer) {
    return {ref_of(buffer), dtype_of<T>()};
}

/// Returns the message of the IrError that tracing f throws.
template <class F>
std::string ir_error_of(F&& f) {
    try {
        static_cast<void>(lang::trace_kernel("k", f));
    } catch (const IrError& error) {
        return error.what();
    }
    return {};
}

TEST(AnyValue, RecordsWhatTypedValuesRecord) {
    EXPECT_EQ(body_of([](Buff<float> data) {
                  const AnyValue x = any(data).load(0U), y = any(data).load(1U);
                  any(data).store(2U, (x + y) * x - y / x);
                  any(data).store(3U, apply(ir::Op::Sqrt, apply(ir::Op::Max, x, y)));
                  any(data).store(4U, select(compare(ir::Op::Lt, x, y), x, y));
              }),
              body_of([](Buff<float> data) {
                  const Value<float> x = data[0], y = data[1];
                  data[2] = (x + y) * x - y / x;
                  data[3] = sqrt(max(x, y));
                  data[4] = select(x < y, x, y);
              }));
}

TEST(AnyValue, ConvertsFromAndToTypedValues) {
    EXPECT_EQ(body_of([](Buff<float> data, Const<float> typed) {
                  const AnyValue value = typed;
                  EXPECT_EQ(value.dtype(), dtype_of<float>());
                  data[0] = value.as<float>() * 2.f;
              }),
              body_of([](Buff<float> data, Const<float> typed) { data[0] = typed * 2.f; }));
}

TEST(AnyValue, ReadsAVariableWhenItIsMade) {
    EXPECT_EQ(body_of([](Buff<float> data) {
                  Var<float> v = 1.f;
                  const AnyValue before = v;
                  v = 2.f;
                  any(data).store(0U, before);
              }),
              body_of([](Buff<float> data) {
                  Var<float> v = 1.f;
                  const Value<float> before = v;
                  v = 2.f;
                  data[0] = before;
              }));
}

TEST(AnyValue, IsUsedOnlyAsItsType) {
    EXPECT_THAT(error_of([](Buff<float> data) { static_cast<void>(any(data).load(0U).as<int>()); }),
                HasSubstr("a value of type f32 was used as i32"));
    EXPECT_THAT(error_of([](Buff<float> data) { static_cast<void>(any(data).load(0U).as<vec2>()); }),
                HasSubstr("f32 was used as vec2<f32>"));
}

TEST(AnyValue, RefusesOperandsOfDifferentTypes) {
    const auto refused = [](auto&& use) {
        EXPECT_THAT(error_of([&](Buff<float> f, Buff<int> i) { use(any(f), any(i)); }),
                    HasSubstr("different types: f32 and i32"));
    };
    refused([](const AnyArray& f, const AnyArray& i) { static_cast<void>(f.load(0U) + i.load(0U)); });
    refused([](const AnyArray& f, const AnyArray& i) {
        static_cast<void>(apply(ir::Op::Min, f.load(0U), i.load(0U)));
    });
    refused([](const AnyArray& f, const AnyArray& i) {
        static_cast<void>(compare(ir::Op::Eq, f.load(0U), i.load(0U)));
    });
    refused([](const AnyArray& f, const AnyArray& i) {
        static_cast<void>(select(Value<bool>(true), f.load(0U), i.load(0U)));
    });
    refused([](const AnyArray& f, const AnyArray& i) {
        AnyVar var(f.load(0U));
        var = i.load(0U);
    });
    refused([](const AnyArray& f, const AnyArray& i) { f.store(0U, i.load(0U)); });
    refused([](const AnyArray& f, const AnyArray& i) {
        const std::vector<Value<u32>> position{Value<u32>(0U)};
        f.store_at(position, i.load(0U));
    });
}

TEST(AnyValue, RefusesOperationsThatItsTypeLacks) {
    EXPECT_NE(
        ir_error_of([](Buff<Sample> data) { static_cast<void>(any(data).load(0U) + any(data).load(1U)); }),
        "");
    EXPECT_NE(ir_error_of([](Buff<float> data) {
                  static_cast<void>(apply(ir::Op::And, any(data).load(0U), any(data).load(1U)));
              }),
              "");
    EXPECT_NE(ir_error_of([](Buff<std::complex<float>> data) {
                  static_cast<void>(convert(any(data).load(0U), dtype_of<float>()));
              }),
              "");
    EXPECT_NE(ir_error_of([](Buff<Sample> data) {
                  static_cast<void>(convert(any(data).load(0U), dtype_of<float>()));
              }),
              "");
}

TEST(AnyValue, ComparesOnlyScalars) {
    EXPECT_THAT(error_of([](Buff<vec2> data) {
                    static_cast<void>(compare(ir::Op::Lt, any(data).load(0U), any(data).load(1U)));
                }),
                HasSubstr("vec2<f32>"));
    EXPECT_NE(ir_error_of([](Buff<Sample> data) {
                  static_cast<void>(compare(ir::Op::Eq, any(data).load(0U), any(data).load(1U)));
              }),
              "");
}

TEST(AnyValue, HasTheTypeThatAnOperationReturns) {
    body_of([](Buff<float> data) {
        const AnyValue less = apply(ir::Op::Lt, any(data).load(0U), any(data).load(1U));
        EXPECT_EQ(less.dtype(), dtype_of<bool>());
        const AnyValue nan = apply(ir::Op::IsNan, any(data).load(0U));
        EXPECT_EQ(nan.dtype(), dtype_of<bool>());
        EXPECT_EQ(apply(ir::Op::Neg, any(data).load(0U)).dtype(), dtype_of<float>());
    });
}

TEST(AnyValue, SelectsPartsByNumber) {
    EXPECT_EQ(body_of([](Buff<Sample> data, Buff<float> out) {
                  const AnyValue sample = any(data).load(0U);
                  any(out).store(0U, sample.part(0) + sample.part(1).part(1));
                  EXPECT_EQ(sample.part(1).dtype(), dtype_of<vec2>());
                  EXPECT_EQ(sample.part(2).dtype(), dtype_of<int>());
              }).find("extract") != std::string::npos,
              true);
    body_of([](Buff<std::complex<double>> data) {
        EXPECT_EQ(any(data).load(0U).part(1).dtype(), dtype_of<double>());
    });
}

TEST(AnyValue, SelectsPartsOfLongArrays) {
    const std::string body = body_of([](Buff<std::array<int, 100>> data, Buff<int> out) {
        any(out).store(0U, any(data).load(0U).part(80));
    });
    EXPECT_THAT(body, HasSubstr("80"));
    EXPECT_THAT(body, Not(HasSubstr("16")));
}

TEST(AnyValue, RefusesPartsThatDoNotExist) {
    EXPECT_THAT(error_of([](Buff<float> data) { static_cast<void>(any(data).load(0U).part(0)); }),
                HasSubstr("a value of type f32 has no part 0"));
    EXPECT_THAT(error_of([](Buff<vec3> data) { static_cast<void>(any(data).load(0U).part(3)); }),
                HasSubstr("has no part 3"));
    EXPECT_THAT(error_of([](Buff<Sample> data) { static_cast<void>(any(data).load(0U).part(3)); }),
                HasSubstr("Sample has no part 3"));
}

TEST(AnyValue, IsMadeFromTheHost) {
    EXPECT_EQ(body_of([](Buff<Sample> data) {
                  const Sample host{1.5f, vec2(2, 3), 4};
                  any(data).store(0U, constant_of(dtype_of<Sample>(), &host));
                  any(data).store(1U, zero_of(dtype_of<Sample>()));
              }),
              body_of([](Buff<Sample> data) {
                  data[0] = Sample{1.5f, vec2(2, 3), 4};
                  const Value<Sample> zero(lang::zero(dtype_of<Sample>(), {}));
                  data[1] = zero;
              }));
}

TEST(AnyValue, IsMadeFromItsParts) {
    EXPECT_EQ(body_of([](Buff<Sample> data, Const<float> w, Const<vec2> at, Const<int> id) {
                  any(data).store(0U, make_of(dtype_of<Sample>(), {w, at, id}));
              }),
              body_of([](Buff<Sample> data, Const<float> w, Const<vec2> at, Const<int> id) {
                  data[0] = make<Sample>(w, at, id);
              }));
    EXPECT_NE(ir_error_of([](Buff<Sample> data, Const<float> w) {
                  any(data).store(0U, make_of(dtype_of<Sample>(), {w}));
              }),
              "");
    EXPECT_NE(error_of([](Buff<Sample> data, Const<float> w) {
                  any(data).store(0U, make_of(dtype_of<Sample>(), {w, w, w}));
              }),
              "");
}

TEST(AnyValue, ConvertsAsCastDoes) {
    EXPECT_EQ(body_of([](Buff<int> data, Buff<std::complex<float>> out, Buff<bool> flags) {
                  const AnyValue x = any(data).load(0U);
                  any(out).store(0U, convert(x, dtype_of<std::complex<float>>()));
                  any(flags).store(0U, convert(x, dtype_of<bool>()));
                  any(data).store(1U, convert(x, dtype_of<int>()));
              }),
              body_of([](Buff<int> data, Buff<std::complex<float>> out, Buff<bool> flags) {
                  const Value<int> x = data[0];
                  out[0] = cast<std::complex<float>>(x);
                  flags[0] = cast<bool>(x);
                  data[1] = x;
              }));
}

TEST(AnyVar, ChangesInControlFlow) {
    EXPECT_EQ(body_of([](Buff<float> data) {
                  AnyVar sum(any(data).load(0U));
                  EXPECT_EQ(sum.dtype(), dtype_of<float>());
                  $for (k, 0U, 10U) {
                      sum = sum.load() + any(data).load(k);
                  }
                  any(data).store(0U, sum.load());
              }),
              body_of([](Buff<float> data) {
                  Var<float> sum = data[0];
                  $for (k, 0U, 10U) {
                      sum = sum + data[k];
                  }
                  data[0] = sum;
              }));
}

TEST(AnyArray, IsSharedOrLocal) {
    EXPECT_EQ(body_of([](Buff<vec2> data) {
                  const AnyArray tile = AnyArray::shared(dtype_of<vec2>(), 16);
                  const AnyArray mine = AnyArray::local(dtype_of<vec2>(), 4);
                  EXPECT_EQ(mine.dtype(), dtype_of<vec2>());
                  const Value<u32> from = global_id().x, to = local_id().x;  // in this order
                  tile.store(to, any(data).load(from));
                  mine.store(3U, tile.load(0U));
                  any(data).store(1U, mine.load(3U));
              }),
              body_of([](Buff<vec2> data) {
                  Shared<vec2> tile(16);
                  Array<vec2, 4> mine;
                  const Value<u32> from = global_id().x, to = local_id().x;
                  tile[to] = data[from];
                  mine[3] = tile[0];
                  data[1] = mine[3];
              }));
}

TEST(AnyArray, IsAccessedByPosition) {
    EXPECT_EQ(body_of([](Buff<float> data) {
                  const std::vector<Value<u32>> at{global_id().y, global_id().x};
                  any(data).store_at(at, any(data).load_at(at) + any(data).load_at(at));
              }),
              body_of([](Buff<float> data) {
                  const Value<u32> y = global_id().y, x = global_id().x;
                  data(y, x) = data(y, x) + data(y, x);
              }));
    EXPECT_THAT(error_of([](Buff<float> data) {
                    const std::vector<Value<u32>> two{Value<u32>(0U), Value<u32>(0U)}, one{Value<u32>(0U)};
                    any(data).store_at(two, any(data).load_at(one));
                }),
                HasSubstr("indices"));
}

TEST(AnyValue, BelongsToItsTrace) {
    std::vector<AnyValue> kept;
    body_of([&](Buff<float> data) { kept.push_back(any(data).load(0U)); });
    EXPECT_THROW(static_cast<void>(kept[0] + kept[0]), TraceError);
    EXPECT_THROW(static_cast<void>(zero_of(dtype_of<float>())), TraceError);
    EXPECT_THROW(static_cast<void>(AnyArray::shared(dtype_of<float>(), 4)), TraceError);
    EXPECT_THAT(error_of([&](Buff<float> data) { any(data).store(0U, kept[0]); }),
                HasSubstr("of another kernel"));
    EXPECT_THAT(error_of([&](Buff<float> data, Const<bool> c) {
                    std::vector<AnyValue> inner;
                    $if (c) {
                        inner.push_back(any(data).load(0U) + any(data).load(1U));
                    }
                    any(data).store(0U, inner[0]);
                }),
                HasSubstr("after the end of the body"));
    EXPECT_FALSE(lang::tracing());
}

}  // namespace
}  // namespace volley::test
