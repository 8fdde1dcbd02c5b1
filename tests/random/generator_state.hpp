// The state of a generation: the values in scope, and the uniformity of control flow at the insertion point.
#pragma once

#include "ir/builder.hpp"
#include "random/generator.hpp"

namespace volley::testing {

class Generator {
public:
    Generator(std::uint64_t seed, const GeneratorOptions& options);
    Program run();

private:
    using NodeId = ir::NodeId;

    // `uniform` is what the generator can prove with the rules of docs/ir.md section 6.
    struct Value {
        NodeId id = ir::none;
        DType type;
        bool uniform = false;
    };
    struct Variable {
        NodeId root = ir::none;
        DType type;
        bool uniform = false;  // holds only uniform values, stored in uniform control flow
    };
    struct Input {
        NodeId root = ir::none;
        DType type;
        std::uint64_t elements = 0;
    };
    struct Output {
        NodeId root = ir::none;
        DType type;
        std::uint64_t per_invocation = 1;
    };
    // A buffer that is only modified by commuting operations, whose old values are unused.
    struct Atomic {
        NodeId root = ir::none;
        ScalarType type = ScalarType::U32;
        std::uint64_t elements = 1;
        std::vector<ir::Op> ops;
    };
    // State that a region inherits and that is restored on leaving it.
    struct Scope {
        std::size_t values;
        std::size_t variables;
        bool uniform;
    };

    // Shape and arguments (generator.cpp)
    void choose_shape();
    void declare_inputs();
    NodeId add_buffer(DType type, std::uint64_t elements, bool read_only, bool zeroed);
    [[nodiscard]] Scope open_scope(bool uniform);
    void close_scope(const Scope& scope);
    void block(unsigned statements);
    void observe(const Value& value);
    NodeId own_element(const Output& output, bool last);
    void observe_all();

    // Types (generator_types.cpp)
    ScalarType scalar_type();
    ScalarType integer_type();
    ScalarType float_type();
    DType arithmetic_type();  // scalar or vector, not bool
    DType value_type();       // any value type
    DType struct_type(std::uint64_t number, unsigned depth);

    // Values (generator_values.cpp). If `uniform` is set, they return a uniform value.
    Value keep(Value value);
    Value emit(ir::Op op, std::initializer_list<Value> operands, DType wanted = {});
    Value constant(ScalarType type);
    Value number(ScalarType type, double v);
    Value operand(DType type, bool uniform = false);
    Value leaf(DType type, bool uniform);
    Value condition(bool uniform = false);
    Value index_below(std::uint64_t n, bool uniform);
    Value buffer_index(std::uint64_t elements, bool uniform);
    Value fixed_zero_sign(Value value);
    Value without_nan(Value value);
    Value builtin();
    Value arithmetic();
    Value comparison();
    Value conversion();
    Value bitcast();
    Value composite();
    Value extraction();
    Value load_input(bool uniform);
    Value load_variable();
    Value shift_or_bits();
    Value shared_slot(bool uniform);
    std::pair<Value, Value> wild_index(std::uint64_t n);
    Value guarded_value();
    Value new_value();

    // Statements (generator_statements.cpp)
    void statement();
    void declare_variable();
    void store_variable();
    void if_statement();
    void for_statement();
    void loop_statement();
    void jump_statement();
    void atomic_statement();
    void shared_statement();
    void shared_atomic_statement();
    void subgroup_statement();
    void function_statement();
    void partial_store_statement();
    void output_statement();
    void own_atomic_statement();
    void strided_statement();
    NodeId random_path(DType& type, std::vector<NodeId>& path, bool& uniform);
    void sync_barrier();

    Random random_;
    GeneratorOptions options_;
    Program program_;
    ir::Builder b_;
    std::vector<Value> values_;
    std::vector<Variable> variables_;
    std::vector<Input> inputs_;
    std::vector<Output> outputs_;
    std::vector<Input> shared_;  // arrays with a slot for each invocation of a workgroup
    std::vector<Atomic> atomics_;
    std::vector<Value> params_;
    Value linear_;  // this invocation's linear index in the grid
    Value local_index_;
    std::uint64_t invocations_ = 0;
    std::uint64_t group_size_ = 0;
    bool uniform_ = true;           // control flow is workgroup-uniform here
    bool returned_ = false;         // some invocation may have returned in divergent control flow
    bool divergent_exits_ = false;  // some invocations may leave the innermost loop early
    unsigned loops_ = 0;            // number of open loops
    unsigned uniform_loops_ = 0;    // number of open loops that all invocations run together
    unsigned depth_ = 0;
    unsigned budget_ = 0;
    unsigned shared_atomics_ = 0;
    unsigned functions_ = 0;
    unsigned own_atomics_ = 0;
};

}  // namespace volley::testing
