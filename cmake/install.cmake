# What `cmake --install` puts where, and how other projects find it: find_package(tle) and pkg-config,
# both of which keep working when the prefix is moved.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tle")
file(RELATIVE_PATH TLE_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" TLE_PC_TO_PREFIX "${TLE_PC_TO_PREFIX}")

install(TARGETS tle EXPORT tleTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(TARGET tle_emu)
    install(TARGETS tle_emu LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
if(TARGET tle_cli)
    file(RELATIVE_PATH bin_to_lib "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(tle_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
    install(TARGETS tle_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
if(TLE_BUILD_TOOLS AND TARGET tlec)
    install(TARGETS tlec RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT compiler)
endif()
if(TLE_PACKS STREQUAL "external")
    install(FILES ${TLE_PACK_FILES} ${TLE_EMU_PACK_FILES} DESTINATION "${CMAKE_INSTALL_LIBDIR}/tle/packs")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/tle" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(EXPORT tleTargets NAMESPACE tle:: DESTINATION "${package_dir}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/tleConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/cmake/tleConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/tleConfigVersion.cmake"
    COMPATIBILITY SameMajorVersion)
configure_file("${PROJECT_SOURCE_DIR}/cmake/tle.pc.in" "${PROJECT_BINARY_DIR}/cmake/tle.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/cmake/tleConfig.cmake"
              "${PROJECT_BINARY_DIR}/cmake/tleConfigVersion.cmake" DESTINATION "${package_dir}")
install(FILES "${PROJECT_BINARY_DIR}/cmake/tle.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
