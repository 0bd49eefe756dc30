# Compiler settings that every target of the project shares.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")

set(TLE_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Wundef -Wwrite-strings)
set(TLE_C_WARNINGS -Wstrict-prototypes -Wmissing-prototypes)
add_compile_options(${TLE_WARNINGS})
foreach(flag IN LISTS TLE_C_WARNINGS)
    add_compile_options($<$<COMPILE_LANGUAGE:C>:${flag}>)
endforeach()
if(TLE_WERROR)
    add_compile_options(-Werror)
endif()

# Two clones in two directories must give the same bytes.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=./build)

set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

# The emulator and the folder compute floating point that must match the GPU bit for bit.
add_compile_options(-ffp-contract=off)

if(TLE_SANITIZE)
    add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=address,undefined>
                        $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>
                        $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize-recover=all>)
    add_link_options(-fsanitize=address,undefined)
    if(CMAKE_C_COMPILER_ID STREQUAL "Clang") # coverage for the fuzz targets
        add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=fuzzer-no-link>)
        add_link_options(-fsanitize=fuzzer-no-link)
    endif()
endif()
