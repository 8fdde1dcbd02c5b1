// Device queries, in dependency order.
#include "backends/opencl/opencl_physical.hpp"

#include "core/hash.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <vector>

namespace volley::backends::opencl {
namespace {

// Constants of extensions whose headers may be missing.
constexpr cl_device_info device_uuid = 0x106A;      // cl_khr_device_uuid
constexpr cl_device_info warp_size = 0x4003;        // cl_nv_device_attribute_query
constexpr cl_device_info wavefront_width = 0x4043;  // cl_amd_device_attribute_query
constexpr cl_device_info subgroup_sizes = 0x4108;   // cl_intel_required_subgroup_size

class Query {
public:
    Query(const Api& cl, cl_device_id device) : cl_(cl), device_(device) {}

    template <class T>
    [[nodiscard]] T value(cl_device_info what, T otherwise = {}) const {
        T result{};
        std::size_t size = 0;
        if (cl_.GetDeviceInfo(device_, what, sizeof result, &result, &size) != CL_SUCCESS ||
            size != sizeof result)
            return otherwise;
        return result;
    }
    template <class T>
    [[nodiscard]] std::vector<T> list(cl_device_info what) const {
        std::size_t size = 0;
        if (cl_.GetDeviceInfo(device_, what, 0, nullptr, &size) != CL_SUCCESS) return {};
        std::vector<T> result(size / sizeof(T));
        if (result.empty()) return {};
        if (cl_.GetDeviceInfo(device_, what, result.size() * sizeof(T), result.data(), nullptr) != CL_SUCCESS)
            return {};
        return result;
    }
    [[nodiscard]] std::string text(cl_device_info what) const {
        const std::vector<char> chars = list<char>(what);
        return std::string(trimmed(std::string(chars.begin(), std::find(chars.begin(), chars.end(), '\0'))));
    }

private:
    const Api& cl_;
    cl_device_id device_;
};

std::string platform_text(const Api& cl, cl_platform_id platform, cl_platform_info what) {
    std::size_t size = 0;
    if (cl.GetPlatformInfo(platform, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
    std::string text(size, '\0');
    if (cl.GetPlatformInfo(platform, what, size, text.data(), nullptr) != CL_SUCCESS) return {};
    text.resize(std::strlen(text.c_str()));
    return std::string(trimmed(text));
}

/// Returns the version in "OpenCL 3.0 PoCL" or "OpenCL C 1.2 ..." as 300 or 120, or 0 if there is none.
unsigned version_of(std::string_view text) {
    const std::size_t digit = text.find_first_of("0123456789");
    if (digit == std::string_view::npos) return 0;
    unsigned major = 0;
    unsigned minor = 0;
    const char* end = text.data() + text.size();
    const auto whole = std::from_chars(text.data() + digit, end, major);
    if (whole.ec != std::errc{} || whole.ptr == end || *whole.ptr != '.') return 0;
    std::from_chars(whole.ptr + 1, end, minor);
    return major * 100 + minor * 10;
}

class Extensions {
public:
    explicit Extensions(const std::string& names) : names_(cat(" ", names, " ")) {}
    [[nodiscard]] bool has(std::string_view name) const {
        return names_.find(cat(" ", name, " ")) != std::string::npos;
    }

private:
    std::string names_;
};

/// Returns the newest OpenCL C version that programs can be built for; devices of 3.0 list all versions.
unsigned language_version(const Query& query, unsigned device_version) {
    unsigned newest = version_of(query.text(CL_DEVICE_OPENCL_C_VERSION));
    if (device_version >= 300) {
        for (const cl_name_version& known : query.list<cl_name_version>(CL_DEVICE_OPENCL_C_ALL_VERSIONS)) {
            newest = std::max(newest, static_cast<unsigned>(CL_VERSION_MAJOR(known.version) * 100 +
                                                            CL_VERSION_MINOR(known.version) * 10));
        }
    }
    return newest >= 300 ? 300 : newest >= 200 ? 200 : newest;
}

DeviceType type_of(cl_device_type type, bool unified) {
    if ((type & CL_DEVICE_TYPE_GPU) != 0)
        return unified ? DeviceType::IntegratedGpu : DeviceType::DiscreteGpu;
    return (type & CL_DEVICE_TYPE_CPU) != 0 ? DeviceType::Cpu : DeviceType::Other;
}

/// Returns the lanes of a subgroup if it is the same in every kernel, else 0.
std::uint32_t fixed_subgroup(const Query& query) {
    if (const auto warp = query.value<cl_uint>(warp_size); warp != 0) return warp;
    if (const auto wave = query.value<cl_uint>(wavefront_width); wave != 0) return wave;
    const std::vector<std::size_t> sizes = query.list<std::size_t>(subgroup_sizes);
    return sizes.size() == 1 ? static_cast<std::uint32_t>(sizes[0]) : 0;
}

void fill_target(const Query& query, const Extensions& extensions, PhysicalDevice& to) {
    codegen::opencl::Target& target = to.target;
    const auto singles = query.value<cl_device_fp_config>(CL_DEVICE_SINGLE_FP_CONFIG);
    const auto doubles = query.value<cl_device_fp_config>(CL_DEVICE_DOUBLE_FP_CONFIG);
    target.version = language_version(query, to.version);
    target.f16 = extensions.has("cl_khr_fp16");
    // Some devices report the extension but no double arithmetic.
    target.f64 = doubles != 0 && (extensions.has("cl_khr_fp64") || to.version >= 120);
    target.i64_atomics =
        extensions.has("cl_khr_int64_base_atomics") && extensions.has("cl_khr_int64_extended_atomics");
    target.fused_fma = (singles & CL_FP_FMA) != 0;
    target.keeps_subnormals = (singles & CL_FP_DENORM) != 0;
    target.exact_division = (singles & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    const std::uint32_t lanes = fixed_subgroup(query);
    target.subgroups =
        lanes > 1 && extensions.has("cl_khr_subgroups") && extensions.has("cl_khr_subgroup_ballot") &&
        extensions.has("cl_khr_subgroup_shuffle") && extensions.has("cl_khr_subgroup_non_uniform_arithmetic");
    target.subgroup_size = target.subgroups ? lanes : 1;
}

/// Uses the device's UUID, or derives one from platform, name and index.
void fill_uuid(const Query& query, const Extensions& extensions, PhysicalDevice& to) {
    if (extensions.has("cl_khr_device_uuid")) {
        const auto bytes = query.list<std::uint8_t>(device_uuid);
        if (bytes.size() == to.info.uuid.size()) {
            std::copy(bytes.begin(), bytes.end(), to.info.uuid.begin());
            return;
        }
    }
    const Hash128 hash = Hasher()
                             .add(std::string_view("opencl"), std::string_view(to.info.driver),
                                  std::string_view(to.info.name), to.info.index)
                             .digest();
    std::memcpy(to.info.uuid.data(), &hash.high, 8);
    std::memcpy(to.info.uuid.data() + 8, &hash.low, 8);
}

void fill_info(const Query& query, const Extensions& extensions, unsigned index, PhysicalDevice& to) {
    DeviceInfo& info = to.info;
    info.backend = "opencl";
    info.index = index;
    const auto type = query.value<cl_device_type>(CL_DEVICE_TYPE);
    info.type = type_of(type, to.unified);
    info.software = (type & CL_DEVICE_TYPE_CPU) != 0;
    info.max_local_size =
        static_cast<std::uint32_t>(query.value<std::size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE, 1));
    const std::vector<std::size_t> dims = query.list<std::size_t>(CL_DEVICE_MAX_WORK_ITEM_SIZES);
    for (std::size_t d = 0; d < 3; ++d)
        info.max_local_dims[d] = d < dims.size() ? static_cast<std::uint32_t>(dims[d]) : 1;
    info.max_shared_bytes = query.value<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE);
    info.memory_bytes = query.value<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE);
    info.subgroup_size = to.target.subgroup_size;
    info.compute_units = query.value<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS);
    info.max_queues = 64;
    // OpenCL C always has these, except doubles, and half floats, which are emulated.
    info.i8 = info.i16 = info.i64 = info.f16 = true;
    info.f64 = to.target.f64;
    info.float_atomics = false;  // emulated with compare-exchange loops
    info.int64_atomics = to.target.i64_atomics;
    info.subgroups = to.target.subgroups;
    info.keeps_subnormals = to.target.keeps_subnormals;
    info.fused_fma = to.target.fused_fma;
    fill_uuid(query, extensions, to);
}

std::string refusal_of(const Query& query, const Extensions& extensions, const PhysicalDevice& device) {
    if (device.version < 120 || device.target.version < 120) return "it is older than OpenCL 1.2";
    if (query.value<cl_bool>(CL_DEVICE_AVAILABLE) == CL_FALSE) return "it is not available";
    if (query.value<cl_bool>(CL_DEVICE_COMPILER_AVAILABLE) == CL_FALSE) return "it has no compiler";
    if (query.value<cl_bool>(CL_DEVICE_ENDIAN_LITTLE) == CL_FALSE) return "it is big-endian";
    if (query.text(CL_DEVICE_PROFILE) != "FULL_PROFILE" && !extensions.has("cles_khr_int64"))
        return "it lacks 64-bit integers";
    return {};
}

}  // namespace

std::string describe(const Api& cl, cl_platform_id platform, cl_device_id device, unsigned index,
                     PhysicalDevice& to) {
    const Query query(cl, device);
    to.handle = device;
    to.platform = platform;
    to.info.name = query.text(CL_DEVICE_NAME);
    const std::string platform_version = platform_text(cl, platform, CL_PLATFORM_VERSION);
    to.info.driver = cat(platform_text(cl, platform, CL_PLATFORM_NAME), " ", query.text(CL_DRIVER_VERSION));
    // A platform provides only the functions of its own version, even if its devices report a newer one.
    to.version = std::min(version_of(query.text(CL_DEVICE_VERSION)), version_of(platform_version));
    to.identity =
        cat(platform_version, "\n", to.info.name, "\n", query.text(CL_DEVICE_VERSION), "\n", to.info.driver);
    const Extensions extensions(query.text(CL_DEVICE_EXTENSIONS));
    fill_target(query, extensions, to);
    std::string refusal = refusal_of(query, extensions, to);
    if (!refusal.empty()) return refusal;

    to.unified = query.value<cl_bool>(CL_DEVICE_HOST_UNIFIED_MEMORY) != CL_FALSE;
    const auto svm = query.value<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES);
    to.fine_grained = to.version >= 200 && to.unified && (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0 &&
                      cl.SVMAlloc != nullptr && cl.SVMFree != nullptr && cl.SetKernelArgSVMPointer != nullptr;
    // On a CPU, a buffer created from host memory uses that memory.
    to.shares_any_memory = to.info.software || (svm & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM) != 0;
    to.max_allocation = query.value<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    to.base_alignment = std::max(query.value<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8, 1u);
    to.max_argument_bytes = query.value<std::size_t>(CL_DEVICE_MAX_PARAMETER_SIZE, 1024);
    fill_info(query, extensions, index, to);
    to.info.host_memory = to.fine_grained;
    to.target.device = cat(to.info.id(), " (", to.info.name, ")");
    return {};
}

}  // namespace volley::backends::opencl
