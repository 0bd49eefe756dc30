/* libFuzzer target: any bytes through the TIR parser and verifier; what they accept must print,
 * read back and print the same bytes, and must stay valid through the generic passes. */
#include "pass/pass.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
    if (!holds)
        abort();
}

static IrModule *read_text(Arena *a, const char *text, size_t size, bool *ok) {
    Sources *sources = sources_new(a);
    Diag *d = diag_new(a, sources);
    IrModule *m = ir_module_new(a, interner_new(a), sources);
    uint32_t file = sources_add(sources, "input.tir", text, size);
    *ok = ir_parse(m, file, d);
    check(*ok == !diag_errors(d));
    *ok = *ok && ir_verify(m, d);
    check(*ok == !diag_errors(d));
    return m;
}

static void round_trip(Arena *a, const IrModule *m) {
    StrBuf once, twice;
    bool ok;
    strbuf_init(&once, a);
    strbuf_init(&twice, a);
    ir_print(m, &once);
    IrModule *again = read_text(a, once.text ? once.text : "", once.len, &ok);
    check(ok);
    ir_print(again, &twice);
    check(once.len == twice.len && (!once.len || !memcmp(once.text, twice.text, once.len)));
}

static void run_passes(Arena *a, IrModule *m) {
    PassOptions o = {.passes = "canon,cse,licm,unroll,canon,cse,dce", .verify_each = true};
    Diag *d = diag_new(a, ir_sources(m));
    check(pass_run(m, pass_target("sm_90a"), &o, d));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena *a = arena_new(NULL, NULL);
    /* An exact copy on the heap, so that a read past the end is seen. */
    char *copy = malloc(size ? size : 1);
    bool ok;
    if (!a || !copy)
        abort();
    for (size_t i = 0; i < size; i++)
        copy[i] = (char)data[i];
    IrModule *m = read_text(a, copy, size, &ok);
    if (ok) {
        round_trip(a, m);
        run_passes(a, m);
        round_trip(a, m);
    }
    arena_free(a);
    free(copy);
    return 0;
}
