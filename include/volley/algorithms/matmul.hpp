// matmul(): products of matrices, of batches of matrices, and of matrices and vectors.
//
//     Buffer<float> c = matmul(a, b);                                 // a: (m, k), b: (k, n)
//     matmul(c, a, b, {.transpose_b = true, .alpha = 2, .beta = 1});  // c = 2 a b^T + c
//     matmul(bias_and_relu(layer, bias), x, weights);                 // through a store map
#pragma once

#include <volley/algorithms/any_sink.hpp>
#include <volley/algorithms/any_source.hpp>
#include <volley/buffer.hpp>
#include <volley/dyn.hpp>
#include <volley/event.hpp>
#include <volley/queue.hpp>

#include <complex>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace volley {

/// A factor of a product: a real or complex number, or while a graph is recorded, dyn<T>("name") of the type
/// that the product accumulates in, or of its real type.
class MatmulFactor {
public:
    // NOLINTBEGIN(google-explicit-constructor): numbers convert
    template <class T>
    requires std::is_arithmetic_v<T> MatmulFactor(T number) : number_(static_cast<double>(number)) {}
    template <class T>
    MatmulFactor(const std::complex<T>& number) : number_(number.real(), number.imag()) {}
    template <class T>
    MatmulFactor(const DynamicValue<T>& name) : argument_(name) {}
    // NOLINTEND(google-explicit-constructor)

    [[nodiscard]] std::complex<double> number() const noexcept { return number_; }
    /// Returns the dynamic value, if it is one.
    [[nodiscard]] const std::optional<AnyArgument>& dynamic() const noexcept { return argument_; }

private:
    std::complex<double> number_;
    std::optional<AnyArgument> argument_;
};

/// How a product is computed. All methods add the terms of an element in the order of k.
enum class MatmulMethod : std::uint8_t {
    Automatic,  ///< by the device class and the sizes
    Direct,     ///< one invocation per element, which reads the operands where they are
    Panels,     ///< copies the operands to panels in cache order, then multiplies blocks in registers
    Tiles,      ///< workgroups copy tiles to shared memory, invocations multiply blocks in registers
};

/// The tuning parameters of matmul(). Zeros select the default of the device class, which also depends on the
/// element type: about as many accumulators as there are registers.
struct MatmulTuning {
    MatmulMethod method = MatmulMethod::Automatic;
    /// Rows and columns of the block of C that an invocation computes in registers; at most 16 each, and 64
    /// elements in all. The columns of `Panels` are `lanes` apart. Rows and columns of `Tiles` are 16 apart.
    unsigned rows = 0, columns = 0;
    /// `Panels`: invocations side by side along a row of C. The vector width on the CPU. A power of two.
    unsigned lanes = 0;
    /// `Panels`: rows and columns of the block of C that a workgroup computes, and the part of k for which
    /// the operands of such a block are used together; they should fit in the second-level cache. `Tiles`:
    /// the depth of a tile.
    unsigned block_rows = 0, block_columns = 0, block_depth = 0;
};

struct MatmulOptions {
    /// Exchange the last two axes of an operand. Ignored for vectors.
    bool transpose_a = false, transpose_b = false;
    /// The result is alpha * a * b + beta * c. With beta = 0, the default, c is not read.
    MatmulFactor alpha = 1, beta = 0;
    /// The queue to run on. Unset: all queues that have the buffers.
    std::optional<Queue> queue = {};
    MatmulTuning tuning = {};
};

/// Stores alpha * a * b + beta * c to `c`, a buffer, or a store map if beta is 0. Does not block.
///
/// Operands have the shapes (..., m, k) and (..., k, n), and c has (..., m, n). Leading axes are broadcast
/// and computed for each combination, as NumPy's matmul does. A vector (k) as `a` is a row, as `b` a column,
/// and the result lacks that axis. Any source will do: strided views are read in place, maps are computed
/// once or a few times per element.
///
/// Element types: floats, complex numbers and integers. f16 is accumulated in f32, complex<f16> in
/// complex<f32>; c then has the type of the operands, to which each element is rounded once, or the type of
/// the accumulation. Others are accumulated in their own type; integers wrap.
///
/// Each element is the sum of its terms in the order of k, in one accumulator, with fused multiply-adds where
/// the device has them. So results do not depend on the number of threads, and the error of an element is at
/// most (k + 2) u / (1 - (k + 2) u) times the sum of the magnitudes of its terms, where u is half the epsilon
/// of the type of the accumulation; 4 times as much for complex numbers.
///
/// `Panels`, the default for large products on CPUs, needs memory for a copy of both operands, and for one of
/// c if k is large. c must not overlap the operands.
///
/// Throws ArgumentError for types, shapes, factors and overlaps that do not fit, before anything is written.
VOLLEY_API Event matmul(const AnySink& c, const AnySource& a, const AnySource& b,
                        const MatmulOptions& options = {});

namespace detail {
[[nodiscard]] VOLLEY_API AnyBuffer matmul(const AnySource& a, const AnySource& b,
                                          const MatmulOptions& options);
}

/// Returns alpha * a * b in a new buffer. Does not block. beta must be 0.
template <Source A, Source B>
requires std::same_as<source_element_t<A>, source_element_t<B>>
[[nodiscard]] Buffer<source_element_t<A>> matmul(const A& a, const B& b, const MatmulOptions& options = {}) {
    return Buffer<source_element_t<A>>(detail::matmul(a, b, options));
}

}  // namespace volley
