// Traces functions, and copies their operations into the kernel that calls them.
#include "core/fail.hpp"
#include "core/text.hpp"
#include "ir/hash.hpp"
#include "lang/tracer.hpp"

#include <volley/lang/any_function.hpp>

#include <string>
#include <utility>

namespace volley {
namespace lang {

/// A function that ends with a store of its result to a variable.
struct TracedFunction {
    ir::Function fn;
    std::vector<FunctionParameter> parameters;
    DType result;
    ir::NodeId out = ir::none;  // the variable; none if there is no result
    std::string hash;
};

namespace {

using ir::NodeId;
using ir::Op;
using ir::RegionId;

/// Copies the body of a function to the insertion point of the current trace.
class FunctionCopy {
public:
    FunctionCopy(const TracedFunction& from, Tracer& to, std::span<const Ref> arguments)
        : from_(from), to_(to), copies_(from.fn.nodes.size(), ir::none) {
        for (std::size_t k = 0; k < arguments.size(); ++k) {
            const bool buffer = from.parameters[k].is_buffer;
            copies_[from.fn.params[k].node] = buffer ? arguments[k].node() : to.read(arguments[k]);
            if (buffer) pass_rank(k);
        }
    }

    /// Returns the result; ir::none if the function has none.
    NodeId run() {
        copy(from_.fn.body);
        return result_;
    }

private:
    // A buffer that the function accesses by position must have the rank that it uses.
    void pass_rank(std::size_t k) {
        const std::uint32_t used = from_.fn.params[k].rank;
        if (used == 0) return;
        const auto parameter = static_cast<std::size_t>(to_.function()[copies_[from_.fn.params[k].node]].imm);
        std::uint32_t& rank = to_.function().params[parameter].rank;
        if (rank != 0 && rank != used) {
            to_.fail(cat("a buffer is accessed with ", used, " indices, and with ", rank, " elsewhere"),
                     "use one index per dimension of the buffer");
        }
        rank = used;
    }

    void copy(RegionId region) {
        for (const NodeId id : from_.fn.nodes_of(region)) {
            const ir::Node node = from_.fn[id];
            if (node.op == Op::Buffer || id == from_.out) continue;
            if (node.op == Op::Param) {
                if (copies_[id] == ir::none) copies_[id] = layout(static_cast<std::size_t>(node.imm));
                continue;
            }
            if (node.op == Op::Store && from_.fn.arg(id, 0) == from_.out) {
                result_ = copies_[from_.fn.arg(id, 1)];
                continue;
            }
            move_to(node.loc);
            copies_[id] = copy_node(id, node);
        }
    }

    // The layout parameters of the function become those of the kernel.
    NodeId layout(std::size_t k) {
        const ir::Param& param = from_.fn.params[k];
        const NodeId buffer = copies_[from_.fn.params[param.buffer].node];
        const auto parameter = static_cast<std::uint32_t>(to_.function()[buffer].imm);
        return to_.builder().layout_param(param.kind, param.type, parameter, param.axis);
    }

    void move_to(ir::Loc loc) {
        if (loc.line == 0) return;
        const std::uint32_t file = to_.function().add_file(from_.fn.files[loc.file]);
        to_.builder().set_loc({file, loc.line, 0});
    }

    NodeId copy_node(NodeId id, const ir::Node& node) {
        ir::Builder& out = to_.builder();
        std::vector<NodeId> args;
        for (const NodeId arg : from_.fn.args(id)) args.push_back(copies_[arg]);
        switch (node.op) {
            case Op::Shared: return out.shared(node.type);
            case Op::Var: return out.var(node.type);
            case Op::Zero: return out.zero(node.type);
            case Op::Print:
                out.print(from_.fn.strings[static_cast<std::size_t>(node.imm)], args);
                return ir::none;
            case Op::If:
                out.begin_if(args[0]);
                copy(node.regions[0]);
                if (node.regions[1] != ir::none) {
                    out.begin_else();
                    copy(node.regions[1]);
                }
                out.end_if();
                return ir::none;
            case Op::For:
                copies_[id] = out.begin_for(args[0], args[1], args[2]);
                copy(node.regions[0]);
                out.end_for();
                return copies_[id];
            case Op::Loop:
                out.begin_loop();
                copy(node.regions[0]);
                out.end_loop();
                return ir::none;
            default: return out.emit(node.op, args, node.type, node.imm);
        }
    }

    const TracedFunction& from_;
    Tracer& to_;
    std::vector<NodeId> copies_;
    NodeId result_ = ir::none;
};

void check_body(const ir::Function& fn) {
    ir::for_each_node(fn, fn.body, [&](NodeId id) {
        const ir::Node& node = fn[id];
        if (node.op != Op::Return && node.op != Op::Barrier) return;
        const std::string where = fn.where(node.loc);
        fail(ErrorCode::TraceError,
             cat("a function that an algorithm calls contains ",
                 node.op == Op::Return ? "$return" : "barrier()"),
             where, "return the result with a C++ return at its end, and use no barrier");
    });
}

}  // namespace
}  // namespace lang

std::span<const FunctionParameter> AnyFunction::parameters() const noexcept { return traced_->parameters; }
DType AnyFunction::result() const noexcept { return traced_->result; }
std::string_view AnyFunction::hash() const noexcept { return traced_->hash; }

AnyValue AnyFunction::call(std::span<const lang::Ref> arguments) const {
    lang::Tracer& t = lang::Tracer::current();
    const std::vector<FunctionParameter>& parameters = traced_->parameters;
    if (arguments.size() != parameters.size()) {
        t.fail(cat("a function with ", parameters.size(), " parameters is called with ", arguments.size(),
                   " arguments"),
               "pass one argument for each parameter");
    }
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        t.check(arguments[k]);
        const bool is_buffer = t.function()[arguments[k].node()].op == ir::Op::Buffer;
        if (is_buffer != parameters[k].is_buffer) {
            t.fail(cat("argument ", k + 1, " of a function is a ", is_buffer ? "buffer" : "value",
                       ", but the parameter is a ", is_buffer ? "value" : "buffer"),
                   "pass a value for each value, and a buffer parameter of the kernel for each buffer");
        }
        const DType given = is_buffer ? t.type(arguments[k].node()) : t.type(t.read(arguments[k]));
        if (given == parameters[k].type) continue;
        t.fail(cat("argument ", k + 1, " of a function has the type ", given.name(),
                   ", but the parameter is ", parameters[k].type.name()),
               "pass a value of the parameter's type");
    }
    const ir::Loc loc = t.builder().loc();
    const ir::NodeId result = lang::FunctionCopy(*traced_, t, arguments).run();
    t.builder().set_loc(loc);
    if (result == ir::none) return {lang::Ref(), DType()};
    return {t.wrap(result), traced_->result};
}

AnyValue AnyFunction::call(std::initializer_list<AnyValue> arguments) const {
    std::vector<lang::Ref> refs;
    for (const AnyValue& argument : arguments) refs.push_back(ref_of(argument));
    return call(refs);
}

AnyFunction trace_function(lang::FunctionBody body, void* function) {
    struct Call {
        lang::FunctionBody body;
        void* function;
        DType result;
        ir::NodeId out;
    } call{body, function, {}, ir::none};
    const auto record = [](void* data) {
        Call& c = *static_cast<Call*>(data);
        const lang::Ref result = c.body(c.function);
        if (result.trace() == 0) return;
        lang::Tracer& t = lang::Tracer::current();
        const ir::NodeId value = t.read(result);
        c.result = t.type(value);
        c.out = t.builder().var(c.result);
        t.builder().store(c.out, value, {});
    };
    auto traced = std::make_shared<lang::TracedFunction>();
    traced->fn = lang::trace("function", record, &call);
    traced->result = call.result;
    traced->out = call.out;
    lang::check_body(traced->fn);
    for (const ir::Param& param : traced->fn.params) {
        if (param.is_layout()) continue;
        traced->parameters.push_back({param.kind == ir::ParamKind::Buffer, param.read_only, param.type});
    }
    traced->hash = ir::hash(traced->fn).to_string();
    return AnyFunction(std::move(traced));
}

}  // namespace volley
