# Manual pages, made from frames in man/ and the programs' own help. Target `man`.
set(TLE_MAN_PAGES "")

# One page for one target, when both it and Python are there.
function(tle_man_page target name)
    if(NOT TARGET ${target} OR NOT TLE_PYTHON OR TLE_SANITIZE)
        return()
    endif()
    set(page "${PROJECT_BINARY_DIR}/man/${name}.1")
    add_custom_command(
        OUTPUT "${page}"
        COMMAND ${TLE_PYTHON} -B "${PROJECT_SOURCE_DIR}/man/make_man.py" $<TARGET_FILE:${target}>
                "${PROJECT_SOURCE_DIR}/man/${name}.1.in" ${PROJECT_VERSION} "${page}"
        DEPENDS ${target} "${PROJECT_SOURCE_DIR}/man/make_man.py" "${PROJECT_SOURCE_DIR}/man/${name}.1.in"
        COMMENT "Making the manual page ${name}(1)"
        VERBATIM)
    install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
    set(TLE_MAN_PAGES ${TLE_MAN_PAGES} "${page}" PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/man")
tle_man_page(tle_cli tle)
if(TLE_BUILD_TOOLS) # else it is a part of the build, not installed
    tle_man_page(tlec tlec)
endif()
add_custom_target(man ALL DEPENDS ${TLE_MAN_PAGES})
