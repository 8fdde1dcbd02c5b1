// Random kernels of index arithmetic and divergent control flow, run by the interpreter with a print after
// every value: the results of the analyses must hold in every vector, workgroup and iteration that ran.
#include "backends/reference/interpreter.hpp"
#include "ir/builder.hpp"
#include "pass_support.hpp"
#include "passes/access.hpp"
#include "passes/pipeline.hpp"
#include "passes/uniformity.hpp"
#include "support/random.hpp"
#include "support/sanitized.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>

namespace volley::passes {
namespace {

using enum ScalarType;
using ir::NodeId;
using ir::Op;
using testing::Random;

constexpr std::uint32_t global = 64;
constexpr std::uint32_t local = 32;
constexpr std::uint32_t elements = 64;
constexpr auto programs = testing::unless_sanitized<std::uint64_t>(150, 15);

// Generates a kernel. Every value is printed with the invocation's id and the iterations of all enclosing
// loops, which together identify the lanes that run it at the same time.
class Generator {
public:
    Generator(ir::Function& fn, std::uint64_t seed) : random_(seed), b_(fn) {
        in_ = b_.buffer(U32, "in", true);
        for (int k = 0; k < 2; ++k) values_.push_back(b_.param(U32, "p"));
        id_ = b_.extract(b_.emit(Op::GlobalId, {}), 0);
        values_.push_back(id_);
        values_.push_back(b_.extract(b_.emit(Op::LocalId, {}), 0));
        values_.push_back(b_.extract(b_.emit(Op::GroupId, {}), 0));
        values_.push_back(b_.emit(Op::LocalIndex, {}));
        vars_.push_back(b_.var(U32));
        b_.store(vars_.back(), id_, {});
        vars_.push_back(b_.var(U32));
        statements(14, 0);
    }

private:
    NodeId number(std::uint64_t v) { return b_.constant(U32, v); }
    NodeId any() { return random_.chance(35) ? values_[2 + random_.below(2)] : random_.pick(values_); }
    NodeId factor() {
        return number(random_.pick(
            {1u, 2u, 3u, 4u, 7u, 8u, 12u, 15u, 16u, 24u, 31u, 32u, 64u, 0xfffffff0u, 0xffffffffu}));
    }

    void show(NodeId value) {
        std::vector<NodeId> operands = {id_};
        std::string format = "{}";
        for (const NodeId counter : counters_) {
            operands.push_back(b_.load(counter, {}));
            format += "{}";
        }
        operands.push_back(value);
        b_.print(format + "{}", operands);
    }

    // After control flow joins, variables show which lanes missed a store.
    void show_variables() {
        for (const NodeId var : vars_) show(b_.load(var, {}));
    }

    NodeId value() {
        const NodeId a = any();
        const NodeId c = random_.chance(70) ? factor() : any();
        switch (random_.below(16)) {
            case 0:
            case 1: return b_.emit(Op::Add, {a, c});
            case 2: return b_.emit(Op::Sub, {a, c});
            case 3: return b_.emit(Op::Sub, {c, a});
            case 4: return b_.emit(Op::Mul, {a, c});
            case 5: return b_.emit(Op::Div, {a, c});
            case 6: return b_.emit(Op::Rem, {a, c});
            case 7: return b_.emit(Op::And, {a, c});
            case 8: return b_.emit(random_.chance(50) ? Op::Or : Op::Xor, {a, c});
            case 9: return b_.emit(random_.chance(50) ? Op::Shl : Op::Shr, {a, c});
            case 10: return b_.emit(Op::Select, {condition(), a, c});
            case 11: {
                // Signed and wide arithmetic.
                const ScalarType other = random_.pick({I32, I64, U64, U16});
                const NodeId x = b_.convert(a, other);
                const NodeId y = b_.convert(c, other);
                const NodeId r =
                    b_.emit(random_.pick({Op::Add, Op::Mul, Op::Div, Op::Rem, Op::Shr, Op::Sub}), {x, y});
                show(x);
                show(r);
                return b_.convert(r, U32);
            }
            case 12: return b_.load(in_, std::array{b_.emit(Op::Rem, {a, number(elements)})});
            case 13: return b_.emit(Op::Fma, {a, factor(), c});
            case 14: return random_.chance(50) ? b_.emit(Op::Not, {a}) : b_.emit(Op::Min, {a, c});
            default: return vars_.empty() ? number(0) : b_.load(random_.pick(vars_), {});
        }
    }

    NodeId condition() {
        const Op op = random_.pick({Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq, Op::Ne});
        return b_.emit(op, {any(), random_.chance(60) ? factor() : any()});
    }

    void statements(int n, int depth) {
        const std::size_t values = values_.size();
        const std::size_t vars = vars_.size();
        for (int k = 0; k < n; ++k) statement(depth);
        values_.resize(values);
        vars_.resize(vars);
    }

    void statement(int depth) {
        const auto choice = random_.below(20);
        if (choice < 9 || depth == 3) {
            values_.push_back(value());
            show(values_.back());
        } else if (choice < 11) {
            vars_.push_back(b_.var(U32));
            if (random_.chance(80)) b_.store(vars_.back(), any(), {});
        } else if (choice < 14) {
            if (!vars_.empty())
                b_.store(random_.pick(vars_),
                         random_.chance(40)   ? factor()
                         : random_.chance(50) ? value()
                                              : any(),
                         {});
        } else if (choice < 16) {
            const NodeId c = condition();
            show(c);
            b_.begin_if(c);
            statements(3, depth + 1);
            if (random_.chance(25)) jump();
            if (random_.chance(40)) {
                b_.begin_else();
                statements(2, depth + 1);
            }
            b_.end_if();
            show_variables();
        } else if (choice < 19) {
            loop(depth);
            show_variables();
        } else {
            jump_if(random_.chance(30));
        }
    }

    void loop(int depth) {
        const bool counted = random_.chance(60);
        counters_.push_back(b_.var(U32));
        if (counted) {
            const NodeId begin = random_.chance(50) ? any() : number(0);
            const NodeId length = b_.emit(Op::And, {any(), number(7)});
            const NodeId end = b_.emit(Op::Add, {begin, length});
            const NodeId index =
                b_.begin_for(begin, end, random_.chance(70) ? number(1 + random_.below(3)) : any());
            tick();
            values_.push_back(index);
            show(index);
        } else {
            b_.begin_loop();
            tick();
            const NodeId enough = b_.emit(Op::Gt, {b_.load(counters_.back(), {}), number(4)});
            b_.begin_if(enough);
            b_.jump(Op::Break);
            b_.end_if();
        }
        ++loops_;
        statements(3, depth + 1);
        if (random_.chance(40)) jump_if(false);
        statements(2, depth + 1);
        --loops_;
        if (counted) {
            values_.pop_back();
            b_.end_for();
        } else {
            b_.end_loop();
        }
        counters_.pop_back();
    }

    void tick() {
        const NodeId counter = counters_.back();
        b_.store(counter, b_.emit(Op::Add, {b_.load(counter, {}), number(1)}), {});
    }

    void jump() {
        if (loops_ > 0) b_.jump(random_.pick({Op::Break, Op::Continue, Op::Break, Op::Continue, Op::Return}));
    }
    void jump_if(bool out) {
        if (loops_ == 0 && !out) return;
        b_.begin_if(condition());
        if (loops_ > 0) {
            jump();
        } else {
            b_.jump(Op::Return);
        }
        b_.end_if();
    }

    Random random_;
    ir::Builder b_;
    NodeId in_ = ir::none;
    NodeId id_ = ir::none;
    std::vector<NodeId> values_;
    std::vector<NodeId> vars_;
    std::vector<NodeId> counters_;
    int loops_ = 0;
};

// All values of one print at one moment, by lane.
using Moment = std::map<std::uint32_t, std::uint64_t>;
// By print node and iterations, then by vector or workgroup.
using Trace = std::map<std::pair<NodeId, std::vector<std::uint32_t>>, Moment>;

Trace trace(const ir::Function& fn, std::uint64_t seed) {
    Random random(seed);
    std::vector<std::uint32_t> in(elements);
    for (std::uint32_t& x : in) x = static_cast<std::uint32_t>(random.below(40));
    std::array<std::uint32_t, 2> params = {static_cast<std::uint32_t>(random.bits() & 0xff),
                                           random.pick({0u, 1u, 8u, 0xfffffff8u, 16u})};
    const std::vector<backends::reference::Arg> args = {
        {in.data(), in.size()}, {&params[0], 0}, {&params[1], 0}};
    Trace out;
    const auto sink = [&](NodeId print, const std::byte* bytes) {
        const auto operands = fn.args(print);
        std::vector<std::uint32_t> numbers(operands.size());
        for (std::size_t k = 0; k + 1 < operands.size(); ++k) std::memcpy(&numbers[k], bytes + 16 * k, 4);
        std::uint64_t value = 0;
        std::memcpy(&value, bytes + 16 * (operands.size() - 1), fn.type(operands.back()).size());
        const std::uint32_t lane = numbers[0];
        numbers.erase(numbers.begin());
        numbers.pop_back();
        out[{print, numbers}][lane] = value;
    };
    backends::reference::LaunchShape shape;
    shape.global = {global, 1, 1};
    shape.local = {local, 1, 1};
    interpret(fn, shape, args, sink);
    return out;
}

std::int64_t extended(ScalarType type, std::uint64_t bits) {
    const unsigned unused = 64 - bits_of(type);
    if (is_signed_integer(type)) return static_cast<std::int64_t>(bits << unused) >> unused;
    return static_cast<std::int64_t>((bits << unused) >> unused);
}

// Describes how the claim about a value is wrong in one vector; empty if it holds.
std::string broken_claim(const ir::Function& fn, const LaneAnalysis& lanes, NodeId print,
                         const Moment& moment, std::uint32_t width) {
    const NodeId value = fn.args(print).back();
    const LaneShape shape = lanes.shape(value);
    if (!lanes.masked(print) && moment.size() != width) return "lanes are missing where none should";
    if (shape.kind == LaneShape::Varying) return "";
    const ScalarType type = fn.type(value).scalar();
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits_of(type));
    const std::uint32_t first = moment.begin()->first / width * width;
    const auto base_of = [&](std::uint32_t lane, std::uint64_t v) {
        return (v - static_cast<std::uint64_t>(shape.stride) * (lane - first)) & mask;
    };
    const std::uint64_t base = base_of(moment.begin()->first, moment.begin()->second);
    for (const auto& [lane, v] : moment) {
        if (base_of(lane, v) != base) return "lanes differ from the progression";
        const std::int64_t apart = shape.stride * (std::int64_t{lane} - std::int64_t{moment.begin()->first});
        if (!lanes.may_wrap(value) && extended(type, v) - extended(type, moment.begin()->second) != apart) {
            return "lanes wrap where none should";
        }
    }
    if (!is_integer(type) || shape.align == 1) return "";
    const std::int64_t signed_base = extended(type, base);
    const bool aligned =
        shape.align == 0 ? base == 0 : signed_base % static_cast<std::int64_t>(shape.align) == 0;
    return aligned ? "" : "the base is not a multiple of its alignment";
}

void check_lanes(const ir::Function& fn, const Trace& all, std::uint32_t width) {
    LaneModel model;
    model.width = width;
    model.plain_stores = true;
    const LaneShape same = {LaneShape::Uniform, 0, 1};
    model.global_id[0] = model.local_id[0] = model.local_index = {LaneShape::Affine, 1, width};
    for (int k = 1; k < 3; ++k) model.global_id[k] = model.local_id[k] = same;
    const LaneAnalysis lanes = analyse_lanes(fn, model);
    for (const auto& [key, values] : all) {
        std::map<std::uint32_t, Moment> vectors;
        for (const auto& [lane, v] : values) vectors[lane / width][lane] = v;
        // A vector without active lanes is not tested.
        for (const auto& [vector, moment] : vectors) {
            const std::string wrong = broken_claim(fn, lanes, key.first, moment, width);
            const LaneShape shape = lanes.shape(fn.args(key.first).back());
            ASSERT_EQ(wrong, "") << "width " << width << ", kind " << int{shape.kind} << ", stride "
                                 << shape.stride << ", align " << shape.align << ", print " << key.first
                                 << " of value " << fn.args(key.first).back();
        }
    }
}

void check_uniformity(const ir::Function& fn, const Trace& all) {
    const Uniformity uniformity = analyse_uniformity(fn);
    for (const auto& [key, values] : all) {
        const NodeId value = fn.args(key.first).back();
        std::map<std::uint32_t, Moment> groups;
        for (const auto& [lane, v] : values) groups[lane / local][lane] = v;
        for (const auto& [group, moment] : groups) {
            if (!uniformity.divergent(key.first)) {
                ASSERT_EQ(moment.size(), local) << "print " << key.first;
            }
            if (!uniformity.uniform(value)) continue;
            for (const auto& [lane, v] : moment) ASSERT_EQ(v, moment.begin()->second) << "value " << value;
        }
    }
}

TEST(LaneRandom, EveryClaimHoldsInEveryVector) {
    const std::uint64_t first = testing::seed_or(1);
    for (std::uint64_t seed = first; seed < first + programs; ++seed) {
        ir::Function fn;
        fn.name = "random";
        const Generator generator(fn, seed);
        ir::verify(fn);
        for (const bool optimised : {false, true}) {
            if (optimised) {
                optimise(fn);
                ir::verify(fn);
            }
            const Trace all = trace(fn, seed);
            for (const std::uint32_t width : {4u, 8u, 16u}) check_lanes(fn, all, width);
            check_uniformity(fn, all);
            if (HasFatalFailure()) {
                FAIL() << "VOLLEY_SEED=" << seed << (optimised ? ", optimised" : "") << '\n' << ir::print(fn);
            }
        }
    }
}

// Random kernels must produce many claims, or the test above proves little.
TEST(LaneRandom, ClaimsAreMadeOften) {
    std::size_t affine_claims = 0;
    std::size_t uniform_claims = 0;
    std::size_t all = 0;
    for (std::uint64_t seed = 1; seed < 50; ++seed) {
        ir::Function fn;
        const Generator generator(fn, seed);
        LaneModel model;
        model.width = 8;
        model.global_id[0] = model.local_id[0] = model.local_index = {LaneShape::Affine, 1, 8};
        const LaneAnalysis lanes = analyse_lanes(fn, model);
        for (const NodeId print : nodes_of(fn, Op::Print)) {
            const LaneShape shape = lanes.shape(fn.args(print).back());
            affine_claims += shape.kind == LaneShape::Affine;
            uniform_claims += shape.kind == LaneShape::Uniform;
            ++all;
        }
    }
    EXPECT_GT(affine_claims * 10, all);
    EXPECT_GT(uniform_claims * 10, all);
}

}  // namespace
}  // namespace volley::passes
