# Packs are a function of the kernels and the compiler alone.
set(tools "${PROJECT_SOURCE_DIR}/tools")
if(TARGET tle-grid AND TLE_PACK_FILES)
    add_test(NAME packs.elsewhere
             COMMAND "${tools}/compare_packs.sh" $<TARGET_FILE:tle-grid>
                     "$<$<BOOL:${TLE_PTXAS}>:${TLE_PTXAS}>" "${TLE_PACK_DIR}" ${TLE_ARCHS}
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(packs.elsewhere PROPERTIES LABELS packs)
endif()
add_test(NAME packs.two_clones COMMAND "${tools}/two-clones.sh")
set_tests_properties(packs.two_clones PROPERTIES LABELS soak TIMEOUT 7200)
