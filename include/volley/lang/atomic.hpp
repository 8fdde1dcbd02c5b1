// Atomic operations on one element: `data.atomic(i).add(1u)`, or `atomic(data[i].count).add(1u)` for a part
// of one.
#pragma once

#include <volley/lang/element.hpp>

namespace volley {

/// Atomic operations on an element of a buffer or shared array. Each returns the old value. The memory order
/// is relaxed. On a device without atomics on floats, they loop on compare_exchange.
template <class T>
class Atomic {
    static_assert(
        lang::Scalar<T> && !lang::is_bool<T> && sizeof(T) >= 4,
        "volley: atomics take only 32- and 64-bit integers, float and double: use one of these types");
    using Site = lang::Site;

public:
    explicit Atomic(lang::Ref place) : place_(place) {}

    Value<T> add(lang::In<T> v, Site at = Site::here()) const { return run(ir::Op::AtomicAdd, v, at); }
    Value<T> sub(lang::In<T> v, Site at = Site::here()) const { return run(ir::Op::AtomicSub, v, at); }
    Value<T> min(lang::In<T> v, Site at = Site::here()) const { return run(ir::Op::AtomicMin, v, at); }
    Value<T> max(lang::In<T> v, Site at = Site::here()) const { return run(ir::Op::AtomicMax, v, at); }
    Value<T> bit_and(lang::In<T> v, Site at = Site::here()) const { return bits(ir::Op::AtomicAnd, v, at); }
    Value<T> bit_or(lang::In<T> v, Site at = Site::here()) const { return bits(ir::Op::AtomicOr, v, at); }
    Value<T> bit_xor(lang::In<T> v, Site at = Site::here()) const { return bits(ir::Op::AtomicXor, v, at); }
    Value<T> exchange(lang::In<T> v, Site at = Site::here()) const {
        return run(ir::Op::AtomicExchange, v, at);
    }
    /// Stores `desired` if the old value equals `expected` (floats: bit by bit). Returns the old value.
    Value<T> compare_exchange(lang::In<T> expected, lang::In<T> desired, Site at = Site::here()) const {
        return Value<T>(lang::atomic(ir::Op::AtomicCas, place_, {expected.ref, desired.ref}, at));
    }

private:
    Value<T> run(ir::Op op, lang::In<T> v, Site at) const {
        return Value<T>(lang::atomic(op, place_, {v.ref}, at));
    }
    Value<T> bits(ir::Op op, lang::In<T> v, Site at) const {
        static_assert(lang::is_whole<T>,
                      "volley: atomic bit operations take only integers: use a buffer of integers");
        return run(op, v, at);
    }

    lang::Ref place_;
};

/// Returns the atomic operations on an element or on a part of one.
template <class T>
[[nodiscard]] Atomic<T> atomic(Element<T>&& element) {
    return Atomic<T>(lang::ref_of(element));
}

}  // namespace volley
