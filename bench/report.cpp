// Formats rows. Numbers have three digits for people and six for tools.
#include "report.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace volley::bench {
namespace {

std::string number(double value, int digits) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*g", digits, value);
    return text.data();
}

/// Formats three digits without an exponent.
std::string short_number(double value) {
    std::array<char, 64> text{};
    const int decimals = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
    std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
    return text.data();
}

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
    return out + '"';
}

void print_row(const Row& row) {
    const auto ratio = row.ratio();
    const std::string verdict = !ratio               ? row.note
                                : row.goal <= 0      ? ""
                                : *ratio >= row.goal ? ""
                                                     : "short of the goal";
    std::printf("%-42s %-8s %10s %-16s %-10s %10s %8s %6s  %s\n", row.bench.c_str(), row.device.c_str(),
                short_number(row.value).c_str(), std::string(row.metric.unit).c_str(), row.peer.c_str(),
                row.peer_value ? short_number(*row.peer_value).c_str() : "-",
                ratio ? short_number(*ratio).c_str() : "-",
                row.goal > 0 ? short_number(row.goal).c_str() : "-", verdict.c_str());
    std::fflush(stdout);
}

std::string json_row(const Row& row) {
    const auto ratio = row.ratio();
    std::ostringstream out;
    out << "{\"bench\": " << quoted(row.bench) << ", \"backend\": " << quoted(row.backend)
        << ", \"device\": " << quoted(row.device) << ", \"metric\": " << quoted(row.metric.unit)
        << ", \"value\": " << number(row.value, 6) << ", \"peer\": " << quoted(row.peer)
        << ", \"peer_value\": " << (row.peer_value ? number(*row.peer_value, 6) : "null")
        << ", \"ratio\": " << (ratio ? number(*ratio, 6) : "null") << "}";
    return out.str();
}

std::string_view group_of(const Row& row) {
    return std::string_view(row.bench).substr(0, row.bench.find('/'));
}

}  // namespace

std::optional<double> Row::ratio() const {
    if (!peer_value || value <= 0 || *peer_value <= 0) return std::nullopt;
    return metric.more_is_better ? value / *peer_value : *peer_value / value;
}

void Report::begin(std::string_view bench, std::string_view backend, std::string_view device) {
    bench_ = bench;
    backend_ = backend;
    device_ = device;
}

void Report::on(std::string_view backend, std::string_view device) {
    backend_ = backend;
    device_ = device;
}

void Report::add(Metric metric, double value, std::string_view peer, std::optional<double> peer_value,
                 double goal, std::string_view note) {
    rows_.push_back({bench_, backend_, device_, metric, value, std::string(peer_value ? peer : "none"),
                     peer_value, goal, std::string(note)});
    print_row(rows_.back());
}

void Report::print_settings() const {
    for (const Setting& setting : settings_)
        std::printf("%-10s %s\n", setting.what.c_str(), setting.which.c_str());
    std::printf("\n%-42s %-8s %10s %-16s %-10s %10s %8s %6s\n", "bench", "device", "volley", "metric", "peer",
                "peer's", "ratio", "goal");
    std::fflush(stdout);
}

void Report::write_json(const std::string& path) const {
    std::ofstream out(path);
    out << "[\n";
    for (std::size_t k = 0; k < rows_.size(); ++k) {
        out << "  " << json_row(rows_[k]) << (k + 1 < rows_.size() ? ",\n" : "\n");
    }
    out << "]\n";
    if (!out.flush()) throw std::runtime_error("cannot write the rows to " + path);
}

std::string Report::table_of(std::string_view group) const {
    std::ostringstream table;
    table << "| | |\n|---|---|\n";
    for (const Setting& setting : settings_)
        table << "| " << setting.what << " | " << setting.which << " |\n";
    table << "\n| bench | device | Volley | peer | peer's | ratio | goal |\n|---|---|--:|---|--:|--:|--:|\n";
    for (const Row& row : rows_) {
        if (group_of(row) != group) continue;
        const auto ratio = row.ratio();
        std::string unit(1, ' ');
        unit += row.metric.unit;
        table << "| " << row.bench << " | " << row.device << " | " << short_number(row.value) << unit << " | "
              << row.peer << " | " << (row.peer_value ? short_number(*row.peer_value) + unit : row.note)
              << " | " << (ratio ? short_number(*ratio) : "") << " | "
              << (row.goal > 0 ? short_number(row.goal) : "") << " |\n";
    }
    return table.str();
}

void Report::write_markdown(const std::string& path) const {
    std::ifstream in(path);
    std::stringstream whole;
    whole << in.rdbuf();
    std::string text = whole.str();
    std::set<std::string> groups;
    for (const Row& row : rows_) groups.insert(std::string(group_of(row)));
    for (const std::string& group : groups) {
        const std::string begin_marker = "<!-- figures of " + group + ": begin -->\n";
        const std::string end_marker = "<!-- figures of " + group + ": end -->";
        const auto begin = text.find(begin_marker);
        const auto end = text.find(end_marker);
        if (begin == std::string::npos || end == std::string::npos || end < begin) {
            throw std::runtime_error("no lines '" + begin_marker + "' and '" + end_marker + "' in " + path);
        }
        const auto from = begin + begin_marker.size();
        text.replace(from, end - from, table_of(group));
    }
    std::ofstream out(path);
    out << text;
    if (!out.flush()) throw std::runtime_error("cannot write the table to " + path);
}

}  // namespace volley::bench
