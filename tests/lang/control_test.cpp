// Control flow: what the macros trace to, how they nest, and errors for jumps out of their bodies.
#include "lang/traced.hpp"

namespace volley::test {
namespace {

TEST(Control, IfElifElse) {
    EXPECT_EQ(body_of([](Const<i32> x, Buff<i32> out) {
                  $if (x > 1) {
                      out[0] = x;
                  }
                  $elif (x < 0) {
                      out[1] = x;
                  }
                  $else { out[2] = x; }
              }),
              "  %0 = param i32 \"arg0\"\n"
              "  %1 = buffer i32 \"arg1\"\n"
              "  %2 = const 1 : i32\n"
              "  %3 = gt %0, %2 : bool\n"
              "  if %3 {\n"
              "    store %1[0], %0\n"
              "  } else {\n"
              "    %4 = const 0 : i32\n"
              "    %5 = lt %0, %4 : bool\n"
              "    if %5 {\n"
              "      store %1[1], %0\n"
              "    } else {\n"
              "      store %1[2], %0\n"
              "    }\n"
              "  }\n");
}

TEST(Control, IfWithoutElseHasNoElseRegion) {
    EXPECT_THAT(body_of([](Const<bool> c, Buff<i32> out) {
                    $if (c) {
                        out[0] = 1;
                    }
                }),
                Not(HasSubstr("else")));
}

TEST(Control, AnElseBelongsToTheNearestIf) {
    const std::string text = body_of([](Const<bool> a, Const<bool> b, Buff<i32> out) {
        $if (a) {
            $if (b) {
                out[0] = 1;
            }
            $else { out[1] = 2; }
        }
    });
    EXPECT_EQ(count_of(text, "else"), 1u);
    EXPECT_THAT(text, HasSubstr("    } else {"));
}

TEST(Control, AHostIfSelectsWhatIsTraced) {
    for (const bool flag : {false, true}) {
        const std::string text = body_of([flag](Const<bool> a, Buff<i32> out) {
            if (flag) {
                $if (a) {
                    out[0] = 1;
                }
                $else { out[0] = 2; }
            } else {
                out[0] = 3;
            }
        });
        EXPECT_EQ(count_of(text, "store"), flag ? 2u : 1u);
    }
}

TEST(Control, ForHasAnIndexOfTheBoundsType) {
    EXPECT_EQ(body_of([](Const<u32> n, Buff<float> data) {
                  $for (k, 0, n) {
                      data[k] = 1.f;
                  }
              }),
              "  %0 = param u32 \"arg0\"\n"
              "  %1 = buffer f32 \"arg1\"\n"
              "  %2 = const 0 : u32\n"
              "  %3 = const 1 : u32\n"
              "  %4 = for %2, %0, %3 : u32 {\n"
              "    %5 = const 1.0 : f32\n"
              "    store %1[%4], %5\n"
              "  }\n");
    body_of([](Buff<float> data) {
        $for (i, 0, 10) {
            static_assert(std::same_as<decltype(i), const Value<int>>);
            data[i] = 1.f;
        }
        $for (j, 0u, 10) {
            static_assert(std::same_as<decltype(j), const Value<u32>>);
        }
        $for (k, std::size_t{0}, 10) {
            static_assert(std::same_as<decltype(k), const Value<u64>>);
        }
    });
}

TEST(Control, ForWithAStep) {
    EXPECT_THAT(body_of([](Buff<i32> data) {
                    $for (k, 10, 0, -2) {
                        data[0] = k;
                    }
                }),
                HasSubstr("const -2 : i32"));
}

TEST(Control, TheConditionOfWhileIsInTheLoop) {
    EXPECT_EQ(body_of([](Const<bool> c) {
                  Var<bool> more = c;
                  $while (more) {
                      more = !c;
                  }
              }),
              "  %0 = param bool \"arg0\"\n"
              "  %1 = var bool\n"
              "  store %1, %0\n"
              "  loop {\n"
              "    %2 = load %1 : bool\n"
              "    %3 = not %2 : bool\n"
              "    if %3 {\n"
              "      break\n"
              "    }\n"
              "    %4 = not %0 : bool\n"
              "    store %1, %4\n"
              "  }\n");
}

TEST(Control, WhileTrueEndsOnlyByBreak) {
    const std::string text = body_of([](Buff<i32> data) {
        Var<i32> x;
        $while (true) {
            x += 1;
            $if (x > 10) {
                $break;
            }
            $if (x == 3) {
                $continue;
            }
            data[0] = x;
        }
    });
    EXPECT_EQ(count_of(text, "break"), 1u);
    EXPECT_EQ(count_of(text, "continue"), 1u);
}

TEST(Control, NestsDeeply) {
    const std::string text = body_of([](Buff<i32> data, Const<i32> n) {
        $for (i, 0, n) {
            $for (j, i, n) {
                Var<i32> x = j;
                $while (x > i) {
                    $if (x % 2 == 0) {
                        x /= 2;
                    }
                    $elif (x % 3 == 0) {
                        $continue;
                    }
                    $elif (x % 5 == 0) {
                        $break;
                    }
                    $else {
                        $if (data[x] == 7) {
                            $return;
                        }
                    }
                    x -= 1;
                }
                data[j] = x;
            }
        }
    });
    EXPECT_EQ(count_of(text, "= for"), 2u);
    EXPECT_EQ(count_of(text, "loop {"), 1u);
    EXPECT_EQ(count_of(text, "return"), 1u);
    EXPECT_EQ(count_of(text, "else {"), 3u);
}

TEST(Control, StatementsWithoutBraces) {
    const std::string text = body_of([](Buff<i32> data, Const<bool> c) {
        $for (k, 0, 4)
            $if (c) data[k] = 1;
        $else data[k] = 2;
    });
    EXPECT_EQ(count_of(text, "store"), 2u);
    EXPECT_EQ(count_of(text, "else"), 1u);
}

TEST(Control, ASemicolonAfterABlockIsHarmless) {
    const auto without = [](Buff<i32> data, Const<bool> c) {
        $for (k, 0, 4) {
            $if (c) {
                data[k] = 1;
            }
            $else { data[k] = 2; }
        }
        $while (c) {
            $break;
        }
    };
    // clang-format off
    const auto with = [](Buff<i32> data, Const<bool> c) {
        $for (k, 0, 4) {
            $if (c) {
                data[k] = 1;
            }
            $else { data[k] = 2; };
        };
        $while (c) {
            $break;
        };
    };
    // clang-format on
    EXPECT_EQ(body_of(without), body_of(with));
}

TEST(Control, TheLongNamesAreEquivalent) {
    const auto dollars = [](Buff<i32> data, Const<bool> c) {
        $for (k, 0, 4) {
            $if (c) {
                $break;
            }
            $elif (!c) {
                $continue;
            }
            $else { $return; }
        }
        $while (c) {
            data[0] = 1;
        }
    };
    const auto words = [](Buff<i32> data, Const<bool> c) {
        VOLLEY_FOR (k, 0, 4) {
            VOLLEY_IF (c) {
                VOLLEY_BREAK;
            }
            VOLLEY_ELIF (!c) {
                VOLLEY_CONTINUE;
            }
            VOLLEY_ELSE { VOLLEY_RETURN; }
        }
        VOLLEY_WHILE (c) {
            data[0] = 1;
        }
    };
    EXPECT_EQ(body_of(dollars), body_of(words));
}

TEST(Control, CodeAfterAJumpIsNotPartOfTheKernel) {
    EXPECT_EQ(count_of(body_of([](Buff<i32> data) {
                           data[0] = 1;
                           $return;
                           data[1] = 2;
                           $if (data[2] > 0) {
                               data[3] = 3;
                           }
                       }),
                       "store"),
              1u);
}

TEST(Control, BreakOutsideALoopIsAnError) {
    const int line = __LINE__ + 3;
    const std::string message = error_of([](Const<bool> c) {
        $if (c) {
            $break;
        }
    });
    EXPECT_THAT(message, HasSubstr("$break is outside a loop"));
    EXPECT_THAT(message, HasSubstr("control_test.cpp:" + std::to_string(line)));
    EXPECT_THAT(error_of([](Buff<float>) { $continue; }), HasSubstr("$continue is outside a loop"));
}

TEST(Control, LeavingABodyByAHostJumpIsAnError) {
    const std::string advice = "use $break, $continue or $return";
    EXPECT_THAT(error_of([](Const<bool> c, Buff<i32> data) {
                    $if (c) {
                        return;
                    }
                    data[0] = 1;
                }),
                AllOf(HasSubstr("control left the body of a $if by a C++ break, continue, return or goto"),
                      HasSubstr(advice)));
    EXPECT_THAT(error_of([](Buff<i32> data) {
                    $for (k, 0, 4) {
                        data[k] = 1;
                        break;
                    }
                }),
                HasSubstr("control left the body of a $for"));
    EXPECT_THAT(error_of([](Const<bool> c) {
                    $while (c) {
                        break;
                    }
                }),
                HasSubstr("control left the body of a $while"));
    const int line = __LINE__ + 3;
    EXPECT_THAT(error_of([](Const<bool> c, Buff<i32> data) {
                    $for (k, 0, 4) {
                        $if (c) {
                            return;
                        }
                        data[k] = 1;
                    }
                }),
                HasSubstr("control_test.cpp:" + std::to_string(line)));
}

TEST(Control, AHostLoopUnrolls) {
    EXPECT_EQ(count_of(body_of([](Buff<float> data) {
                           for (int k = 0; k < 4; ++k) data[k] = float(k);
                       }),
                       "store"),
              4u);
}

TEST(Control, AnInfiniteHostLoopIsAnError) {
    const std::string message = error_of(
        [](Buff<float> data) {
            for (int k = 0;; ++k) data[k] = 1.f;
        },
        {.max_operations = 1000});
    EXPECT_THAT(message, HasSubstr("recorded more than 1000 operations"));
    EXPECT_THAT(message, HasSubstr("use $for to loop on the device: a host loop is unrolled"));
    EXPECT_THAT(message, HasSubstr("control_test.cpp:"));
}

TEST(Control, ValuesOfABodyAreInvalidAfterIt) {
    const std::string message = error_of([](Const<bool> c, Buff<float> data) {
        std::vector<Value<float>> kept;
        $if (c) {
            kept.push_back(data[0] * 2);
        }
        data[1] = kept[0];
    });
    EXPECT_THAT(message, HasSubstr("is used after the end of the body"));
    EXPECT_THAT(message, HasSubstr("declare a Var before the body"));
}

TEST(Control, TheIndexOfALoopIsInvalidAfterIt) {
    EXPECT_THAT(error_of([](Buff<i32> data) {
                    std::vector<Value<int>> kept;
                    $for (k, 0, 4) {
                        kept.push_back(k);
                    }
                    data[0] = kept[0];
                }),
                HasSubstr("is used after the end of the body"));
}

TEST(Control, ValuesOfTheThenBranchAreInvalidInTheElseBranch) {
    EXPECT_THAT(error_of([](Const<bool> c, Buff<float> data) {
                    std::vector<Value<float>> kept;
                    $if (c) {
                        kept.push_back(data[0] * 2);
                    }
                    $else { data[1] = kept[0]; }
                }),
                HasSubstr("is used after the end of the body"));
}

}  // namespace
}  // namespace volley::test
