// Checks a product, chooses its method and tuning parameters for each target, and runs it.
#include "algorithms/execution.hpp"
#include "algorithms/matmul_kernels.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/matmul.hpp>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace volley {
namespace algorithms {
namespace {

struct OperandShapes {
    MatrixAxes axes_a, axes_b;
    Shape result;
};

DType accumulated_type(DType type) {
    return type.scalar() == ScalarType::F16 ? type.with_scalar(ScalarType::F32) : type;
}

void check_types(const AnySource& a, const AnySource& b) {
    const DType type = a.dtype();
    if (type != b.dtype()) {
        fail(ErrorCode::TypeMismatch,
             cat("the operands have different types: ", type.name(), " and ", b.dtype().name()), matmul_name,
             "convert one of them, for example with cast<T>(lazy(buffer))");
    }
    if ((!type.is_scalar() && !type.is_complex()) || type.is_bool()) {
        fail(ErrorCode::TypeMismatch, cat("elements of type ", type.name(), " cannot be multiplied"),
             matmul_name, "use floats, integers or complex numbers");
    }
}

OperandShapes operand_shapes(const AnySource& a, const AnySource& b, const MatmulOptions& options) {
    const Shape& in_a = a.shape();
    const Shape& in_b = b.shape();
    if (in_a.rank() == 0 || in_b.rank() == 0) {
        fail(ErrorCode::InvalidShape, "a scalar is no matrix or vector", matmul_name,
             "multiply by a scalar with lazy(a) * x, or the option alpha");
    }
    OperandShapes shapes;
    shapes.axes_a = {.rows = in_a.rank() > 1, .transposed = in_a.rank() > 1 && options.transpose_a};
    shapes.axes_b = {.columns = in_b.rank() > 1, .transposed = in_b.rank() > 1 && options.transpose_b};
    const std::int64_t k_a = in_a[in_a.rank() - (shapes.axes_a.transposed ? 2 : 1)];
    const std::int64_t k_b = in_b[in_b.rank() - (shapes.axes_b.columns && !shapes.axes_b.transposed ? 2 : 1)];
    if (k_a != k_b) {
        fail(ErrorCode::SizeMismatch,
             cat("matrices of the shapes ", in_a.to_string(), options.transpose_a ? " (transposed)" : "",
                 " and ", in_b.to_string(), options.transpose_b ? " (transposed)" : "",
                 " cannot be multiplied"),
             matmul_name, "the columns of a must be as many as the rows of b");
    }
    const auto batch_of = [](const Shape& shape, int dropped) {
        std::vector<std::int64_t> extents;
        for (int axis = 0; axis + dropped < shape.rank(); ++axis) extents.push_back(shape[axis]);
        return extents;
    };
    const std::vector<std::int64_t> lead_a = batch_of(in_a, shapes.axes_a.count()),
                                    lead_b = batch_of(in_b, shapes.axes_b.count());
    std::vector<std::int64_t> extents(std::max(lead_a.size(), lead_b.size()), 1);
    for (std::size_t back = 1; back <= extents.size(); ++back) {
        const std::int64_t x = back <= lead_a.size() ? lead_a[lead_a.size() - back] : 1;
        const std::int64_t y = back <= lead_b.size() ? lead_b[lead_b.size() - back] : 1;
        if (x != y && x != 1 && y != 1) {
            fail(
                ErrorCode::InvalidShape,
                cat("the batches of ", in_a.to_string(), " and ", in_b.to_string(),
                    " cannot be broadcast together"),
                matmul_name,
                "the axes before the matrices, counted from the last, must have the same length or length 1");
        }
        extents[extents.size() - back] = x == 1 ? y : x;
    }
    if (shapes.axes_a.rows) extents.push_back(in_a[in_a.rank() - (shapes.axes_a.transposed ? 1 : 2)]);
    if (shapes.axes_b.columns) extents.push_back(in_b[in_b.rank() - (shapes.axes_b.transposed ? 2 : 1)]);
    shapes.result = Shape(std::span<const std::int64_t>(extents));
    return shapes;
}

template <class T>
AnyArgument number_as(const std::complex<double>& number, DType type) {
    if constexpr (std::integral<T>) {
        // The range of T, in double; the largest number of 64 bits is rounded up.
        const double low = static_cast<double>(std::numeric_limits<T>::min());
        const double high = static_cast<double>(std::numeric_limits<T>::max());
        const double x = number.real();
        if (!(x >= low && x <= high) || static_cast<double>(static_cast<T>(x)) != x) {
            fail(ErrorCode::InvalidArgument, cat("a factor does not fit the type ", type.name()), matmul_name,
                 "use a number in the range of the elements' type");
        }
    }
    return AnyArgument(static_cast<T>(number.real()));
}

/// Returns a factor as an argument of its kernel; none if it is `neutral`.
std::optional<AnyArgument> factor_of(const MatmulFactor& factor, double neutral, DType accumulated) {
    const DType real(accumulated.scalar());
    if (factor.dynamic()) {
        const DType given = factor.dynamic()->dtype();
        if (given != real && given != accumulated) {
            fail(ErrorCode::TypeMismatch,
                 cat("a dynamic factor is ", given.name(), ", but the product is accumulated in ",
                     accumulated.name()),
                 matmul_name, cat("use dyn of the type ", accumulated.name()));
        }
        return factor.dynamic();
    }
    const std::complex<double> number = factor.number();
    if (number == neutral) return std::nullopt;
    if (number.imag() != 0) {
        if (!accumulated.is_complex()) {
            fail(ErrorCode::InvalidArgument,
                 cat("a complex factor for elements of type ", accumulated.name()), matmul_name,
                 "use a real factor, or complex operands");
        }
        if (real.scalar() == ScalarType::F64) return AnyArgument(number);
        return AnyArgument(
            std::complex<float>(static_cast<float>(number.real()), static_cast<float>(number.imag())));
    }
    switch (real.scalar()) {
        case ScalarType::F64: return AnyArgument(number.real());
        case ScalarType::I8: return number_as<i8>(number, real);
        case ScalarType::U8: return number_as<u8>(number, real);
        case ScalarType::I16: return number_as<i16>(number, real);
        case ScalarType::U16: return number_as<u16>(number, real);
        case ScalarType::I32: return number_as<i32>(number, real);
        case ScalarType::U32: return number_as<u32>(number, real);
        case ScalarType::I64: return number_as<i64>(number, real);
        case ScalarType::U64: return number_as<u64>(number, real);
        default: return AnyArgument(static_cast<float>(number.real()));
    }
}

void check_result(const AnySink& c, DType type, DType accumulated, const Shape& shape) {
    check_sink(c, c.dtype() == accumulated ? accumulated : type, shape, matmul_name);
}

void check_tuning(const MatmulTuning& tuning) {
    if (tuning.rows <= 16 && tuning.columns <= 16 && tuning.rows * tuning.columns <= 64 &&
        (tuning.lanes == 0 || (std::has_single_bit(tuning.lanes) && tuning.lanes <= 64)) &&
        (tuning.method != MatmulMethod::Tiles || tuning.block_depth <= 64))
        return;
    fail(ErrorCode::InvalidArgument, "the tuning parameters are out of range", matmul_name,
         "use at most 16 rows and columns, 64 elements in all, lanes that are a power of two up to 64, and "
         "tiles "
         "of a depth of at most 64");
}

/// Sets what the caller left to the library.
MatmulTuning tuned(const MatmulProblem& problem, MatmulTuning tuning, const DeviceInfo& device) {
    const DeviceClass kind = device_class(device);
    const auto set = [](unsigned& parameter, unsigned value) {
        if (parameter == 0) parameter = value;
    };
    const auto bytes = static_cast<unsigned>(problem.real().size());
    if (tuning.method == MatmulMethod::Automatic) {
        const double work =
            static_cast<double>(problem.m) * static_cast<double>(problem.n) * static_cast<double>(problem.k);
        const bool block = problem.m >= 4 && problem.n >= 4 && work >= 16.0 * 16 * 16;
        tuning.method = !block                     ? MatmulMethod::Direct
                        : kind == DeviceClass::Gpu ? MatmulMethod::Tiles
                                                   : MatmulMethod::Panels;
    }
    if (problem.k == 0) tuning.method = MatmulMethod::Direct;
    if (tuning.method == MatmulMethod::Tiles) {
        const unsigned block = bytes * problem.parts() > 4 ? 2 : 4;
        set(tuning.rows, block);
        set(tuning.columns, block);
        set(tuning.block_depth, 16);
        return tuning;
    }
    // The registers of a vector of the accumulators' type: AVX-512 has 32 of 16 floats, others 16.
    set(tuning.lanes, kind == DeviceClass::Cpu ? std::max(device.subgroup_size, 1U) : 16);
    const bool many = kind == DeviceClass::Cpu && tuning.lanes >= 16;
    const unsigned registers = std::max(1U, bytes * tuning.lanes / (many ? 64 : 32)) * problem.parts();
    set(tuning.columns, registers > 1 ? 1 : 2);
    if (kind == DeviceClass::Cpu) {
        set(tuning.rows, std::max(1U, (many ? 24 : 12) / (registers * tuning.columns)));
    } else {
        set(tuning.rows, 4);
    }
    if (kind == DeviceClass::Cpu) {
        set(tuning.block_rows, 12 * tuning.rows);
        set(tuning.block_columns, 8 * tuning.columns * tuning.lanes);
        set(tuning.block_depth, 384);
    } else {
        set(tuning.block_rows, tuning.rows);
        set(tuning.block_columns, tuning.columns * tuning.lanes);
        set(tuning.block_depth, 32768);
    }
    return tuning;
}

Event run(const MatmulProblem& problem, const Execution& execution, const MatmulTuning& requested) {
    Event done;
    for (const Target& target : execution.targets()) {
        const MatmulCall call{problem, execution, target, tuned(problem, requested, *target.device)};
        switch (call.tuning.method) {
            case MatmulMethod::Panels: done = matmul_panels(call); break;
            case MatmulMethod::Tiles: done = matmul_tiles(call); break;
            default: done = matmul_direct(call); break;
        }
    }
    return done;
}

}  // namespace
}  // namespace algorithms

Event matmul(const AnySink& c, const AnySource& a, const AnySource& b, const MatmulOptions& options) {
    using namespace algorithms;
    check_types(a, b);
    const OperandShapes shapes = operand_shapes(a, b, options);
    const DType accumulated = accumulated_type(a.dtype());
    check_result(c, a.dtype(), accumulated, shapes.result);
    check_no_overlap(c, a, false, matmul_name);
    check_no_overlap(c, b, false, matmul_name);
    check_tuning(options.tuning);
    const std::optional<AnyArgument> beta = factor_of(options.beta, 0, accumulated);
    if (beta && c.buffer() == nullptr) {
        fail(ErrorCode::InvalidArgument, "beta is set, but the output is a store map, which cannot be read",
             matmul_name, "write to a buffer, or add the old values in the store map");
    }

    const MatrixAxes axes_c{.rows = shapes.axes_a.rows, .columns = shapes.axes_b.columns};
    const MatmulOperand in_a(a, shapes.axes_a), in_b(b, shapes.axes_b);
    const MatmulProblem problem{
        .a = in_a,
        .b = in_b,
        .c = MatmulResult(c, axes_c),
        .old_c = beta ? std::optional(MatmulOperand(*c.buffer(), axes_c)) : std::nullopt,
        .alpha = factor_of(options.alpha, 1, accumulated),
        .beta = beta,
        .batches = MatmulBatches(in_a.batch_shape(), in_b.batch_shape()),
        .accumulated = accumulated,
        .m = in_a.rows(),
        .n = in_b.columns(),
        .k = in_a.columns(),
    };
    const Execution execution(options.queue, {&a, &b}, {&c});
    if (shapes.result.elements() == 0) return {};
    return run(problem, execution, options.tuning);
}

AnyBuffer detail::matmul(const AnySource& a, const AnySource& b, const MatmulOptions& options) {
    using namespace algorithms;
    check_types(a, b);
    if (options.beta.dynamic() || options.beta.number() != 0.0) {
        fail(ErrorCode::InvalidArgument, "beta is set, but the result is a new buffer", matmul_name,
             "pass the buffer that is multiplied by beta: matmul(c, a, b, options)");
    }
    const OperandShapes shapes = operand_shapes(a, b, options);
    const Execution execution(options.queue, {&a, &b});
    AnyBuffer result = execution.result(a.dtype(), shapes.result);
    volley::matmul(result, a, b, options);
    return result;
}

}  // namespace volley
