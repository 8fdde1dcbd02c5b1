// expect: this type cannot be used in kernels
#include <volley/lang/lang.hpp>

using namespace volley;

struct Node {
    Node* next;
};
VOLLEY_STRUCT(Node, next)

void body(Buff<Node> data) { auto node = data[0]; }
