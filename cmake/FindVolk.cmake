# Finds volk and the Vulkan headers. volk's source is compiled into the library and opens the Vulkan loader at run time.
#   Volk::headers         include directory
find_path(Volk_INCLUDE_DIR NAMES volk.h)
find_path(Volk_VULKAN_INCLUDE_DIR NAMES vulkan/vulkan.h)
mark_as_advanced(Volk_INCLUDE_DIR Volk_VULKAN_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Volk
  REQUIRED_VARS Volk_INCLUDE_DIR Volk_VULKAN_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "volk and Vulkan's headers are needed: install libvulkan-volk-dev and libvulkan-dev")

if(Volk_FOUND AND NOT TARGET Volk::headers)
  add_library(Volk::headers INTERFACE IMPORTED)
  target_include_directories(Volk::headers SYSTEM INTERFACE ${Volk_INCLUDE_DIR} ${Volk_VULKAN_INCLUDE_DIR})
endif()
