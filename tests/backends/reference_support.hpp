// Helpers for tests of the interpreter: builds kernels with ir::Builder and runs them on vectors.
#pragma once

#include "backends/reference/interpreter.hpp"
#include "ir/builder.hpp"
#include "ir/verifier.hpp"

#include <functional>
#include <vector>

namespace volley::backends::reference {

/// Builds and verifies a kernel.
inline ir::Function make_kernel(const std::function<void(ir::Builder&)>& body) {
    ir::Function fn;
    fn.name = "test";
    ir::Builder b(fn);
    body(b);
    ir::verify(fn);
    return fn;
}

/// Interprets the kernel on vectors, in parameter order.
template <class... T>
void run(const ir::Function& fn, const LaunchShape& shape, std::vector<T>&... buffers) {
    const std::vector<Arg> args = {Arg{buffers.data(), buffers.size()}...};
    interpret(fn, shape, args);
}

inline ir::NodeId global_x(ir::Builder& b) { return b.extract(b.emit(ir::Op::GlobalId, {}), 0); }
inline ir::NodeId load(ir::Builder& b, ir::NodeId root, std::initializer_list<ir::NodeId> path) {
    return b.load(root, std::span(path.begin(), path.size()));
}
inline void store(ir::Builder& b, ir::NodeId root, ir::NodeId value, std::initializer_list<ir::NodeId> path) {
    b.store(root, value, std::span(path.begin(), path.size()));
}

}  // namespace volley::backends::reference
