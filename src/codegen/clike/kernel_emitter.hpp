// Writes a kernel's IR as readable C-like text, from the view of one invocation.
//
// A value is a list of scalars, each an expression. An expression used once, in the same region, is embedded
// in the statement that uses it; others get a name. Text that reads memory is evaluated by its own statement
// before any possible write to that memory. Memory is accessed through typed pointers to scalars with indices
// computed from the host's layout, so the device's struct layout rules do not matter. C blocks correspond to
// the IR's regions.
#pragma once

#include "codegen/api/element_path.hpp"
#include "codegen/clike/dialect.hpp"
#include "codegen/clike/expression.hpp"
#include "codegen/clike/helpers.hpp"
#include "codegen/clike/names.hpp"
#include "codegen/clike/scalar_code.hpp"
#include "codegen/clike/source.hpp"
#include "ir/leaves.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace volley::codegen::clike {

class KernelEmitter {
public:
    KernelEmitter(const ir::Function& fn, const Variant& variant, const Features& features,
                  const Dialect& dialect);

    /// Writes the whole kernel. Call once.
    [[nodiscard]] Source emit();

private:
    using Exprs = std::vector<Expr>;

    // kernel_emitter.cpp: the code around the body
    void plan();
    void name_parameters();
    [[nodiscard]] std::string header() const;
    [[nodiscard]] std::string signature(std::string_view body);
    [[nodiscard]] std::string prologue(std::string_view body);
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> ids() const;
    [[nodiscard]] std::string guard() const;
    Exprs struct_of(std::uint32_t parameter);

    // Values
    Expr use(ir::NodeId id, std::size_t leaf = 0);
    [[nodiscard]] std::size_t leaf_count(ir::NodeId id) const { return values_[id].size(); }
    void define(ir::NodeId id, Exprs leaves);
    void define(ir::NodeId id, Expr leaf) { define(id, Exprs{std::move(leaf)}); }
    /// Emits a statement that names each leaf that is not fixed.
    void materialise(ir::NodeId id, Exprs& leaves);
    /// Defines a value that must be evaluated here, whether or not it is used.
    void define_here(ir::NodeId id, Exprs leaves);
    Expr atom(ScalarType s, Expr e);
    void before_write(ir::NodeId root);  // materialises pending text that reads `root`
    void before_all();
    static constexpr ir::NodeId all_buffers = ir::none - 1;
    [[nodiscard]] ir::NodeId memory_key(ir::NodeId root) const {
        return fn_[root].op == ir::Op::Buffer ? all_buffers : root;
    }

    // Statements
    void line(std::string_view text);
    void open(std::string_view text);
    void close(std::string_view text = "}");
    void locate(ir::NodeId id);

    // emit_value.cpp
    void emit_node(ir::NodeId id);
    void emit_elementwise(ir::NodeId id);
    void emit_builtin(ir::NodeId id);
    void emit_param(ir::NodeId id);
    void emit_select(ir::NodeId id);
    void emit_convert(ir::NodeId id);
    void emit_bitcast(ir::NodeId id);
    void emit_construct(ir::NodeId id);
    void emit_extract(ir::NodeId id);
    void emit_zero(ir::NodeId id);

    // emit_memory.cpp
    struct Memory {
        Space space = Space::Private;
        std::string name;
        bool read_only = false;
        std::vector<ScalarType> types;  // pointer types that accesses need
        std::uint64_t bytes = 0;
        [[nodiscard]] std::string pointer(ScalarType s) const;  // the pointer's or array's name
    };
    /// The first leaf and the type that a path of constant steps selects.
    struct Part {
        std::size_t first = 0;
        DType type;
    };
    [[nodiscard]] Part part_at(DType type, std::span<const ir::NodeId> path) const;
    void plan_access(ir::NodeId access);
    void need_types(const ElementPath& place);
    /// Returns the location's indices; with `many`, names them so that several leaves can share them.
    std::vector<Expr> indices(const ElementPath& place, bool many);
    Expr index_expr(const ElementPath& place, const std::vector<Expr>& dims, std::uint64_t offset,
                    std::uint64_t unit);
    Expr element(const ElementPath& place, const std::vector<Expr>& dims, std::uint64_t offset, ScalarType s);
    Expr load_leaf(const ElementPath& place, const std::vector<Expr>& dims, std::uint64_t offset,
                   ScalarType s);
    void store_leaf(const ElementPath& place, const std::vector<Expr>& dims, std::uint64_t offset,
                    ScalarType s, const Expr& value);
    Exprs load_place(const ElementPath& place);
    void store_place(const ElementPath& place, Exprs leaves);
    void declare_array(const Memory& memory);
    [[nodiscard]] std::string shared_declaration(ir::NodeId root) const;
    void emit_root(ir::NodeId id);
    void emit_load(ir::NodeId id);
    void emit_store(ir::NodeId id);
    void spill(ir::NodeId id);

    // emit_control.cpp
    void emit_region(ir::RegionId region);
    void emit_if(ir::NodeId id);
    void emit_for(ir::NodeId id);
    void emit_loop(ir::NodeId id);
    void emit_jump(ir::NodeId id);
    void emit_sync(ir::NodeId id);
    void emit_print(ir::NodeId id);

    // emit_atomic.cpp
    void emit_atomic(ir::NodeId id);
    std::string split_atomic(ir::Op op, Space space);
    std::string exchange_loop(ir::Op op, ScalarType s, Space space);

    // emit_subgroup.cpp
    void emit_fold(ir::NodeId id);
    void emit_lane(ir::NodeId id);
    void emit_vote(ir::NodeId id);
    Expr fold_scalar(const ir::Fold& fold, ScalarType s, const Expr& x);
    std::string ballot_word(unsigned word);
    Expr shuffled(ScalarType s, const Expr& x, const Expr& lane);

    const ir::Function& fn_;
    const Variant variant_;
    const Features& features_;
    const Dialect& d_;
    EmittedNode site_;
    Helpers helpers_;
    ScalarCode s_;
    Names names_;
    Source out_;

    std::string body_;
    unsigned depth_ = 1;
    ir::Loc shown_;

    std::vector<Exprs> values_;
    std::vector<ir::NodeId> pending_;  // values whose text reads memory and is not emitted yet
    std::vector<std::uint32_t> uses_;
    std::vector<bool> near_;               // the only use is in the defining region
    std::vector<bool> spilled_;            // some parts are extracted by computed steps
    std::vector<bool> indexed_;            // variables that are arrays
    std::vector<ir::NodeId> declared_by_;  // by variable: the store that declares it
    std::vector<std::uint32_t> memory_;    // by node: index into memories_
    std::vector<Memory> memories_;
    std::vector<Exprs> variables_;  // by index into memories_: names of a variable's scalars
    std::vector<std::string> parameters_;
    std::string structs_;  // types of composite values
    bool barrier_ = false;
    bool guarded_ = false;
};

}  // namespace volley::codegen::clike
