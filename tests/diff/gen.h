/* What the parts of the generator share: a text under construction and pools of registers. */
#ifndef DIFF_GEN_H
#define DIFF_GEN_H

#include "program.h"

typedef struct Text {
    char *at;
    size_t length, room;
    bool failed;
} Text;

void text_add(Text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

void text_append(Text *t, const Text *more);

/* Draws must not share one argument list, whose order compilers choose. */
static inline uint64_t gen_next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A value of the kind, often a special one; the same values serve as inputs and immediates. */
uint64_t gen_value(uint64_t *random, DiffKind kind);

/* One function under construction. Registers of a kind are numbered from 0; those below `live` may
 * be read. A register first written inside a branch is set to zero at the start. */
typedef struct Func {
    Text body, zeros;
    uint32_t count[KIND_COUNT];
    int nesting; /* of branches and loops around the current point */
} Func;

/* Lanes that surely execute the current point together: all, those in a register, or unknown. */
typedef enum MaskKind { MASK_ALL, MASK_REG, MASK_UNKNOWN } MaskKind;

typedef struct Where {
    MaskKind mask;
    uint32_t mask_reg;
    bool all_threads; /* every thread of the CTA passes here equally often */
    int depth;
    bool in_loop;
} Where;

typedef struct Gen {
    uint64_t random;
    Func *f;
    Text functions;
    uint32_t labels, functions_made, accumulators, clear;
    uint32_t signatures[8][4]; /* kind of the result, of three parameters */
} Gen;

static inline uint32_t gen_below(Gen *g, uint32_t n) {
    return (uint32_t)((gen_next(&g->random) >> 32) * n >> 32);
}

static inline bool gen_chance(Gen *g, uint32_t percent) {
    return gen_below(g, 100) < percent;
}

char gen_letter(DiffKind kind);
uint32_t gen_bytes(DiffKind kind);
DiffKind gen_kind(Gen *g); /* of a value, not a predicate */
/* Register numbers: to read, to write. */
uint32_t gen_read(Gen *g, DiffKind kind);
uint32_t gen_write(Gen *g, DiffKind kind, bool guarded);
/* Appends the form with its operands chosen; '<k>' reads a register of kind k, '<K>' writes. */
void gen_form(Gen *g, const char *text, const char *choice, size_t choice_length, bool guard);
void gen_any_form(Gen *g);

#endif
