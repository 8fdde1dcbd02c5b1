# Finds LLVM's C headers, 15 to 20, and the path of its shared library. The library is not linked: it is opened at run
# time, and the path found here is only the first candidate.
#   LLVMC::headers        include directory; defines VOLLEY_LLVM_MAJOR and VOLLEY_LLVM_LIBRARY
#   LLVMC_MAJOR, LLVMC_INCLUDE_DIR, LLVMC_LIBRARY
# Set VOLLEY_LLVM_VERSION to select a version, VOLLEY_LLVM_DIR to set LLVM's installation prefix.
set(VOLLEY_LLVM_VERSION "" CACHE STRING "LLVM's major version, 15 to 20; empty: 19 first, then the newest")
set(VOLLEY_LLVM_DIR "" CACHE PATH "LLVM's prefix, the folder that holds include/llvm-c")

set(_versions 19 20 18 17 16 15)
if(VOLLEY_LLVM_VERSION)
  set(_versions ${VOLLEY_LLVM_VERSION})
endif()

foreach(_version IN LISTS _versions)
  if(VOLLEY_LLVM_DIR)
    set(_prefix ${VOLLEY_LLVM_DIR})
  else()
    set(_prefix /usr/lib/llvm-${_version} /usr/lib64/llvm${_version} /usr/local/lib/llvm-${_version})
  endif()
  find_path(LLVMC_INCLUDE_DIR_${_version} NAMES llvm-c/Orc.h PATHS ${_prefix} PATH_SUFFIXES include
    NO_DEFAULT_PATH)
  mark_as_advanced(LLVMC_INCLUDE_DIR_${_version})
  set(_include ${LLVMC_INCLUDE_DIR_${_version}})
  if(NOT _include OR NOT EXISTS ${_include}/llvm/Config/llvm-config.h)
    continue()
  endif()
  file(STRINGS ${_include}/llvm/Config/llvm-config.h _line REGEX "define LLVM_VERSION_MAJOR ")
  string(REGEX MATCH "[0-9]+" _major "${_line}")
  if(_major LESS 15 OR _major GREATER 20)
    continue()
  endif()
  file(GLOB _libraries ${_include}/../lib/libLLVM-${_major}.so* ${_include}/../lib/libLLVM.so.${_major}*
    /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libLLVM-${_major}.so*
    /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libLLVM.so.${_major}*)
  set(LLVMC_LIBRARY "")
  if(_libraries)
    list(GET _libraries 0 LLVMC_LIBRARY)
    file(REAL_PATH ${LLVMC_LIBRARY} LLVMC_LIBRARY)
  endif()
  set(LLVMC_MAJOR ${_major})
  set(LLVMC_INCLUDE_DIR ${_include})
  break()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LLVMC
  REQUIRED_VARS LLVMC_INCLUDE_DIR LLVMC_MAJOR
  REASON_FAILURE_MESSAGE "LLVM 15 to 20 with C headers is needed: install llvm-19-dev (or llvm-18-dev ...), or set VOLLEY_LLVM_DIR")

if(LLVMC_FOUND AND NOT TARGET LLVMC::headers)
  add_library(LLVMC::headers INTERFACE IMPORTED)
  target_include_directories(LLVMC::headers SYSTEM INTERFACE ${LLVMC_INCLUDE_DIR})
  target_compile_definitions(LLVMC::headers INTERFACE
    VOLLEY_LLVM_MAJOR=${LLVMC_MAJOR} VOLLEY_LLVM_LIBRARY="${LLVMC_LIBRARY}")
  message(STATUS "LLVM ${LLVMC_MAJOR}: headers ${LLVMC_INCLUDE_DIR}, library ${LLVMC_LIBRARY}")
endif()
