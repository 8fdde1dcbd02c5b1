// Const<T>: a value parameter of a kernel.
#pragma once

#include <volley/lang/value.hpp>

namespace volley {

/// A parameter of type T, which may be a reflected struct. All invocations of a launch see the same value.
/// The caller passes a host value or, while a graph is recorded, dyn<T>("name"). A parameter declared as
/// Value<T> has the same meaning.
///
///     auto scale = kernel("scale", [](Buff<float> data, Const<float> alpha) {
///         data[global_id().x] *= alpha;
///     });
template <class T>
class Const : public Value<T> {
public:
    using Value<T>::Value;
};

}  // namespace volley
