// Lesson 14: maps and reductions. Whole-array expressions describe a computation; a reduction evaluates them
// in one kernel, without temporary arrays. Statistics of an image, and a report of its bright rows.
#include <volley/volley.hpp>

#include <cmath>
#include <iomanip>
#include <iostream>
#include <vector>

using namespace volley;

int main() {
    constexpr int height = 600, width = 800;

    // A map computes its elements where they are read. This one has two indices, y and x, and no memory.
    const auto ripples = map([](Value<u32> y, Value<u32> x, Const<float> wave) {
        const auto dy = cast<float>(y) - 300.F, dx = cast<float>(x) - 400.F;
        const auto r = sqrt(dx * dx + dy * dy);
        return 1.F + cos(r / wave) * exp(r * -0.01F);
    });
    const Buffer<float> image = evaluate(ripples.over({height, width})(12.F));

    // Reductions over all axes. item() waits for the result and copies it to the host.
    const float mean = reduce::mean(image).item();
    const float deviation = reduce::stddev(image).item();
    std::cout << std::fixed << std::setprecision(3) << "mean " << mean << ", standard deviation " << deviation
              << ", from " << reduce::min(image).item() << " to " << reduce::max(image).item() << '\n';

    // Operators of lazy arrays run nothing. Here the sum reads the image once, and nothing is written but the
    // result: the variance again, and the roughness as the mean step between neighbours.
    const auto centred = lazy(image) - mean;
    const float variance = reduce::mean(centred * centred).item();
    const auto left = sub(image, {all, slice(0, width - 1)}), right = sub(image, {all, slice(1, width)});
    std::cout << "variance " << variance << ", mean step " << reduce::mean(abs(right - left)).item() << '\n';

    // Along an axis: one result per row. keepdims lets them be broadcast against the image.
    const Buffer<float> rows = reduce::max(image, {.axes = {1}, .keepdims = true});
    const Buffer<float> scaled = lazy(image) / rows;  // each row has the maximum 1
    const Buffer<u32> brightest = reduce::argmax(image, {.axes = {1}});
    const u32 bright_rows = reduce::count_if(rows, [](Value<float> v) { return v > 1.9F; }).item();
    std::cout << bright_rows << " rows have elements above 1.9\n";

    // A histogram of the rows' maxima, as text.
    const std::vector<float> heights = rows.read(0);
    for (int y = 0; y < height; y += 60) {
        const auto at = static_cast<std::size_t>(y);
        const int stars = static_cast<int>(30 * (heights[at] - 1));
        std::cout << "row " << std::setw(3) << y << ", column " << std::setw(3) << brightest.read(0)[at]
                  << ' ' << std::string(static_cast<std::size_t>(stars), '*') << '\n';
    }

    const bool good = std::abs(variance - deviation * deviation) < 1e-4F &&
                      reduce::min(reduce::max(scaled, {.axes = {1}})).item() == 1.F && bright_rows > 0 &&
                      brightest.read(0)[300] == 400;
    return good ? 0 : 1;
}
