// Evaluates, in double precision, the values that a traced kernel without parameters stores: enough to check
// the functions that the language expands into several operations. Types other than f64 and bool are not
// rounded.
#pragma once

#include "ir/function.hpp"
#include "lang/traced.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace volley::test {

class Evaluator {
public:
    explicit Evaluator(const ir::Function& fn) : fn_(fn) {}

    /// Returns the leaves of a node's value. Cached, because a value may be used many times.
    const std::vector<double>& operator()(ir::NodeId id) {
        const auto found = known_.find(id);
        return found != known_.end() ? found->second : known_.emplace(id, leaves_of(id)).first->second;
    }

private:
    std::vector<double> leaves_of(ir::NodeId id) {
        using ir::Op;
        const ir::Node& node = fn_[id];
        const auto args = fn_.args(id);
        switch (node.op) {
            case Op::Const: return {constant(node)};
            case Op::Zero: return std::vector<double>(node.type.leaf_count(), 0.0);
            case Op::Construct: {
                std::vector<double> leaves;
                for (const ir::NodeId arg : args) {
                    for (const double leaf : (*this)(arg)) leaves.push_back(leaf);
                }
                return leaves;
            }
            case Op::Extract: {
                const std::vector<double>& leaves = (*this)(args[0]);
                DType type = fn_.type(args[0]);
                std::size_t first = 0;
                for (const ir::NodeId step : args.subspan(1)) {
                    const auto k = static_cast<std::uint64_t>((*this)(step)[0]);
                    for (std::uint64_t i = 0; i < k; ++i) first += type.part(i).leaf_count();
                    type = type.part(k);
                }
                const auto begin = leaves.begin() + static_cast<std::ptrdiff_t>(first);
                return {begin, begin + static_cast<std::ptrdiff_t>(type.leaf_count())};
            }
            case Op::Select: {
                const auto c = (*this)(args[0]);
                auto a = (*this)(args[1]);
                const auto b = (*this)(args[2]);
                for (std::size_t k = 0; k < a.size(); ++k) a[k] = c[c.size() == 1 ? 0 : k] != 0 ? a[k] : b[k];
                return a;
            }
            default: break;
        }
        std::vector<std::vector<double>> values;
        for (const ir::NodeId arg : args) values.push_back((*this)(arg));
        std::vector<double> result(values.at(0).size());
        for (std::size_t k = 0; k < result.size(); ++k) {
            const double value = apply(node.op, values[0][k], values.size() > 1 ? values[1][k] : 0);
            result[k] = node.type.is_integer() ? std::trunc(value) : value;
        }
        return result;
    }

    double constant(const ir::Node& node) const {
        if (node.type == ScalarType::F64) return std::bit_cast<double>(node.imm);
        if (node.type == ScalarType::F32) return std::bit_cast<float>(static_cast<std::uint32_t>(node.imm));
        return static_cast<double>(*fn_.constant_int(static_cast<ir::NodeId>(&node - fn_.nodes.data())));
    }

    static double apply(ir::Op op, double a, double b) {
        using ir::Op;
        switch (op) {
            case Op::Neg: return -a;
            case Op::Abs: return std::abs(a);
            case Op::Add: return a + b;
            case Op::Sub: return a - b;
            case Op::Mul: return a * b;
            case Op::Div: return a / b;
            case Op::Rem: return std::fmod(a, b);
            case Op::Min: return std::fmin(a, b);
            case Op::Max: return std::fmax(a, b);
            case Op::And: return a != 0 && b != 0;
            case Op::Or: return a != 0 || b != 0;
            case Op::Xor: return static_cast<double>(static_cast<long>(a) ^ static_cast<long>(b));
            case Op::Not: return a == 0;
            case Op::Eq: return a == b;
            case Op::Ne: return a != b;
            case Op::Lt: return a < b;
            case Op::Le: return a <= b;
            case Op::Gt: return a > b;
            case Op::Ge: return a >= b;
            case Op::IsNan: return std::isnan(a);
            case Op::IsInf: return std::isinf(a);
            case Op::Floor: return std::floor(a);
            case Op::Trunc: return std::trunc(a);
            case Op::Sqrt: return std::sqrt(a);
            case Op::Rsqrt: return 1 / std::sqrt(a);
            case Op::Sin: return std::sin(a);
            case Op::Cos: return std::cos(a);
            case Op::Atan2: return std::atan2(a, b);
            case Op::Exp: return std::exp(a);
            case Op::Log: return std::log(a);
            case Op::Hypot: return std::hypot(a, b);
            case Op::Bitcast: return static_cast<double>(std::bit_cast<std::int64_t>(a));  // its sign
            default: ADD_FAILURE() << "cannot evaluate " << ir::mnemonic(op); return 0;
        }
    }

    const ir::Function& fn_;
    std::unordered_map<ir::NodeId, std::vector<double>> known_;
};

/// Returns the leaves of the value that `make()` returns in a kernel.
template <class F>
std::vector<double> evaluate(F&& make) {
    const auto kernel = lang::trace_kernel("k", [&] {
        auto value = make();
        [[maybe_unused]] Var<typename decltype(value)::volley_type> result = value;
    });
    const ir::Function& fn = kernel.function();
    for (const ir::NodeId id : fn.nodes_of(fn.body)) {
        if (fn[id].op == ir::Op::Store) return Evaluator(fn)(fn.arg(id, 1));
    }
    return {};
}

}  // namespace volley::test
