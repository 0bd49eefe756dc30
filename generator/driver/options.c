/* Reading the command line, see options.h and opts.def. */
#define _GNU_SOURCE /* getopt_long */

#include "driver/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    OPT_FIRST = 256,
#define O(id, name, has_value, value, help) OPT_##id,
#include "driver/opts.def"
#undef O
};

static const struct option long_options[] = {
#define O(id, name, has_value, value, help) {name, has_value, NULL, OPT_##id},
#include "driver/opts.def"
#undef O
    {NULL, 0, NULL, 0},
};

static void help_line(FILE *out, const char *name, const char *value, const char *help) {
    char left[64];

    snprintf(left, sizeof left, "--%s%s%s", name, *value ? "=" : "", value);
    fprintf(out, "  %-22s %s\n", left, help);
}

void options_help(FILE *out) {
    fprintf(out, "usage: tlec FILE.py --kernel NAME [options]\n"
                 "       tlec FILE.tir [options]\n");
#define O(id, name, has_value, value, help) help_line(out, name, value, help);
#include "driver/opts.def"
#undef O
}

/* --- values --- */

static const char *const emit_names[] = {"ast", "tir", "llvm", "llvm-opt", "ptx", "cubin", "meta"};

static const char *read_emit(Arena *a, const char *text, Emit *out) {
    for (size_t i = 0; i < sizeof emit_names / sizeof *emit_names; i++)
        if (!strcmp(emit_names[i], text)) {
            *out = (Emit)i;
            return NULL;
        }
    return str_format(
        a, "--emit=%s is unknown, expected ast, tir, llvm, llvm-opt, ptx, cubin or meta", text);
}

static const char *read_number(Arena *a, const char *name, const char *text, uint32_t low,
                               uint32_t high, uint32_t *out) {
    char *end;
    unsigned long x = strtoul(text, &end, 10);

    if (end == text || *end || x < low || x > high)
        return str_format(a, "--%s=%s, expected a number from %u to %u", name, text, low, high);
    *out = (uint32_t)x;
    return NULL;
}

static const char *read_warps(Arena *a, const char *text, uint32_t *out) {
    const char *why = read_number(a, "num-warps", text, 1, 32, out);

    if (!why && *out & (*out - 1))
        why = str_format(a, "--num-warps=%s, expected a power of two", text);
    return why;
}

static const char *read_format(Arena *a, const char *text, bool *json) {
    *json = !strcmp(text, "json");
    if (*json || !strcmp(text, "text"))
        return NULL;
    return str_format(a, "--diag-format=%s is unknown, expected text or json", text);
}

static const char *read_target(Arena *a, const char *text, const PassTarget **out) {
    *out = pass_target(text);
    return *out ? NULL : str_format(a, "--target=%s is unknown, expected one like sm_90a", text);
}

/* --- options --- */

static const char *take_flag(Options *o, int id) {
    switch (id) {
    case OPT_PRINT_CHANGED:
        o->compile.pass.print_changed = true;
        break;
    case OPT_VERIFY_EACH:
        o->compile.pass.verify_each = true;
        break;
    case OPT_TIME_PASSES:
        o->time = true;
        break;
    case OPT_NO_LINE_INFO:
        o->compile.cg.line_info = false;
        break;
    case OPT_LIST_KERNELS:
        o->list_kernels = true;
        break;
    case OPT_VERSION:
        o->version = true;
        break;
    case OPT_HELP:
        o->help = true;
        break;
    default:
        break;
    }
    return NULL;
}

static const char *read_folder(Arena *a, const char *name, const char *value, const char **out) {
    struct stat info;

    if (stat(value, &info) || !S_ISDIR(info.st_mode))
        return str_format(a, "--%s=%s, expected a folder", name, value);
    *out = value;
    return NULL;
}

static const char *take_option(Arena *a, Options *o, int id, const char *value) {
    switch (id) {
    case OPT_KERNEL:
        o->compile.kernel = value;
        return NULL;
    case OPT_TARGET:
        return read_target(a, value, &o->compile.target);
    case OPT_SIG:
        return signature_params(a, value, &o->compile.params);
    case OPT_CONST:
        return signature_consts(a, value, &o->compile.consts);
    case OPT_NUM_WARPS:
        return read_warps(a, value, &o->compile.num_warps);
    case OPT_MIN_CTAS:
        return read_number(a, "min-ctas", value, 1, 32, &o->compile.min_ctas);
    case OPT_EMIT:
        return read_emit(a, value, &o->emit);
    case 'o':
    case OPT_OUTPUT:
        o->output = value;
        return NULL;
    case OPT_SOURCE_ROOT:
        o->compile.source_root = value;
        return NULL;
    case OPT_IMPORT_ROOT:
        return read_folder(a, "import-root", value, &o->compile.import_root);
    case OPT_PTXAS:
        o->ptxas = value;
        return NULL;
    case OPT_PASSES:
        o->compile.pass.passes = value;
        return NULL;
    case OPT_DISABLE_PASS:
        o->compile.pass.disable = value;
        return NULL;
    case OPT_DISABLE_STRATEGY:
        return cg_strategies(a, value, &o->compile.cg.without);
    case OPT_STOP_AFTER:
        o->compile.pass.stop_after = value;
        return NULL;
    case OPT_PRINT_AFTER:
        o->compile.pass.print_after = value;
        return NULL;
    case OPT_OPT_LEVEL:
        return read_number(a, "opt-level", value, 0, 3, &o->compile.cg.opt_level);
    case OPT_DIAG_FORMAT:
        return read_format(a, value, &o->json);
    default:
        return take_flag(o, id);
    }
}

static const char *check(Options *o, int files) {
    const char *path = o->compile.path;
    bool tir = path && strlen(path) > 4 && !strcmp(path + strlen(path) - 4, ".tir");

    if (o->help || o->version)
        return NULL;
    if (files != 1)
        return files ? "more than one source file" : "no source file";
    if (!o->compile.kernel && !tir && o->emit != EMIT_AST && !o->list_kernels)
        return "no --kernel (--list-kernels prints the names to choose from)";
    return NULL;
}

const char *options_read(Arena *a, int argc, char **argv, Options *out) {
    const char *why = NULL;
    int id;

    *out = (Options){.emit = EMIT_PTX};
    out->compile.target = pass_target("sm_90a");
    out->compile.num_warps = 4;
    out->compile.cg = (CgOptions){.opt_level = CG_OPT_LEVEL, .line_info = true};
    out->compile.pass.dump = stderr;
    opterr = 0;
    while (!why && (id = getopt_long(argc, argv, "o:", long_options, NULL)) != -1) {
        if (id == '?')
            return str_format(a, "'%s' is no option, or lacks its value", argv[optind - 1]);
        why = take_option(a, out, id, optarg);
    }
    if (why)
        return why;
    out->compile.path = optind < argc ? argv[optind] : NULL;
    out->compile.cg.want_llvm = out->emit == EMIT_LLVM || out->emit == EMIT_LLVM_OPT;
    return check(out, argc - optind);
}
