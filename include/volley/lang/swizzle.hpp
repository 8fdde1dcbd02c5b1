// Swizzles of vector Values: v.xy(), v.zyx(), v.xxy(). swizzle<3, 0, 0, 1>(v) returns any other combination.
#pragma once

#include <volley/lang/operand.hpp>

namespace volley::lang {

/// The base of Value<T>: the handle, the operators and, for vectors, the swizzles.
template <class T>
class ValueBase;

#define VOLLEY_SWIZZLE2(a, ia, b, ib)                                  \
    Value<vec<U, 2>> a##b(Site at = Site::here()) const {              \
        return Value<vec<U, 2>>(swizzle(ref_of(*this), {ia, ib}, at)); \
    }
#define VOLLEY_SWIZZLE3(a, ia, b, ib, c, ic)                               \
    Value<vec<U, 3>> a##b##c(Site at = Site::here()) const {               \
        return Value<vec<U, 3>>(swizzle(ref_of(*this), {ia, ib, ic}, at)); \
    }
#define VOLLEY_SWIZZLE4(a, ia, b, ib, c, ic, d, id)                            \
    Value<vec<U, 4>> a##b##c##d(Site at = Site::here()) const {                \
        return Value<vec<U, 4>>(swizzle(ref_of(*this), {ia, ib, ic, id}, at)); \
    }

// The swizzle (a, b), and (a, b, c) for each third component c.
#define VOLLEY_SWIZZLES_OF_2(a, ia, b, ib) \
    VOLLEY_SWIZZLE2(a, ia, b, ib) VOLLEY_SWIZZLE3(a, ia, b, ib, x, 0) VOLLEY_SWIZZLE3(a, ia, b, ib, y, 1)
#define VOLLEY_SWIZZLES_OF_3(a, ia, b, ib) \
    VOLLEY_SWIZZLES_OF_2(a, ia, b, ib) VOLLEY_SWIZZLE3(a, ia, b, ib, z, 2)
#define VOLLEY_SWIZZLES_OF_4(a, ia, b, ib) \
    VOLLEY_SWIZZLES_OF_3(a, ia, b, ib) VOLLEY_SWIZZLE3(a, ia, b, ib, w, 3)

// clang-format off
template <class U>
class Swizzles2 : public Handle {
public:
    VOLLEY_SWIZZLES_OF_2(x, 0, x, 0) VOLLEY_SWIZZLES_OF_2(x, 0, y, 1)
    VOLLEY_SWIZZLES_OF_2(y, 1, x, 0) VOLLEY_SWIZZLES_OF_2(y, 1, y, 1)

protected:
    using Handle::Handle;
};

template <class U>
class Swizzles3 : public Handle {
public:
    VOLLEY_SWIZZLES_OF_3(x, 0, x, 0) VOLLEY_SWIZZLES_OF_3(x, 0, y, 1) VOLLEY_SWIZZLES_OF_3(x, 0, z, 2)
    VOLLEY_SWIZZLES_OF_3(y, 1, x, 0) VOLLEY_SWIZZLES_OF_3(y, 1, y, 1) VOLLEY_SWIZZLES_OF_3(y, 1, z, 2)
    VOLLEY_SWIZZLES_OF_3(z, 2, x, 0) VOLLEY_SWIZZLES_OF_3(z, 2, y, 1) VOLLEY_SWIZZLES_OF_3(z, 2, z, 2)

protected:
    using Handle::Handle;
};

template <class U>
class Swizzles4 : public Handle {
public:
    VOLLEY_SWIZZLES_OF_4(x, 0, x, 0) VOLLEY_SWIZZLES_OF_4(x, 0, y, 1)
    VOLLEY_SWIZZLES_OF_4(x, 0, z, 2) VOLLEY_SWIZZLES_OF_4(x, 0, w, 3)
    VOLLEY_SWIZZLES_OF_4(y, 1, x, 0) VOLLEY_SWIZZLES_OF_4(y, 1, y, 1)
    VOLLEY_SWIZZLES_OF_4(y, 1, z, 2) VOLLEY_SWIZZLES_OF_4(y, 1, w, 3)
    VOLLEY_SWIZZLES_OF_4(z, 2, x, 0) VOLLEY_SWIZZLES_OF_4(z, 2, y, 1)
    VOLLEY_SWIZZLES_OF_4(z, 2, z, 2) VOLLEY_SWIZZLES_OF_4(z, 2, w, 3)
    VOLLEY_SWIZZLES_OF_4(w, 3, x, 0) VOLLEY_SWIZZLES_OF_4(w, 3, y, 1)
    VOLLEY_SWIZZLES_OF_4(w, 3, z, 2) VOLLEY_SWIZZLES_OF_4(w, 3, w, 3)
    VOLLEY_SWIZZLE4(x, 0, y, 1, z, 2, w, 3) VOLLEY_SWIZZLE4(w, 3, z, 2, y, 1, x, 0)
    VOLLEY_SWIZZLE4(y, 1, z, 2, w, 3, x, 0) VOLLEY_SWIZZLE4(w, 3, x, 0, y, 1, z, 2)
    VOLLEY_SWIZZLE4(z, 2, w, 3, x, 0, y, 1) VOLLEY_SWIZZLE4(y, 1, x, 0, w, 3, z, 2)
    VOLLEY_SWIZZLE4(x, 0, x, 0, x, 0, x, 0) VOLLEY_SWIZZLE4(y, 1, y, 1, y, 1, y, 1)
    VOLLEY_SWIZZLE4(z, 2, z, 2, z, 2, z, 2) VOLLEY_SWIZZLE4(w, 3, w, 3, w, 3, w, 3)

protected:
    using Handle::Handle;
};
// clang-format on

#undef VOLLEY_SWIZZLES_OF_4
#undef VOLLEY_SWIZZLES_OF_3
#undef VOLLEY_SWIZZLES_OF_2
#undef VOLLEY_SWIZZLE4
#undef VOLLEY_SWIZZLE3
#undef VOLLEY_SWIZZLE2

/// The handle that Value<T> derives from.
template <class T>
struct HandleOf {
    using type = Handle;
};
template <class U>
struct HandleOf<vec<U, 2>> {
    using type = Swizzles2<U>;
};
template <class U>
struct HandleOf<vec<U, 3>> {
    using type = Swizzles3<U>;
};
template <class U>
struct HandleOf<vec<U, 4>> {
    using type = Swizzles4<U>;
};

}  // namespace volley::lang
