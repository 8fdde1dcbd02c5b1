// Operations over the active lanes of a subgroup: reductions, scans, shuffles and votes.
#pragma once

#include <volley/lang/value.hpp>

namespace volley {
namespace lang {

template <class T>
consteval void need_sum() {
    static_assert(
        (Elementwise<T> || is_complex<T>)&&!is_bool<T>,
        "volley: this subgroup operation takes only integers, floats, vectors of these and complex numbers: "
        "convert with cast<T>(v)");
}
template <class T>
consteval void need_fold() {
    static_assert(
        Elementwise<T> && !is_bool<T>,
        "volley: this subgroup operation takes only integers, floats and vectors of these: convert with "
        "cast<T>(v)");
}
template <class T>
consteval void need_fold_bits() {
    static_assert(
        Elementwise<T> && !is_float<T>,
        "volley: this subgroup operation takes only integers and bool: use bit_cast<T>(v) for the bits of a "
        "float");
}

}  // namespace lang

// subgroup_add and so on return the reduction over all active lanes, in every lane. The inclusive scans
// reduce the lanes up to and including the current one, the exclusive scans the lanes before it.
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

/// Returns the value of a lane, which must be the same for all lanes of the subgroup.
template <class T>
[[nodiscard]] Value<T> subgroup_broadcast(const Value<T>& v, lang::In<u32> lane,
                                          lang::Site at = lang::Site::here()) {
    return Value<T>(lang::emit(ir::Op::SubgroupBroadcast, {lang::ref_of(v), lane.ref}, at));
}
/// Returns the value of any lane.
template <class T>
[[nodiscard]] Value<T> subgroup_shuffle(const Value<T>& v, lang::In<u32> lane,
                                        lang::Site at = lang::Site::here()) {
    return Value<T>(lang::emit(ir::Op::SubgroupShuffle, {lang::ref_of(v), lane.ref}, at));
}
/// Returns the value of lane `subgroup_lane() ^ mask`.
template <class T>
[[nodiscard]] Value<T> subgroup_shuffle_xor(const Value<T>& v, lang::In<u32> mask,
                                            lang::Site at = lang::Site::here()) {
    return Value<T>(lang::emit(ir::Op::SubgroupShuffleXor, {lang::ref_of(v), mask.ref}, at));
}

/// Return whether the condition is true in any, or in all, active lanes.
[[nodiscard]] inline Value<bool> subgroup_any(lang::In<bool> c, lang::Site at = lang::Site::here()) {
    return Value<bool>(lang::emit(ir::Op::SubgroupAny, {c.ref}, at));
}
[[nodiscard]] inline Value<bool> subgroup_all(lang::In<bool> c, lang::Site at = lang::Site::here()) {
    return Value<bool>(lang::emit(ir::Op::SubgroupAll, {c.ref}, at));
}
/// Returns a bit mask of the active lanes in which the condition is true. Lane 0 is the lowest bit of x.
[[nodiscard]] inline Value<vec<u32, 4>> subgroup_ballot(lang::In<bool> c,
                                                        lang::Site at = lang::Site::here()) {
    return Value<vec<u32, 4>>(lang::emit(ir::Op::SubgroupBallot, {c.ref}, at));
}
/// Returns true in the lowest active lane only.
[[nodiscard]] inline Value<bool> subgroup_elect(lang::Site at = lang::Site::here()) {
    return Value<bool>(lang::emit(ir::Op::SubgroupElect, {}, at));
}
/// Orders the memory accesses of the lanes of a subgroup.
inline void subgroup_barrier(lang::Site at = lang::Site::here()) {
    lang::sync(ir::Op::SubgroupBarrier, ir::FenceScope::All, at);
}

}  // namespace volley
