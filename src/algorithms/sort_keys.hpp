// Keys as unsigned numbers. Invariant: encode() is one-to-one, and encoded keys have the order of the keys
// (sort.hpp), or its reverse.
#pragma once

#include <volley/lang/any_function.hpp>
#include <volley/lang/any_value.hpp>

#include <optional>
#include <string_view>

namespace volley::algorithms {

/// How the keys of a sort are encoded: in the low `bits` of a u32, or in a u64. Keys that are compared by a
/// function of the program are not encoded.
struct KeyCode {
    DType type;
    bool descending = false;
    bool encoded = true;

    [[nodiscard]] unsigned bits() const noexcept { return bits_of(type.scalar()); }
    /// Returns the type of encoded keys: u32 or u64; `type` if they are not encoded.
    [[nodiscard]] DType word() const;
    /// Returns whether an encoded key has the bits of the key.
    [[nodiscard]] bool is_identity() const noexcept;
    [[nodiscard]] AnyValue encode(const AnyValue& key) const;
    [[nodiscard]] AnyValue decode(const AnyValue& word) const;
};

/// Throws ArgumentError (TypeMismatch) unless keys of this type have an order.
void check_sortable(DType type, std::string_view algorithm);
/// Throws ArgumentError (TypeMismatch) unless keys of this type have an order, or `less` compares two of
/// them.
void check_order(DType type, const std::optional<AnyFunction>& less, std::string_view algorithm);

}  // namespace volley::algorithms
