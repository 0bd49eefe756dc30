# lit suites: each folder of golden/ that holds test files is one ctest test.
set(TLE_LIT "${TLE_LLVM_BIN}/lit")
configure_file(lit.site.cfg.py.in "${CMAKE_CURRENT_BINARY_DIR}/golden/lit.site.cfg.py" @ONLY)

if(TARGET tlec)
    file(GLOB areas CONFIGURE_DEPENDS LIST_DIRECTORIES true golden/*)
    foreach(area IN LISTS areas)
        file(GLOB_RECURSE cases CONFIGURE_DEPENDS "${area}/*.py" "${area}/*.tir" "${area}/*.test")
        if(NOT cases)
            continue()
        endif()
        get_filename_component(name "${area}" NAME)
        add_test(NAME golden.${name}
                 COMMAND ${TLE_PYTHON} "${TLE_LIT}" -v --no-progress-bar
                         "${CMAKE_CURRENT_BINARY_DIR}/golden/${name}")
        set_tests_properties(golden.${name} PROPERTIES LABELS golden
                             ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
    endforeach()
endif()
