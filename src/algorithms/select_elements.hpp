// What the kernels of selections load, test and store, while they are traced. All arrays have one axis here.
#pragma once

#include <volley/algorithms/any_sink.hpp>
#include <volley/algorithms/any_source.hpp>
#include <volley/algorithms/select.hpp>
#include <volley/lang/any_value.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace volley::algorithms {

/// One selection. The outputs have at least as many elements as the input.
struct SelectRequest {
    AnySource from;
    detail::SelectTest test;
    std::optional<AnySink> values_to = {};
    std::optional<AnySink> indices_to = {};  ///< u32
    std::optional<AnySink> count_to = {};    ///< one u32; unset: the host has read the number
    bool divides = false;  ///< partition: values that are not selected are stored after the others

    [[nodiscard]] std::int64_t size() const { return from.size(); }
};

/// An element that has been tested. `value` is empty if the test did not need it.
struct SelectCandidate {
    Value<bool> selected;
    std::optional<AnyValue> value;
};

/// Parameters and operations that kernels have in common. A kernel that only counts has no outputs.
class SelectElements {
public:
    SelectElements(ParameterList& parameters, const SelectRequest& request, bool counts_only);
    static void identify(KernelKey& key, const SelectRequest& request, bool counts_only);
    static void add_arguments(std::vector<AnyArgument>& arguments, const SelectRequest& request,
                              bool counts_only);

    /// Returns whether elements are tested against the one before.
    [[nodiscard]] bool compares_neighbours() const { return runs_; }
    [[nodiscard]] AnyValue load(const Value<u32>& i) const { return load_(Position(i)); }
    /// Tests element i. `before` is the value of the element before, if tests need it; anything for i = 0.
    [[nodiscard]] SelectCandidate test(const Value<u32>& i, const std::optional<AnyValue>& before) const;
    /// The same for element i with the value x, where elements are tested against the one before.
    [[nodiscard]] SelectCandidate test_neighbours(const Value<u32>& i, const AnyValue& before,
                                                  const AnyValue& x) const;
    [[nodiscard]] AnyValue value_of(const SelectCandidate& candidate, const Value<u32>& i) const {
        return candidate.value ? *candidate.value : load(i);
    }

    [[nodiscard]] bool has_values() const { return static_cast<bool>(store_value_); }
    [[nodiscard]] bool has_indices() const { return static_cast<bool>(store_index_); }
    void store_value(const Value<u32>& to, const AnyValue& value) const { store_value_(Position(to), value); }
    void store_index(const Value<u32>& to, const Value<u32>& i) const { store_index_(Position(to), i); }
    /// Stores element i to the outputs.
    void store(const Value<u32>& to, const SelectCandidate& candidate, const Value<u32>& i) const;
    /// Stores the number of selected elements, if there is an output for it.
    void store_count(const Value<u32>& count) const;

private:
    LoadElement load_;
    LoadElement mask_;
    std::optional<AnyFunction> function_;
    bool runs_;
    StoreElement store_value_, store_index_, store_count_;
};

/// The input is cut into pieces of equal length. There is one more count than pieces, and it is zero, so that
/// the exclusive scan of the counts ends with their sum.
struct SelectPieces {
    std::int64_t length = 0;
    std::int64_t pieces = 0;
};

// On the CPU backend, a workgroup of one subgroup of `width` lanes selects from a tile.

[[nodiscard]] AnyKernel select_tile_count_kernel(const SelectRequest& request, u32 width, u32 tile);
[[nodiscard]] AnyKernel select_tile_write_kernel(const SelectRequest& request, u32 width, u32 tile);
/// In one pass. The states are u64, one per tile and one more, and zero at the start.
[[nodiscard]] AnyKernel select_chain_kernel(const SelectRequest& request, u32 width, u32 tile);

// On other devices, an invocation selects from a strip.

[[nodiscard]] AnyKernel select_strip_count_kernel(const SelectRequest& request);
[[nodiscard]] AnyKernel select_strip_write_kernel(const SelectRequest& request);

/// The arguments of all kernels. `numbers` are the counts to store, the scanned counts, or the states.
[[nodiscard]] std::vector<AnyArgument> select_arguments(const SelectRequest& request,
                                                        const SelectPieces& pieces, const AnyBuffer& numbers,
                                                        bool counts_only);

}  // namespace volley::algorithms
