/* Forms of which the GPU's compiler makes something else than PTX says, replaced by PTX for what it
 * makes. A replay runs programs so replaced, and thereby still compares all the rest of them.
 *
 * The departures are the compiler's, not the machine's: each needs operands that are constants, one
 * register twice, or a guard, and another release may not have it. The emulator follows PTX.
 *
 * Departures that concern one program, because they take more than a line to come about, are in
 * explained.def. */
#include "gen.h"
#include "machine.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Line {
    char guard[8], op[40], arg[5][24]; /* guard: "@p" or "@!p" with its register, or empty */
    int args;
} Line;

/* False: not a line of an instruction with simple operands. */
static bool split(const char *at, size_t length, Line *l) {
    char text[128], *save, *word = text;
    if (length == 0 || length >= sizeof text || at[length - 1] != ';')
        return false;
    memcpy(text, at, length - 1);
    text[length - 1] = 0;
    *l = (Line){0};
    if (*word == '@') {
        size_t n = strcspn(word, " ");
        snprintf(l->guard, sizeof l->guard, "%.*s", (int)n, word);
        word += n + (word[n] == ' ');
    }
    size_t n = strcspn(word, " ");
    if (!word[n] || n >= sizeof l->op)
        return false;
    memcpy(l->op, word, n);
    for (char *a = strtok_r(word + n, ", ", &save); a; a = strtok_r(NULL, ", ", &save)) {
        if (l->args == 5 || strlen(a) >= sizeof *l->arg)
            return false;
        strcpy(l->arg[l->args++], a);
    }
    return true;
}

static long constant(const Line *l, int i) {
    return l->args > i && l->arg[i][0] != '%' ? strtol(l->arg[i], NULL, 10) : -1;
}

static bool starts(const Line *l, const char *op) {
    return strncmp(l->op, op, strlen(op)) == 0;
}

/* The mask of a constant field of 32 bits and more is made modulo 32. */
static bool long_field(const Line *l, Text *t) {
    long at = constant(l, 3), length = constant(l, 4);
    if (!starts(l, "bfi.b32") || at < 0 || at >= 32 || length < 32)
        return false;
    text_add(t, "%s bfi.b32 %s, %s, %s, %ld, %ld;\n", l->guard, l->arg[0], l->arg[1], l->arg[2], at,
             length & 31);
    return true;
}

/* A signed field that lies past the word is all ones. */
static bool far_field(const Line *l, Text *t) {
    if (!starts(l, "bfe.s32") || constant(l, 2) < 32)
        return false;
    text_add(t, "%s mov.b32 %s, -1;\n", l->guard, l->arg[0]);
    return true;
}

/* min(x, x) is x, even a NaN, which PTX makes canonical. */
static bool of_itself(const Line *l, Text *t) {
    bool order = starts(l, "min.f") || starts(l, "max.f"), narrow = !strcmp(l->op + 4, "f16");
    if (!order || (!narrow && strcmp(l->op + 4, "f32") != 0) || strcmp(l->arg[1], l->arg[2]) != 0)
        return false;
    text_add(t, "%s mov.b%d %s, %s;\n", l->guard, narrow ? 16 : 32, l->arg[0], l->arg[1]);
    return true;
}

/* A guard covers only the comparison: without it the old bits, as an integer, become a float. */
static bool guarded_set(const Line *l, Text *t) {
    const char *to = strstr(l->op, ".f32.");
    if (!starts(l, "set.") || !to || !*l->guard)
        return false;
    text_add(t, "{\n.reg .b32 %%z;\nmov.b32 %%z, %s;\n%s %.*s.s32.%s %%z, %s, %s;\n", l->arg[0],
             l->guard, (int)(to - l->op), l->op, to + 5, l->arg[1], l->arg[2]);
    text_add(t, "abs.s32 %%z, %%z;\ncvt.rn.f32.s32 %s, %%z;\n}\n", l->arg[0]);
    return true;
}

static bool guarded_test(const Line *l, Text *t) {
    if (!starts(l, "testp.") || !*l->guard)
        return false;
    text_add(t, "%s %s, %s;\n", l->op, l->arg[0], l->arg[1]);
    return true;
}

/* A sign is changed even of a NaN, of which PTX leaves the payload open. */
static bool guarded_sign(const Line *l, Text *t) {
    bool neg = !strcmp(l->op, "neg.f32");
    if (!*l->guard || (!neg && strcmp(l->op, "abs.f32") != 0))
        return false;
    text_add(t, "%s %s %s, %s, %s;\n", l->guard, neg ? "xor.b32" : "and.b32", l->arg[0], l->arg[1],
             neg ? "0x80000000" : "0x7fffffff");
    return true;
}

/* Factors and terms of doubles change places, which shows when both are NaNs: one's payload is the
 * result's, and PTX leaves open whose. */
static bool commuted(const Line *l, Text *t) {
    bool sum = starts(l, "add.") || starts(l, "mul."), fused = starts(l, "fma.");
    if ((!sum && !fused) || !strstr(l->op, ".f64") || strcmp(l->arg[1], l->arg[2]) == 0)
        return false;
    text_add(t, "%s %s %s, %s, %s%s%s;\n", l->guard, l->op, l->arg[0], l->arg[2], l->arg[1],
             fused ? ", " : "", fused ? l->arg[3] : "");
    return true;
}

/* Appends the line, replaced if it is a departure and its bit in `which` is set. */
static uint32_t add_line(Text *t, const char *at, size_t length, uint32_t which, uint32_t found) {
    static bool (*const rules[])(const Line *l, Text *t) = {
        long_field, far_field, of_itself, guarded_set, guarded_test, guarded_sign, commuted};
    size_t before = t->length, i = 0, n = sizeof rules / sizeof *rules;
    Line l;
    if (!split(at, length, &l))
        i = n;
    while (i < n && !rules[i](&l, t))
        i++;
    if (i < n && found < 32 && (which >> found & 1))
        return 1;
    t->length = before;
    text_add(t, "%.*s\n", (int)length, at);
    return i < n;
}

uint32_t diff_compiled(const DiffProgram *p, uint32_t which, DiffProgram *out) {
    Text t = {0};
    uint32_t found = 0;
    for (const char *at = p->text, *end = at + p->length; at < end;) {
        size_t length = strcspn(at, "\n");
        found += add_line(&t, at, length, which, found);
        at += length + 1;
    }
    *out = *p;
    out->text = t.at;
    out->length = t.failed ? 0 : t.length;
    return found;
}

/* ---- single programs ---------------------------------------------------------------------- */

typedef struct Edit {
    uint64_t seed;
    const char *line, *instead;
} Edit;

static const Edit edits[] = {
#define X(seed, line, instead) {seed, line, instead},
#include "explained.def"
#undef X
};

/* The edit of the line at `at`; NULL if it has none. */
static const Edit *edit_of(uint64_t seed, const char *at, size_t length) {
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        if (edits[i].seed == seed && strlen(edits[i].line) == length &&
            !memcmp(edits[i].line, at, length))
            return &edits[i];
    return NULL;
}

uint32_t diff_explained(const DiffProgram *p, DiffProgram *out) {
    Text t = {0};
    uint32_t wanted = 0, found = 0;
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        wanted += edits[i].seed == p->seed;
    for (const char *at = p->text, *end = at + p->length; wanted && at < end;) {
        size_t length = strcspn(at, "\n");
        const Edit *e = edit_of(p->seed, at, length);
        found += e != NULL;
        if (e)
            text_add(&t, "%s\n", e->instead);
        else
            text_add(&t, "%.*s\n", (int)length, at);
        at += length + 1;
    }
    *out = *p;
    out->text = t.at;
    out->length = t.failed || found != wanted ? 0 : t.length;
    return wanted;
}
