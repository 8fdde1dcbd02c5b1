// A user's first program, built with only the installed package.
#include <volley/error.hpp>
#include <volley/shape.hpp>
#include <volley/version.hpp>

#include <cstdio>

int main() {
    try {
        (void)volley::Shape{INT64_MAX, 2}.elements();
    } catch (const volley::ArgumentError& error) {  // caught across the library boundary
        std::printf("volley %s: %s\n", VOLLEY_VERSION, error.what());
        return volley::Shape({3, 4}).elements() == 12 ? 0 : 1;
    }
    return 1;
}
