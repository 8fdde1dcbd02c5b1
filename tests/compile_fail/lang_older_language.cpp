// expect: volley: this library needs C++20: compile with -std=c++20
// flags: -std=c++14
// errors: 2
#include <volley/vec.hpp>

volley::vec3 position;
