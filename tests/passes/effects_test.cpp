// Effects of a kernel on its buffers.
#include "passes/effects.hpp"

#include "ir/foreign.hpp"
#include "pass_support.hpp"

#include <memory>

namespace volley::passes {
namespace {

using Flags = std::vector<bool>;

TEST(BufferUses, IncludeLoadsAndStoresInAllRegions) {
    const BufferUses uses = buffer_uses(kernel(R"(%from = buffer u32 "from" read_only
%to = buffer u32 "to"
%both = buffer u32 "both"
%none = buffer u32 "none"
%n = param u32 "n"
%u = load %from[0] : u32
%c = lt %u, %n : bool
if %c {
  store %to[0], %u
  %v = load %both[0] : u32
  store %both[1], %v
})"));
    EXPECT_EQ(uses.reads, (Flags{true, false, true, false, false}));
    EXPECT_EQ(uses.writes, (Flags{false, true, true, false, false}));
    EXPECT_EQ(uses.written_only(), (Flags{false, true, false, false, false}));
}

TEST(BufferUses, CountAtomicsAsLoadsAndStores) {
    const BufferUses uses = buffer_uses(kernel(R"(%d = buffer u32 "d"
%one = const 1 : u32
%old = atomic_add %d[0], %one : u32)"));
    EXPECT_EQ(uses.reads, Flags{true});
    EXPECT_EQ(uses.writes, Flags{true});
    EXPECT_EQ(uses.written_only(), Flags{false});
}

TEST(BufferUses, OfForeignCodeFollowTheDeclarations) {
    ir::Function fn = kernel("%a = buffer u32 \"a\" read_only\n%b = buffer u32 \"b\"\n%n = param u32 \"n\"");
    fn.foreign = std::make_shared<ir::ForeignCode>();
    const BufferUses uses = buffer_uses(fn);
    EXPECT_EQ(uses.reads, (Flags{true, true, false}));
    EXPECT_EQ(uses.writes, (Flags{false, true, false}));
}

}  // namespace
}  // namespace volley::passes
