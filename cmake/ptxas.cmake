# TLE_PTXAS: the assembler that turns PTX into cubins. It is looked for in this order: the path the user
# names (-DTLE_PTXAS= or the environment), the CUDA toolkit, the copy that tools/fetch-ptxas.sh unpacked.
# An empty -DTLE_PTXAS= means none.
if(NOT TLE_PTXAS AND NOT "$ENV{TLE_PTXAS}" STREQUAL "")
    set(TLE_PTXAS "$ENV{TLE_PTXAS}" CACHE FILEPATH "ptxas of CUDA 13.0" FORCE)
endif()
if(TLE_PTXAS AND NOT EXISTS "${TLE_PTXAS}")
    message(FATAL_ERROR "TLE_PTXAS names '${TLE_PTXAS}', which does not exist")
endif()
find_program(TLE_PTXAS NAMES ptxas PATHS /usr/local/cuda/bin "${TLE_TOOL_CACHE}/ptxas"
             DOC "ptxas of CUDA 13.0")
if(NOT TLE_PTXAS)
    message(NOTICE "-- No ptxas found: the packs carry PTX without cubins, so everything works on the "
                   "emulator but no GPU can run these kernels (set -DTLE_PTXAS=<path> to change that).")
endif()
