// Support for tests of passes: kernels as text, before and after.
#pragma once

#include "ir/parser.hpp"
#include "ir/printer.hpp"
#include "ir/verifier.hpp"
#include "passes/eliminate_dead.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace volley::passes {

/// Parses a kernel with this body, which declares the parameters.
inline ir::Function kernel(std::string_view body, std::string_view head = "kernel \"k\"") {
    return ir::parse(std::string(head) + " {\n" + std::string(body) + "\n}");
}

/// Returns the printed body, without the enclosing braces and the first level of indentation.
inline std::string body_of(const ir::Function& fn) {
    std::string text = ir::print(fn, {.locations = false});
    text = text.substr(text.find("{\n") + 2);
    text.resize(text.rfind('}'));
    std::string out;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = text.find('\n', at);
        out += text.substr(at + 2, end - at - 1);
        at = end + 1;
    }
    return out;
}

/// Returns the body in the printer's form, so that tests can use any names for values.
inline std::string normal(std::string_view body, std::string_view head = "kernel \"k\"") {
    return body_of(kernel(body, head));
}

/// Returns the body after a pass and dead-code elimination. Both results are verified.
inline std::string after(void (*pass)(ir::Function&), std::string_view body,
                         std::string_view head = "kernel \"k\"") {
    ir::Function fn = kernel(body, head);
    pass(fn);
    ir::verify(fn);
    eliminate_dead(fn);
    ir::verify(fn);
    return body_of(fn);
}

/// Returns the nodes of an operation, in execution order.
inline std::vector<ir::NodeId> nodes_of(const ir::Function& fn, ir::Op op) {
    std::vector<ir::NodeId> found;
    ir::for_each_node(fn, fn.body, [&](ir::NodeId id) {
        if (fn[id].op == op) found.push_back(id);
    });
    return found;
}

inline std::size_t count(const ir::Function& fn, ir::Op op) { return nodes_of(fn, op).size(); }

/// Returns the value that the n-th store writes; tests mark values by storing them.
inline ir::NodeId stored(const ir::Function& fn, std::size_t n) {
    return fn.arg(nodes_of(fn, ir::Op::Store).at(n), 1);
}

}  // namespace volley::passes
