// Checks arguments one by one.
#include "backends/opencl/opencl_signature.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace volley::backends::opencl {
namespace {

/// A builtin type of OpenCL C, such as "uint" or "float4".
struct Builtin {
    ScalarType scalar = ScalarType::F32;
    unsigned count = 1;
};

struct NamedScalar {
    std::string_view name;
    ScalarType type;
};
constexpr std::array<NamedScalar, 15> scalars = {{{"char", ScalarType::I8},
                                                  {"uchar", ScalarType::U8},
                                                  {"unsigned char", ScalarType::U8},
                                                  {"short", ScalarType::I16},
                                                  {"ushort", ScalarType::U16},
                                                  {"unsigned short", ScalarType::U16},
                                                  {"int", ScalarType::I32},
                                                  {"uint", ScalarType::U32},
                                                  {"unsigned int", ScalarType::U32},
                                                  {"long", ScalarType::I64},
                                                  {"ulong", ScalarType::U64},
                                                  {"unsigned long", ScalarType::U64},
                                                  {"half", ScalarType::F16},
                                                  {"float", ScalarType::F32},
                                                  {"double", ScalarType::F64}}};

std::optional<Builtin> builtin(std::string_view name) {
    unsigned count = 0;
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') {
        const auto digit = static_cast<unsigned>(name.back() - '0');
        count += count == 0 && digit != 1 ? digit : 10 * digit;  // 2, 3, 4, 8 or 16
        name.remove_suffix(1);
    }
    for (const NamedScalar& scalar : scalars) {
        if (scalar.name == name) return Builtin{scalar.type, count == 0 ? 1 : count};
    }
    return std::nullopt;
}

/// Returns the scalar type that a type consists of, or nothing if there are several.
std::optional<ScalarType> only_scalar(DType type) {
    while (!type.is_scalar()) {
        if (type.is_struct()) return std::nullopt;
        type = type.part(0);
    }
    return type.scalar();
}

class Checker {
public:
    Checker(LogicalDevice& device, cl_kernel kernel, const ir::Function& fn)
        : device_(device), kernel_(kernel), fn_(fn) {}

    void check() const {
        cl_uint count = 0;
        device_.check(device_.cl.GetKernelInfo(kernel_, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr),
                      "clGetKernelInfo");
        if (count != fn_.params.size()) {
            refuse(cat("the source declares ", count, " arguments, but ", fn_.params.size(), " were passed"),
                   "pass one Buff<T> or Const<T> for each argument of the kernel function");
        }
        for (cl_uint k = 0; k < count; ++k) check_argument(k);
    }

private:
    [[noreturn]] void refuse(std::string_view what, std::string_view advice) const {
        fail(ErrorCode::CompileError, what, cat("kernel '", fn_.name, "' on ", device_.name()), advice);
    }

    void check_argument(cl_uint k) const {
        cl_kernel_arg_address_qualifier space = CL_KERNEL_ARG_ADDRESS_PRIVATE;
        if (device_.cl.GetKernelArgInfo(kernel_, k, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space,
                                        nullptr) != CL_SUCCESS)
            return;  // the device does not report argument information
        const ir::Param& param = fn_.params[k];
        const std::string place = cat("argument ", k + 1);
        if (space == CL_KERNEL_ARG_ADDRESS_LOCAL) {
            refuse(cat(place, " is a pointer to local memory"),
                   "declare the local array inside the kernel function; "
                   "only local arrays of fixed size are supported");
        }
        const bool pointer = space != CL_KERNEL_ARG_ADDRESS_PRIVATE;
        if (pointer != (param.kind == ir::ParamKind::Buffer)) {
            refuse(cat(place, pointer ? " is a pointer, but a value was passed"
                                      : " is a value, but a buffer was passed"),
                   pointer ? "pass a Buff<T>" : "pass a Const<T>, or declare it as __global T*");
        }
        check_type(place, type_name(k), param);
    }

    /// Returns the argument's type without qualifiers and pointer: "float" for "float*".
    [[nodiscard]] std::string type_name(cl_uint k) const {
        std::array<char, 256> text{};
        if (device_.cl.GetKernelArgInfo(kernel_, k, CL_KERNEL_ARG_TYPE_NAME, text.size() - 1, text.data(),
                                        nullptr) != CL_SUCCESS)
            return {};
        std::string name(text.data());
        while (!name.empty() && (name.back() == '*' || name.back() == ' ')) name.pop_back();
        return name;
    }

    void check_type(const std::string& place, const std::string& name, const ir::Param& param) const {
        const std::optional<Builtin> declared = builtin(name);
        if (!declared) return;  // a struct, or a type defined in the source
        const bool is_buffer = param.kind == ir::ParamKind::Buffer;
        const DType declared_scalar = declared->scalar;
        if (declared->count == 3) {
            refuse(cat(place, " is a ", name, is_buffer ? "*" : "", ", which is stored as four components"),
                   is_buffer ? "declare a pointer to its components, and use vload3 and vstore3"
                             : "pass its components one by one, or four of them");
        }
        if (!is_buffer) {
            const std::uint64_t bytes = declared->count * declared_scalar.size();
            if (bytes != param.type.size()) {
                refuse(cat(place, " has ", param.type.size(), " bytes (", param.type.name(),
                           "), but the source's ", name, " has ", bytes),
                       "use the same type for both");
            }
            return;
        }
        const std::optional<ScalarType> given = only_scalar(param.type);
        if (!given || *given == ScalarType::Bool) return;
        if (DType(*given).size() != declared_scalar.size() ||
            is_float(*given) != is_float(declared->scalar)) {
            refuse(
                cat(place, " points to ", name, ", but its buffer has elements of type ", param.type.name()),
                "use the same type for both");
        }
    }

    LogicalDevice& device_;
    cl_kernel kernel_;
    const ir::Function& fn_;
};

}  // namespace

void check_signature(LogicalDevice& device, cl_kernel kernel, const ir::Function& fn) {
    Checker(device, kernel, fn).check();
}

}  // namespace volley::backends::opencl
