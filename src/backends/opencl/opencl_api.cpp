// Opens the ICD loader.
#include "backends/opencl/opencl_api.hpp"

#include "core/settings.hpp"
#include "core/text.hpp"

#include <dlfcn.h>

#include <optional>

namespace volley::backends::opencl {
namespace {

struct Opened {
    std::optional<Api> api;
    std::string why;
};

Opened open() {
    Opened opened;
    const auto& chosen = settings().opencl_loader;
    const char* names[] = {"libOpenCL.so.1", "libOpenCL.so"};
    void* library = nullptr;
    if (chosen) {
        library = ::dlopen(chosen->c_str(), RTLD_NOW | RTLD_LOCAL);
    } else {
        for (const char* name : names) {
            if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
        }
    }
    if (library == nullptr) {
        opened.why = "no loader";
        return opened;
    }
    Api api;
    std::string_view missing;
#define VOLLEY_OPENCL_LOAD(name) \
    api.name = reinterpret_cast<decltype(api.name)>(::dlsym(library, "cl" #name));
#define VOLLEY_OPENCL_NEED(name) \
    if (api.name == nullptr) missing = "cl" #name;
    VOLLEY_OPENCL_CORE(VOLLEY_OPENCL_LOAD)
    VOLLEY_OPENCL_LATER(VOLLEY_OPENCL_LOAD)
    VOLLEY_OPENCL_CORE(VOLLEY_OPENCL_NEED)
#undef VOLLEY_OPENCL_NEED
#undef VOLLEY_OPENCL_LOAD
    if (missing.empty()) {
        opened.api = api;
    } else {
        opened.why = cat("the OpenCL loader is older than 1.2 and lacks ", missing);
    }
    return opened;
}

}  // namespace

const Api* open_api(std::string& why) {
    static const Opened opened = open();
    why = opened.why;
    return opened.api ? &*opened.api : nullptr;
}

std::string_view result_text(cl_int result) noexcept {
    switch (result) {
#define VOLLEY_OPENCL_RESULT(name) \
    case name: return #name;
        VOLLEY_OPENCL_RESULT(CL_SUCCESS)
        VOLLEY_OPENCL_RESULT(CL_DEVICE_NOT_FOUND)
        VOLLEY_OPENCL_RESULT(CL_DEVICE_NOT_AVAILABLE)
        VOLLEY_OPENCL_RESULT(CL_COMPILER_NOT_AVAILABLE)
        VOLLEY_OPENCL_RESULT(CL_MEM_OBJECT_ALLOCATION_FAILURE)
        VOLLEY_OPENCL_RESULT(CL_OUT_OF_RESOURCES)
        VOLLEY_OPENCL_RESULT(CL_OUT_OF_HOST_MEMORY)
        VOLLEY_OPENCL_RESULT(CL_MEM_COPY_OVERLAP)
        VOLLEY_OPENCL_RESULT(CL_BUILD_PROGRAM_FAILURE)
        VOLLEY_OPENCL_RESULT(CL_MAP_FAILURE)
        VOLLEY_OPENCL_RESULT(CL_MISALIGNED_SUB_BUFFER_OFFSET)
        VOLLEY_OPENCL_RESULT(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        VOLLEY_OPENCL_RESULT(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)
        VOLLEY_OPENCL_RESULT(CL_INVALID_VALUE)
        VOLLEY_OPENCL_RESULT(CL_INVALID_DEVICE)
        VOLLEY_OPENCL_RESULT(CL_INVALID_CONTEXT)
        VOLLEY_OPENCL_RESULT(CL_INVALID_QUEUE_PROPERTIES)
        VOLLEY_OPENCL_RESULT(CL_INVALID_COMMAND_QUEUE)
        VOLLEY_OPENCL_RESULT(CL_INVALID_HOST_PTR)
        VOLLEY_OPENCL_RESULT(CL_INVALID_MEM_OBJECT)
        VOLLEY_OPENCL_RESULT(CL_INVALID_BINARY)
        VOLLEY_OPENCL_RESULT(CL_INVALID_BUILD_OPTIONS)
        VOLLEY_OPENCL_RESULT(CL_INVALID_PROGRAM)
        VOLLEY_OPENCL_RESULT(CL_INVALID_PROGRAM_EXECUTABLE)
        VOLLEY_OPENCL_RESULT(CL_INVALID_KERNEL_NAME)
        VOLLEY_OPENCL_RESULT(CL_INVALID_KERNEL_DEFINITION)
        VOLLEY_OPENCL_RESULT(CL_INVALID_KERNEL)
        VOLLEY_OPENCL_RESULT(CL_INVALID_ARG_INDEX)
        VOLLEY_OPENCL_RESULT(CL_INVALID_ARG_VALUE)
        VOLLEY_OPENCL_RESULT(CL_INVALID_ARG_SIZE)
        VOLLEY_OPENCL_RESULT(CL_INVALID_KERNEL_ARGS)
        VOLLEY_OPENCL_RESULT(CL_INVALID_WORK_DIMENSION)
        VOLLEY_OPENCL_RESULT(CL_INVALID_WORK_GROUP_SIZE)
        VOLLEY_OPENCL_RESULT(CL_INVALID_WORK_ITEM_SIZE)
        VOLLEY_OPENCL_RESULT(CL_INVALID_GLOBAL_OFFSET)
        VOLLEY_OPENCL_RESULT(CL_INVALID_EVENT_WAIT_LIST)
        VOLLEY_OPENCL_RESULT(CL_INVALID_EVENT)
        VOLLEY_OPENCL_RESULT(CL_INVALID_OPERATION)
        VOLLEY_OPENCL_RESULT(CL_INVALID_BUFFER_SIZE)
        VOLLEY_OPENCL_RESULT(CL_INVALID_GLOBAL_WORK_SIZE)
#undef VOLLEY_OPENCL_RESULT
        default: return "an error that OpenCL does not name";
    }
}

}  // namespace volley::backends::opencl
