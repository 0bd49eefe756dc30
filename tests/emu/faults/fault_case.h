/* The planted faults: the table, and the kernel that a body becomes. Used by the test on the
 * emulator and by the program that gives the same kernels to compute-sanitizer on a GPU.
 *
 * Parameters of the kernel: p, 1024 bytes of zeros that the host wrote; q, 1024 bytes that nobody
 * wrote; n = 64. Bodies find p in %a, q in %b, tid * 4 in %t, p, q and sm + tid * 4 in %at, %bt
 * and %st, the thread, lane and warp in %r0, %r13 and %r14, n in %r15. */
#ifndef FAULT_CASE_H
#define FAULT_CASE_H

#include "tle/tle_emu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { FAULT_BYTES = 1024, FAULT_THREADS = 64, FAULT_SHARED = 512, FAULT_N = 64 };

/* One CTA, one with p freed before the launch of the faulty kernel, a grid of two, a cluster of
 * two. */
typedef enum FaultShape { FAULT_ONE, FAULT_FREED, FAULT_GRID, FAULT_CLUSTER } FaultShape;

typedef struct FaultCase {
    const char *name;
    tle_emu_report_kind kind;
    const char *kind_name;
    const char *marked; /* a part of the line that must be named; NULL: any line */
    const char *faulty, *fixed;
    tle_emu_status status;
    FaultShape shape;
} FaultCase;

#define ANYWHERE NULL
#define X(name, kind, marked, faulty, fixed, status, shape)                                        \
    {name, TLE_EMU_REPORT_##kind, #kind, marked, faulty, fixed, TLE_EMU_##status, FAULT_##shape},
static const FaultCase fault_cases[] = {
#include "emu/faults/barrier.def"
#include "emu/faults/cluster.def"
#include "emu/faults/global.def"
#include "emu/faults/memory.def"
#include "emu/faults/shared.def"
};
#undef X

enum { FAULT_COUNT = sizeof fault_cases / sizeof *fault_cases };

/* For printf, with the kernel's name. */
#define FAULT_HEAD                                                                                 \
    ".version 8.6\n.target sm_90a\n.address_size 64\n.file 1 \"kernel.py\"\n"                      \
    ".extern .shared .align 16 .b8 dyn[];\n.shared .align 16 .b8 sm[512];\n"                       \
    ".const .align 4 .u32 table[4] = {1, 2, 3, 4};\n"                                              \
    ".visible .entry %s(.param .u64 p, .param .u64 q, .param .u32 n)\n{\n"                         \
    ".local .align 16 .b8 stack[64];\n"                                                            \
    ".reg .pred %%p<8>;\n.reg .b32 %%r<16>;\n.reg .b64 %%rd<16>;\n"                                \
    ".reg .b64 %%t, %%a, %%b, %%at, %%bt, %%st;\n"                                                 \
    "ld.param.u64 %%a, [p];\nld.param.u64 %%b, [q];\n"                                             \
    "ld.param.u32 %%r15, [n];\nmov.u32 %%r0, %%tid.x;\n"                                           \
    "mul.wide.u32 %%t, %%r0, 4;\nadd.u64 %%at, %%a, %%t;\n"                                        \
    "add.u64 %%bt, %%b, %%t;\nmov.u64 %%st, sm;\nadd.u64 %%st, %%st, %%t;\n"                       \
    "shr.u32 %%r14, %%r0, 5;\nand.b32 %%r13, %%r0, 31;\n"                                          \
    ".loc 1 7 3\n"

/* Uses what bodies read, or an assembler leaves the reads out; the store never happens. */
#define FAULT_TAIL                                                                                 \
    "xor.b32 %%r1, %%r1, %%r2;\nxor.b32 %%r1, %%r1, %%r3;\nxor.b32 %%r1, %%r1, %%r4;\n"            \
    "cvt.u32.u64 %%r2, %%rd2;\nxor.b32 %%r1, %%r1, %%r2;\nselp.u32 %%r2, 1, 2, %%p2;\n"            \
    "xor.b32 %%r1, %%r1, %%r2;\nsetp.eq.u32 %%p7, %%r1, 0x9e3779b1;\n"                             \
    "@%%p7 st.global.u32 [%%a], %%r1;\n"

/* f and a number, or t and a number for the repaired twin. */
static inline void fault_kernel(unsigned index, bool faulty, char *name, size_t size) {
    snprintf(name, size, "%c%u", faulty ? 'f' : 't', index);
}

/* The PTX of one kernel; false if `size` is too small. */
static inline bool fault_text(const FaultCase *c, bool faulty, const char *name, char *text,
                              size_t size) {
    int n = snprintf(text, size, FAULT_HEAD "%s\n" FAULT_TAIL "ret;\n}\n", name,
                     faulty ? c->faulty : c->fixed);
    return n > 0 && (size_t)n < size;
}

static inline unsigned fault_ctas(const FaultCase *c) {
    return c->shape == FAULT_GRID || c->shape == FAULT_CLUSTER ? 2 : 1;
}

static inline unsigned fault_cluster(const FaultCase *c) {
    return c->shape == FAULT_CLUSTER ? 2 : 1;
}

#endif
