// When a value is needed: a boolean formula over conditions of the kernel. guard_loads combines the needs of
// a value's uses. Formulas are shared and simplified, so that equal ones usually have equal ids.
#pragma once

#include "ir/function.hpp"

#include <compare>
#include <functional>
#include <map>
#include <vector>

namespace volley::passes {

class Needs {
public:
    using Id = std::uint32_t;
    static constexpr Id never = 0;
    static constexpr Id always = 1;

    /// What a literal requires of its condition. The last two are for vectors: some component is true, some
    /// component is false.
    enum class Is : std::uint8_t { True, False, SomeTrue, SomeFalse };
    enum class Kind : std::uint8_t { Never, Always, Literal, And, Or };
    struct Gate {
        Kind kind = Kind::Never;
        Is is = Is::True;          // Literal
        ir::NodeId condition = 0;  // Literal
        Id a = 0;                  // And, Or
        Id b = 0;
        friend auto operator<=>(const Gate&, const Gate&) = default;  // NOLINT(modernize-use-nullptr)
    };

    Needs();

    [[nodiscard]] const Gate& operator[](Id id) const { return gates_[id]; }
    /// Returns the formula "the condition is ...", taken apart at and, or and not.
    [[nodiscard]] Id literal(const ir::Function& fn, ir::NodeId condition, Is is);
    [[nodiscard]] Id both(Id a, Id b);
    [[nodiscard]] Id either(Id a, Id b);
    /// Returns a weaker formula: literals for which known(condition) is false count as true.
    [[nodiscard]] Id weakened(Id id, const std::function<bool(ir::NodeId)>& known);
    /// Returns whether f(condition) is true for a literal of the formula.
    [[nodiscard]] bool any_literal(Id id, const std::function<bool(ir::NodeId)>& f) const;
    template <class F>
    void for_each_literal(Id id, F&& f) const {
        if (gates_[id].kind == Kind::Literal) f(gates_[id].condition);
        if (gates_[id].kind < Kind::And) return;
        for_each_literal(gates_[id].a, f);
        for_each_literal(gates_[id].b, f);
    }

private:
    Id intern(const Gate& gate);
    [[nodiscard]] bool implies(Id a, Id b, unsigned& steps) const;
    [[nodiscard]] bool implies(Id a, Id b) const;
    [[nodiscard]] bool opposite(Id a, Id b) const;

    std::vector<Gate> gates_;
    std::map<Gate, Id> known_;
};

}  // namespace volley::passes
