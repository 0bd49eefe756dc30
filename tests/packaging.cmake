# What users meet before the first call: exported symbols and manual pages. The wheel and the examples are
# tested in python/, installed packages in consumers.cmake.
if(TARGET tle AND TARGET tle_emu AND NOT TLE_SANITIZE)
    add_test(NAME abi.symbols
             COMMAND ${TLE_PYTHON} -B "${PROJECT_SOURCE_DIR}/abi/check_symbols.py" "${CMAKE_NM}"
                     "${PROJECT_SOURCE_DIR}/abi/symbols.txt" $<TARGET_FILE:tle> $<TARGET_FILE:tle_emu>)
    set_tests_properties(abi.symbols PROPERTIES LABELS consumers)
endif()

if(TARGET tle AND TARGET tle-grid)
    add_test(NAME packaging.external
             COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/consumers/external.sh" "${PROJECT_SOURCE_DIR}"
                     "$<$<BOOL:${TLE_PTXAS}>:${TLE_PTXAS}>")
    set_tests_properties(packaging.external PROPERTIES LABELS soak TIMEOUT 3600)
endif()

# Needs torch and a GPU, and skips itself where they are not.
set(TLE_TORCH_PYTHON "${TLE_PYTHON}" CACHE FILEPATH "A Python that has torch and pytest, for the tests of tle.torch")
if(TARGET tle)
    add_test(NAME gpu.python COMMAND ${TLE_TORCH_PYTHON} -m pytest -q -p no:cacheprovider -m gpu
             "${CMAKE_CURRENT_SOURCE_DIR}/python/test_torch.py" "${CMAKE_CURRENT_SOURCE_DIR}/python/test_torch_radix.py"
             "${CMAKE_CURRENT_SOURCE_DIR}/python/test_examples.py")
    set_tests_properties(gpu.python PROPERTIES LABELS gpu ENVIRONMENT
        "PYTHONDONTWRITEBYTECODE=1;TLE_LIBRARY=$<TARGET_FILE:tle>;PYTHONPATH=${PROJECT_SOURCE_DIR}/python")
endif()

find_program(TLE_GROFF NAMES groff)
foreach(page IN LISTS TLE_MAN_PAGES)
    get_filename_component(name "${page}" NAME_WE)
    if(NOT TLE_GROFF)
        message(STATUS "man.${name} is left out: groff was not found")
        continue()
    endif()
    set(commands "")
    set(target ${name})
    if(name STREQUAL "tle")
        set(target tle_cli)
        file(STRINGS "${PROJECT_SOURCE_DIR}/lib/cli/commands.def" rows REGEX "^X\\(")
        list(TRANSFORM rows REPLACE "^X\\(([a-z]+).*" "\\1" OUTPUT_VARIABLE commands)
    endif()
    add_test(NAME man.${name}
             COMMAND ${TLE_PYTHON} -B "${PROJECT_SOURCE_DIR}/man/check_man.py" "${TLE_GROFF}" "${page}"
                     $<TARGET_FILE:${target}> ${commands})
    set_tests_properties(man.${name} PROPERTIES LABELS consumers)
endforeach()
