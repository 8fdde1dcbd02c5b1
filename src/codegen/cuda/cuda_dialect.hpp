// The CUDA C++ dialect, for compute capability 7.0 and later.
#pragma once

#include "codegen/clike/dialect.hpp"

namespace volley::codegen::cuda {

inline constexpr std::uint32_t warp_size = 32;

class CudaDialect final : public clike::Dialect {
public:
    [[nodiscard]] std::string_view name() const override { return "CUDA C++"; }
    [[nodiscard]] std::string_view type(ScalarType s) const override;
    [[nodiscard]] std::string_view suffix64(bool is_unsigned) const override {
        return is_unsigned ? "ull" : "ll";
    }
    [[nodiscard]] std::string_view infinity(ScalarType s) const override;
    [[nodiscard]] std::string reinterpret(ScalarType to, ScalarType from, std::string_view x) const override;
    [[nodiscard]] std::string_view function(ir::Op op, ScalarType s) const override;
    [[nodiscard]] std::string_view popcount(bool wide) const override { return wide ? "__popcll" : "__popc"; }
    [[nodiscard]] std::string_view clz(bool wide) const override { return wide ? "__clzll" : "__clz"; }
    [[nodiscard]] std::string_view half_to_float() const override;
    [[nodiscard]] std::string_view float_to_half() const override;
    [[nodiscard]] std::string_view space(clike::Space) const override { return {}; }
    [[nodiscard]] std::string_view shared_array() const override { return "__shared__ "; }
    [[nodiscard]] std::string_view aligned_array() const override { return " __attribute__((aligned(8)))"; }
    [[nodiscard]] std::string_view device_function() const override { return "static __device__ inline"; }
    [[nodiscard]] std::string_view barrier() const override { return "__syncthreads();"; }
    [[nodiscard]] std::string_view subgroup_barrier() const override { return "__syncwarp(__activemask());"; }
    [[nodiscard]] std::string fence(ir::FenceScope scope) const override;
    [[nodiscard]] std::string atomic(ir::Op op, ScalarType s, std::string_view pointer,
                                     std::string_view operand, std::string_view desired) const override;
    [[nodiscard]] bool has_float_atomic(ir::Op op, ScalarType s) const override;
    [[nodiscard]] std::string global_id(unsigned d, std::uint32_t local) const override;
    [[nodiscard]] std::string local_id(unsigned d) const override;
    [[nodiscard]] std::string group_id(unsigned d) const override;
    [[nodiscard]] std::string_view subgroup_id() const override { return "local_index / 32u"; }
    [[nodiscard]] std::string_view subgroup_lane() const override { return "local_index % 32u"; }
    [[nodiscard]] std::string fold_body(const ir::Fold& fold, ScalarType s, std::string_view identity,
                                        const Combine& combined) const override;
    [[nodiscard]] std::string shuffle(ScalarType s, std::string_view x, std::string_view lane) const override;
    [[nodiscard]] std::string ballot_body(unsigned word) const override;
    [[nodiscard]] std::string_view elect() const override;
    [[nodiscard]] std::string prelude() const override;
    [[nodiscard]] std::string kernel_head(const clike::Variant& variant) const override;
};

}  // namespace volley::codegen::cuda
