// Lesson 4: control flow. Computes the Mandelbrot set and writes it to mandelbrot.pgm and to the terminal.
//
// $if, $for and $while become part of the kernel. The host runs a plain if or for while it traces the kernel,
// so these control which operations the kernel contains.
//
// The host runs the body of a $for once, to trace it. So a host variable changes once, whatever the number of
// iterations is on the device, and nothing can warn of it: keep in a Var what changes in a kernel.
#include <volley/volley.hpp>

#include <complex>
#include <cstdio>
#include <fstream>
#include <vector>

using namespace volley;

namespace {

constexpr unsigned width = 640, height = 480, rounds = 64;

// The reference implementation on the host.
unsigned escape_time(unsigned px, unsigned py) {
    const float cx = 3.0f * static_cast<float>(px) / width - 2.2f;
    const float cy = 2.25f * static_cast<float>(py) / height - 1.125f;
    float x = 0, y = 0;
    unsigned n = 0;
    while (n < rounds && x * x + y * y <= 4.0f) {
        const float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        ++n;
    }
    return n;
}

// Adds up 0, 1, ... n - 1 in a Var, and counts in a host variable how often the host runs the body.
bool sum_in_a_loop() {
    int traced = 0;
    auto sum_to = kernel("sum_to", [&](Buff<u32> out, Const<u32> n) {
        Var<u32> sum = 0u;
        $for (k, 0u, n) {
            sum += k;  // n times on the device
            ++traced;  // once, on the host: a `float sum` of the host would be wrong here
        }
        out[0] = sum;
    });
    Buffer<u32> out(1);
    sum_to(out, 100u);
    std::printf("the sum of 0 to 99 is %u; the host ran the loop's body %d time(s)\n", out.item(), traced);
    return out.item() == 4950 && traced == 1;
}

}  // namespace

int main() {
    if (!sum_in_a_loop()) return 1;
    auto mandelbrot = kernel("mandelbrot", [](Buff<u32> image) {
        auto p = global_id();
        auto cx = 3.0f * cast<float>(p.x) / float(width) - 2.2f;
        auto cy = 2.25f * cast<float>(p.y) / float(height) - 1.125f;
        Var<float> x(0.0f), y(0.0f);  // a Var is mutable, a Value is not
        Var<u32> n(0u);
        $while (n < rounds) {
            $if (x * x + y * y > 4.0f) {
                $break;
            }
            auto next = x * x - y * y + cx;
            y = 2.0f * x * y + cy;
            x = next;
            n += 1u;
        }
        image(p.y, p.x) = n;
    });

    Buffer<u32> image({height, width});
    mandelbrot.over(image)(image);
    const std::vector<u32> pixels = image.read(0);

    std::ofstream file("mandelbrot.pgm");
    file << "P2\n" << width << ' ' << height << '\n' << rounds << '\n';
    for (const u32 n : pixels) file << n << '\n';

    for (unsigned y = 0; y < height; y += 20) {
        for (unsigned x = 0; x < width; x += 9)
            std::putchar(" .:-=+*#%@"[pixels[y * width + x] * 9 / rounds]);
        std::putchar('\n');
    }

    // The device may compute a * b + c with one rounding, so the counts of a few pixels at the edge may
    // differ.
    unsigned different = 0;
    for (unsigned y = 0; y < height; ++y) {
        for (unsigned x = 0; x < width; ++x)
            different += pixels[y * width + x] != escape_time(x, y) ? 1u : 0u;
    }
    std::printf("%u of %u pixels differ from the host result\n", different, width * height);
    return different < width * height / 100 ? 0 : 1;
}
