/* Random PTX programs for the comparison of the emulator with a GPU.
 *
 * A program is a function of its seed and of DIFF_VERSION alone: text, launch shape, input and
 * first contents of the output. Every register that it computes ends up in the output, so one hash
 * of the output says whether two machines agree on all of it.
 *
 * Seeds below DIFF_APPROX are programs whose results are exact. From there on they are programs of
 * one approximate instruction each, whose outputs are compared within PTX's stated error.
 *
 * Kernel: k(in, out, trips). Output: DIFF_ACCUMULATORS words of 8 bytes that atomics of all threads
 * update, then a record of `record_bytes` for each thread. */
#ifndef DIFF_PROGRAM_H
#define DIFF_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DIFF_VERSION = 1,
    DIFF_APPROX = 1000000,
    DIFF_TRIPS = 3, /* value of the kernel's parameter `trips` */
    DIFF_ACCUMULATORS = 96,
    DIFF_CLEAR = 64, /* accumulators from here on start at zero, the others at junk */
    DIFF_AREA = 256, /* words of 8 bytes of input for each kind of register */
    DIFF_APPROX_COUNT = 512
};

/* Kinds of registers: X(id, letter of name and forms, bytes, what it mostly holds). */
#define DIFF_KINDS(X)                                                                              \
    X(INT16, 'h', 2)                                                                               \
    X(INT32, 'r', 4)                                                                               \
    X(INT64, 'd', 8)                                                                               \
    X(F16, 'e', 2)                                                                                 \
    X(BF16, 'g', 2)                                                                                \
    X(F16X2, 'w', 4)                                                                               \
    X(BF16X2, 'v', 4)                                                                              \
    X(F32, 'f', 4)                                                                                 \
    X(F64, 'x', 8)                                                                                 \
    X(PRED, 'p', 0)

typedef enum DiffKind {
#define X(id, letter, bytes) KIND_##id,
    DIFF_KINDS(X)
#undef X
        KIND_COUNT
} DiffKind;

enum { DIFF_INPUT_BYTES = KIND_COUNT * DIFF_AREA * 8 };

typedef struct DiffProgram {
    uint64_t seed;
    char *text;
    size_t length;
    uint32_t grid, block; /* CTAs and threads, along x */
    uint32_t record_bytes;
    size_t out_bytes;
    uint32_t approx; /* row of approx.def, or approx_count */
} DiffProgram;

/* False: out of memory. */
bool diff_generate(uint64_t seed, DiffProgram *p);
void diff_free(DiffProgram *p);
/* `in` has DIFF_INPUT_BYTES, `out` out_bytes. */
void diff_input(const DiffProgram *p, uint8_t *in);
void diff_output_init(const DiffProgram *p, uint8_t *out);
uint64_t diff_hash(const void *data, size_t bytes);

/* Approximate instructions: rows of approx.def. */
uint32_t diff_approx_count(void);
bool diff_approx_generate(uint64_t seed, DiffProgram *p);
const char *diff_approx_text(uint32_t row);
/* Both results are within the stated error of the right value, for element i of the input. */
bool diff_approx_close(const DiffProgram *p, const uint8_t *in, uint32_t i, uint64_t ours,
                       uint64_t theirs);

#endif
