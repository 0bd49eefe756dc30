/* Diagnostics: `path:line:col: error[E0123]: message`, the source line, caret and tildes, notes.
 *
 * Codes live in diag.def: X(name, number, summary), grouped by stage. The message given to
 * diag_error says what was found and what was expected: lower case, no full stop.
 * Errors are counted and kept in order; printing is the driver's. At most DIAG_LIMIT errors are
 * kept; later ones are counted only. A span that is wholly equal to an earlier error's span with
 * the same code is reported once. */
#ifndef SOURCE_DIAG_H
#define SOURCE_DIAG_H

#include "source/source.h"
#include <stdio.h>

typedef enum DiagCode {
#define X(name, number, summary) DIAG_##name,
#include "source/diag.def"
#undef X
    DIAG_CODE_COUNT
} DiagCode;

enum { DIAG_LIMIT = 20 };

typedef struct Diag Diag;

Diag *diag_new(Arena *a, const Sources *sources);
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void diag_error(Diag *d, DiagCode code, Span at, const char *format, ...);
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void diag_warning(Diag *d, DiagCode code, Span at, const char *format, ...);
/* Attached to the latest error or warning. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void diag_note(Diag *d, Span at, const char *format, ...);
uint32_t diag_errors(const Diag *d);
uint32_t diag_warnings(const Diag *d);
void diag_print(const Diag *d, FILE *out, bool colour);
void diag_print_json(const Diag *d, FILE *out);
/* The known name nearest to `name` by edit distance, or NULL when none is near. `names` ends with
 * NULL. Used for "did you mean". */
const char *diag_nearest(const char *name, const char *const *names);

#endif
