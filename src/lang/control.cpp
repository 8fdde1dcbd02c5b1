// The guards of $if, $for and $while. Their destructors record nothing and never throw.
#include "core/text.hpp"
#include "lang/tracer.hpp"

#include <volley/lang/control.hpp>

#include <exception>

namespace volley::lang {

void Scope::entered() noexcept {
    Tracer* const t = Tracer::find();
    trace_ = t->serial();
    depth_ = t->depth() - 1;
    exceptions_ = std::uncaught_exceptions();
    open_ = true;
}

Scope::~Scope() {
    if (!open_) return;
    Tracer* const t = Tracer::find();
    if (t == nullptr || t->serial() != trace_) return;
    t->unwind(depth_);
    try {
        t->poison(at_,
                  cat("control left the body of a ", name_, " by ",
                      std::uncaught_exceptions() > exceptions_ ? "an exception"
                                                               : "a C++ break, continue, return or goto"));
    } catch (...) {
        t->poison(at_, {});
    }
}

bool If::next() {
    Tracer& t = Tracer::current(at_);
    ir::Builder& b = t.builder();
    switch (state_) {
        case 0:
            b.begin_if(t.read(condition_));
            t.enter();
            entered();
            state_ = 1;
            return true;
        case 1:
            t.leave();
            b.begin_else();
            t.enter();
            state_ = 2;
            return true;
        default: {
            t.leave();
            const ir::NodeId id = b.innermost();
            b.end_if();
            left();
            state_ = 3;
            // The host cannot tell whether there was an $else; an empty one is equivalent to none.
            ir::RegionId& otherwise = t.function()[id].regions[1];
            if (t.function().regions[otherwise].nodes.empty()) otherwise = ir::none;
            return false;
        }
    }
}

bool While::next() {
    Tracer& t = Tracer::current(at_);
    if (state_ == 0) {
        t.builder().begin_loop();
        t.enter(true);
        entered();
        state_ = 1;
        return true;
    }
    t.leave();
    t.builder().end_loop();
    left();
    return false;
}

void While::check(Condition condition) {
    if (condition.always) return;
    Tracer& t = Tracer::current(at_);
    ir::Builder& b = t.builder();
    b.begin_if(b.emit(ir::Op::Not, {t.read(condition.ref)}));
    b.jump(ir::Op::Break);
    b.end_if();
}

Ref ForLoop::open() {
    Tracer& t = Tracer::current(at_);
    const ir::NodeId begin = t.read(begin_);
    const ir::NodeId end = t.read(end_);
    const ir::NodeId index = t.builder().begin_for(begin, end, t.read(step_));
    t.enter(true);
    t.bind_to_scope(index);
    entered();
    return t.wrap(index);
}

void ForLoop::close() {
    Tracer& t = Tracer::current(at_);
    t.leave();
    t.builder().end_for();
    left();
}

void jump(ir::Op op, Site at) {
    Tracer& t = Tracer::current(at);
    if (op != ir::Op::Return && !t.in_loop()) {
        t.fail(cat("$", ir::mnemonic(op), " is outside a loop"), "use it in the body of a $for or $while");
    }
    t.builder().jump(op);
}

}  // namespace volley::lang
