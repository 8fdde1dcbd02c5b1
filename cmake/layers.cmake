# A folder in src/ is a layer. Each is compiled once, position independent and with hidden visibility, for two libraries:
# `volley` (shared, installed, exports VOLLEY_API) and `volley_internal` (static, all symbols, for tests and benchmarks).
# A folder may have no sources: its headers are still checked.

set_property(GLOBAL PROPERTY VOLLEY_LAYERS "")

# volley_layer(<folder> [DEPENDS <folder or target>...])
function(volley_layer name)
  cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
  string(REPLACE "/" "_" target "volley_${name}")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(sources)
    add_library(${target} OBJECT ${sources})
    set(scope PUBLIC)
    set_target_properties(${target} PROPERTIES
      POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_compile_definitions(${target} PRIVATE VOLLEY_BUILDING)
    target_link_libraries(${target} PRIVATE volley_warnings Threads::Threads)
    add_dependencies(${target} volley_check_layers)
    if(name STREQUAL core)
      target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp)
    else()
      target_precompile_headers(${target} REUSE_FROM volley_core)
    endif()
    set_property(GLOBAL APPEND PROPERTY VOLLEY_LAYERS ${target})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope}
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  foreach(dependency IN LISTS arg_DEPENDS)
    string(REPLACE "/" "_" layer "volley_${dependency}")
    if(TARGET ${layer})
      set(dependency ${layer})
    endif()
    target_link_libraries(${target} ${scope} ${dependency})
  endforeach()
endfunction()

# Defines the two libraries from all layers declared so far.
function(volley_libraries)
  get_property(layers GLOBAL PROPERTY VOLLEY_LAYERS)
  list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)

  add_library(volley SHARED ${objects})
  add_library(volley::volley ALIAS volley)
  set_target_properties(volley PROPERTIES LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(volley PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(volley PUBLIC cxx_std_20)
  target_link_libraries(volley PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  if(NOT VOLLEY_SANITIZE)
    target_link_options(volley PRIVATE -Wl,--no-undefined)
  endif()

  add_library(volley_internal STATIC ${objects})
  set_target_properties(volley_internal PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(volley_internal PUBLIC
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(volley_internal PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

# Defines the target volley_includes: every layer, and one source per public header. `./dev lint` compiles it without
# precompiled headers and unity builds, which hide missing includes.
function(volley_includes)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/include/*.hpp)
  set(sources "")
  foreach(header IN LISTS headers)
    set(source ${PROJECT_BINARY_DIR}/headers/${header}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include <${header}>\n")
    list(APPEND sources ${source})
  endforeach()
  add_library(volley_public_headers OBJECT EXCLUDE_FROM_ALL ${sources})
  set_target_properties(volley_public_headers PROPERTIES UNITY_BUILD OFF)
  target_include_directories(volley_public_headers PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  target_link_libraries(volley_public_headers PRIVATE volley_warnings)

  get_property(layers GLOBAL PROPERTY VOLLEY_LAYERS)
  add_custom_target(volley_includes)
  add_dependencies(volley_includes ${layers} volley_public_headers)
endfunction()

# Checks the layer rule before any layer compiles, whenever a source or header has changed.
file(GLOB_RECURSE volley_checked_files CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/*.cpp ${PROJECT_SOURCE_DIR}/src/*.hpp ${PROJECT_SOURCE_DIR}/include/*.hpp)
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/layers.stamp
  COMMAND ${CMAKE_COMMAND} -D ROOT=${PROJECT_SOURCE_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/check_layers.cmake
  COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/layers.stamp
  DEPENDS ${volley_checked_files} ${PROJECT_SOURCE_DIR}/cmake/check_layers.cmake
  COMMENT "Checking the layers' includes" VERBATIM)
add_custom_target(volley_check_layers DEPENDS ${PROJECT_BINARY_DIR}/layers.stamp)
