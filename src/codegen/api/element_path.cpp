// Constant steps past the end of an array or vector are legal; they are clamped to its last part.
#include "codegen/api/element_path.hpp"

#include <algorithm>

namespace volley::codegen {

using ir::NodeId;

namespace {

void follow(const ir::Function& fn, std::span<const NodeId> path, ElementPath& place) {
    for (const NodeId step : path) {
        if (const auto constant = fn.constant_int(step)) {
            const std::uint64_t part =
                std::min(static_cast<std::uint64_t>(*constant), place.type.count() - 1);
            place.offset += place.type.part_offset(part);
            place.type = place.type.part(part);
        } else {
            const DType part = place.type.part(0);
            place.dims.push_back({step, part.size(), place.type.count()});
            place.type = part;
        }
    }
}

}  // namespace

bool ElementPath::aligned_to(std::uint64_t bytes) const {
    if (offset % bytes != 0) return false;
    return std::all_of(dims.begin(), dims.end(), [&](const Dim& dim) { return dim.stride % bytes == 0; });
}

ElementPath element_path(const ir::Function& fn, NodeId access) {
    ElementPath place;
    place.root = fn.arg(access, 0);
    place.type = fn.type(place.root);
    auto path = fn.args(access).subspan(ir::path_start(fn[access].op));
    if (fn[place.root].op == ir::Op::Buffer) {
        place.dims.push_back({path[0], place.type.size(), 0});
        path = path.subspan(1);
    }
    follow(fn, path, place);
    return place;
}

ElementPath element_path(const ir::Function& fn, NodeId root, std::span<const NodeId> path) {
    ElementPath place;
    place.root = root;
    place.type = fn.type(root);
    follow(fn, path, place);
    return place;
}

}  // namespace volley::codegen
