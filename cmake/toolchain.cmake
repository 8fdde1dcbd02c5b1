# Compiler settings for the whole repository: C++20, warnings, ccache, unity builds, sanitizers.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(VOLLEY_CCACHE ccache)
if(VOLLEY_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache requires these settings for precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${VOLLEY_CCACHE})
endif()

# Unity builds halve the time of a clean build, because templates are instantiated and headers parsed once per batch. Small
# batches keep rebuilds short. Names must be unique within a folder, also in anonymous namespaces; `./dev lint` compiles
# whole folders and finds duplicates.
set(VOLLEY_UNITY 4 CACHE STRING "How many sources of a folder are compiled as one; 1: each on its own")
if(VOLLEY_UNITY GREATER 1)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE ${VOLLEY_UNITY})
endif()

# g++ spends a tenth of its time collecting garbage; a larger minimum heap avoids most of it.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)

# Warnings apply to targets of this repository, never to users of the library.
add_library(volley_warnings INTERFACE)
target_compile_options(volley_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  # g++ 12 warns about impossible copies in std::string (GCC bug 105651), depending on inlining.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-stringop-overflow>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-dollar-in-identifier-extension>
  # In unity builds clang++ also warns about names of neighbouring sources; g++ and the linter do not.
  $<$<AND:$<CXX_COMPILER_ID:Clang>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-shadow>
  $<$<BOOL:${VOLLEY_WERROR}>:-Werror>)

if(VOLLEY_SANITIZE)
  add_compile_options(-fsanitize=${VOLLEY_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${VOLLEY_SANITIZE})
  if(VOLLEY_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined
      # Reads memory before a function's code, which may be unmapped for code generated at run time.
      $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  endif()
endif()
