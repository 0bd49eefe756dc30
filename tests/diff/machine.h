/* The two machines that execute programs: the emulator, and a GPU through its driver. */
#ifndef DIFF_MACHINE_H
#define DIFF_MACHINE_H

#include "program.h"
#include "tle/tle_emu.h"

/* Runs the program on a device; `in` and `out` are filled and read as program.h says. On failure
 * tle_emu_last_error(device) says why. */
tle_emu_status diff_emulate(tle_emu_device *device, const DiffProgram *p, uint8_t *in,
                            uint8_t *out);

/* Makes `out` the program in which departures of the GPU's compiler from PTX replace the lines they
 * concern: the i-th such line if bit i of `which` is set. Returns how many there are; `out` has no
 * length if there was no memory. */
uint32_t diff_compiled(const DiffProgram *p, uint32_t which, DiffProgram *out);
/* Makes `out` the program with what explained.def says of it. Returns how many lines that replaces;
 * `out` has no length if one of them does not stand in the program just once. */
uint32_t diff_explained(const DiffProgram *p, DiffProgram *out);

typedef struct DiffGpu DiffGpu;

/* NULL: no driver or no device. */
DiffGpu *diff_gpu_open(void);
void diff_gpu_close(DiffGpu *g);
/* 0, or the driver's error. */
int diff_gpu_run(DiffGpu *g, const DiffProgram *p, const uint8_t *in, uint8_t *out);

/* What both have to say of one program. */
typedef struct DiffAnswer {
    uint32_t text; /* of the program's text: tells a changed generator from a wrong machine */
    uint64_t hash; /* of the output */
} DiffAnswer;

#endif
