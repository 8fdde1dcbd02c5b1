// Which kernels process several elements per invocation, and that their results stay the same.
#include "passes/coarsen.hpp"

#include "pass_support.hpp"

namespace volley::passes {
namespace {

constexpr std::string_view saxpy = R"(%y = buffer f32 "y"
%x = buffer f32 "x" read_only
%a = param f32 "a"
%g = global_id : vec3<u32>
%i = extract %g[0] : u32
%u = load %x[%i] : f32
%v = load %y[%i] : f32
%m = fma %u, %a, %v : f32
store %y[%i], %m)";

TEST(Coarsen, AcceptsStreams) {
    const ir::Function fn = kernel(saxpy);
    ASSERT_TRUE(can_coarsen(fn));
    EXPECT_EQ(streamed(fn), (std::vector<bool>{true, true, false}));
    for (const Coarsening& how : {Coarsening{8, 8, true}, Coarsening{8, 8, false}, Coarsening{4, 16, true}}) {
        const Coarsened coarse = coarsen(fn, how);
        ir::verify(coarse.function);
        EXPECT_EQ(coarse.original, (std::vector<std::uint32_t>{0, 1, 2, 0, 1}));
        const std::size_t words = how.factor * 4 / how.word_bytes;
        EXPECT_EQ(nodes_of(coarse.function, ir::Op::Load).size(), 2 * words);
        EXPECT_EQ(nodes_of(coarse.function, ir::Op::Store).size(), words);
        EXPECT_EQ(nodes_of(coarse.function, ir::Op::Fma).size(), how.factor);
        EXPECT_EQ(nodes_of(coarse.function, ir::Op::If).size(), how.whole ? 0u : 1u);
    }
}

TEST(Coarsen, RefusesOtherKernels) {
    const auto refused = [](std::string_view body) { return !can_coarsen(kernel(body)); };
    const std::string head =
        "%d = buffer f32 \"d\"\n%g = global_id : vec3<u32>\n%i = extract %g[0] : u32\n%v = load %d[%i] : "
        "f32\n";
    EXPECT_FALSE(refused(head + "store %d[%i], %v"));
    EXPECT_TRUE(refused(head)) << "it stores nothing";
    EXPECT_TRUE(refused(head + "store %d[%i], %v\n%w = load %d[%i] : f32\nstore %d[%i], %w"))
        << "it loads after a store";
    EXPECT_TRUE(refused(head + "store %d[0], %v")) << "it stores elsewhere";
    EXPECT_TRUE(refused(head + "barrier\nstore %d[%i], %v"));
    EXPECT_TRUE(refused(head + "%l = local_index : u32\n%c = convert %l : f32\nstore %d[%i], %c"));
    EXPECT_TRUE(refused(head + "%y = extract %g[1] : u32\n%c = convert %y : f32\nstore %d[%i], %c"));
    EXPECT_TRUE(refused(head + "%z = isnan %v : bool\nif %z {\nstore %d[%i], %v\n}"));
    EXPECT_TRUE(
        refused("%d = buffer f64 \"d\"\n%g = global_id : vec3<u32>\n%i = extract %g[0] : u32\n"
                "%v = load %d[%i] : f64\nstore %d[%i], %v"))
        << "its elements are eight bytes long";
}

}  // namespace
}  // namespace volley::passes
