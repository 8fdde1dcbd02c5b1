# Installs the shared library, the public headers, and the files for find_package(volley) and pkg-config.
include(CMakePackageConfigHelpers)

install(TARGETS volley EXPORT volley_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET volley_glsl)
  install(TARGETS volley_glsl LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/volley ${PROJECT_BINARY_DIR}/include/volley
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")

set(volley_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/volley)
install(EXPORT volley_targets NAMESPACE volley:: FILE volley-targets.cmake DESTINATION ${volley_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/volley-config-version.cmake
  COMPATIBILITY SameMinorVersion)
configure_file(${PROJECT_SOURCE_DIR}/cmake/volley-config.cmake.in ${PROJECT_BINARY_DIR}/volley-config.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/volley-config.cmake ${PROJECT_BINARY_DIR}/volley-config-version.cmake
  DESTINATION ${volley_package_dir})

configure_file(${PROJECT_SOURCE_DIR}/cmake/volley.pc.in ${PROJECT_BINARY_DIR}/volley.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/volley.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
