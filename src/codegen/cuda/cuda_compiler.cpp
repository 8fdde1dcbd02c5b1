// All devices of compute capability 7.0 and later have the features that the code depends on.
#include "codegen/clike/compiler.hpp"
#include "codegen/cuda/compiler.hpp"
#include "codegen/cuda/cuda_dialect.hpp"
#include "core/text.hpp"

namespace volley::codegen::cuda {

Source compile(const ir::Function& fn, const Variant& variant, const Target& target) {
    clike::Features features;
    features.device = target.device;
    features.f64 = true;
    features.i64_atomics = true;
    features.fused_fma = true;
    features.keeps_subnormals = true;
    features.subgroup_size = warp_size;
    const CudaDialect dialect;
    Source source = clike::compile(fn, variant, features, dialect);
    source.options = cat("--gpu-architecture=compute_", target.architecture,
                         " --std=c++17 --fmad=false --prec-div=true --prec-sqrt=true --ftz=false");
    return source;
}

}  // namespace volley::codegen::cuda
