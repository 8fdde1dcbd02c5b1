// Scans by invocations that each take the elements of a line, or of a part of one, one after the other.
#include "algorithms/execution.hpp"
#include "algorithms/scan_elements.hpp"
#include "algorithms/scan_kernels.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/var.hpp>

namespace volley::algorithms {
namespace {

/// The part of an invocation.
struct Part {
    Line line;
    Value<u32> number;  ///< of the part in its line
    Value<u32> begin;
    Value<u32> count;
    Value<u32> sum;           ///< the index of its sum
    Value<u32> sums_between;  ///< the distance of the sums of neighbouring parts
};

class DeclaredParts {
public:
    DeclaredParts(ParameterList& parameters, const Lines& lines, const PartGrid& grid)
        : lines_(parameters, lines, false),
          length_(parameters.value<u32>()),
          parts_(parameters.value<u32>()),
          flat_(grid.flat) {}

    [[nodiscard]] Part part() const {
        const auto id = global_id();
        const Value<u32> inner = flat_ ? id.x % lines_.inner() : Value<u32>(id.x);
        const Value<u32> rest = flat_ ? id.x / lines_.inner() : Value<u32>(id.y);
        const Value<u32> outer = rest / parts_;
        const Value<u32> number = rest - outer * parts_;
        const Value<u32> begin = number * length_;
        return {lines_.line(outer, inner),     number,        begin, min(lines_.length() - begin, length_),
                rest * lines_.inner() + inner, lines_.inner()};
    }

private:
    DeclaredLines lines_;
    Value<u32> length_;
    Value<u32> parts_;
    bool flat_;
};

void add_parts(std::vector<AnyArgument>& arguments, const LineScan& scan, const PartGrid& grid) {
    scan.lines.add_arguments(arguments);
    arguments.emplace_back(static_cast<u32>(grid.length));
    arguments.emplace_back(static_cast<u32>(grid.parts));
}

/// Scans a part. `store` receives each result, or is empty if only the sum is needed.
void scan_part(const ScanElements& elements, const Part& part, bool exclusive, AnyVar& sum,
               const std::function<void(const Value<u32>&, const AnyValue&)>& store) {
    const auto first = [&](const AnyValue& x) { sum = elements.first(x); };
    if (exclusive) {
        $for (j, 0U, part.count) {
            const Value<u32> k = part.begin + j;
            const AnyValue x = elements.load(part.line, k);
            if (elements.has_segments()) {
                $if (elements.head(part.line, k)) {
                    sum = elements.initial();
                }
            }
            const AnyValue before = sum.load();
            sum = elements.combine(before, x);
            store(k, before);
        }
        return;
    }
    $for (j, 1U, part.count) {
        const Value<u32> k = part.begin + j;
        const AnyValue x = elements.load(part.line, k);
        if (elements.has_segments()) {
            $if (elements.head(part.line, k)) {
                first(x);
            }
            $else { sum = elements.combine(sum.load(), x); }
        } else {
            sum = elements.combine(sum.load(), x);
        }
        if (store) store(k, sum.load());
    }
}

}  // namespace

AnyKernel part_sums_kernel(const LineScan& scan, const PartGrid& grid) {
    KernelKey key("scan part sums");
    ScanElements::identify(key, scan);
    key.add(grid.flat);
    return find_kernel(key, [&] {
        return any_kernel("scan: sums of parts", {}, [&](ParameterList& parameters) {
            const ScanElements elements(parameters, scan);
            const DeclaredParts parts(parameters, scan.lines, grid);
            const AnyArray sums = parameters.buffer(scan.from.dtype());
            const Part part = parts.part();
            const AnyValue x = elements.load(part.line, part.begin);
            AnyVar sum(x);
            if (!elements.has_segments()) {
                if (elements.has_initial()) {
                    $if (part.number == 0U) {
                        sum = elements.first(x);
                    }
                }
                scan_part(elements, part, false, sum, {});
                sums.store(part.sum, sum.load());
                return;
            }
            const AnyArray starts = parameters.buffer(dtype_of<u32>());
            Var<u32> any = 0U;
            $if (elements.head(part.line, part.begin)) {
                sum = elements.first(x);
                any = 1U;
            }
            $for (j, 1U, part.count) {
                const Value<u32> k = part.begin + j;
                const AnyValue next = elements.load(part.line, k);
                $if (elements.head(part.line, k)) {
                    sum = elements.first(next);
                    any = 1U;
                }
                $else { sum = elements.combine(sum.load(), next); }
            }
            sums.store(part.sum, sum.load());
            starts.store(part.sum, Value<u32>(any));
        });
    });
}

std::vector<AnyArgument> part_sums_arguments(const LineScan& scan, const PartGrid& grid,
                                             const PartSums& sums) {
    std::vector<AnyArgument> arguments;
    ScanElements::add_arguments(arguments, scan);
    add_parts(arguments, scan, grid);
    arguments.emplace_back(sums.sums);
    if (sums.starts) arguments.emplace_back(*sums.starts);
    return arguments;
}

AnyKernel parts_kernel(const LineScan& scan, const PartGrid& grid) {
    const bool cut = grid.parts > 1;
    const bool exclusive = scan.request.exclusive;
    KernelKey key("scan parts");
    ScanElements::identify(key, scan);
    scan.to.identify(key);
    key.add(grid.flat).add(cut).add(exclusive);
    return find_kernel(key, [&] {
        return any_kernel("scan: parts", {}, [&](ParameterList& parameters) {
            const StoreElement store = scan.to.declare(parameters);
            const ScanElements elements(parameters, scan);
            const DeclaredParts parts(parameters, scan.lines, grid);
            const Part part = parts.part();
            const auto store_at = [&](const Value<u32>& k, const AnyValue& x) { store(part.line.at(k), x); };
            std::optional<AnyArray> sums;
            if (cut) sums = parameters.const_buffer(scan.from.dtype());
            const auto before = [&] { return sums->load(part.sum - part.sums_between); };
            if (exclusive) {
                AnyVar sum(elements.initial());
                if (cut) {
                    $if (part.number > 0U) {
                        sum = before();
                    }
                }
                scan_part(elements, part, true, sum, store_at);
                return;
            }
            const AnyValue x = elements.load(part.line, part.begin);
            AnyVar sum(x);
            if (!cut) {
                sum = elements.first(x);
            } else {
                const Value<bool> starts =
                    elements.has_segments() ? elements.head(part.line, part.begin) : part.number == 0U;
                $if (starts) {
                    sum = elements.first(x);
                }
                $else { sum = elements.combine(before(), x); }
            }
            store_at(part.begin, sum.load());
            scan_part(elements, part, false, sum, store_at);
        });
    });
}

std::vector<AnyArgument> parts_arguments(const LineScan& scan, const PartGrid& grid, const PartSums& sums) {
    std::vector<AnyArgument> arguments;
    scan.to.add_arguments(arguments);
    ScanElements::add_arguments(arguments, scan);
    add_parts(arguments, scan, grid);
    if (grid.parts > 1) arguments.emplace_back(sums.sums);
    return arguments;
}

}  // namespace volley::algorithms
