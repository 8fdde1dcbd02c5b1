// VOLLEY_STRUCT(Particle, position, velocity, mass): makes a struct a type of kernels, with its members under
// their own names on Value, Var and Element, in the host's layout.
//
//     namespace app {
//     struct Particle { vec3 position; vec3 velocity; float mass; };
//     VOLLEY_STRUCT(Particle, position, velocity, mass)
//     }
//     ... data[i].position.x += dt;
//
// It stands in the struct's own namespace, after the struct; a nested or templated one is named as from there
// (Outer::Inner, Pair<float>). Members are scalars, complex, vec, mat, arrays and other such structs, at
// most 64.
#pragma once

#include <volley/lang/value.hpp>

#include <cstddef>

namespace volley {
namespace lang {

template <class T>
struct MemberType {
    using type = T;
};
template <class T, std::size_t N>
struct MemberType<T[N]> {
    using type = std::array<typename MemberType<T>::type, N>;
};
/// C arrays are std::arrays in kernels.
template <class T>
using member_t = typename MemberType<T>::type;

struct FieldInfo {
    const char* name;
    DType type;
    std::size_t offset;
};
[[nodiscard]] VOLLEY_API DType struct_type(const char* name, const FieldInfo* fields, std::size_t count,
                                           std::size_t size, std::size_t align);

template <class Struct, class... Members>
struct FieldList {};

template <class Struct, class... Members, class... X>
[[nodiscard]] Value<Struct> make_struct(FieldList<Struct, Members...>, Site at, const X&... x) {
    static_assert(sizeof...(X) == sizeof...(Members),
                  "volley: make<Struct>(...) takes one value for each member");
    if constexpr (sizeof...(X) == sizeof...(Members)) {
        const Ref parts[] = {In<Members>(x, at).ref...};
        return Value<Struct>(construct(dtype_of<Struct>(), parts, sizeof...(X), at));
    }
}

}  // namespace lang
}  // namespace volley

#define VOLLEY_PARENS ()
#define VOLLEY_EXPAND(...) VOLLEY_EXPAND3(VOLLEY_EXPAND3(VOLLEY_EXPAND3(VOLLEY_EXPAND3(__VA_ARGS__))))
#define VOLLEY_EXPAND3(...) VOLLEY_EXPAND2(VOLLEY_EXPAND2(VOLLEY_EXPAND2(VOLLEY_EXPAND2(__VA_ARGS__))))
#define VOLLEY_EXPAND2(...) VOLLEY_EXPAND1(VOLLEY_EXPAND1(VOLLEY_EXPAND1(VOLLEY_EXPAND1(__VA_ARGS__))))
#define VOLLEY_EXPAND1(...) __VA_ARGS__
// VOLLEY_EACH(M, a, b, c) is M(a) M(b) M(c).
#define VOLLEY_EACH(macro, ...) __VA_OPT__(VOLLEY_EXPAND(VOLLEY_EACH_STEP(macro, __VA_ARGS__)))
#define VOLLEY_EACH_STEP(macro, first, ...) \
    macro(first) __VA_OPT__(VOLLEY_EACH_AGAIN VOLLEY_PARENS(macro, __VA_ARGS__))
#define VOLLEY_EACH_AGAIN() VOLLEY_EACH_STEP

#define VOLLEY_STRUCT_INDEX(m) volley_index_##m,
#define VOLLEY_STRUCT_TYPE(m) , ::volley::lang::member_t<decltype(volley_self::m)>
#define VOLLEY_STRUCT_MEMBER(m) VolleyFace<::volley::lang::member_t<decltype(volley_self::m)>> m;
#define VOLLEY_STRUCT_INIT(m) , m(volley_ref.part(volley_index_##m))
#define VOLLEY_STRUCT_FIELD(m) \
    {#m, ::volley::dtype_of<::volley::lang::member_t<decltype(volley_self::m)>>(), offsetof(volley_self, m)},

// The name has the line in it: one for all structs would be ambiguous where an unnamed namespace, or one that
// a using-directive opens, declares it too.
#define VOLLEY_STRUCT(Struct, ...) \
    VOLLEY_STRUCT_AT(VOLLEY_JOIN(volley_reflection_, __LINE__), Struct, __VA_ARGS__)
#define VOLLEY_STRUCT_AT(volley_reflection, Struct, ...)                                                    \
    template <class>                                                                                        \
    struct volley_reflection;                                                                               \
    template <>                                                                                             \
    struct volley_reflection<Struct> {                                                                      \
        using volley_self = Struct;                                                                         \
        static_assert(::std::is_trivially_copyable_v<volley_self> &&                                        \
                          ::std::is_standard_layout_v<volley_self>,                                         \
                      "volley: a struct in kernels is trivially copyable and has a standard layout");       \
        enum : unsigned { VOLLEY_EACH(VOLLEY_STRUCT_INDEX, __VA_ARGS__) volley_count };                     \
        static_assert(volley_count <= 64, "volley: a struct in kernels has at most 64 members");            \
        using volley_list = ::volley::lang::FieldList<Struct VOLLEY_EACH(VOLLEY_STRUCT_TYPE, __VA_ARGS__)>; \
        template <template <class> class VolleyFace, class VolleyBase>                                      \
        struct volley_members : VolleyBase {                                                                \
            VOLLEY_EACH(VOLLEY_STRUCT_MEMBER, __VA_ARGS__)                                                  \
            explicit volley_members(::volley::lang::Ref volley_ref)                                         \
                : VolleyBase(volley_ref) VOLLEY_EACH(VOLLEY_STRUCT_INIT, __VA_ARGS__) {}                    \
        };                                                                                                  \
        static ::volley::DType volley_dtype() {                                                             \
            const ::volley::lang::FieldInfo fields[] = {VOLLEY_EACH(VOLLEY_STRUCT_FIELD, __VA_ARGS__)};     \
            return ::volley::lang::struct_type(#Struct, fields, volley_count, sizeof(volley_self),          \
                                               alignof(volley_self));                                       \
        }                                                                                                   \
    };                                                                                                      \
    [[maybe_unused]] constexpr volley_reflection<Struct> volley_reflect(const Struct*) noexcept { return {}; }
