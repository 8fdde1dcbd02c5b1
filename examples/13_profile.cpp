// Lesson 13: profiling. mark() and elapsed() time a part of a program. profile() times every command on every
// device, including the commands of graphs, and writes a trace for ui.perfetto.dev.
#include <volley/volley.hpp>

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

using namespace volley;

int main() {
    auto blur = kernel("blur", [](Buff<float> to, Buff<const float> from) {
        auto i = global_id().x;
        auto n = global_size().x;
        to[i] = 0.25F * from[(i + n - 1u) % n] + 0.5F * from[i] + 0.25F * from[(i + 1u) % n];
    });
    auto sharpen = kernel("sharpen", [](Buff<float> image, Buff<const float> blurred, Const<float> amount) {
        auto i = global_id().x;
        image[i] = image[i] + amount * (image[i] - blurred[i]);
    });

    Buffer<float> image = as_buffer(std::vector<float>(1 << 18, 1.0F));
    Buffer<float> blurred(image.shape());
    auto steps = record([&] {
        blur(blurred, image);
        sharpen(image, blurred, 0.5F);
    });
    steps.submit().wait();  // compiles the kernels, so that the timing excludes it

    // mark() returns an event with a time and does not block; elapsed() waits for both events.
    const Event start = mark();
    steps.submit({.instances = 10});
    std::cout << "ten steps: " << elapsed_seconds(start, mark()) * 1e3 << " ms\n\n";

    const Profile p = profile([&] {
        image.fill(2.0F);
        blur(blurred, image);
        steps.submit({.instances = 10});
    });
    std::cout << p << '\n';

    // A profile also lists single commands with their source lines.
    const ProfiledCommand& first = p.commands().front();
    std::cout << "first: " << first.name << ", " << first.time().count() << " ns on "
              << p.devices()[first.device] << '\n';
    for (const ProfiledCommand& command : p.commands()) {
        if (command.name != "sharpen" || command.graph->instance != 9) continue;
        std::cout << "last:  " << command.name << ", source line " << command.line << ", over "
                  << command.grid[0] << " invocations\n";
    }

    const std::string path = (std::filesystem::temp_directory_path() / "volley_13_profile.json").string();
    p.write_trace(path);
    std::cout << "trace written to " << path << '\n';

    std::size_t blurs = 0;
    for (const ProfileTotal& total : p.totals()) blurs += total.name == "blur" ? total.count : 0;
    return blurs >= 11 && elapsed(start, mark()).count() > 0 ? 0 : 1;
}
