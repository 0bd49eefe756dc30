/* tle-opt: runs passes over TIR text.
 *
 *   tle-opt [options] in.tir        (- = standard input)
 *
 * Exit codes: 0 success, 1 diagnostics were printed, 2 wrong usage. */
#include "base/file.h"
#include "ir/ir.h"
#include "pass/pass.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Options {
    const char *input, *output, *target;
    PassOptions pass;
    bool round_trip, no_spans, list_passes, list_ops, json;
} Options;

static const char usage[] =
    "usage: tle-opt [options] FILE.tir\n"
    "  --passes=A,B         passes to run, in order (default: none; 'pipeline' = the target's)\n"
    "  --target=NAME        architecture (default: sm_90a)\n"
    "  -o FILE              where to write (default: standard output)\n"
    "  --verify-each        verify after each pass\n"
    "  --print-after=PASS   print TIR after this pass, or after 'all', to standard error\n"
    "  --print-changed      print TIR after each pass that changed it\n"
    "  --stop-after=PASS    run up to and including this pass\n"
    "  --disable-pass=A,B   leave these out\n"
    "  --time-passes        print milliseconds per pass to standard error\n"
    "  --round-trip         check that print -> parse -> print gives the same bytes\n"
    "  --no-spans           leave source places out\n"
    "  --diag-format=json   diagnostics as JSON\n"
    "  --list-passes        print the passes\n"
    "  --list-ops           print the tables of docs/tir.md\n";

/* --- tables --- */

static void list_passes(void) {
    const PassInfo *p;
    for (uint32_t i = 0; (p = pass_at(i)); i++)
        printf("%-14s %s\n", p->name, p->summary);
}

/* "1", "1-3", "2+" or "any". */
static void print_count(int low, int high) {
    if (high < 0 && low <= 0)
        printf("any");
    else if (high < 0)
        printf("%d+", low);
    else if (low == high)
        printf("%d", low);
    else
        printf("%d-%d", low, high);
}

static void print_traits(uint32_t traits) {
    static const char *const names[] = {
#define X(name, doc) #name,
#include "ir/traits.def"
#undef X
    };
    const char *separator = "";
    for (int i = 0; i < IR_TRAIT_BIT_COUNT; i++) {
        if (!(traits >> i & 1))
            continue;
        printf("%s", separator);
        for (const char *c = names[i]; *c; c++)
            putchar(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
        separator = ", ";
    }
}

static void list_ops(void) {
    printf("| operation | operands | results | regions | traits | attributes | meaning |\n");
    printf("| --- | --- | --- | --- | --- | --- | --- |\n");
    for (int k = IR_OP_NONE + 1; k < IR_OP_COUNT; k++) {
        const IrOpInfo *o = ir_op_info((IrKind)k);
        printf("| `%s` | ", o->mnemonic);
        print_count(o->min_operands, o->max_operands);
        printf(" | ");
        print_count(o->results, o->results);
        printf(" | %u | ", o->regions);
        print_traits(o->traits);
        printf(" | %s | %s |\n", o->attrs, o->doc);
    }
}

/* Tables of attributes, of the values of enumerated ones, and of traits. */
static void list_attributes(void) {
    static const struct {
        const char *name, *text;
    } attributes[] =
        {
#define X(key, text, kind) {text, #kind},
#include "ir/attrs.def"
#undef X
        },
      values[] =
          {
#define E(e)             {#e, NULL},
#define V(e, name, text) {#e, text},
#include "ir/enums.def"
#undef E
#undef V
          },
      traits[] = {
#define X(name, doc) {#name, doc},
#include "ir/traits.def"
#undef X
      };
    printf("\n| attribute | value |\n| --- | --- |\n");
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        printf("| `%s` | %s |\n", attributes[i].name, attributes[i].text);
    printf("\n| enumeration | values |\n| --- | --- |\n");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        bool last = i + 1 == sizeof values / sizeof *values || !values[i + 1].text;
        if (values[i].text)
            printf(" `%s`%s", values[i].text, last ? " |\n" : "");
        else
            printf("| %s |", values[i].name);
    }
    printf("\n| trait | meaning |\n| --- | --- |\n");
    for (size_t i = 0; i < sizeof traits / sizeof *traits; i++)
        printf("| %s | %s |\n", traits[i].name, traits[i].text);
}

/* --- options --- */

enum {
    OPT_PASSES = 256,
    OPT_TARGET,
    OPT_VERIFY_EACH,
    OPT_PRINT_AFTER,
    OPT_PRINT_CHANGED,
    OPT_STOP_AFTER,
    OPT_DISABLE,
    OPT_TIME,
    OPT_ROUND_TRIP,
    OPT_NO_SPANS,
    OPT_DIAG_FORMAT,
    OPT_LIST_PASSES,
    OPT_LIST_OPS,
    OPT_HELP
};

static const struct option long_options[] = {
    {"passes", required_argument, NULL, OPT_PASSES},
    {"target", required_argument, NULL, OPT_TARGET},
    {"verify-each", no_argument, NULL, OPT_VERIFY_EACH},
    {"print-after", required_argument, NULL, OPT_PRINT_AFTER},
    {"print-changed", no_argument, NULL, OPT_PRINT_CHANGED},
    {"stop-after", required_argument, NULL, OPT_STOP_AFTER},
    {"disable-pass", required_argument, NULL, OPT_DISABLE},
    {"time-passes", no_argument, NULL, OPT_TIME},
    {"round-trip", no_argument, NULL, OPT_ROUND_TRIP},
    {"no-spans", no_argument, NULL, OPT_NO_SPANS},
    {"diag-format", required_argument, NULL, OPT_DIAG_FORMAT},
    {"list-passes", no_argument, NULL, OPT_LIST_PASSES},
    {"list-ops", no_argument, NULL, OPT_LIST_OPS},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

/* False on wrong usage, after a sentence. */
static bool take_option(Options *o, int option, const char *value) {
    switch (option) {
    case 'o':
        o->output = value;
        return true;
    case OPT_PASSES:
        o->pass.passes = strcmp(value, "pipeline") ? value : NULL;
        return true;
    case OPT_TARGET:
        o->target = value;
        return true;
    case OPT_VERIFY_EACH:
        return o->pass.verify_each = true;
    case OPT_PRINT_AFTER:
        o->pass.print_after = value;
        return true;
    case OPT_PRINT_CHANGED:
        return o->pass.print_changed = true;
    case OPT_STOP_AFTER:
        o->pass.stop_after = value;
        return true;
    case OPT_DISABLE:
        o->pass.disable = value;
        return true;
    case OPT_TIME:
        return o->pass.time = true;
    case OPT_ROUND_TRIP:
        return o->round_trip = true;
    case OPT_NO_SPANS:
        return o->no_spans = true;
    case OPT_DIAG_FORMAT:
        o->json = !strcmp(value, "json");
        if (o->json || !strcmp(value, "text"))
            return true;
        fprintf(stderr, "tle-opt: --diag-format=%s, expected text or json\n", value);
        return false;
    case OPT_LIST_PASSES:
        return o->list_passes = true;
    case OPT_LIST_OPS:
        return o->list_ops = true;
    case OPT_HELP:
        printf("%s", usage);
        exit(0);
    default: /* getopt_long has said what is wrong */
        return false;
    }
}

static bool read_options(Options *o, int argc, char **argv) {
    int option;
    while ((option = getopt_long(argc, argv, "o:", long_options, NULL)) != -1)
        if (!take_option(o, option, optarg))
            return false;
    if (o->list_passes || o->list_ops)
        return true;
    if (optind + 1 != argc) {
        fprintf(stderr, "%s", usage);
        return false;
    }
    o->input = argv[optind];
    return true;
}

/* --- the work --- */

static char *read_stream(Arena *a, FILE *in, size_t *len_out) {
    StrBuf b;
    char chunk[4096];
    size_t n;
    strbuf_init(&b, a);
    strbuf_add(&b, "", 0);
    while ((n = fread(chunk, 1, sizeof chunk, in)))
        strbuf_add(&b, chunk, n);
    strbuf_addc(&b, '\0');
    *len_out = b.len - 1;
    return b.text;
}

static void print_time(void *user, const char *pass, double ms) {
    (void)user;
    fprintf(stderr, "%-14s %8.3f ms\n", pass, ms);
}

/* Reads `text` again and compares; a difference is our bug, so it is an internal error. */
static bool same_after_reading(Arena *a, const StrBuf *text, unsigned flags) {
    Sources *sources = sources_new(a);
    Diag *diag = diag_new(a, sources);
    IrModule *m = ir_module_new(a, interner_new(a), sources);
    uint32_t file = sources_add(sources, "round-trip", text->text ? text->text : "", text->len);
    StrBuf again;
    strbuf_init(&again, a);
    bool ok = ir_parse(m, file, diag) && ir_verify(m, diag);
    diag_print(diag, stderr, false);
    if (ok)
        ir_print_with(m, &again, flags);
    if (ok && again.len == text->len && (!text->len || !memcmp(again.text, text->text, text->len)))
        return true;
    fprintf(stderr, "tle-opt: print -> parse -> print changed the text\n");
    return false;
}

static bool write_out(const Options *o, const StrBuf *text) {
    if (!o->output) {
        fwrite(text->text ? text->text : "", 1, text->len, stdout);
        return fflush(stdout) == 0;
    }
    if (file_write(o->output, text->text ? text->text : "", text->len))
        return true;
    fprintf(stderr, "tle-opt: %s: %s\n", o->output, strerror(errno));
    return false;
}

static bool transform(Arena *a, const Options *o, Sources *sources, uint32_t file, Diag *diag) {
    const PassTarget *target = pass_target(o->target);
    unsigned flags = o->no_spans ? IR_PRINT_NO_SPANS : 0;
    IrModule *m = ir_module_new(a, interner_new(a), sources);
    StrBuf text;
    if (!target) {
        diag_error(diag, DIAG_PASS_NAME, (Span){0}, "unknown target '%s'", o->target);
        return false;
    }
    if (!ir_parse(m, file, diag) || !ir_verify(m, diag) || !pass_run(m, target, &o->pass, diag))
        return false;
    strbuf_init(&text, a);
    ir_print_with(m, &text, flags);
    return (!o->round_trip || same_after_reading(a, &text, flags)) && write_out(o, &text);
}

static int run(Arena *a, const Options *o) {
    Sources *sources = sources_new(a);
    Diag *diag = diag_new(a, sources);
    bool standard = !strcmp(o->input, "-");
    size_t len;
    char *text = standard ? read_stream(a, stdin, &len) : file_read(a, o->input, &len);
    if (!text) {
        fprintf(stderr, "tle-opt: %s: %s\n", o->input, strerror(errno));
        return 1;
    }
    uint32_t file = sources_add(sources, standard ? "<stdin>" : o->input, text, len);
    bool ok = transform(a, o, sources, file, diag);
    if (o->json)
        diag_print_json(diag, stderr);
    else
        diag_print(diag, stderr, isatty(STDERR_FILENO));
    return ok ? 0 : 1;
}

int main(int argc, char **argv) {
    Options o = {.target = "sm_90a", .pass = {.passes = "", .dump = stderr, .on_time = print_time}};
    if (!read_options(&o, argc, argv))
        return 2;
    if (o.list_passes)
        list_passes();
    if (o.list_ops) {
        list_ops();
        list_attributes();
    }
    if (!o.input)
        return 0;
    Arena *a = arena_new(NULL, NULL);
    if (!a) {
        fprintf(stderr, "tle-opt: out of memory\n");
        return 1;
    }
    int status = run(a, &o);
    arena_free(a);
    return status;
}
