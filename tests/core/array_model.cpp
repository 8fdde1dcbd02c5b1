// The model is written to be obviously correct, not fast.
#include "core/array_model.hpp"

#include <algorithm>
#include <span>

namespace volley::testing {
namespace {

// Returns the elements of an axis that a slice selects, by testing each one.
std::vector<std::int64_t> members(const Slice& part, std::int64_t extent) {
    const auto bound = [extent](const Bound& given, std::int64_t otherwise) {
        if (given.is_open()) return otherwise;
        return given.value() >= 0 ? given.value() : given.value() + extent;
    };
    const std::int64_t begin = std::max<std::int64_t>(bound(part.begin, 0), 0);
    const std::int64_t end = bound(part.end, extent);
    std::vector<std::int64_t> found;
    for (std::int64_t i = 0; i < extent; ++i) {
        if (i >= begin && i < end && (i - begin) % part.step == 0) found.push_back(i);
    }
    return found;
}

Shape shape_of(const std::vector<std::int64_t>& extents) {
    return Shape(std::span<const std::int64_t>(extents));
}

}  // namespace

ArrayModel model_of(const Shape& shape, const Shape& padded) {
    ArrayModel model{shape, {}};
    for (std::int64_t place = 0; place < padded.elements(); ++place) {
        const Index index = unravel_index(place, padded);
        bool inside = true;
        for (int axis = 0; axis < shape.rank(); ++axis) inside = inside && index[axis] < shape[axis];
        if (inside) model.places.push_back(place);
    }
    return model;
}

Selected select(const ArrayModel& array, const Selection& selection) {
    using Kind = Selector::Kind;
    const auto refused = [](ErrorCode code) { return Selected{code, {}}; };

    // One entry per axis: the ellipsis, or the end, is expanded to the missing number of `all`.
    std::vector<Selector> entries(selection.begin(), selection.end());
    const auto is_ellipsis = [](const Selector& entry) { return entry.kind() == Kind::Ellipsis; };
    const auto takes_axis = [](const Selector& entry) { return entry.takes_axis(); };
    const auto ellipses = std::count_if(entries.begin(), entries.end(), is_ellipsis);
    const auto taken = std::count_if(entries.begin(), entries.end(), takes_axis);
    if (ellipses > 1 || taken > array.shape.rank()) return refused(ErrorCode::IndexError);
    auto place = std::find_if(entries.begin(), entries.end(), is_ellipsis);
    if (place != entries.end()) place = entries.erase(place);
    entries.insert(place, static_cast<std::size_t>(array.shape.rank() - taken), Selector(all));

    std::vector<std::int64_t> extents;
    std::vector<std::vector<std::int64_t>> kept;  // for each axis of the array
    std::optional<ErrorCode> refusal;
    for (const Selector& entry : entries) {
        if (entry.kind() == Kind::NewAxis) {
            extents.push_back(1);
            continue;
        }
        const std::int64_t extent = array.shape[static_cast<int>(kept.size())];
        if (entry.kind() == Kind::Index) {
            const std::int64_t i = entry.index() < 0 ? entry.index() + extent : entry.index();
            if (i < 0 || i >= extent) refusal = ErrorCode::IndexError;
            kept.push_back({i});
            continue;
        }
        if (entry.kind() == Kind::Slice && entry.part().step <= 0) return refused(ErrorCode::IndexError);
        kept.push_back(members(entry.kind() == Kind::All ? slice(none, none) : entry.part(), extent));
        if (entry.kind() == Kind::Slice && kept.back().empty()) refusal = ErrorCode::IndexError;
        extents.push_back(static_cast<std::int64_t>(kept.back().size()));
    }
    if (extents.size() > static_cast<std::size_t>(max_rank)) return refused(ErrorCode::InvalidShape);
    if (refusal) return refused(*refusal);

    Selected result{std::nullopt, {shape_of(extents), {}}};
    for (std::size_t n = 0; n < array.places.size(); ++n) {
        const Index index = unravel_index(static_cast<std::int64_t>(n), array.shape);
        bool inside = true;
        for (int axis = 0; axis < array.shape.rank(); ++axis) {
            const auto& list = kept[static_cast<std::size_t>(axis)];
            inside = inside && std::find(list.begin(), list.end(), index[axis]) != list.end();
        }
        if (inside) result.part.places.push_back(array.places[n]);
    }
    return result;
}

Shape random_shape(Random& random, int max) {
    std::vector<std::int64_t> extents;
    const std::int64_t rank = random.between(0, max);
    const std::int64_t longest = rank <= 2 ? 12 : rank == 3 ? 7 : 4;
    for (std::int64_t axis = 0; axis < rank; ++axis)
        extents.push_back(random.chance(2) ? 0 : random.between(1, longest));
    return shape_of(extents);
}

Shape random_padding(Random& random, const Shape& shape) {
    std::vector<std::int64_t> extents;
    for (const std::int64_t extent : shape)
        extents.push_back(extent + (random.chance(40) ? random.between(1, 3) : 0));
    return shape_of(extents);
}

Selection random_selection(Random& random, const Shape& shape) {
    std::vector<Selector> entries;
    const bool has_ellipsis = random.chance(25);
    const std::int64_t entry_count = random.between(0, shape.rank() + (random.chance(5) ? 1 : 0));
    for (std::int64_t n = 0; n < entry_count; ++n) {
        const std::int64_t extent = n < shape.rank() ? shape[static_cast<int>(n)] : 1;
        while (random.chance(10)) entries.push_back(newaxis);
        // Rarely outside the axis if that is an error, often if it is not.
        const auto bound = [&] {
            return random.chance(20) ? Bound(none) : Bound(random.between(-extent - 2, extent + 2));
        };
        switch (random.below(4)) {
            case 0: entries.push_back(all); break;
            case 1:
                entries.emplace_back(random.chance(95) && extent > 0
                                         ? random.between(-extent, extent - 1)
                                         : random.between(-extent - 2, extent + 2));
                break;
            default: {
                const std::int64_t step = random.chance(97) ? random.between(1, 3) : random.between(-1, 9);
                if (random.chance(70) && extent > 0) {
                    const std::int64_t begin = random.between(0, extent - 1);
                    entries.emplace_back(
                        slice(random.chance(50) ? begin : begin - extent,
                              random.chance(20) ? Bound(none) : random.between(begin + 1, extent), step));
                } else {
                    entries.emplace_back(slice(bound(), bound(), step));
                }
            }
        }
    }
    const auto anywhere = [&] {
        return entries.begin() + random.between(0, static_cast<std::int64_t>(entries.size()));
    };
    if (has_ellipsis) entries.insert(anywhere(), Selector(ellipsis));
    if (has_ellipsis && random.chance(5)) entries.insert(anywhere(), Selector(ellipsis));
    return Selection(std::span<const Selector>(entries));
}

Selection random_cut(Random& random, const Shape& shape, const std::vector<std::int64_t>& steps) {
    std::vector<Selector> entries;
    for (int axis = 0; axis < shape.rank(); ++axis) {
        const std::int64_t begin = random.between(0, shape[axis] - 1);
        const std::int64_t end = random.between(begin + 1, shape[axis]);
        const std::int64_t step =
            random.chance(85) ? steps[static_cast<std::size_t>(axis)] : random.between(1, 4);
        entries.push_back(random.chance(10) ? Selector(begin) : Selector(slice(begin, end, step)));
    }
    return Selection(std::span<const Selector>(entries));
}

Region random_region(Random& random, const Shape& part) {
    std::vector<std::int64_t> extents;
    std::vector<Selector> entries;
    const auto drop_axes = [&] {
        while (extents.size() < 4 && random.chance(10)) {
            extents.push_back(random.between(1, 3));
            entries.emplace_back(random.between(0, extents.back() - 1));
        }
    };
    for (const std::int64_t length : part) {
        drop_axes();
        if (length == 1 && random.chance(30)) {
            entries.push_back(newaxis);
        } else if (length == 0 || random.chance(50)) {
            entries.push_back(all);
            extents.push_back(length);
        } else {
            const std::int64_t step = random.chance(50) ? 1 : random.between(2, 3);
            const std::int64_t begin = random.between(0, 2);
            const std::int64_t end = begin + (length - 1) * step + 1;
            entries.emplace_back(slice(begin, end, step));
            extents.push_back(end + random.between(0, 2));
        }
    }
    drop_axes();
    const Shape shape = shape_of(extents);
    return {shape, random_padding(random, shape), Selection(std::span<const Selector>(entries))};
}

std::string Region::to_string() const {
    return shape.to_string() + " in " + padded.to_string() + " by " + selection.to_string();
}

}  // namespace volley::testing
