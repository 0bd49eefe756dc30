# tle_embed(OUT FILE.s NAMES name... PATHS path...): writes an assembler file that puts each path's bytes
# into read-only data and lists them, by the names beside them, as tlei_embedded (lib/core/sources.h).
# The file itself holds no contents, so it is written when CMake runs; the object is remade when a path
# changes.
function(tle_embed)
    cmake_parse_arguments(arg "" "OUT" "NAMES;PATHS" ${ARGN})
    set(data "")
    set(table "")
    set(i 0)
    foreach(name path IN ZIP_LISTS arg_NAMES arg_PATHS)
        string(APPEND data "    .balign 16\nfile${i}:\n    .incbin \"${path}\"\nfile${i}_end:\n"
               "    .byte 0\nname${i}:\n    .asciz \"${name}\"\n")
        string(APPEND table "    .quad name${i}, file${i}, file${i}_end\n")
        math(EXPR i "${i} + 1")
    endforeach()
    file(CONFIGURE OUTPUT "${arg_OUT}" @ONLY CONTENT "# Made by cmake/embed.cmake.
    .section .rodata
@data@    .balign 8
    .globl tlei_embedded_count
    .hidden tlei_embedded_count
tlei_embedded_count:
    .quad @i@
    .section .data.rel.ro, \"aw\"
    .balign 8
    .globl tlei_embedded
    .hidden tlei_embedded
tlei_embedded:
@table@    .quad 0, 0, 0
    .section .note.GNU-stack, \"\", %progbits
")
    set_source_files_properties("${arg_OUT}" PROPERTIES OBJECT_DEPENDS "${arg_PATHS}")
endfunction()
