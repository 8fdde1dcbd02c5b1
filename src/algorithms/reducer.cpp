// The reducers. Sums of floats keep the rounding errors of their additions; extrema of floats compare integer
// keys, so that every device orders NaN, -0 and subnormals alike.
#include "algorithms/reducer.hpp"

#include "algorithms/reduce_order.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/math.hpp>

#include <limits>
#include <utility>

namespace volley::algorithms {
namespace {

using detail::Reduction;

AnyValue number_of(DType type, double value) {
    const AnyValue wide = Value<float>(static_cast<float>(value));
    return convert(wide, type);
}

/// Applies f to each component of values of one type: of a vector or complex number, or to the scalars.
template <class F, class... A>
AnyValue each_component(const F& f, const AnyValue& first, const A&... others) {
    const DType type = first.dtype();
    if (type.is_scalar()) return f(first, others...);
    std::vector<lang::Ref> parts;
    for (unsigned k = 0; k < type.count(); ++k) {
        const auto part = [k](const AnyValue& value) {
            return value.dtype().is_scalar() ? value : value.part(k);
        };
        parts.push_back(ref_of(f(part(first), part(others)...)));
    }
    return {lang::construct(type, parts.data(), parts.size(), {}), type};
}

/// The sum of the squares of the components.
AnyValue squared_modulus(const AnyValue& x) {
    if (x.dtype().is_scalar()) return x * x;
    AnyValue sum = x.part(0) * x.part(0);
    for (unsigned k = 1; k < x.dtype().count(); ++k) sum = sum + x.part(k) * x.part(k);
    return sum;
}

DType with_part(DType type, ScalarType scalar) {
    return type.is_scalar() ? DType(scalar) : type.with_scalar(scalar);
}

/// The type in which a reduction computes with floats of a type.
DType computed_type(DType type) {
    return type.scalar() == ScalarType::F16 ? with_part(type, ScalarType::F32) : type;
}

/// A reducer whose items and states are one value.
class SimpleReducer : public Reducer {
public:
    explicit SimpleReducer(DType state) : state_(state) {}
    [[nodiscard]] std::vector<DType> state_types() const override { return {state_}; }
    [[nodiscard]] Values lift(const AnyValue& element, const Value<u32>&) const override {
        return {convert(element, state_)};
    }
    [[nodiscard]] Values absorb(const Values& state, std::span<const Values> items) const override {
        return merge(
            state, combine_pairwise(items, [this](const Values& a, const Values& b) { return merge(a, b); }));
    }

protected:
    [[nodiscard]] DType state_type() const noexcept { return state_; }

private:
    DType state_;
};

/// Integer sums, products, bit operations, any and all: an operation of the IR.
class OperationReducer final : public SimpleReducer {
public:
    OperationReducer(ir::Op op, DType state, double identity, DType result)
        : SimpleReducer(state), op_(op), identity_(identity), result_(result) {}

    void identify(KernelKey& key) const override {
        key.add("operation").add(op_).add(state_type()).add(result_).add(identity_ != 0);
    }
    [[nodiscard]] Values identity() const override {
        if (op_ == ir::Op::And) return {apply(ir::Op::Not, zero_of(state_type()))};
        if (identity_ == 0) return {zero_of(state_type())};
        if (state_type().is_scalar() || state_type().is_complex())
            return {convert(Value<float>(static_cast<float>(identity_)), state_type())};
        const AnyValue zero = zero_of(state_type());
        return {
            each_component([&](const AnyValue& part) { return number_of(part.dtype(), identity_); }, zero)};
    }
    [[nodiscard]] Values merge(const Values& a, const Values& b) const override {
        return {apply(op_, a[0], b[0])};
    }
    [[nodiscard]] AnyValue finish(const Values& state) const override { return convert(state[0], result_); }

private:
    ir::Op op_;
    double identity_;
    DType result_;
};

/// any and all: 32-bit words, because small integers are slow on some devices.
class TruthReducer final : public SimpleReducer {
public:
    explicit TruthReducer(bool all) : SimpleReducer(dtype_of<u32>()), all_(all) {}
    void identify(KernelKey& key) const override { key.add("truth").add(all_); }
    [[nodiscard]] Values identity() const override { return {Value<u32>(all_ ? 1U : 0U)}; }
    [[nodiscard]] Values lift(const AnyValue& element, const Value<u32>&) const override {
        return {convert(convert(element, dtype_of<bool>()), dtype_of<u32>())};
    }
    [[nodiscard]] Values merge(const Values& a, const Values& b) const override {
        return {apply(all_ ? ir::Op::And : ir::Op::Or, a[0], b[0])};
    }
    [[nodiscard]] AnyValue finish(const Values& state) const override {
        return convert(state[0], dtype_of<bool>());
    }

private:
    bool all_;
};

/// min and max.
class ExtremumReducer final : public SimpleReducer {
public:
    ExtremumReducer(bool largest, DType element)
        : SimpleReducer(order_type(element)), largest_(largest), element_(element) {}
    void identify(KernelKey& key) const override { key.add("extremum").add(largest_).add(element_); }
    [[nodiscard]] Values identity() const override { return {last_in_order(element_, largest_)}; }
    [[nodiscard]] Values lift(const AnyValue& element, const Value<u32>&) const override {
        return {order_key(element, largest_)};
    }
    [[nodiscard]] Values merge(const Values& a, const Values& b) const override {
        return {apply(largest_ ? ir::Op::Max : ir::Op::Min, a[0], b[0])};
    }
    [[nodiscard]] AnyValue finish(const Values& state) const override {
        return from_order_key(state[0], element_, largest_);
    }

private:
    bool largest_;
    DType element_;
};

/// argmin and argmax: the key and the number of the element; of equal keys, the smallest number wins.
class PositionReducer final : public Reducer {
public:
    PositionReducer(bool largest, DType element) : largest_(largest), element_(element) {}
    void identify(KernelKey& key) const override { key.add("position").add(largest_).add(element_); }
    [[nodiscard]] bool needs_number() const noexcept override { return true; }
    [[nodiscard]] std::vector<DType> state_types() const override {
        return {order_type(element_), dtype_of<u32>()};
    }
    [[nodiscard]] Values identity() const override {
        return {last_in_order(element_, largest_), Value<u32>(std::numeric_limits<u32>::max())};
    }
    [[nodiscard]] Values lift(const AnyValue& element, const Value<u32>& number) const override {
        return {order_key(element, largest_, true), number};
    }
    [[nodiscard]] Values absorb(const Values& state, std::span<const Values> items) const override {
        // The items are in ascending order, so that a later one must be better.
        const Values best = combine_pairwise(items, [this](const Values& a, const Values& b) {
            return choose(compare(better(), b[0], a[0]), b, a);
        });
        return merge(state, best);
    }
    [[nodiscard]] Values merge(const Values& a, const Values& b) const override {
        const Value<bool> earlier = compare(ir::Op::Eq, b[0], a[0]) && compare(ir::Op::Lt, b[1], a[1]);
        return choose(compare(better(), b[0], a[0]) || earlier, b, a);
    }
    [[nodiscard]] AnyValue finish(const Values& state) const override { return state[1]; }

private:
    [[nodiscard]] ir::Op better() const noexcept { return largest_ ? ir::Op::Gt : ir::Op::Lt; }
    static Values choose(const Value<bool>& c, const Values& a, const Values& b) {
        return {select(c, a[0], b[0]), select(c, a[1], b[1])};
    }

    bool largest_;
    DType element_;
};

/// The sum of two floats, or of the components of vectors, and its rounding error (Knuth).
std::pair<AnyValue, AnyValue> exact_sum(const AnyValue& a, const AnyValue& b) {
    const AnyValue sum = a + b;
    const AnyValue from_b = sum - a;
    const AnyValue from_a = sum - from_b;
    return {sum, (a - from_a) + (b - from_b)};
}

/// Float sums, means and norms: a sum and the sum of its rounding errors. Blocks are added pairwise.
class FloatSumReducer final : public Reducer {
public:
    FloatSumReducer(Reduction reduction, DType sum, DType result)
        : reduction_(reduction), sum_(sum), result_(result) {}

    void identify(KernelKey& key) const override {
        key.add("float sum").add(reduction_).add(sum_).add(result_);
    }
    [[nodiscard]] std::vector<DType> state_types() const override { return {sum_, sum_}; }
    void declare(ParameterList& parameters) override {
        if (reduction_ == Reduction::Mean) count_.emplace(parameters.value(DType(sum_.scalar())));
    }
    void add_arguments(std::vector<AnyArgument>& arguments, std::int64_t count) const override {
        if (reduction_ != Reduction::Mean) return;
        if (sum_.scalar() == ScalarType::F64) {
            arguments.emplace_back(static_cast<double>(count));
        } else {
            arguments.emplace_back(static_cast<float>(count));
        }
    }
    [[nodiscard]] Values identity() const override { return {zero_of(sum_), zero_of(sum_)}; }
    [[nodiscard]] Values lift(const AnyValue& element, const Value<u32>&) const override {
        if (reduction_ != Reduction::Norm) return {convert(element, sum_)};
        return {squared_modulus(convert(
            element, element.dtype().is_complex() ? element.dtype().with_scalar(sum_.scalar()) : sum_))};
    }
    [[nodiscard]] Values absorb(const Values& state, std::span<const Values> items) const override {
        const Values block =
            combine_pairwise(items, [](const Values& a, const Values& b) -> Values { return {a[0] + b[0]}; });
        const auto [sum, error] = exact_sum(state[0], block[0]);
        return {sum, state[1] + error};
    }
    [[nodiscard]] Values merge(const Values& a, const Values& b) const override {
        const auto [sum, error] = exact_sum(a[0], b[0]);
        return {sum, (a[1] + b[1]) + error};
    }
    [[nodiscard]] AnyValue finish(const Values& state) const override {
        // An infinite sum has errors that are not finite.
        AnyValue sum = each_component(
            [](const AnyValue& s, const AnyValue& e) {
                const AnyValue difference = e - e;  // NOLINT(misc-redundant-expression): not 0 for all e
                return select(compare(ir::Op::Eq, difference, difference), s + e, s);
            },
            state[0], state[1]);
        if (reduction_ == Reduction::Mean)
            sum = each_component([this](const AnyValue& s) { return s / *count_; }, sum);
        if (reduction_ == Reduction::Norm) sum = apply(ir::Op::Sqrt, sum);
        return convert(sum, result_);
    }

private:
    Reduction reduction_;
    DType sum_;
    DType result_;
    std::optional<AnyValue> count_;
};

/// The mean of integers: their exact sum, divided as floats.
class IntegerMeanReducer final : public SimpleReducer {
public:
    IntegerMeanReducer(DType sum, DType result) : SimpleReducer(sum), result_(result) {}
    void identify(KernelKey& key) const override { key.add("integer mean").add(state_type()); }
    void declare(ParameterList& parameters) override { count_.emplace(parameters.value(dtype_of<float>())); }
    void add_arguments(std::vector<AnyArgument>& arguments, std::int64_t count) const override {
        arguments.emplace_back(static_cast<float>(count));
    }
    [[nodiscard]] Values identity() const override { return {zero_of(state_type())}; }
    [[nodiscard]] Values merge(const Values& a, const Values& b) const override { return {a[0] + b[0]}; }
    [[nodiscard]] AnyValue finish(const Values& state) const override {
        return each_component([this](const AnyValue& s) { return s / *count_; }, convert(state[0], result_));
    }

private:
    DType result_;
    std::optional<AnyValue> count_;
};

/// Variances: the number of elements, their mean, and the sum of their squared distances from it.
class VarianceReducer final : public Reducer {
public:
    VarianceReducer(bool root, DType computed, DType result, double ddof)
        : root_(root), computed_(computed), real_(computed.scalar()), result_(result), ddof_(ddof) {}

    void identify(KernelKey& key) const override {
        key.add("variance").add(root_).add(computed_).add(result_);
    }
    [[nodiscard]] std::vector<DType> state_types() const override { return {real_, computed_, real_}; }
    void declare(ParameterList& parameters) override { divisor_.emplace(parameters.value(real_)); }
    void add_arguments(std::vector<AnyArgument>& arguments, std::int64_t count) const override {
        const double divisor = static_cast<double>(count) - ddof_;
        if (real_.scalar() == ScalarType::F64) {
            arguments.emplace_back(divisor);
        } else {
            arguments.emplace_back(static_cast<float>(divisor));
        }
    }
    [[nodiscard]] Values identity() const override {
        return {zero_of(real_), zero_of(computed_), zero_of(real_)};
    }
    [[nodiscard]] Values lift(const AnyValue& element, const Value<u32>&) const override {
        return {convert(element, computed_)};
    }
    [[nodiscard]] Values absorb(const Values& state, std::span<const Values> items) const override {
        const AnyValue count = number_of(real_, static_cast<double>(items.size()));
        const AnyValue sum = combine_pairwise(
            items, [](const Values& a, const Values& b) -> Values { return {a[0] + b[0]}; })[0];
        const AnyValue mean = scaled(sum, number_of(real_, 1.0 / static_cast<double>(items.size())));
        std::vector<Values> squares;
        for (const Values& item : items) squares.push_back({squared_modulus(item[0] - mean)});
        const AnyValue deviation =
            combine_pairwise(std::span<const Values>(squares),
                             [](const Values& a, const Values& b) -> Values { return {a[0] + b[0]}; })[0];
        return merge(state, {count, mean, deviation});
    }
    [[nodiscard]] Values merge(const Values& a, const Values& b) const override {
        const AnyValue count = a[0] + b[0];
        // Of nothing, the share is 0 / 1.
        const AnyValue share = b[0] / apply(ir::Op::Max, count, number_of(real_, 1));
        const AnyValue distance = b[1] - a[1];
        return {count, a[1] + scaled(distance, share),
                (a[2] + b[2]) + squared_modulus(distance) * (a[0] * share)};
    }
    [[nodiscard]] AnyValue finish(const Values& state) const override {
        const AnyValue variance = state[2] / *divisor_;
        return convert(root_ ? apply(ir::Op::Sqrt, variance) : variance, result_);
    }

private:
    static AnyValue scaled(const AnyValue& x, const AnyValue& factor) {
        return each_component([&](const AnyValue& part) { return part * factor; }, x);
    }

    bool root_;
    DType computed_, real_, result_;
    double ddof_;
    std::optional<AnyValue> divisor_;
};

/// A user's operator.
class OperatorReducer final : public SimpleReducer {
public:
    OperatorReducer(AnyFunction function, DType type, const void* identity, bool commutes)
        : SimpleReducer(type),
          function_(std::move(function)),
          identity_(type, identity),
          commutes_(commutes) {}

    void identify(KernelKey& key) const override { key.add("operator").add(function_.hash()); }
    [[nodiscard]] bool commutative() const noexcept override { return commutes_; }
    void declare(ParameterList& parameters) override { declared_.emplace(parameters.value(state_type())); }
    void add_arguments(std::vector<AnyArgument>& arguments, std::int64_t) const override {
        arguments.push_back(identity_);
    }
    [[nodiscard]] Values identity() const override { return {*declared_}; }
    [[nodiscard]] Values merge(const Values& a, const Values& b) const override {
        return {function_.call({a[0], b[0]})};
    }
    [[nodiscard]] AnyValue finish(const Values& state) const override { return state[0]; }

private:
    AnyFunction function_;
    AnyArgument identity_;
    bool commutes_;
    std::optional<AnyValue> declared_;
};

DType wide_integers(DType type) {
    const bool is_signed = type.is_signed() && !type.is_bool();
    return with_part(type, is_signed ? ScalarType::I64 : ScalarType::U64);
}

}  // namespace

std::unique_ptr<Reducer> make_reducer(const detail::ReduceCall& call, DType element) {
    const DType result = call.result;
    const bool floats = element.is_float();
    switch (call.reduction) {
        case Reduction::Sum:
            if (floats)
                return std::make_unique<FloatSumReducer>(Reduction::Sum, computed_type(element), result);
            return std::make_unique<OperationReducer>(ir::Op::Add, result, 0, result);
        case Reduction::Prod:
            return std::make_unique<OperationReducer>(ir::Op::Mul, floats ? computed_type(element) : result,
                                                      1, result);
        case Reduction::Min: return std::make_unique<ExtremumReducer>(false, element);
        case Reduction::Max: return std::make_unique<ExtremumReducer>(true, element);
        case Reduction::ArgMin: return std::make_unique<PositionReducer>(false, element);
        case Reduction::ArgMax: return std::make_unique<PositionReducer>(true, element);
        case Reduction::Any: return std::make_unique<TruthReducer>(false);
        case Reduction::All: return std::make_unique<TruthReducer>(true);
        case Reduction::BitAnd: return std::make_unique<OperationReducer>(ir::Op::And, result, 0, result);
        case Reduction::BitOr: return std::make_unique<OperationReducer>(ir::Op::Or, result, 0, result);
        case Reduction::BitXor: return std::make_unique<OperationReducer>(ir::Op::Xor, result, 0, result);
        case Reduction::Mean:
            if (floats)
                return std::make_unique<FloatSumReducer>(Reduction::Mean, computed_type(element), result);
            return std::make_unique<IntegerMeanReducer>(wide_integers(element), result);
        case Reduction::Norm:
            return std::make_unique<FloatSumReducer>(Reduction::Norm, computed_type(result), result);
        case Reduction::Variance:
        case Reduction::Stddev:
            return std::make_unique<VarianceReducer>(call.reduction == Reduction::Stddev,
                                                     floats ? computed_type(element) : dtype_of<float>(),
                                                     result, call.ddof);
        case Reduction::Operator: break;
    }
    return std::make_unique<OperatorReducer>(*call.function, result, call.identity, call.commutative);
}

}  // namespace volley::algorithms
