// The rows of a run and their output: a table on the terminal, JSON for tools, Markdown for
// docs/benchmarks.md. Invariant: a ratio above 1 means that Volley is better, for every metric.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace volley::bench {

/// The unit of a figure, and whether higher or lower is better.
struct Metric {
    std::string_view unit;
    bool more_is_better = true;
};
inline constexpr Metric gigabytes{"GB/s"};
inline constexpr Metric giga_interactions{"Ginteractions/s"};
inline constexpr Metric mega_pixels{"Mpixels/s"};
inline constexpr Metric giga_elements{"Gelements/s"};
inline constexpr Metric nanoseconds{"ns", false};
inline constexpr Metric microseconds{"us", false};
inline constexpr Metric milliseconds{"ms", false};

/// One comparison. Without a value of the peer, the peer is "none" and the note names what is missing.
struct Row {
    std::string bench;
    std::string backend;
    std::string device;
    Metric metric;
    double value = 0;
    std::string peer;
    std::optional<double> peer_value;
    double goal = 0;  // the required ratio
    std::string note;

    [[nodiscard]] std::optional<double> ratio() const;
};

/// The machine and software of the figures: pairs of name and value.
struct Setting {
    std::string what;
    std::string which;
};

class Report {
public:
    /// Sets the bench, backend and device of the following rows.
    void begin(std::string_view bench, std::string_view backend, std::string_view device);
    /// Sets another device for the same bench.
    void on(std::string_view backend, std::string_view device);
    /// Adds a row and prints it.
    void add(Metric metric, double value, std::string_view peer, std::optional<double> peer_value,
             double goal, std::string_view note = {});

    void set_settings(std::vector<Setting> settings) { settings_ = std::move(settings); }
    [[nodiscard]] const std::vector<Row>& rows() const noexcept { return rows_; }

    void print_settings() const;
    void write_json(const std::string& path) const;
    /// Replaces the text between the markers `<!-- figures of <group>: begin -->` and `end` of a file, for
    /// each group that has rows.
    void write_markdown(const std::string& path) const;

private:
    [[nodiscard]] std::string table_of(std::string_view group) const;

    std::vector<Setting> settings_;
    std::vector<Row> rows_;
    std::string bench_, backend_, device_;
};

}  // namespace volley::bench
