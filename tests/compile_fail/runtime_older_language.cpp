// expect: volley: this library needs C++20: compile with -std=c++20
// flags: -std=c++17
// errors: 2
#include <volley/volley.hpp>

using namespace volley;

auto scale = kernel("scale", [](Buff<float> data) { data[global_id().x] *= 2.0f; });
