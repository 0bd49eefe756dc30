/* Diagnostics: collecting them, and the nearest known name. Rendering is diag_print.c.
 *
 * Invariant: a note belongs to the last message kept; has_current is false after a message that was
 * not kept (past the limit, or said before), so its notes disappear with it. */
#include "source/diag_impl.h"

#include <string.h>

Diag *diag_new(Arena *a, const Sources *sources) {
    Diag *d = arena_new_of(a, Diag);
    d->arena = a;
    d->sources = sources;
    return d;
}

static const char *format_text(Arena *a, const char *format, va_list args) {
    StrBuf b;
    strbuf_init(&b, a);
    strbuf_add(&b, "", 0);
    strbuf_vaddf(&b, format, args);
    return b.text;
}

static bool same_place(Span a, Span b) {
    return a.file == b.file && a.lo == b.lo && a.hi == b.hi;
}

/* Messages without a place are told apart by their text. */
static bool said_before(const Diag *d, const Message *m) {
    for (uint32_t i = 0; i < d->messages.len; i++) {
        const Message *old = &d->messages.data[i];
        if (old->is_error == m->is_error && old->code == m->code && same_place(old->at, m->at) &&
            (m->at.file || !strcmp(old->text, m->text)))
            return true;
    }
    return false;
}

static void keep(Diag *d, Message m) {
    vec_push(d->arena, &d->messages, m);
    d->has_current = true;
}

void diag_error(Diag *d, DiagCode code, Span at, const char *format, ...) {
    d->has_current = false;
    if (d->errors >= DIAG_LIMIT) {
        d->errors++;
        return;
    }
    va_list args;
    va_start(args, format);
    Message m = {.is_error = true, .code = code, .at = at};
    m.text = format_text(d->arena, format, args);
    va_end(args);
    if (said_before(d, &m))
        return;
    d->errors++;
    keep(d, m);
}

void diag_warning(Diag *d, DiagCode code, Span at, const char *format, ...) {
    d->has_current = false;
    va_list args;
    va_start(args, format);
    Message m = {.code = code, .at = at};
    m.text = format_text(d->arena, format, args);
    va_end(args);
    if (said_before(d, &m))
        return;
    d->warnings++;
    keep(d, m);
}

void diag_note(Diag *d, Span at, const char *format, ...) {
    if (!d->has_current)
        return;
    va_list args;
    va_start(args, format);
    Note n = {.at = at, .text = format_text(d->arena, format, args)};
    va_end(args);
    vec_push(d->arena, &d->messages.data[d->messages.len - 1].notes, n);
}

uint32_t diag_errors(const Diag *d) {
    return d->errors;
}

uint32_t diag_warnings(const Diag *d) {
    return d->warnings;
}

enum { NAME_MAX_LEN = 64 };

static uint32_t min3(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). Both
 * names are at most NAME_MAX_LEN long. */
static uint32_t edit_distance(const char *a, uint32_t alen, const char *b, uint32_t blen) {
    uint32_t rows[3][NAME_MAX_LEN + 1];
    for (uint32_t j = 0; j <= blen; j++)
        rows[0][j] = j;
    for (uint32_t i = 1; i <= alen; i++) {
        uint32_t *row = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
        row[0] = i;
        for (uint32_t j = 1; j <= blen; j++) {
            row[j] = min3(row[j - 1] + 1, up[j] + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
            bool swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swap && up2[j - 2] + 1 < row[j])
                row[j] = up2[j - 2] + 1;
        }
    }
    return rows[alen % 3][blen];
}

const char *diag_nearest(const char *name, const char *const *names) {
    size_t len = strlen(name);
    if (len > NAME_MAX_LEN)
        return NULL;
    /* A third of the name may be wrong: more and the guess would be noise. */
    uint32_t best = (uint32_t)len / 3 + 1;
    const char *found = NULL;
    for (; *names; names++) {
        size_t other = strlen(*names);
        if (other > NAME_MAX_LEN)
            continue;
        uint32_t distance = edit_distance(name, (uint32_t)len, *names, (uint32_t)other);
        if (distance < best) {
            best = distance;
            found = *names;
        }
    }
    return found;
}
