// KernelKey: what distinguishes one kernel of an algorithm from another.
#pragma once

#include <volley/dtype.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

namespace volley {

/// A sequence of values that determines the IR of a kernel, such as the algorithm, the types, the structure
/// of the sources and the tuning parameters. Equal keys stand for equal kernels.
class KernelKey {
public:
    explicit KernelKey(std::string_view algorithm) { add(algorithm); }

    template <class I>
    requires(std::integral<I> || std::is_enum_v<I>) KernelKey& add(I value) {
        const auto bits = static_cast<unsigned long long>(value);
        text_.append(reinterpret_cast<const char*>(&bits), sizeof bits);
        return *this;
    }
    KernelKey& add(DType type) { return add(reinterpret_cast<std::uintptr_t>(type.info())); }
    KernelKey& add(std::string_view text) {
        add(text.size());
        text_.append(text);
        return *this;
    }

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    std::string text_;
};

}  // namespace volley
