// Shared<T>: an array that the invocations of a workgroup share. Its initial contents are undefined.
//
//     Shared<float> tile(16, 17);
//     tile[local_id().y][local_id().x] = data[i];
//     barrier();
#pragma once

#include <volley/lang/atomic.hpp>
#include <volley/lang/element.hpp>

namespace volley {

// NOLINTBEGIN(google-explicit-constructor,misc-unconventional-assign-operator,bugprone-unhandled-self-assignment):
// numbers convert implicitly by design, and assignment records a store
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // members of a user's struct, a base class here, may have any name

/// A partly or fully indexed shared array. With all indices, it is an element.
template <class T>
class SharedElement : public Element<T> {
public:
    SharedElement(lang::Ref root, unsigned rank, lang::ElementIndex first)
        : Element<T>(volley_reach(root, rank, &first.ref, 1)),
          volley_root_(root),
          volley_rank_(rank),
          volley_indices_{first.ref} {}

    using Element<T>::operator=;
    Value<T> operator=(const SharedElement& other) && {
        return static_cast<Element<T>&&>(*this) = static_cast<const Element<T>&>(other);
    }
    void operator=(const SharedElement& other) & { static_cast<Element<T>&>(*this) = other; }
    SharedElement(const SharedElement&) = default;

    [[nodiscard]] SharedElement operator[](lang::ElementIndex next) const {
        return SharedElement(*this, next);
    }

private:
    SharedElement(SharedElement before, lang::ElementIndex next)
        : Element<T>(before.volley_extended(next)),
          volley_root_(before.volley_root_),
          volley_rank_(before.volley_rank_),
          volley_given_(before.volley_given_ + 1),
          volley_indices_{before.volley_indices_[0], before.volley_indices_[1], before.volley_indices_[2]} {}

    lang::Ref volley_extended(lang::ElementIndex next) {
        if (volley_given_ >= volley_rank_) lang::fail_partial(volley_given_ + 1, volley_rank_);
        volley_indices_[volley_given_] = next.ref;
        return volley_reach(volley_root_, volley_rank_, volley_indices_, volley_given_ + 1);
    }
    static lang::Ref volley_reach(lang::Ref root, unsigned rank, const lang::Ref* indices, unsigned given) {
        if (given < rank) return lang::Ref(lang::Ref::Kind::Partial, root.node(), root.trace());
        return lang::element(root, indices, given);
    }

    lang::Ref volley_root_;
    unsigned volley_rank_ = 1;
    unsigned volley_given_ = 1;
    lang::Ref volley_indices_[3];
};

#pragma GCC diagnostic pop
// NOLINTEND(google-explicit-constructor,misc-unconventional-assign-operator,bugprone-unhandled-self-assignment)

/// A shared array of one to three dimensions. The extents are fixed when the kernel is traced. Indexing takes
/// one index per dimension, tile[y][x] or tile(y, x); only the second form can be indexed further, if T is a
/// vector, matrix or array. A wrong number of indices is a TraceError.
template <class T>
class Shared {
    using Site = lang::Site;
    using Index = lang::ElementIndex;

public:
    explicit Shared(std::uint64_t n, Site at = Site::here()) : Shared({n, 0, 0}, 1, at) {}
    Shared(std::uint64_t n, std::uint64_t m, Site at = Site::here()) : Shared({n, m, 0}, 2, at) {}
    Shared(std::uint64_t n, std::uint64_t m, std::uint64_t k, Site at = Site::here())
        : Shared({n, m, k}, 3, at) {}
    template <class... X>
    requires(lang::Expr<X> || ...) explicit Shared(const X&...) {
        static_assert(lang::never<X...>,
                      "volley: the extents of a Shared array must be host integers, known while the kernel "
                      "is traced: use a constant, and declare the workgroup size with the kernel");
    }

    [[nodiscard]] SharedElement<T> operator[](Index i) const { return SharedElement<T>(root_, rank_, i); }

    [[nodiscard]] Element<T> operator()(Index a, Index b = {}, Index c = {}) const {
        const lang::Ref indices[] = {a.ref, b.ref, c.ref};
        return Element<T>(lang::element(root_, indices, check(b, c)));
    }

    [[nodiscard]] Atomic<T> atomic(Index a, Index b = {}, Index c = {}) const {
        const lang::Ref indices[] = {a.ref, b.ref, c.ref};
        return Atomic<T>(lang::locate(root_, indices, check(b, c)));
    }

private:
    struct Extents {
        std::uint64_t n[3];
    };
    Shared(Extents extents, unsigned rank, Site at)
        : root_(lang::declare_shared(dtype_of<T>(), extents.n, rank, at)), rank_(rank) {}

    /// Returns the number of indices. Throws TraceError if the array has another number of dimensions.
    unsigned check(Index b, Index c) const {
        const unsigned given = c.given() ? 3 : b.given() ? 2 : 1;
        if (given != rank_) lang::fail_partial(given, rank_);
        return given;
    }

    lang::Ref root_;
    unsigned rank_;
};

}  // namespace volley
