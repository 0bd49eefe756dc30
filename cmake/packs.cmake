# Kernel packs: one pair of files per operator and architecture, made by tle-grid from
# kernels_tle/<family>/grid.json.
#   <op>.<arch>.tlepack      cubins and metadata (PTX where there is no ptxas)
#   <op>.<arch>.emu.tlepack  the same kernels' PTX, for the emulator
# Sets TLE_PACK_DIR, TLE_PACK_FILES and TLE_EMU_PACK_FILES; target `packs` makes them all. tle-grid keeps
# each variant by content hash in TLE_PACK_CACHE, so that an edit recompiles only what it concerns.
# With TLE_PACKS=external they are files beside the library rather than inside it. TLE_OPS leaves out the
# kernels of other operators, whose functions stay.
set(TLE_PACKS "embedded" CACHE STRING "Kernel packs inside libtle.so (embedded) or in files (external)")
set_property(CACHE TLE_PACKS PROPERTY STRINGS embedded external)
if(NOT TLE_PACKS MATCHES "^(embedded|external)$")
    message(FATAL_ERROR "TLE_PACKS is '${TLE_PACKS}'; it is embedded or external")
endif()
if(TLE_ARCHS STREQUAL "")
    message(FATAL_ERROR "TLE_ARCHS is empty; it lists architectures such as sm_90a")
endif()
foreach(arch IN LISTS TLE_ARCHS)
    if(NOT arch MATCHES "^sm_[0-9]+[a-z]?$")
        message(FATAL_ERROR "TLE_ARCHS names '${arch}'; architectures are written like sm_90a")
    endif()
endforeach()
set(TLE_OPS "" CACHE STRING "Operators to build kernels for; empty: all")
set(TLE_PACK_DIR "${PROJECT_BINARY_DIR}/packs")
if(TLE_PACKS STREQUAL "external")
    set(TLE_PACK_DIR "${PROJECT_BINARY_DIR}/lib/tle/packs") # where the library of this build looks
endif()
set(TLE_PACK_CACHE "${PROJECT_BINARY_DIR}/pack-cache")
set(TLE_PACK_FILES "")
set(TLE_EMU_PACK_FILES "")
set(TLE_GRIDS "")
file(GLOB grids CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/kernels_tle/*/grid.json")

# One custom command for one grid and architecture.
function(tle_add_pack grid op arch)
    get_filename_component(family "${grid}" DIRECTORY)
    set(base "${TLE_PACK_DIR}/${op}.${arch}")
    file(RELATIVE_PATH grid_name "${PROJECT_SOURCE_DIR}" "${grid}")
    set(ptxas_args "")
    if(TLE_PTXAS)
        set(ptxas_args --ptxas "${TLE_PTXAS}")
    endif()
    add_custom_command(
        OUTPUT "${base}.tlepack" "${base}.emu.tlepack"
        COMMAND tle-grid --grid "${grid_name}" --arch ${arch} --out "${TLE_PACK_DIR}"
                --cache "${TLE_PACK_CACHE}" --depfile "${TLE_PACK_CACHE}/${op}.${arch}.d" ${ptxas_args}
        DEPENDS tle-grid tlec "${grid}" $<$<BOOL:${TLE_PTXAS}>:${TLE_PTXAS}>
        DEPFILE "${TLE_PACK_CACHE}/${op}.${arch}.d" # the kernel files, and what they import
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
        COMMENT "Compiling the ${op} kernels for ${arch}"
        VERBATIM)
    set(TLE_PACK_FILES ${TLE_PACK_FILES} "${base}.tlepack" PARENT_SCOPE)
    set(TLE_EMU_PACK_FILES ${TLE_EMU_PACK_FILES} "${base}.emu.tlepack" PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY "${TLE_PACK_DIR}" "${TLE_PACK_CACHE}")
foreach(grid IN LISTS grids)
    if(NOT TARGET tle-grid OR NOT TARGET tlec)
        message(STATUS "No tle-grid yet: ${grid} is left out")
        break()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${grid}")
    file(READ "${grid}" text)
    string(JSON op GET "${text}" op)
    list(APPEND grid_ops ${op})
    if(TLE_OPS AND NOT op IN_LIST TLE_OPS)
        continue()
    endif()
    string(JSON arch_count LENGTH "${text}" archs)
    math(EXPR last "${arch_count} - 1")
    foreach(i RANGE ${last})
        string(JSON arch GET "${text}" archs ${i})
        list(APPEND grid_archs ${arch})
        if(arch IN_LIST TLE_ARCHS)
            tle_add_pack("${grid}" ${op} ${arch})
        endif()
    endforeach()
endforeach()
foreach(op IN LISTS TLE_OPS)
    if(NOT op IN_LIST grid_ops)
        message(FATAL_ERROR "TLE_OPS names '${op}'; there are grids of ${grid_ops}")
    endif()
endforeach()
foreach(arch IN LISTS TLE_ARCHS)
    if(NOT arch IN_LIST grid_archs)
        message(WARNING "TLE_ARCHS names ${arch}, which no grid that is built lists: there will be no kernels for it")
    endif()
endforeach()
add_custom_target(packs ALL DEPENDS ${TLE_PACK_FILES} ${TLE_EMU_PACK_FILES})
