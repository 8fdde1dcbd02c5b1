// The hash is the same for the same kernel on every machine, and differs for each relevant change.
#include "ir/hash.hpp"

#include "ir/builder.hpp"
#include "ir/parser.hpp"
#include "ir/printer.hpp"
#include "ir/samples.hpp"
#include "ir/verifier.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace volley::ir {
namespace {

using enum ScalarType;

TEST(Hash, IsStable) {
    // A change here invalidates every disk cache: it must be intended.
    EXPECT_EQ(hash(scale_function()).to_string(), "59ea87f9cf2146143dd2d3b83f29b2e6");
}

TEST(Hash, IgnoresNumberingAndDeadNodes) {
    Function fn;
    fn.name = "scale";
    fn.local_size = Dim3{64, 1, 1};
    fn.add(Op::Zero, F64, {});  // dead
    fn.add_region();
    Builder b(fn);
    b.constant_f32(17);  // not used
    const NodeId data = b.buffer(F32, "other name");
    const NodeId zero = b.constant_u32(0);  // at another position
    const NodeId alpha = b.param(F32, "also another");
    const NodeId i = b.extract_at(b.emit(Op::GlobalId, {}), zero);
    b.store(data, b.emit(Op::Mul, {b.load(data, std::array{i}), alpha}), std::array{i});
    verify(fn);
    EXPECT_EQ(hash(fn), hash(scale_function()));
}

TEST(Hash, IgnoresLocations) {
    Function fn = every_op_function();
    for (Node& node : fn.nodes) node.loc = {};
    fn.files.clear();
    EXPECT_EQ(hash(fn), hash(every_op_function()));
}

TEST(Hash, IgnoresComments) {
    Function fn = every_op_function();
    for (Node& node : fn.nodes) node.loc.note = fn.add_note("a remark");
    EXPECT_EQ(hash(fn), hash(every_op_function()));
}

TEST(Hash, IgnoresTheOrderOfStrings) {
    const auto make = [](bool other) {
        Function fn;
        if (other) fn.add_string("unused");
        Builder(fn).print("hello", {});
        return fn;
    };
    EXPECT_EQ(hash(make(false)), hash(make(true)));
}

TEST(Hash, SeesEveryComponent) {
    const Function base = parse(R"(
struct P size 8 align 4 {
  x : f32 @ 0
}
kernel "k" {
  %0 = buffer P "a"
  %1 = param f32 "b"
  %2 = const true : bool
  %3 = const 1 : u32
  if %2 {
    %4 = load %0[0] : P
    print "x {}", %1
  }
  %5 = add %1, %1 : f32
  %6 = sub %5, %1 : f32
  fence all
}
)");
    const auto edited = [&](std::string_view from, std::string_view to) {
        std::string text = print(base);
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
        return parse(text);
    };
    std::set<std::string> hashes = {hash(base).to_string()};
    const std::pair<std::string_view, std::string_view> edits[] = {
        {"\"k\"", "\"l\""},
        {"\"k\"", "\"k\" local(1, 1, 1)"},
        {"\"k\"", "\"k\" local(1, 1, 2)"},
        {"size 8", "size 4"},
        {"align 4", "align 8"},
        {"x : f32", "y : f32"},
        {"f32 @ 0", "u32 @ 0"},
        {"f32 @ 0", "f32 @ 4"},
        {"struct P", "struct P \"Q\""},
        {"\"a\"", "\"a\" read_only"},
        {"\"a\"", "\"a\" rank 1"},
        {"\"a\"", "\"a\" rank 2"},
        {"const true", "const false"},
        {"[0]", "[1]"},
        {"x {}", "y {}"},
        {"add %1, %1", "mul %1, %1"},
        {"sub %5, %1", "sub %1, %5"},
        {"sub %5, %1", "sub %5, %5"},
        {"fence all", "fence group"},
        {"fence all", ""},
        {"\n  }\n", "\n  } else {\n  }\n"},
        {"if %2 {", "loop {"},
    };
    for (const auto& [from, to] : edits) {
        EXPECT_TRUE(hashes.insert(hash(edited(from, to)).to_string()).second) << from << " -> " << to;
    }
    Function extra = base;
    Builder(extra).param(F32, "unused");
    EXPECT_TRUE(hashes.insert(hash(extra).to_string()).second);
}

TEST(Hash, DistinguishesConstantsOfDifferentTypes) {
    const auto make = [](ScalarType type) {
        Function fn;
        Builder b(fn);
        b.convert(b.constant(type, 1), F64);
        return hash(fn).to_string();
    };
    EXPECT_NE(make(U32), make(I32));
    EXPECT_NE(make(F32), make(I32));
}

}  // namespace
}  // namespace volley::ir
