# The target tle_emu: libtle_emu.so, the emulator. Of the rest of the project it uses base alone.
file(GLOB emu_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/emu/*.c")
if(emu_sources)
    add_library(tle_emu SHARED ${emu_sources})
    # loops over columns of matrices must be vectorised
    set_source_files_properties("${PROJECT_SOURCE_DIR}/lib/emu/dot.c" PROPERTIES COMPILE_OPTIONS -O3)
    math(EXPR emu_version "(${PROJECT_VERSION_MAJOR} * 1000 + ${PROJECT_VERSION_MINOR}) * 1000 + ${PROJECT_VERSION_PATCH}")
    set_source_files_properties("${PROJECT_SOURCE_DIR}/lib/emu/api.c" PROPERTIES
                                COMPILE_DEFINITIONS TLE_EMU_VERSION=${emu_version}u)
    target_include_directories(tle_emu PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                               PRIVATE "${PROJECT_SOURCE_DIR}/lib")
    target_compile_definitions(tle_emu PRIVATE _GNU_SOURCE=)
    target_link_libraries(tle_emu PRIVATE gen_base Threads::Threads m)
    target_link_options(tle_emu PRIVATE -Wl,--exclude-libs,ALL
                        "-Wl,--version-script=${PROJECT_SOURCE_DIR}/lib/tle_emu.map"
                        $<$<NOT:$<BOOL:${TLE_SANITIZE}>>:-Wl,--no-undefined>)
    set_target_properties(tle_emu PROPERTIES VERSION ${PROJECT_VERSION}
                          SOVERSION ${PROJECT_VERSION_MAJOR}
                          LINK_DEPENDS "${PROJECT_SOURCE_DIR}/lib/tle_emu.map")
endif()
