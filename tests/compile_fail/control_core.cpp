// expect to compile
#include <volley/error.hpp>
#include <volley/id.hpp>
#include <volley/mat.hpp>
#include <volley/shape.hpp>
#include <volley/version.hpp>

int main() {
    const volley::Shape shape{3, 4};
    return shape.rank() == 2 ? 0 : 1;
}
