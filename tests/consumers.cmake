# Programs that see the public headers alone: C99 and C++17, with every warning an error.
set(consumer_flags -Wall -Wextra -Wpedantic -Werror -Wundef -Wshadow)
file(GLOB public_headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include"
     "${PROJECT_SOURCE_DIR}/include/tle/*.h")

# Each header alone, twice over, as each language.
foreach(header IN LISTS public_headers)
    get_filename_component(name "${header}" NAME_WE)
    foreach(language c cpp)
        set(source "${CMAKE_CURRENT_BINARY_DIR}/consumers/alone_${name}.${language}")
        file(CONFIGURE OUTPUT "${source}" CONTENT "#include <@header@>\n#include <@header@>\n" @ONLY)
        list(APPEND alone_${language} "${source}")
    endforeach()
endforeach()

if(public_headers)
    add_library(consumer_headers_c99 OBJECT ${alone_c})
    set_target_properties(consumer_headers_c99 PROPERTIES C_STANDARD 99)
    add_library(consumer_headers_cxx17 OBJECT ${alone_cpp})
    foreach(target consumer_headers_c99 consumer_headers_cxx17)
        target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include")
        target_compile_options(${target} PRIVATE ${consumer_flags})
    endforeach()
endif()
if(TARGET tle)
    add_executable(consumer_c99 consumers/c99.c)
    set_target_properties(consumer_c99 PROPERTIES C_STANDARD 99)
    add_executable(consumer_cxx17 consumers/cxx17.cpp)
    add_executable(consumer_dlopen consumers/dlopen.c)
    target_link_libraries(consumer_c99 PRIVATE tle)
    target_link_libraries(consumer_cxx17 PRIVATE tle)
    target_include_directories(consumer_dlopen PRIVATE "${PROJECT_SOURCE_DIR}/include")
    target_link_libraries(consumer_dlopen PRIVATE ${CMAKE_DL_LIBS})
    foreach(target consumer_c99 consumer_cxx17 consumer_dlopen)
        target_compile_options(${target} PRIVATE ${consumer_flags})
        set_target_properties(${target} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    endforeach()
    add_test(NAME consumers.c99 COMMAND consumer_c99)
    add_test(NAME consumers.cxx17 COMMAND consumer_cxx17)
    add_test(NAME consumers.dlopen COMMAND consumer_dlopen $<TARGET_FILE:tle>)
    set_tests_properties(consumers.c99 consumers.cxx17 consumers.dlopen PROPERTIES LABELS consumers)
    if(NOT TLE_SANITIZE) # other projects build without sanitizers
        add_test(NAME consumers.installed
                 COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/consumers/installed.sh"
                         "${PROJECT_BINARY_DIR}" "${CMAKE_C_COMPILER}")
        set_tests_properties(consumers.installed PROPERTIES LABELS consumers)
    endif()
endif()
