// Loads, heads and lanes of scans.
#include "algorithms/scan_elements.hpp"

#include "algorithms/scan_kernels.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/var.hpp>

namespace volley::algorithms {
namespace {

AnyValue across_lanes(ir::Op op, const AnyValue& value, const Value<u32>& lane) {
    const DType type = value.dtype();
    if (type.is_scalar() || type.is_vector() || type.is_complex())
        return {lang::emit(op, {ref_of(value), lang::ref_of(lane)}), type};
    std::vector<lang::Ref> parts;
    for (unsigned k = 0; k < type.count(); ++k)
        parts.push_back(ref_of(across_lanes(op, value.part(k), lane)));
    return {lang::construct(type, parts.data(), parts.size(), {}), type};
}

}  // namespace

ScanElements::ScanElements(ParameterList& parameters, const LineScan& scan)
    : op_(scan.request.op), load_(scan.from.declare(parameters)), reverse_(scan.lines.reverse) {
    if (scan.request.initial) initial_ = parameters.value(scan.from.dtype());
    if (scan.segments) {
        head_ = scan.segments->source().declare(parameters);
        equal_ = scan.segments->equal();
    }
}

void ScanElements::identify(KernelKey& key, const LineScan& scan) {
    key.add(scan.request.op.hash()).add(scan.request.initial.has_value()).add(scan.segments.has_value());
    scan.lines.identify(key);
    scan.from.identify(key);
    if (!scan.segments) return;
    scan.segments->source().identify(key);
    key.add(scan.segments->equal() ? scan.segments->equal()->hash() : std::string_view());
}

void ScanElements::add_arguments(std::vector<AnyArgument>& arguments, const LineScan& scan) {
    scan.from.add_arguments(arguments);
    if (scan.request.initial) arguments.push_back(*scan.request.initial);
    if (scan.segments) scan.segments->source().add_arguments(arguments);
}

Value<bool> ScanElements::head(const Line& line, const Value<u32>& k) const {
    if (!equal_ && !reverse_) return k == 0U || convert(head_(line.at(k)), dtype_of<bool>()).as<bool>();
    // In a reversed scan, a segment ends before the element that the next one, along the axis, starts with.
    Var<bool> starts = true;
    $if (k > 0U) {
        const AnyValue before = head_(line.at(k - 1U));
        if (!equal_) {
            starts = convert(before, dtype_of<bool>()).as<bool>();
        } else {
            const AnyValue here = head_(line.at(k));
            starts = !(reverse_ ? equal_->call({here, before}) : equal_->call({before, here})).as<bool>();
        }
    }
    return starts;
}

AnyValue shuffle(const AnyValue& value, const Value<u32>& lane) {
    return across_lanes(ir::Op::SubgroupShuffle, value, lane);
}

AnyValue broadcast(const AnyValue& value, const Value<u32>& lane) {
    return across_lanes(ir::Op::SubgroupBroadcast, value, lane);
}

}  // namespace volley::algorithms
