// Loads verify a hash; stores write a temporary file and rename it.
#include "backends/common/kept_file.hpp"

#include "core/hash.hpp"
#include "core/text.hpp"

#include <volley/log.hpp>

#include <unistd.h>

#include <atomic>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>

namespace volley::backends {
namespace {

constexpr std::size_t hash_digits = 32;

std::string hash_of(const char* data, std::size_t size) {
    return Hasher().bytes(std::as_bytes(std::span(data, size))).digest().to_string();
}

void say_not_kept(const std::string& path, std::string_view why) {
    log_message(LogLevel::Debug, cat(path, " could not be written, so it is not cached: ", why));
}

}  // namespace

std::vector<char> load_file(const std::string& path, std::string_view mark) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return {};
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const std::size_t start = mark.size() + hash_digits;
    if (text.size() < start || !text.starts_with(mark)) return {};
    if (text.substr(mark.size(), hash_digits) != hash_of(text.data() + start, text.size() - start)) return {};
    return {text.begin() + static_cast<std::ptrdiff_t>(start), text.end()};
}

void store_file(const std::string& path, std::string_view mark, const std::vector<char>& data) noexcept {
    try {
        static std::atomic<unsigned> counter{0};
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        const std::string temporary = cat(path, ".", ::getpid(), ".", counter.fetch_add(1));
        bool written = false;
        {
            std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
            out << mark << hash_of(data.data(), data.size());
            out.write(data.data(), static_cast<std::streamsize>(data.size()));
            out.flush();
            written = out.good();
        }
        std::error_code error;
        if (written) std::filesystem::rename(temporary, path, error);
        if (!written || error) {
            say_not_kept(path, error.message());
            std::filesystem::remove(temporary, error);
        }
    } catch (const std::exception& error) {
        say_not_kept(path, error.what());
    }
}

}  // namespace volley::backends
