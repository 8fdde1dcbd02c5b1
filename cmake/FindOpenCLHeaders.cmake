# Finds the OpenCL headers, 3.0 or later. Nothing is linked: the ICD loader is opened at run time.
#   OpenCLHeaders::headers   include directory
find_path(OpenCLHeaders_INCLUDE_DIR NAMES CL/cl.h)
mark_as_advanced(OpenCLHeaders_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenCLHeaders
  REQUIRED_VARS OpenCLHeaders_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "OpenCL's headers are needed: install opencl-c-headers")

if(OpenCLHeaders_FOUND AND NOT TARGET OpenCLHeaders::headers)
  add_library(OpenCLHeaders::headers INTERFACE IMPORTED)
  target_include_directories(OpenCLHeaders::headers SYSTEM INTERFACE ${OpenCLHeaders_INCLUDE_DIR})
endif()
