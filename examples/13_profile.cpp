// Lesson 13: where the time goes. mark() and elapsed() time a part of a program; profile() times every
// command in it, on any device, those of command graphs too, and writes a trace to look at in
// ui.perfetto.dev.
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
    steps.submit().wait();  // compiles what is new, which is not to be timed

    // A mark is an event with a time. It waits for nothing: elapsed() does.
    const Event start = mark();
    steps.submit({.instances = 10});
    std::cout << "ten steps: " << elapsed_seconds(start, mark()) * 1e3 << " ms\n\n";

    const Profile p = profile([&] {
        image.fill(2.0F);
        blur(blurred, image);
        steps.submit({.instances = 10});
    });
    std::cout << p << '\n';

    // Single commands, with the lines they were written in.
    const ProfiledCommand& first = p.commands().front();
    std::cout << "first: " << first.name << ", " << first.time().count() << " ns on "
              << p.devices()[first.device] << '\n';
    for (const ProfiledCommand& command : p.commands()) {
        if (command.name != "sharpen" || command.graph->instance != 9) continue;
        std::cout << "last:  " << command.name << ", written in line " << command.line << ", over "
                  << command.grid[0] << " invocations\n";
    }

    const std::string path = (std::filesystem::temp_directory_path() / "volley_13_profile.json").string();
    p.write_trace(path);
    std::cout << "the trace: " << path << '\n';

    std::size_t blurs = 0;
    for (const ProfileTotal& total : p.totals()) blurs += total.name == "blur" ? total.count : 0;
    return blurs >= 11 && elapsed(start, mark()).count() > 0 ? 0 : 1;
}
