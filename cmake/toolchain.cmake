# Compiler settings for everything in the repository: C++20, warnings, ccache, sources compiled together, sanitizers.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(VOLLEY_CCACHE ccache)
if(VOLLEY_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # What ccache asks for where headers are precompiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${VOLLEY_CCACHE})
endif()

# Several sources of a folder are compiled as one, which halves a clean build: templates are instantiated and headers
# read once for all of them. Small batches, so that a change still compiles little. So names of a folder's sources are
# unique, also those in anonymous namespaces; `./dev lint` compiles whole folders and finds those that are not.
set(VOLLEY_UNITY 4 CACHE STRING "How many sources of a folder are compiled as one; 1: each on its own")
if(VOLLEY_UNITY GREATER 1)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE ${VOLLEY_UNITY})
endif()

# g++ looks for garbage whenever its heap has doubled, a tenth of its time; it may have some memory first.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)

# Warnings are a property of our own targets, never of those who use the library.
add_library(volley_warnings INTERFACE)
target_compile_options(volley_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  # g++ 12 warns of copies inside of std::string that cannot happen (GCC bug 105651),
  # and what it inlines decides whether it says so.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-stringop-overflow>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-dollar-in-identifier-extension>
  # clang++ also names what a source's neighbours declare; g++ and the linter look at each on its own.
  $<$<AND:$<CXX_COMPILER_ID:Clang>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-shadow>
  $<$<BOOL:${VOLLEY_WERROR}>:-Werror>)

if(VOLLEY_SANITIZE)
  add_compile_options(-fsanitize=${VOLLEY_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${VOLLEY_SANITIZE})
  if(VOLLEY_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined
      # Looks for a mark before functions; those that were compiled at run time may have no memory there.
      $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  endif()
endif()
