// VOLLEY_STRUCT(Particle, position, velocity, mass) makes a struct usable in kernels, in the memory layout of
// the host. Value, Var and Element have its members under the same names.
//
//     namespace app {
//     struct Particle { vec3 position; vec3 velocity; float mass; };
//     VOLLEY_STRUCT(Particle, position, velocity, mass)
//     }
//     ... data[i].position.x += dt;
//
// Write it after the struct, in the same namespace. Name nested structs and template instances as seen from
// there (Outer::Inner, Pair<float>). Members may be scalars, complex, vec, mat, arrays and other reflected
// structs. The limit is 64 members.
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
/// The type of a member in kernels: a C array becomes a std::array.
template <class T>
using member_t = typename MemberType<T>::type;

/// A member of a reflected struct, with its byte offset.
struct FieldInfo {
    const char* name;
    DType type;
    std::size_t offset;
};
/// Returns the interned type of a reflected struct.
[[nodiscard]] VOLLEY_API DType struct_type(const char* name, const FieldInfo* fields, std::size_t count,
                                           std::size_t size, std::size_t align);

template <class Struct, class... Members>
struct FieldList {};

template <class Struct, class... Members, class... X>
[[nodiscard]] Value<Struct> make_struct(FieldList<Struct, Members...>, Site at, const X&... x) {
    static_assert(sizeof...(X) == sizeof...(Members),
                  "volley: make<Struct>(...) takes one value per member: pass all members");
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
// VOLLEY_EACH(M, a, b, c) expands to M(a) M(b) M(c).
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

// The name contains the line number. A fixed name would be ambiguous if an unnamed namespace, or a namespace
// that a using-directive names, declared it too.
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
                      "volley: a struct in kernels must be trivially copyable and have a standard layout"); \
        enum : unsigned { VOLLEY_EACH(VOLLEY_STRUCT_INDEX, __VA_ARGS__) volley_count };                     \
        static_assert(volley_count <= 64,                                                                   \
                      "volley: a struct in kernels can have at most 64 members: nest structs");             \
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
