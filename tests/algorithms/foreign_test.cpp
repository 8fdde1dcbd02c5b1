// Every algorithm refuses buffers of another context, and operators that throw, before it writes anything.
#include "support/backend_test.hpp"

#include <volley/algorithms/algorithms.hpp>

#include <functional>
#include <stdexcept>

namespace volley {
namespace {

using testing::error_of;

struct NamedCall {
    const char* name;
    std::function<void()> call;
};

class ForeignBuffers {
public:
    ForeignBuffers() {
        const auto use = other_.use();
        x.emplace(as_buffer({3.F, 1.F, 2.F, 4.F}));
        keys.emplace(as_buffer(std::vector<u32>{3, 1, 2, 0}));
    }
    Buffer<float> out = as_buffer({9.F, 9.F, 9.F, 9.F});
    Buffer<float> mine = as_buffer({1.F, 2.F, 3.F, 4.F});
    Buffer<u32> numbers = as_buffer(std::vector<u32>{9, 9, 9, 9});
    Buffer<u32> count = as_buffer(std::vector<u32>{9});
    std::optional<Buffer<float>> x;   // of another context
    std::optional<Buffer<u32>> keys;  // of another context

private:
    Context other_ = make_context({.devices = {"reference:0"}});
};

VOLLEY_BACKEND_TEST(AllAlgorithms, RefuseBuffersOfOtherContexts) {
    ForeignBuffers b;
    const Buffer<float>&out = b.out, &x = *b.x;
    const auto positive = [](Value<float> v) { return v > 0.F; };
    const auto less = [](Value<float> p, Value<float> q) { return p < q; };
    const NamedCall calls[] = {
        {"transform", [&] { transform(out, lazy(x) + 1.F); }},
        {"sum", [&] { reduce::sum(AnySink(out.view(0, 1).reshape(Shape{})), x); }},
        {"dot", [&] { static_cast<void>(reduce::dot(x, b.mine)); }},
        {"scan", [&] { scan::inclusive_sum(out, x); }},
        {"diff", [&] { diff(out.view(0, 3), x); }},
        {"sort", [&] { sort(out, x); }},
        {"sort by a comparison", [&] { sort(out, x, less); }},
        {"argsort", [&] { argsort(b.numbers, x); }},
        {"sort_by_key", [&] { sort_by_key(b.numbers, out, *b.keys, b.mine); }},
        {"merge", [&] { merge(Buffer<float>(8), b.mine, x); }},
        {"searchsorted", [&] { searchsorted(b.numbers, b.mine, x); }},
        {"copy_if", [&] { copy_if(out, b.count, x, positive); }},
        {"partition", [&] { partition(out, b.count, x, positive); }},
        {"unique", [&] { unique(out, b.count, x); }},
        {"run_length_encode", [&] { run_length_encode(out, b.numbers, b.count, x); }},
        {"histogram", [&] { histogram(b.numbers, x, even_bins(4, 0, 1)); }},
        {"percentile",
         [&] {
             percentile(out.reshape({4}), x, {0, 1, 2, 3});
         }},
        {"top_k", [&] { top_k(out, b.numbers, x, 4); }},
        {"take", [&] { take(out, b.mine, *b.keys); }},
        {"scatter", [&] { scatter(out, *b.keys, b.mine); }},
        {"scatter_add", [&] { scatter_add(out, *b.keys, b.mine); }},
        {"pad",
         [&] {
             pad(out, x.view(0, 2), {.widths = {{1, 1}}});
         }},
        {"roll", [&] { roll(out, x, {.shifts = {1}}); }},
        {"flip", [&] { flip(out, x); }},
        {"concatenate",
         [&] {
             concatenate(out, {b.mine.view(0, 2), x.view(0, 2)});
         }},
        {"transpose",
         [&] {
             transpose(out.reshape({2, 2}), x.reshape({2, 2}));
         }},
        {"matmul",
         [&] {
             matmul(out.reshape({2, 2}), b.mine.reshape({2, 2}), x.reshape({2, 2}));
         }},
        {"masked_sum",
         [&] {
             masked_sum(out, x.reshape({1, 4}), b.mine.view(0, 1));
         }},
        {"shuffle", [&] { random::shuffle(out, x); }},
    };
    for (const NamedCall& call : calls) {
        SCOPED_TRACE(call.name);
        error_of(ErrorCode::WrongContext, call.call);
    }
    EXPECT_EQ(out.read(0), (std::vector<float>{9, 9, 9, 9})) << "nothing was written";
    EXPECT_EQ(b.numbers.read(0), (std::vector<u32>{9, 9, 9, 9}));
    EXPECT_EQ(b.count.read(0)[0], 9U);
}

VOLLEY_BACKEND_TEST(AllAlgorithms, ReportWhatOperatorsThrow) {
    const Buffer<float> x = as_buffer({3.F, 1.F, 2.F});
    Buffer<float> out = as_buffer({9.F, 9.F, 9.F});
    Buffer<u32> count = as_buffer(std::vector<u32>{9});
    const auto unlucky = [](Value<float> v) -> Value<bool> {
        static_cast<void>(v + 1.F);
        throw std::runtime_error("no luck");
    };
    const auto unlucky_pair = [](Value<float> v, Value<float> w) -> Value<bool> {
        static_cast<void>(v + w);
        throw std::runtime_error("no luck");
    };
    const NamedCall calls[] = {
        {"count_if", [&] { static_cast<void>(reduce::count_if(x, unlucky)); }},
        {"copy_if", [&] { copy_if(out, count, x, unlucky); }},
        {"partition", [&] { partition(out, count, x, unlucky); }},
        {"unique", [&] { unique(out, count, x, unlucky_pair); }},
        {"sort", [&] { sort(out, x, unlucky_pair); }},
        {"merge", [&] { merge(Buffer<float>(6), x, x, unlucky_pair); }},
        {"searchsorted", [&] { static_cast<void>(searchsorted(x, x, unlucky_pair)); }},
    };
    for (const NamedCall& call : calls) {
        SCOPED_TRACE(call.name);
        testing::expect_contains(error_of(ErrorCode::TraceError, call.call), "no luck");
    }
    EXPECT_EQ(out.read(0), (std::vector<float>{9, 9, 9})) << "nothing was written";
    EXPECT_EQ(count.read(0)[0], 9U);
}

}  // namespace
}  // namespace volley
