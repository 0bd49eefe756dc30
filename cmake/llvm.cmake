# The target tle_llvm: LLVM 22's C API as one shared library. Only generator/ links it.
find_program(TLE_LLVM_CONFIG NAMES llvm-config-22 llvm-config REQUIRED)
execute_process(COMMAND ${TLE_LLVM_CONFIG} --version --includedir --libdir --bindir
                OUTPUT_VARIABLE llvm_answers OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" llvm_answers "${llvm_answers}")
list(GET llvm_answers 0 TLE_LLVM_VERSION)
list(GET llvm_answers 1 llvm_include)
list(GET llvm_answers 2 llvm_lib)
list(GET llvm_answers 3 TLE_LLVM_BIN)
if(NOT TLE_LLVM_VERSION MATCHES "^22\\.")
    message(FATAL_ERROR "${TLE_LLVM_CONFIG} is LLVM ${TLE_LLVM_VERSION}; tlec needs LLVM 22 "
                        "(Debian 12: llvm-22-dev; elsewhere -DTLE_LLVM_CONFIG=<path>)")
endif()
find_library(TLE_LLVM_LIBRARY NAMES LLVM-22 LLVM PATHS "${llvm_lib}" NO_DEFAULT_PATH REQUIRED)

add_library(tle_llvm INTERFACE)
target_include_directories(tle_llvm SYSTEM INTERFACE "${llvm_include}")
target_link_libraries(tle_llvm INTERFACE "${TLE_LLVM_LIBRARY}")
