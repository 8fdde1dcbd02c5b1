// Operations over the active lanes of a subgroup: folds, scans, exchanges and votes.
#pragma once

#include <volley/lang/value.hpp>

namespace volley {
namespace lang {

template <class T>
consteval void need_sum() {
    static_assert((Elementwise<T> || is_complex<T>)&&!is_bool<T>,
                  "volley: this subgroup operation takes integers, floats, vectors and complex numbers");
}
template <class T>
consteval void need_fold() {
    static_assert(Elementwise<T> && !is_bool<T>,
                  "volley: this subgroup operation takes integers, floats and vectors");
}
template <class T>
consteval void need_fold_bits() {
    static_assert(Elementwise<T> && !is_float<T>, "volley: this subgroup operation takes integers and bool");
}

}  // namespace lang

// A fold gives all active lanes the combined value; scans combine the lanes up to and with (inclusive), or
// without (exclusive), the own one.
#define VOLLEY_SUBGROUP(name, node, need)                                                \
    template <class T>                                                                   \
    [[nodiscard]] Value<T> name(const Value<T>& v, lang::Site at = lang::Site::here()) { \
        lang::need<T>();                                                                 \
        return Value<T>(lang::emit(ir::Op::node, {lang::ref_of(v)}, at));                \
    }
#define VOLLEY_SUBGROUP_FOLDS(name, Node, need)                               \
    VOLLEY_SUBGROUP(subgroup_##name, Subgroup##Node, need)                    \
    VOLLEY_SUBGROUP(subgroup_inclusive_##name, SubgroupInclusive##Node, need) \
    VOLLEY_SUBGROUP(subgroup_exclusive_##name, SubgroupExclusive##Node, need)
VOLLEY_SUBGROUP_FOLDS(add, Add, need_sum)
VOLLEY_SUBGROUP_FOLDS(mul, Mul, need_fold)
VOLLEY_SUBGROUP_FOLDS(min, Min, need_fold)
VOLLEY_SUBGROUP_FOLDS(max, Max, need_fold)
VOLLEY_SUBGROUP_FOLDS(and, And, need_fold_bits)
VOLLEY_SUBGROUP_FOLDS(or, Or, need_fold_bits)
VOLLEY_SUBGROUP_FOLDS(xor, Xor, need_fold_bits)
#undef VOLLEY_SUBGROUP_FOLDS
#undef VOLLEY_SUBGROUP

/// The value of another lane: broadcast takes the same lane everywhere, shuffle any, shuffle_xor the own one
/// ^ mask.
template <class T>
[[nodiscard]] Value<T> subgroup_broadcast(const Value<T>& v, lang::In<u32> lane,
                                          lang::Site at = lang::Site::here()) {
    return Value<T>(lang::emit(ir::Op::SubgroupBroadcast, {lang::ref_of(v), lane.ref}, at));
}
template <class T>
[[nodiscard]] Value<T> subgroup_shuffle(const Value<T>& v, lang::In<u32> lane,
                                        lang::Site at = lang::Site::here()) {
    return Value<T>(lang::emit(ir::Op::SubgroupShuffle, {lang::ref_of(v), lane.ref}, at));
}
template <class T>
[[nodiscard]] Value<T> subgroup_shuffle_xor(const Value<T>& v, lang::In<u32> mask,
                                            lang::Site at = lang::Site::here()) {
    return Value<T>(lang::emit(ir::Op::SubgroupShuffleXor, {lang::ref_of(v), mask.ref}, at));
}

[[nodiscard]] inline Value<bool> subgroup_any(lang::In<bool> c, lang::Site at = lang::Site::here()) {
    return Value<bool>(lang::emit(ir::Op::SubgroupAny, {c.ref}, at));
}
[[nodiscard]] inline Value<bool> subgroup_all(lang::In<bool> c, lang::Site at = lang::Site::here()) {
    return Value<bool>(lang::emit(ir::Op::SubgroupAll, {c.ref}, at));
}
/// A bit for each lane, the lowest in x.
[[nodiscard]] inline Value<vec<u32, 4>> subgroup_ballot(lang::In<bool> c,
                                                        lang::Site at = lang::Site::here()) {
    return Value<vec<u32, 4>>(lang::emit(ir::Op::SubgroupBallot, {c.ref}, at));
}
/// True in the lowest active lane.
[[nodiscard]] inline Value<bool> subgroup_elect(lang::Site at = lang::Site::here()) {
    return Value<bool>(lang::emit(ir::Op::SubgroupElect, {}, at));
}
inline void subgroup_barrier(lang::Site at = lang::Site::here()) {
    lang::sync(ir::Op::SubgroupBarrier, ir::FenceScope::All, at);
}

}  // namespace volley
