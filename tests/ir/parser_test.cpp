// Tests the parser with valid hand-written text, malformed text, every prefix of a text and thousands of
// mutations.
#include "ir/parser.hpp"

#include "ir/builder.hpp"
#include "ir/hash.hpp"
#include "ir/printer.hpp"
#include "ir/samples.hpp"
#include "ir/verifier.hpp"
#include "support/sanitized.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <volley/error.hpp>

#include <random>

namespace volley::ir {
namespace {

using ::testing::HasSubstr;

std::string refusal(std::string_view text) {
    try {
        (void)parse(text);
    } catch (const IrError& e) {
        return e.what();
    }
    return "accepted";
}

std::string body_refusal(std::string_view body) {
    return refusal("kernel \"k\" {\n%d = buffer f32 \"d\"\n%c = const true : bool\n%u = const 1 : u32\n" +
                   std::string(body) + "\n}");
}

TEST(Parser, ReadsHandWrittenText) {
    const Function fn = parse(R"(
; names may be words, comments stand anywhere
kernel "hand" {   ; here too
  %data = buffer f32 "data"
  %i = subgroup_lane : u32
  %sum = var f32
  %k = for %i, %i, %i : u32 {      ; hand.cpp:3
    %x = load %data[%k] : f32
    store %sum, %x
    %c = gt %x, %x : bool
    if %c { break }
  }
  loop { return }
  %x = load %sum : f32             ; the name is free again
  store %data[0], %x
}
)");
    EXPECT_EQ(fn.name, "hand");
    EXPECT_FALSE(fn.local_size.has_value());
    std::vector<std::string> places;
    for_each_node(fn, fn.body, [&](NodeId id) {
        if (fn[id].loc.line != 0) places.push_back(fn.where(fn[id].loc));
    });
    EXPECT_EQ(places, std::vector<std::string>{"hand.cpp:3"});
}

TEST(Parser, ReadsTheExampleOfTheDocumentation) {
    const std::string_view text = R"(struct Particle size 16 align 4 {
  position : vec3<f32> @ 0
  mass : f32 @ 12
}
kernel "fall" local(64, 1, 1) {
  %0 = buffer Particle "particles"
  %1 = buffer f32 "weights" read_only
  %2 = param f32 "step"
  %3 = global_id : vec3<u32>
  %4 = extract %3[0] : u32
  %5 = load %1[%4] : f32  ; fall.cpp:8
  %6 = load %0[%4, 0, 2] : f32  ; fall.cpp:9
  %7 = fma %5, %2, %6 : f32  ; fall.cpp:9
  store %0[%4, 0, 2], %7  ; fall.cpp:9
  %8 = isnan %7 : bool
  if %8 {
    print "{} fell out", %4
  } else {
    %9 = const 8 : u32
    %10 = for %4, %9, %9 : u32 {
      break
    }
  }
}
)";
    EXPECT_EQ(print(parse(text)), text);
}

TEST(Parser, ErrorsSayLineAndColumn) {
    EXPECT_THAT(refusal("kernel \"k\" {\n  %0 = wrong\n}"),
                HasSubstr("there is no operation 'wrong'; IR text at 2:8"));
    EXPECT_THAT(refusal(""), HasSubstr("ends unexpectedly; IR text at 1:1"));
    EXPECT_THAT(body_refusal("%x = neg %y : f32"), HasSubstr("%y is not defined here; IR text at 5:10"));
}

TEST(Parser, RefusesMalformedText) {
    EXPECT_THAT(refusal("kernel"), HasSubstr("ends unexpectedly"));
    EXPECT_THAT(refusal("kernel k {}"), HasSubstr("write the kernel's name in quotes"));
    EXPECT_THAT(refusal("kernel \"k\" {} x"), HasSubstr("write the end of the text"));
    EXPECT_THAT(refusal("kernel \"k"), HasSubstr("string is not terminated"));
    EXPECT_THAT(refusal("kernel \"k\\q\" {}"), HasSubstr("write the escapes"));
    EXPECT_THAT(refusal("kernel \"k\" local(1, 2) {}"), HasSubstr("write ','"));
    EXPECT_THAT(refusal("kernel \"k\" local(1, 2, 4294967296) {}"), HasSubstr("extent"));
    EXPECT_THAT(refusal("kernel \"k\" local(1, 0, 1) {}"), HasSubstr("zero"));
    EXPECT_THAT(refusal("kernel \"k\" { $ }"), HasSubstr("byte 36"));
    EXPECT_THAT(refusal(std::string_view("kernel \0", 8)), HasSubstr("byte 0"));
    EXPECT_THAT(refusal("kernel \"k\" { % }"), HasSubstr("'%' is not followed by a name"));
}

TEST(Parser, RefusesWrongOperations) {
    EXPECT_THAT(body_refusal("%u = zero : f32"), HasSubstr("%u is defined twice"));
    EXPECT_THAT(body_refusal("%x = store %d[0], %d"), HasSubstr("has no value to name"));
    EXPECT_THAT(body_refusal("%x = barrier"), HasSubstr("has no value to name"));
    EXPECT_THAT(body_refusal("%x = neg %u"), HasSubstr("does not state its type"));
    EXPECT_THAT(body_refusal("%x = neg %u : f32"), HasSubstr("returns u32, but f32 is requested"));
    EXPECT_THAT(body_refusal("%x = load %d[0] : f64"), HasSubstr("write : f32"));
    EXPECT_THAT(body_refusal("%x = load %d[-1] : f32"), HasSubstr("write a u32 or a value"));
    EXPECT_THAT(body_refusal("%x = load %d[4294967296] : f32"), HasSubstr("write a u32 or a value"));
    EXPECT_THAT(body_refusal("%x = load %d[] : f32"), HasSubstr("write a value"));
    EXPECT_THAT(body_refusal("%x = add %u %u : u32"), HasSubstr("it takes 2 operands"));
    EXPECT_THAT(body_refusal("%x = add %u, : u32"), HasSubstr("write a value"));
    EXPECT_THAT(body_refusal("%x = const 300 : u8"), HasSubstr("not a number of type u8"));
    EXPECT_THAT(body_refusal("%x = const 1 : vec2<u8>"), HasSubstr("constants are scalars"));
    EXPECT_THAT(body_refusal("barrier barrier"), HasSubstr("write a new line"));
    EXPECT_THAT(body_refusal("break"), HasSubstr("outside a loop"));
    EXPECT_THAT(body_refusal("loop {\n break\n barrier\n}"), HasSubstr("follows a jump"));
    EXPECT_THAT(body_refusal("if %u {\n}"), HasSubstr("scalar bool"));
    EXPECT_THAT(body_refusal("if %c {\n}\nelse {\n} else {\n}"), HasSubstr("'else'"));
    EXPECT_THAT(body_refusal("loop {\n%s = shared f32\n}"), HasSubstr("declared in a nested region"));
    EXPECT_THAT(body_refusal("loop {\n%s = param f32 \"p\"\n}"),
                HasSubstr("a parameter is declared in a nested region"));
    EXPECT_THAT(body_refusal("fence everything"), HasSubstr("write all, buffer"));
    EXPECT_THAT(body_refusal("print \"{}\""), HasSubstr("1 placeholders for 0"));
    EXPECT_THAT(body_refusal("print \"{}\", %d"), HasSubstr("memory and not a value"));
}

TEST(Parser, RefusesWrongTypes) {
    for (const char* type :
         {"void", "vec5<f32>", "vec1<f32>", "complex<i32>", "mat2x5<f32>", "mat2x2<i32>", "vec2<vec2<f32>>",
          "array<f32>", "array<void, 2>", "array<f32, 0>", "array<f32, 99999999999999999999>",
          "array<f64, 281474976710656>", "Unknown", "vec2", "12", "array<array<f32, 2>, 2"}) {
        EXPECT_NE(body_refusal(std::string("%x = zero : ") + type), "accepted") << type;
    }
}

TEST(Parser, RefusesWrongStructs) {
    const auto with = [](std::string_view text) { return refusal(std::string(text) + "\nkernel \"k\" {}"); };
    EXPECT_EQ(with("struct S size 8 align 4 {\n x : f32 @ 0\n y : f32 @ 4\n}"), "accepted");
    EXPECT_THAT(with("struct S size 8 align 4 {\n x : f32 @ 0\n y : f32 @ 2\n}"), HasSubstr("overlaps"));
    EXPECT_THAT(with("struct S size 8 align 4 {\n x : f32 @ 6\n}"), HasSubstr("outside the struct"));
    EXPECT_THAT(with("struct S size 8 align 4 {\n x : f32 @ 18446744073709551615\n}"),
                HasSubstr("write an offset"));
    EXPECT_THAT(with("struct S size 18446744073709551615 align 4 {\n}"), HasSubstr("at most 2^48"));
    EXPECT_THAT(with("struct S size 8 align 3 {\n}"), HasSubstr("power of two"));
    EXPECT_THAT(with("struct S size 8 align 0 {\n}"), HasSubstr("power of two"));
    EXPECT_THAT(with("struct S size 8 align 4 {\n x : S @ 0\n}"), HasSubstr("'S' is unknown"));
    EXPECT_THAT(with("struct f32 size 8 align 4 {\n}"), HasSubstr("is already in use"));
    EXPECT_THAT(with("struct S size 8 align 4 {\n}\nstruct S size 8 align 4 {\n}"),
                HasSubstr("is already in use"));
    EXPECT_THAT(with("struct S \"" + std::string(2000, 'x') + "\" size 8 align 4 {\n}"),
                HasSubstr("2000 bytes"));
    EXPECT_THAT(with("struct S size 8 align 4 {"), HasSubstr("write"));
}

TEST(Parser, RefusesTooDeepNesting) {
    std::string loops = "kernel \"k\" {\n";
    std::string arrays = "kernel \"k\" {\n%0 = var ";
    for (int i = 0; i < 100000; ++i) {
        loops += "loop {\n";
        arrays += "array<";
    }
    EXPECT_THAT(refusal(loops), HasSubstr("regions nest deeper"));
    EXPECT_THAT(refusal(arrays), HasSubstr("types nest deeper"));
    std::string chain = "struct S0 size 4 align 4 {\n x : f32 @ 0\n}\n";
    for (int i = 1; i < 2000; ++i) {
        chain += "struct S" + std::to_string(i) + " size 4 align 4 {\n x : S" + std::to_string(i - 1) +
                 " @ 0\n}\n";
    }
    EXPECT_THAT(refusal(chain + "kernel \"k\" {}"), HasSubstr("types nest deeper"));
}

TEST(Parser, ReadsRegionsAsDeepAsTheVerifierAllows) {
    Function fn;
    Builder b(fn);
    const NodeId yes = b.constant_bool(true);
    for (unsigned i = 0; i < max_nesting; ++i) b.begin_if(yes);
    EXPECT_EQ(hash(parse(print(fn))), hash(fn));
}

TEST(Parser, NestedStructsDoNotTakeExponentialTime) {
    std::string text = "struct S0 size 0 align 1 {\n}\n";
    for (int i = 1; i < 60; ++i) {
        const std::string inner = "S" + std::to_string(i - 1);
        text += "struct S" + std::to_string(i) + " size 0 align 1 {\n a : " + inner + " @ 0\n b : " + inner +
                " @ 0\n}\n";
    }
    const Function fn = parse(text + "kernel \"k\" {\n%0 = var S59\n}\n");
    EXPECT_EQ(hash(parse(print(fn))), hash(fn));
}

TEST(Parser, RefusesEveryPrefix) {
    const std::string text = print(every_op_function());
    for (std::size_t n = 0; n + 2 < text.size(); n += testing::unless_sanitized(1, 4)) {
        ASSERT_NE(refusal(std::string_view(text).substr(0, n)), "accepted") << n;
    }
}

// Every accepted text must verify, print and read back as the same function.
bool expect_safe(std::string_view text) {
    Function fn;
    try {
        fn = parse(text);
    } catch (const IrError&) {
        return false;
    }
    verify(fn);
    EXPECT_EQ(hash(parse(print(fn))), hash(fn)) << text;
    return true;
}

TEST(Parser, SurvivesMutations) {
    const unsigned seed = test_seed();
    std::mt19937 random(seed);
    const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    const std::string texts[] = {print(every_op_function()), print(scale_function())};
    constexpr std::string_view pieces[] = {
        "%0",         "%1",   "0",      "1",      "-1",    "0x7fc00000", "inf",
        "{",          "}",    "[",      "]",      "(",     ")",          "<",
        ">",          ",",    ":",      "=",      "@",     ";",          "\"",
        "\\",         "\n",   "f32",    "u32",    "bool",  "array<",     "vec3<",
        "Particle",   "else", "loop {", "break",  "store", "load",       "99999999999999999999",
        "4294967295", " ",    "struct", "kernel", "; a:1"};
    unsigned accepted = 0;
    for (int round = 0; round < testing::unless_sanitized(6000, 2500); ++round) {
        std::string text = texts[pick(4) == 0 ? 0 : 1];
        for (std::size_t edits = 1 + pick(3); edits > 0; --edits) {
            const std::size_t at = pick(text.size() + 1);
            const std::size_t length = std::min(text.size() - at, pick(3) == 0 ? pick(40) : pick(4));
            switch (pick(5)) {
                case 0: text.erase(at, length); break;
                case 1: text.insert(at, pieces[pick(std::size(pieces))]); break;
                case 2: text.replace(at, length, pieces[pick(std::size(pieces))]); break;
                case 3: text.insert(pick(text.size() + 1), text.substr(at, length * 4)); break;
                default:
                    if (at < text.size()) text[at] = static_cast<char>(random());
                    break;
            }
        }
        if (expect_safe(text)) ++accepted;
    }
    EXPECT_GT(accepted, 0u);
}

}  // namespace
}  // namespace volley::ir
