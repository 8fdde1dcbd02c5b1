// The frame of a random kernel: its shape, arguments, blocks and observed results.
#include "random/generator.hpp"

#include "ir/verifier.hpp"
#include "random/generator_state.hpp"

#include <algorithm>

namespace volley::testing {

using ir::Op;

Generator::Generator(std::uint64_t seed, const GeneratorOptions& options)
    : random_(seed), options_(options), b_(program_.fn) {
    program_.seed = seed;
    program_.fn.name = "random";
    program_.floats = options.floats;
}

void Generator::choose_shape() {
    using Dim3 = ir::Dim3;
    program_.local = random_.pick<Dim3>({{1, 1, 1},
                                         {4, 1, 1},
                                         {8, 1, 1},
                                         {16, 1, 1},
                                         {32, 1, 1},
                                         {64, 1, 1},
                                         {3, 1, 1},
                                         {5, 1, 1},
                                         {24, 1, 1},
                                         {33, 1, 1},
                                         {4, 4, 1},
                                         {3, 5, 2},
                                         {8, 2, 2},
                                         {16, 3, 1}});
    const bool flat = program_.local[1] == 1 && random_.chance(70);
    for (unsigned d = 0; d < 3; ++d) {
        const std::uint64_t groups = d == 0 ? random_.below(3) + 1 : flat ? 1 : random_.below(2) + 1;
        std::uint64_t size = groups * program_.local[d];
        // Partial workgroups, unless the program has barriers.
        if (!options_.barriers && random_.chance(60)) size -= random_.below(program_.local[d]);
        program_.global[d] = static_cast<std::uint32_t>(size);
    }
    if (random_.chance(30)) program_.fn.local_size = program_.local;
    invocations_ = std::uint64_t{program_.global[0]} * program_.global[1] * program_.global[2];
    group_size_ = std::uint64_t{program_.local[0]} * program_.local[1] * program_.local[2];
}

ir::NodeId Generator::add_buffer(DType type, std::uint64_t elements, bool read_only, bool zeroed) {
    ProgramArg arg;
    arg.type = type;
    arg.elements = elements;
    arg.bytes.resize(elements * type.size());
    if (!zeroed) fill_random(random_, type, arg.bytes);
    arg.written = !read_only;
    program_.args.push_back(std::move(arg));
    return b_.buffer(type, "arg" + std::to_string(program_.args.size() - 1), read_only);
}

void Generator::declare_inputs() {
    for (std::uint64_t n = random_.below(3) + 1; n > 0; --n) {
        const DType type = value_type();
        // Room for strides up to three, or few elements that all invocations share.
        const std::uint64_t elements = random_.chance(70) ? 3 * invocations_ + 8 : random_.below(20) + 1;
        inputs_.push_back({add_buffer(type, elements, true, false), type, elements});
    }
    for (std::uint64_t n = random_.below(3); n > 0; --n) {
        ProgramArg arg;
        arg.type = value_type();
        arg.bytes.resize(arg.type.size());
        fill_random(random_, arg.type, arg.bytes);
        const char* const name = random_.chance(50) ? "arg" : "value";
        const NodeId id = b_.param(arg.type, name + std::to_string(program_.args.size()));
        params_.push_back(keep({id, arg.type, true}));
        program_.args.push_back(std::move(arg));
    }
}

Generator::Scope Generator::open_scope(bool uniform) {
    const Scope scope{values_.size(), variables_.size(), uniform_};
    uniform_ = uniform_ && uniform;
    ++depth_;
    return scope;
}

void Generator::close_scope(const Scope& scope) {
    values_.resize(scope.values);
    variables_.resize(scope.variables);
    uniform_ = scope.uniform && !returned_;
    --depth_;
}

void Generator::block(unsigned statements) {
    for (; statements > 0 && budget_ > 0; --statements) statement();
}

// Returns the index of one of this invocation's elements of an output.
ir::NodeId Generator::own_element(const Output& output, bool last) {
    if (output.per_invocation == 1) return linear_.id;
    const auto stride = static_cast<std::uint32_t>(output.per_invocation);
    const auto which = last ? stride - 1 : static_cast<std::uint32_t>(random_.below(stride));
    const NodeId first = b_.emit(Op::Mul, {linear_.id, b_.constant_u32(stride)});
    return b_.emit(Op::Add, {first, b_.constant_u32(which)});
}

// Stores a value into this invocation's element of an output buffer of that type.
void Generator::observe(const Value& value) {
    if (value.type.size() > 128) return;
    Output* output = nullptr;
    for (Output& candidate : outputs_) {
        if (candidate.type == value.type && random_.chance(60)) output = &candidate;
    }
    if (output == nullptr) {
        if (outputs_.size() >= 8) return;
        Output made;
        made.type = value.type;
        made.per_invocation = random_.below(3) + 1;
        made.root = add_buffer(value.type, made.per_invocation * invocations_, false, random_.chance(50));
        outputs_.push_back(made);
        output = &outputs_.back();
    }
    const NodeId at = own_element(*output, false);
    b_.store(output->root, value.id, std::span(&at, 1));
}

void Generator::observe_all() {
    for (const Variable& variable : variables_) {
        if (random_.chance(80)) observe({b_.load(variable.root, {}), variable.type, false});
    }
    for (unsigned n = 0; n < options_.observed && !values_.empty(); ++n) observe(random_.pick(values_));
}

Program Generator::run() {
    choose_shape();
    declare_inputs();
    const NodeId id = b_.emit(Op::GlobalId, {});
    NodeId linear = b_.extract(id, 0);
    if (program_.global[1] * program_.global[2] > 1) {
        const NodeId size = b_.emit(Op::GlobalSize, {});
        const NodeId rows = b_.emit(Op::Mul, {b_.extract(id, 2), b_.extract(size, 1)});
        const NodeId row = b_.emit(Op::Add, {b_.extract(id, 1), rows});
        linear = b_.emit(Op::Add, {linear, b_.emit(Op::Mul, {row, b_.extract(size, 0)})});
    }
    linear_ = keep({linear, ScalarType::U32, false});
    if (options_.barriers || options_.subgroups) {
        local_index_ = keep({b_.emit(Op::LocalIndex, {}), ScalarType::U32, false});
    }
    budget_ = options_.statements;
    while (budget_ > 0) statement();
    observe_all();
    ir::verify(program_.fn);
    return std::move(program_);
}

Program generate(std::uint64_t seed, const GeneratorOptions& options) {
    return Generator(seed, options).run();
}

GeneratorOptions options_for(std::uint64_t seed) {
    Random random(seed ^ 0x5eed);
    GeneratorOptions options;
    options.floats = random.chance(70);
    options.functions = options.floats && random.chance(30);
    options.subgroups = random.chance(30);
    options.barriers = random.chance(45);
    options.statements =
        static_cast<unsigned>(random.chance(10) ? random.between(32, 60) : random.between(4, 28));
    return options;
}

GeneratorOptions short_options_for(std::uint64_t seed) {
    GeneratorOptions options = options_for(seed);
    options.statements = 1 + options.statements % 4;
    options.observed = 2;
    return options;
}

}  // namespace volley::testing
