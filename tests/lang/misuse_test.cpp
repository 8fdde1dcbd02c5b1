// Misuse that the C++ compiler cannot detect: each is a TraceError with the source line, and leaves the
// thread able to trace.
#include "lang/traced.hpp"

#include <exception>
#include <optional>
#include <stdexcept>
#include <thread>

namespace volley::test {
namespace {

void expect_tracing_works() {
    EXPECT_FALSE(lang::tracing());
    EXPECT_EQ(count_of(body_of([](Buff<float> data) { data[0] = 1.f; }), "store"), 1u);
}

TEST(Misuse, OperationsOutsideAKernel) {
    const int line = __LINE__ + 2;
    try {
        [[maybe_unused]] Value<float> x = 1.f;
        FAIL();
    } catch (const TraceError& e) {
        EXPECT_EQ(e.code(), ErrorCode::TraceError);
        EXPECT_THAT(e.what(), HasSubstr("used outside a kernel"));
        EXPECT_THAT(std::string(e.subject()), HasSubstr("misuse_test.cpp:" + std::to_string(line)));
        EXPECT_THAT(std::string(e.advice()), HasSubstr("kernel("));
    }
    EXPECT_THROW(static_cast<void>(global_id()), TraceError);
    EXPECT_THROW(Var<float> x, TraceError);
    EXPECT_THROW(barrier(), TraceError);
    EXPECT_THROW(Shared<float> tile(4), TraceError);
    EXPECT_THROW($return, TraceError);
    expect_tracing_works();
}

TEST(Misuse, ControlFlowOutsideAKernel) {
    const auto body = [] {
        $if (true) {
        }
    };
    EXPECT_THROW(body(), TraceError);
    const auto loop = [] {
        $while (true) {
        }
    };
    EXPECT_THROW(loop(), TraceError);
    expect_tracing_works();
}

TEST(Misuse, ValuesOfAnEarlierTrace) {
    std::optional<Value<float>> kept;
    std::optional<Buff<float>> buffer;
    body_of([&](Buff<float> data) {
        kept.emplace(data[0] * 2);
        buffer.emplace(data);
    });
    const int line = __LINE__ + 1;
    const std::string message = error_of([&](Buff<float> data) { data[0] = *kept; });
    EXPECT_THAT(message, HasSubstr("a value of another kernel, or of an earlier trace of this one"));
    EXPECT_THAT(message, HasSubstr("kernel 'k'"));
    EXPECT_THAT(message, HasSubstr("misuse_test.cpp:" + std::to_string(line)));
    EXPECT_THAT(error_of([&](Buff<float>) { (*buffer)[0] = 1.f; }), HasSubstr("of another kernel"));
    EXPECT_THROW(static_cast<void>(*kept + 1), TraceError);
    expect_tracing_works();
}

TEST(Misuse, TracingWhileTracing) {
    const std::string message = error_of([](Buff<float> data) {
        data[0] = 1.f;
        static_cast<void>(lang::trace_kernel("inner", [](Buff<float> other) { other[0] = 1.f; }));
    });
    EXPECT_THAT(message, HasSubstr("kernel 'inner' is created in the body of another kernel; kernel 'k', "));
    EXPECT_THAT(message, HasSubstr("misuse_test.cpp:"));
    expect_tracing_works();
}

TEST(Misuse, ABodyThatThrows) {
    const int line = __LINE__ + 3;
    try {
        static_cast<void>(lang::trace_kernel("thrower", [](Buff<float> data) {
            data[0] = 1.f;
            throw std::runtime_error("no such table");
        }));
        FAIL();
    } catch (const TraceError& e) {
        EXPECT_THAT(e.what(),
                    HasSubstr("threw an exception while it was traced: no such table; kernel 'thrower', "));
        EXPECT_THAT(e.what(), HasSubstr("misuse_test.cpp:" + std::to_string(line)));
        EXPECT_THROW(std::rethrow_if_nested(e), std::runtime_error);
    }
    expect_tracing_works();
    EXPECT_THROW(static_cast<void>(lang::trace_kernel("thrower", [](Buff<float>) { throw 3; })), TraceError);
    EXPECT_THROW(static_cast<void>(lang::trace_kernel("k", [](Buff<float>) { throw ArgumentError("mine"); })),
                 ArgumentError);
    expect_tracing_works();
}

TEST(Misuse, AnExceptionThroughNestedBodies) {
    EXPECT_THAT(error_of([](Buff<float> data, Const<bool> c) {
                    $for (k, 0, 4) {
                        $if (c) {
                            data[k] = 1.f;
                        }
                        $else {
                            $while (c) {
                                throw std::runtime_error("deep");
                            }
                        }
                    }
                }),
                HasSubstr("deep"));
    expect_tracing_works();
}

TEST(Misuse, AnErrorInTheMiddleOfANestedBody) {
    EXPECT_THAT(error_of([](Buff<u32> data, Const<bool> c) {
                    $for (k, 0, 4) {
                        $if (c) {
                            data[k] = -1;
                        }
                    }
                }),
                HasSubstr("-1 does not fit in u32"));
    expect_tracing_works();
}

TEST(Misuse, AnExceptionThatTheBodySwallows) {
    EXPECT_THAT(error_of([](Buff<float> data, Const<bool> c) {
                    try {
                        $for (k, 0, 4) {
                            $if (c) {
                                throw 1;
                            }
                        }
                    } catch (int) {
                    }
                    data[0] = 1.f;
                }),
                HasSubstr("control left the body of a $if by an exception"));
    expect_tracing_works();
}

TEST(Misuse, AnExceptionOutsideBodiesMayBeSwallowed) {
    EXPECT_EQ(error_of([](Buff<float> data) {
                  try {
                      throw 1;
                  } catch (int) {
                      $if (data[0] > 0) {
                          data[0] = 1.f;
                      }
                  }
              }),
              "");
}

TEST(Misuse, PrintWithAWrongFormat) {
    EXPECT_THAT(error_of([](Const<float> x) { print("{} {}", x); }),
                HasSubstr("has 2 placeholders for 1 values"));
    EXPECT_THAT(error_of([](Const<float> x) { print("{", x); }), HasSubstr("has an unmatched brace"));
    EXPECT_EQ(error_of([](Const<float> x) { print("{{}} {} {}", x, 3); }), "");
}

TEST(Misuse, StructsThatNestTooDeeply) {
    // The limit is far above hand-written code; only the check itself is tested.
    lang::Ref ref(lang::Ref::Kind::Value, 1, 1);
    for (unsigned k = 0; k < 20; ++k) ref = ref.part(k);
    EXPECT_GT(ref.steps(), lang::Ref::max_steps);
}

TEST(Misuse, ThreadsTraceConcurrently) {
    std::vector<std::thread> threads;
    std::vector<std::string> results(4);
    const auto body = [](Buff<float> data) {
        for (int k = 0; k < 200; ++k) {
            $if (data[k] > 0) {
                data[k] = data[k] * k;
            }
        }
    };
    const std::string expected = body_of(body);
    for (std::string& result : results) threads.emplace_back([&] { result = body_of(body); });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& result : results) EXPECT_EQ(result, expected);
}

}  // namespace
}  // namespace volley::test
