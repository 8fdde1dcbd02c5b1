// Scans of whole lines along the last axis, row by row.
#include "algorithms/scan_rows.hpp"

#include "algorithms/execution.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/var.hpp>

namespace volley::algorithms {

AnyKernel rows_kernel(const LineScan& scan, u32 width) {
    const bool is_exclusive = scan.request.exclusive;
    const u32 aligned = row_alignment(scan, width);
    KernelKey key("scan rows");
    ScanElements::identify(key, scan);
    scan.to.identify(key);
    key.add(width).add(aligned).add(is_exclusive);
    return find_kernel(key, [&] {
        return any_kernel("scan: lines", {.local = width}, [&](ParameterList& parameters) {
            const StoreElement store = scan.to.declare(parameters);
            const ScanElements elements(parameters, scan);
            const DeclaredLines lines(parameters, scan.lines, true, aligned);
            const Line line = lines.line(Value<u32>(group_id().x), Value<u32>(0U));
            const ScanRows rows(elements, line, width);
            // Segments, with their initial values, start in the rows. An exclusive scan without them starts
            // with the initial value; an inclusive one adds it to the first element.
            const auto begin_of_line = [&](const Row& row) {
                return elements.has_initial() && !row.cut ? elements.combine(elements.initial(), row.sum)
                                                          : row.sum;
            };
            const auto store_row = [&](const Value<u32>& k, const AnyValue& before, const AnyValue& results,
                                       const Row& row) {
                store(line.at(k), is_exclusive ? rows.exclusive(before, results, row.heads) : results);
            };
            const Value<u32>& length = lines.length();
            const Value<u32> whole = length / width;
            // The first row.
            const Row first = rows.scan(rows.lane());
            const AnyValue first_results = begin_of_line(first);
            const AnyValue nothing = elements.has_initial() ? elements.initial() : first_results;
            store_row(rows.lane(), nothing, first_results, first);
            AnyVar sum(broadcast(first_results, rows.last_lane()));
            $for (r, 1U, whole) {
                const Value<u32> k = r * width + rows.lane();
                const AnyValue before = sum.load();
                const Row row = rows.scan(k);
                const AnyValue results = rows.after(before, row);
                store_row(k, before, results, row);
                sum = rows.end(before, row, results);
            }
            if (aligned > 1) return;
            $if (whole * width < length) {
                const Value<u32> k = whole * width + rows.lane();
                const AnyValue before = sum.load();
                const Row row = rows.scan(min(k, length - 1U));
                const AnyValue results = rows.after(before, row);
                const AnyValue stored = is_exclusive ? rows.exclusive(before, results, row.heads) : results;
                $if (k < length) {
                    store(line.at(k), stored);
                }
            }
        });
    });
}

std::vector<AnyArgument> rows_arguments(const LineScan& scan) {
    std::vector<AnyArgument> arguments;
    scan.to.add_arguments(arguments);
    ScanElements::add_arguments(arguments, scan);
    scan.lines.add_arguments(arguments);
    return arguments;
}

}  // namespace volley::algorithms
