/* Chooses instructions from forms.def and registers for them. */
#include "gen.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_add(Text *t, const char *format, ...) {
    va_list args;
    if (t->room - t->length < 2048) {
        char *more = realloc(t->at, t->room * 2 + 8192);
        t->failed |= !more;
        if (!more)
            return;
        t->at = more;
        t->room = t->room * 2 + 8192;
    }
    va_start(args, format);
    int n = vsnprintf(t->at + t->length, t->room - t->length, format, args);
    va_end(args);
    t->failed |= n < 0 || (size_t)n >= t->room - t->length;
    t->length += t->failed ? 0 : (size_t)n;
}

void text_append(Text *t, const Text *more) {
    for (size_t at = 0; at < more->length; at += 1024)
        text_add(t, "%.1024s", more->at + at);
    t->failed |= more->failed;
}

/* ---- registers ---------------------------------------------------------------------------- */

static const struct {
    char letter;
    uint8_t bytes;
} kinds[KIND_COUNT] = {
#define X(id, letter, bytes) {letter, bytes},
    DIFF_KINDS(X)
#undef X
};

char gen_letter(DiffKind kind) {
    return kinds[kind].letter;
}

uint32_t gen_bytes(DiffKind kind) {
    return kinds[kind].bytes;
}

DiffKind gen_kind(Gen *g) {
    return (DiffKind)gen_below(g, KIND_PRED);
}

static DiffKind kind_of(char letter) {
    uint32_t k = 0;
    while (k < KIND_COUNT && kinds[k].letter != letter)
        k++;
    return (DiffKind)k;
}

uint32_t gen_read(Gen *g, DiffKind kind) {
    uint32_t n = g->f->count[kind];
    if (gen_chance(g, 50) && n > 4) /* recent ones, for chains */
        return n - 1 - gen_below(g, 4);
    return gen_below(g, n);
}

static uint32_t new_register(Gen *g, DiffKind kind, bool zero) {
    uint32_t n = g->f->count[kind]++;
    if (zero && kind == KIND_PRED)
        text_add(&g->f->zeros, "setp.ne.u32 %%p%u, 0, 0;\n", n);
    else if (zero)
        text_add(&g->f->zeros, "mov.b%u %%%c%u, 0;\n", 8 * gen_bytes(kind), gen_letter(kind), n);
    return n;
}

uint32_t gen_write(Gen *g, DiffKind kind, bool guarded) {
    bool inside = g->f->nesting > 0 || guarded;
    if (g->f->count[kind] && gen_chance(g, inside ? 60 : 20))
        return gen_below(g, g->f->count[kind]);
    return new_register(g, kind, inside);
}

/* A register of another kind and the same width now and then: bits of one format read as another.
 */
static DiffKind stray(Gen *g, DiffKind kind) {
    DiffKind other = gen_kind(g);
    bool fits = kind != KIND_PRED && gen_bytes(other) == gen_bytes(kind) && g->f->count[other];
    return fits && gen_chance(g, 40) ? other : kind;
}

/* ---- operands ----------------------------------------------------------------------------- */

static void immediate(Gen *g, Text *out, DiffKind kind) {
    uint64_t v = gen_value(&g->random, kind);
    if (kind == KIND_INT32)
        text_add(out, "%" PRId32, (int32_t)v);
    else if (kind == KIND_INT64)
        text_add(out, "%" PRId64, (int64_t)(v == (uint64_t)1 << 63 ? 1 : v));
    else if (kind == KIND_F32)
        text_add(out, "0f%08" PRIx32, (uint32_t)v);
    else
        text_add(out, "0d%016" PRIx64, v);
}

static bool number(Gen *g, Text *out, char letter) {
    if (letter == 'i')
        text_add(out, "%u", gen_below(g, gen_chance(g, 80) ? 34 : 70));
    else if (letter == 'n')
        text_add(out, "%d", (int)gen_below(g, 17) - 8);
    else if (letter == 'b')
        text_add(out, "%u", gen_below(g, 256));
    else
        return false;
    return true;
}

typedef struct Written {
    DiffKind kind;
    uint32_t reg;
} Written;

/* Destinations of one form differ from each other; sources are chosen before any is new. */
static void destination(Gen *g, Text *out, DiffKind kind, bool guard, Written *done, int *count) {
    uint32_t reg;
    bool again;
    do {
        reg = gen_write(g, kind, guard);
        again = false;
        for (int i = 0; i < *count; i++)
            again |= done[i].kind == kind && done[i].reg == reg;
    } while (again);
    done[(*count)++] = (Written){kind, reg};
    text_add(out, "%%%c%u", gen_letter(kind), reg);
}

static void source(Gen *g, Text *out, char letter, const uint32_t *readable) {
    static const char either[] = "qkyz", plain[] = "rdfx";
    const char *e = strchr(either, letter);
    DiffKind kind = kind_of(e ? plain[e - either] : letter);
    if (number(g, out, letter))
        return;
    if (e && gen_chance(g, 20)) {
        immediate(g, out, kind);
        return;
    }
    kind = stray(g, kind);
    uint32_t now = g->f->count[kind];
    g->f->count[kind] = readable[kind];
    uint32_t reg = gen_read(g, kind);
    g->f->count[kind] = now;
    text_add(out, "%%%c%u", gen_letter(kind), reg);
}

void gen_form(Gen *g, const char *text, const char *choice, size_t choice_length, bool guard) {
    Text *out = &g->f->body;
    Written done[8];
    uint32_t readable[KIND_COUNT];
    int count = 0;
    memcpy(readable, g->f->count, sizeof readable);
    if (guard) {
        bool negated = gen_chance(g, 50);
        text_add(out, "@%s%%p%u ", negated ? "!" : "", gen_read(g, KIND_PRED));
    }
    for (const char *c = text; *c; c++) {
        if (*c == '@') {
            text_add(out, "%.*s", (int)choice_length, *choice == '-' ? "" : choice);
        } else if (*c == '<') {
            char letter = c[1];
            if (isupper((unsigned char)letter))
                destination(g, out, kind_of((char)tolower((unsigned char)letter)), guard, done,
                            &count);
            else
                source(g, out, letter, readable);
            c += 2;
        } else {
            text_add(out, "%c", *c);
        }
    }
    text_add(out, "\n");
}

/* ---- forms -------------------------------------------------------------------------------- */

static const struct {
    uint32_t weight;
    const char *text, *choices;
} forms[] = {
#define X(weight, text, choices) {weight, text, choices},
#include "forms.def"
#undef X
};

static size_t pick_form(Gen *g) {
    uint32_t total = 0, at;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        total += forms[i].weight;
    at = gen_below(g, total);
    size_t i = 0;
    while (at >= forms[i].weight)
        at -= forms[i++].weight;
    return i;
}

void gen_any_form(Gen *g) {
    size_t i = pick_form(g);
    const char *choice = forms[i].choices;
    uint32_t n = 1;
    for (const char *c = choice; *c; c++)
        n += *c == ' ';
    for (uint32_t skip = gen_below(g, n); skip; skip--)
        choice += strcspn(choice, " ") + 1;
    bool block = forms[i].text[0] == '{';
    gen_form(g, forms[i].text, choice, strcspn(choice, " "), !block && gen_chance(g, 10));
}
