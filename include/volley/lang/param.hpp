// Const<T> and Dyn<T>: values that a kernel is called with.
#pragma once

#include <volley/lang/value.hpp>

namespace volley {

/// A value, or a reflected struct, that is fixed when the call is recorded.
template <class T>
class Const : public Value<T> {
public:
    using Value<T>::Value;
};

/// A value that is bound for each submitted instance of a graph.
template <class T>
class Dyn : public Value<T> {
public:
    using Value<T>::Value;
};

}  // namespace volley
