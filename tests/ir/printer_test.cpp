// The printed form, and that it reads back as the same function.
#include "ir/printer.hpp"

#include "ir/builder.hpp"
#include "ir/hash.hpp"
#include "ir/parser.hpp"
#include "ir/samples.hpp"
#include "ir/verifier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

namespace volley::ir {
namespace {

using enum ScalarType;
using ::testing::HasSubstr;
using ::testing::Not;

void expect_round_trip(const Function& fn) {
    verify(fn);
    const std::string text = print(fn);
    const Function read = parse(text);
    EXPECT_EQ(print(read), text);
    EXPECT_EQ(hash(read), hash(fn));
    EXPECT_EQ(read.name, fn.name);
    EXPECT_EQ(read.local_size, fn.local_size);
    ASSERT_EQ(read.params.size(), fn.params.size());
    for (std::size_t i = 0; i < fn.params.size(); ++i) {
        EXPECT_EQ(read.params[i].name, fn.params[i].name);
        EXPECT_EQ(read.params[i].kind, fn.params[i].kind);
        EXPECT_EQ(read.params[i].type, fn.params[i].type);
        EXPECT_EQ(read.params[i].read_only, fn.params[i].read_only);
    }
    // Printing without locations loses nothing else.
    EXPECT_EQ(hash(parse(print(fn, {.locations = false}))), hash(fn));
}

TEST(Printer, WritesOneOperationPerLine) {
    EXPECT_EQ(print(scale_function()), R"(kernel "scale" local(64, 1, 1) {
  %0 = buffer f32 "data"
  %1 = param f32 "alpha"
  %2 = global_id : vec3<u32>  ; scale.cpp:4
  %3 = extract %2[0] : u32  ; scale.cpp:4
  %4 = load %0[%3] : f32  ; scale.cpp:5
  %5 = mul %4, %1 : f32  ; scale.cpp:5
  store %0[%3], %5  ; scale.cpp:5
}
)");
}

TEST(Printer, OmitsLocationsOnRequest) {
    EXPECT_THAT(print(scale_function(), {.locations = false}), Not(HasSubstr("scale.cpp")));
}

TEST(Printer, EveryOperationRoundTrips) {
    const Function fn = every_op_function();
    std::set<Op> seen;
    for_each_node(fn, fn.body, [&](NodeId id) { seen.insert(fn[id].op); });
    for (unsigned i = 0; i < op_count; ++i) {
        EXPECT_TRUE(seen.contains(static_cast<Op>(i))) << mnemonic(static_cast<Op>(i));
    }
    expect_round_trip(fn);
}

TEST(Printer, SourceLinesRoundTrip) {
    const Function fn = every_op_function();
    const Function read = parse(print(fn));
    EXPECT_THAT(read.files, ::testing::UnorderedElementsAreArray(fn.files));
    std::vector<std::string> lines[2];
    const auto collect = [](const Function& f, std::vector<std::string>& out) {
        for_each_node(f, f.body, [&](NodeId id) {
            if (f[id].op != Op::Const) out.push_back(f.where(f[id].loc));
        });
    };
    collect(fn, lines[0]);
    collect(read, lines[1]);
    EXPECT_EQ(lines[0], lines[1]);
}

TEST(Printer, StructsAreDeclaredBeforeTheirUse) {
    const StructField inner_fields[] = {{"x", F32, 4}};
    const DType inner = DType::structure("app::Inner<2>", inner_fields, 12, 4);
    const StructField outer_fields[] = {{"odd name", DType::array(inner, 3), 0}, {"p", particle_type(), 40}};
    Function fn;
    Builder(fn).buffer(DType::array(DType::structure("Outer", outer_fields, 64, 8), 2), "outers");
    const std::string text = print(fn);
    EXPECT_EQ(text, R"(struct Sapp__Inner_2_ "app::Inner<2>" size 12 align 4 {
  x : f32 @ 4
}
struct Particle size 20 align 4 {
  position : vec3<f32> @ 0
  mass : f32 @ 12
  tags : array<u8, 4> @ 16
}
struct Outer size 64 align 8 {
  "odd name" : array<Sapp__Inner_2_, 3> @ 0
  p : Particle @ 40
}
kernel "" {
  %0 = buffer array<Outer, 2> "outers"
}
)");
    expect_round_trip(fn);
}

TEST(Printer, StructsOfOneNameStayDistinct) {
    const StructField fields[] = {{"x", F32, 0}};
    Function fn;
    Builder b(fn);
    b.buffer(DType::structure("S", fields, 4, 4), "a");
    b.buffer(DType::structure("S", fields, 8, 8), "b");
    b.buffer(DType::structure("S.2", fields, 4, 4), "c");
    b.buffer(DType::structure("f32", fields, 4, 4), "d");
    b.buffer(DType::structure("vec3", fields, 4, 4), "e");
    b.buffer(DType::structure("", fields, 4, 4), "f");
    expect_round_trip(fn);
    EXPECT_EQ(parse(print(fn)).params[1].type, fn.params[1].type);
}

TEST(Printer, NumbersInPathsAreConstants) {
    Function fn;
    Builder b(fn);
    const NodeId tile = b.shared(DType::array(U32, 4));
    const NodeId two = b.constant_u32(2);
    b.store(tile, two, std::array{two});           // used in a path and elsewhere
    b.load(tile, std::array{b.constant(U64, 1)});  // not a u32
    b.load(tile, std::array{b.constant_u32(3)});
    b.constant_u32(77);  // not used
    EXPECT_EQ(print(fn), R"(kernel "" {
  %0 = shared array<u32, 4>
  %1 = const 2 : u32
  store %0[2], %1
  %2 = const 1 : u64
  %3 = load %0[%2] : u32
  %4 = load %0[3] : u32
  %5 = const 77 : u32
}
)");
    expect_round_trip(fn);
}

TEST(Printer, UnusedParametersAreKept) {
    Function fn = scale_function();
    auto& body = fn.regions[fn.body].nodes;
    Builder(fn).param(F64, "spare");
    body.erase(body.begin() + 2);  // its node is no longer listed
    EXPECT_THAT(print(fn), HasSubstr("%2 = param f64 \"spare\""));
    expect_round_trip(fn);
}

TEST(Printer, ExtentsAndStridesRoundTrip) {
    Function fn;
    Builder b(fn);
    b.buffer(F32, "image", true);
    fn.params[0].rank = 2;
    const NodeId stride = b.layout_param(ParamKind::Stride, U32, 0, 1);
    EXPECT_EQ(b.layout_param(ParamKind::Stride, U32, 0, 1), stride);
    EXPECT_NE(b.layout_param(ParamKind::Stride, U64, 0, 1), stride);
    EXPECT_NE(b.layout_param(ParamKind::Extent, U32, 0, 0), stride);
    EXPECT_THAT(print(fn), HasSubstr("%0 = buffer f32 \"image\" read_only rank 2"));
    EXPECT_THAT(print(fn), HasSubstr("%1 = param u32 \"image.stride1\" stride(0, 1)"));
    EXPECT_THAT(print(fn), HasSubstr("%3 = param u32 \"image.extent0\" extent(0, 0)"));
    verify(fn);
    expect_round_trip(fn);
    const Hash128 before = hash(fn);
    fn.params[1].axis = 0;
    EXPECT_NE(hash(fn), before);
}

TEST(Printer, DeclarationsAfterOtherOperationsRoundTrip) {
    Function fn;
    Builder b(fn);
    b.emit(Op::GlobalId, {});
    b.shared(F32);
    b.param(F32, "p");
    auto& body = fn.regions[fn.body].nodes;
    std::swap(body.front(), body.back());
    expect_round_trip(fn);
}

TEST(Printer, DeadRegionsAreNotPrinted) {
    Function fn = scale_function();
    Builder b(fn);
    b.begin_loop();
    b.zero(particle_type());
    b.end_loop();
    fn.regions[fn.body].nodes.pop_back();
    EXPECT_EQ(print(fn), print(scale_function()));
    EXPECT_EQ(hash(fn), hash(scale_function()));
}

TEST(Printer, AnEmptyElseIsKept) {
    Function fn;
    Builder b(fn);
    b.begin_if(b.constant_bool(true));
    b.begin_else();
    b.end_if();
    EXPECT_THAT(print(fn), HasSubstr("} else {\n  }\n"));
    expect_round_trip(fn);
}

TEST(Printer, ShowsIllFormedFunctions) {
    Function fn = scale_function();
    fn.operands[fn[fn.nodes_of(fn.body).back()].first + 1] = 4000;
    fn.regions[fn.body].nodes.push_back(999);
    const NodeId loop = fn.add(Op::Loop, {}, {});
    fn[loop].regions[0] = fn.body;
    fn.regions[fn.body].nodes.push_back(loop);
    const NodeId garbage = fn.add(static_cast<Op>(250), F32, {});
    fn[garbage].count = 1000;
    fn.regions[fn.body].nodes.push_back(garbage);
    EXPECT_THAT(print(fn), HasSubstr("store %0[%3], %?4000"));
    fn.body = 7;
    EXPECT_THAT(print(fn), HasSubstr("kernel \"scale\""));
}

}  // namespace
}  // namespace volley::ir
