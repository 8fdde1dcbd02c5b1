// The rows of a run, and how they are shown: a table on the terminal, JSON for tools, Markdown for
// docs/benchmarks.md. Invariant: a ratio above 1 means that Volley is better, whatever the metric.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace volley::bench {

/// What a figure counts, and which way is better.
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

/// One comparison. Without a peer's value the peer is "none", and the note says what is missing.
struct Row {
    std::string bench;
    std::string backend;
    std::string device;
    Metric metric;
    double value = 0;
    std::string peer;
    std::optional<double> peer_value;
    double goal = 0;  // the ratio that is wanted
    std::string note;

    [[nodiscard]] std::optional<double> ratio() const;
};

/// Where and with what the figures were measured: lines of "what: which".
struct Setting {
    std::string what;
    std::string which;
};

class Report {
public:
    /// Rows are of this bench, backend and device from now on.
    void begin(std::string_view bench, std::string_view backend, std::string_view device);
    /// The same bench on another device.
    void on(std::string_view backend, std::string_view device);
    /// Prints the row too.
    void add(Metric metric, double value, std::string_view peer, std::optional<double> peer_value,
             double goal, std::string_view note = {});

    void set_settings(std::vector<Setting> settings) { settings_ = std::move(settings); }
    [[nodiscard]] const std::vector<Row>& rows() const noexcept { return rows_; }

    void print_settings() const;
    void write_json(const std::string& path) const;
    /// Replaces what is between the markers `<!-- figures of <group>: begin -->` and `end` of a file, for
    /// each group that has rows.
    void write_markdown(const std::string& path) const;

private:
    [[nodiscard]] std::string table_of(std::string_view group) const;

    std::vector<Setting> settings_;
    std::vector<Row> rows_;
    std::string bench_, backend_, device_;
};

}  // namespace volley::bench
