# Finds the path of SLEEF's shared library. It is opened at run time, so its absence only removes a candidate path.
#   SLEEFPath::path       defines VOLLEY_SLEEF_LIBRARY, an empty string if it was not found
find_library(SLEEFPath_LIBRARY NAMES sleef libsleef.so.3)
mark_as_advanced(SLEEFPath_LIBRARY)
set(_sleef "")
if(SLEEFPath_LIBRARY)
  file(REAL_PATH ${SLEEFPath_LIBRARY} _sleef)
endif()
if(NOT TARGET SLEEFPath::path)
  add_library(SLEEFPath::path INTERFACE IMPORTED)
  target_compile_definitions(SLEEFPath::path INTERFACE VOLLEY_SLEEF_LIBRARY="${_sleef}")
  message(STATUS "SLEEF: ${_sleef}")
endif()
set(SLEEFPath_FOUND TRUE)
