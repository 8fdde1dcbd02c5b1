// Injected failures. They strike only the calling thread, inside a Fault's lifetime.
#pragma once

#include <volley/context.hpp>

#include <cstdint>
#include <string_view>

namespace volley::soak {

enum class FaultKind : std::uint8_t {
    Allocation,  // operator new throws bad_alloc
    Thread,      // pthread_create returns EAGAIN
    Driver,      // a launch or an allocation is refused for lack of resources
};

[[nodiscard]] std::string_view to_string(FaultKind kind);

/// Whether this build can inject such failures: sanitizers have their own operator new and pthread_create.
[[nodiscard]] bool can_inject(FaultKind kind);

/// Lets the n-th call of the calling thread fail, counted from 1, and later ones succeed.
class Fault {
public:
    Fault(FaultKind kind, unsigned n) noexcept;
    ~Fault();
    Fault(const Fault&) = delete;
    Fault& operator=(const Fault&) = delete;

    /// Returns whether the failure happened.
    [[nodiscard]] bool struck() const noexcept;

private:
    FaultKind kind_;
};

/// Makes the drivers of a context's devices subject to Driver faults. Call it before the context is used.
void tap_drivers(const Context& context);

}  // namespace volley::soak
