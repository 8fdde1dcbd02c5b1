// Joined arrays: several arrays one after the other along an axis.
#include "algorithms/execution.hpp"
#include "algorithms/source_node.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/rearrange.hpp>
#include <volley/lang/control.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace volley {
namespace {

class JoinedSource final : public detail::SourceNode {
public:
    JoinedSource(std::vector<AnySource> sources, const Shape& shape, int axis)
        : SourceNode(sources.front().dtype(), shape), sources_(std::move(sources)), axis_(axis) {}

    [[nodiscard]] bool is_flat() const noexcept override { return false; }
    [[nodiscard]] bool moves_elements() const noexcept override { return true; }
    void identify(KernelKey& key) const override {
        key.add(detail::ArrangedKind::Joined).add(sources_.size()).add(axis_).add(shape().rank());
        for (const AnySource& source : sources_) source.identify(key);
    }
    void add_arguments(std::vector<AnyArgument>& arguments) const override {
        detail::add_extents(arguments, shape());
        for (const AnySource& source : sources_) {
            arguments.emplace_back(static_cast<u32>(source.shape()[axis_]));
            source.add_arguments(arguments);
        }
    }
    [[nodiscard]] LoadElement declare(ParameterList& parameters) const override {
        std::vector<Value<u32>> extents = detail::declare_extents(parameters, shape().rank());
        std::vector<Value<u32>> lengths;
        std::vector<LoadElement> loads;
        for (const AnySource& source : sources_) {
            lengths.push_back(parameters.value<u32>());
            loads.push_back(source.declare(parameters));
        }
        return [type = type(), axis = static_cast<std::size_t>(axis_), extents = std::move(extents),
                lengths = std::move(lengths), loads = std::move(loads)](const Position& at) {
            AnyVar element(zero_of(type));
            std::vector<Value<u32>> rest{at[static_cast<int>(axis)]};  // the index in each array
            for (std::size_t k = 0; k < loads.size(); ++k) {
                $if (rest[k] < lengths[k]) {
                    std::vector<Value<u32>> indices, own;
                    for (std::size_t j = 0; j < extents.size(); ++j) {
                        indices.push_back(j == axis ? rest[k] : at[static_cast<int>(j)]);
                        own.push_back(j == axis ? lengths[k] : extents[j]);
                    }
                    element = loads[k](Position(std::move(indices), std::move(own)));
                }
                rest.push_back(rest[k] - lengths[k]);  // wraps around for the arrays after the element's
            }
            return element.load();
        };
    }
    [[nodiscard]] bool is_joined() const noexcept override { return true; }
    [[nodiscard]] std::vector<std::int64_t> breaks(int axis) const override {
        std::vector<std::int64_t> places;
        std::int64_t place = 0;
        for (const AnySource& source : sources_) {
            if (axis == axis_ && place > 0) places.push_back(place);
            place += source.shape()[axis_];
        }
        return places;
    }
    [[nodiscard]] std::optional<AnySource> part(int axis, std::int64_t begin,
                                                std::int64_t length) const override {
        if (axis != axis_) return std::nullopt;
        std::int64_t place = 0;
        for (const AnySource& source : sources_) {
            const std::int64_t end = place + source.shape()[axis_];
            if (begin >= place && begin + length <= end)
                return detail::part_of(source, axis, begin - place, length);
            place = end;
        }
        return std::nullopt;
    }
    [[nodiscard]] std::shared_ptr<const SourceNode> with_shape(const Shape&) const override {
        return nullptr;  // not called: never flat
    }

private:
    std::vector<AnySource> sources_;  // none of them empty
    int axis_;
};

void check_parts(const std::vector<AnySource>& sources, int axis, bool new_axis, std::string_view subject) {
    const AnySource& first = sources.front();
    for (std::size_t k = 1; k < sources.size(); ++k) {
        const Shape &a = first.shape(), &b = sources[k].shape();
        if (sources[k].dtype() != first.dtype()) {
            fail(ErrorCode::TypeMismatch,
                 cat("array ", k + 1, " has elements of type ", sources[k].dtype().name(),
                     ", but the first has ", first.dtype().name()),
                 subject, "convert one with convert<T>(array)");
        }
        bool fits = a.rank() == b.rank();
        for (int j = 0; fits && j < a.rank(); ++j) fits = a[j] == b[j] || (j == axis && !new_axis);
        if (fits) continue;
        fail(ErrorCode::InvalidShape,
             cat("array ", k + 1, " has the shape ", b.to_string(), ", but the first has ", a.to_string()),
             subject,
             new_axis ? "use arrays of one shape" : "use arrays whose other axes have the same extents");
    }
}

}  // namespace

AnySource detail::joined(const std::vector<AnySource>& sources, int axis, bool new_axis) {
    const std::string_view subject = new_axis ? "stack" : "concatenate";
    if (sources.empty()) {
        fail(ErrorCode::InvalidArgument, "no arrays were given", subject, "pass at least one");
    }
    const int rank = sources.front().shape().rank();
    const int at = algorithms::checked_axis(axis, rank + (new_axis ? 1 : 0), subject);
    check_parts(sources, at, new_axis, subject);
    std::vector<AnySource> parts;
    std::int64_t length = 0;
    for (const AnySource& source : sources) {
        std::vector<Selector> entries(static_cast<std::size_t>(at));
        entries.emplace_back(newaxis);
        const AnySource part = new_axis ? selected(source, Selection(entries)) : source;
        length += part.shape()[at];
        if (part.size() > 0) parts.push_back(part);
    }
    std::vector<std::int64_t> extents(sources.front().shape().begin(), sources.front().shape().end());
    if (new_axis) extents.insert(extents.begin() + at, 0);
    extents[static_cast<std::size_t>(at)] = length;
    const Shape shape{std::span<const std::int64_t>(extents)};
    check_countable(shape, subject);
    if (parts.empty()) {
        const DType type = sources.front().dtype();
        return AnySource::filled(shape, {type, std::vector<std::byte>(type.size()).data()});
    }
    if (parts.size() == 1) return parts.front();
    return AnySource(std::make_shared<JoinedSource>(std::move(parts), shape, at));
}

namespace {

Event write_joined(const AnySink& to, const std::vector<AnySource>& from, const ConcatenateOptions& options,
                   bool new_axis) {
    const std::string_view subject = new_axis ? "stack" : "concatenate";
    const AnySource all_parts = detail::joined(from, options.axis, new_axis);
    algorithms::check_sink(to, all_parts.dtype(), all_parts.shape(), subject);
    algorithms::check_no_overlap(to, all_parts, false, subject);
    return transform(to, all_parts, {.queue = options.queue});
}

}  // namespace

Event concatenate(const AnySink& to, const std::vector<AnySource>& from, const ConcatenateOptions& options) {
    return write_joined(to, from, options, false);
}

Event stack(const AnySink& to, const std::vector<AnySource>& from, const ConcatenateOptions& options) {
    return write_joined(to, from, options, true);
}

}  // namespace volley
