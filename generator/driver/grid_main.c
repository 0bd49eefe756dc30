/* tle-grid: compiles all variants of a grid file for one architecture and writes the packs
 *
 *   OUT/<op>.<arch>.tlepack       metadata, cubins, TIR
 *   OUT/<op>.<arch>.emu.tlepack   metadata, PTX
 *
 * Exit codes: 0 success, 1 something did not compile, 2 wrong usage, 70 internal error. */
#define _GNU_SOURCE /* getopt_long, sysconf */

#include "base/file.h"
#include "driver/grid_build.h"
#include "driver/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERNAL = 70, MAX_JOBS = 64 };

static const char *const pack_suffixes[] = {".tlepack", ".emu.tlepack"};

typedef struct GridOptions {
    const char *grid, *arch, *out, *depfile;
    GridBuild build;
} GridOptions;

static const char usage[] =
    "usage: tle-grid --grid FILE --arch ARCH --out DIR [options]\n"
    "  --grid=FILE         the grid, e.g. kernels_tle/topk/grid.json\n"
    "  --arch=ARCH         architecture, e.g. sm_90a\n"
    "  --out=DIR           where the packs go\n"
    "  --cache=DIR         where compiled variants are kept from one run to the next\n"
    "  --ptxas=PATH        the assembler; without it the packs have no cubins\n"
    "  --depfile=FILE      writes a rule of make that says which files the packs were made from\n"
    "  --source-root=DIR   directory that names of source files are relative to\n"
    "  -j N                compilations at once (default: the number of processors)\n"
    "  --version, --help\n";

static const struct option long_options[] = {
    {"grid", required_argument, NULL, 'g'},
    {"arch", required_argument, NULL, 'a'},
    {"out", required_argument, NULL, 'o'},
    {"cache", required_argument, NULL, 'c'},
    {"depfile", required_argument, NULL, 'd'},
    {"ptxas", required_argument, NULL, 'p'},
    {"jobs", required_argument, NULL, 'j'},
    {"source-root", required_argument, NULL, 's'},
    {"version", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int wrong_usage(const char *why) {
    fprintf(stderr, "tle-grid: %s (tle-grid --help prints the options)\n", why);
    return EXIT_USAGE;
}

static bool take_option(GridOptions *o, int option, const char *value) {
    long jobs;
    char *end;

    switch (option) {
    case 'g':
        o->grid = value;
        return true;
    case 'a':
        o->arch = value;
        return true;
    case 'o':
        o->out = value;
        return true;
    case 'c':
        o->build.cache = value;
        return true;
    case 'd':
        o->depfile = value;
        return true;
    case 'p':
        o->build.ptxas = value;
        return true;
    case 's':
        o->build.source_root = value;
        return true;
    case 'j':
        jobs = strtol(value, &end, 10);
        o->build.jobs = jobs > MAX_JOBS ? MAX_JOBS : (uint32_t)jobs;
        return end != value && !*end && jobs > 0;
    default:
        return false;
    }
}

static uint32_t processors(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > MAX_JOBS ? MAX_JOBS : (uint32_t)n;
}

/* -1 = go on, else the exit code. */
static int read_options(GridOptions *o, int argc, char **argv) {
    int option;

    *o = (GridOptions){.build = {.jobs = processors()}};
    while ((option = getopt_long(argc, argv, "j:o:", long_options, NULL)) != -1) {
        if (option == 'h' || option == 'v') {
            printf("%s", option == 'h' ? usage : "tle-grid " TLEC_VERSION "\n");
            return 0;
        }
        if (!take_option(o, option, optarg))
            return wrong_usage("an option is unknown or has no valid value");
    }
    if (!o->grid || !o->arch || !o->out || optind != argc)
        return wrong_usage("--grid, --arch and --out are needed, and nothing else");
    o->build.target = pass_target(o->arch);
    return o->build.target ? -1 : wrong_usage("the architecture is unknown");
}

static bool write_file(const char *path, const void *data, size_t len) {
    bool ok = file_write(path, data, len);

    if (!ok)
        fprintf(stderr, "tle-grid: %s cannot be written: %s\n", path, strerror(errno));
    return ok;
}

static const char *pack_path(Arena *a, const GridOptions *o, const Grid *g, const char *suffix) {
    return str_format(a, "%s/%s.%s%s", o->out, g->op, o->arch, suffix);
}

static bool write_pack(Arena *a, const GridOptions *o, const Grid *g, const char *suffix,
                       const PackVariant *variants) {
    const char *why = NULL, *path = pack_path(a, o, g, suffix);
    size_t len = 0;
    void *data = pack_build(a, g->op, o->arch, variants, g->n_variants, &len, &why);

    if (data)
        return write_file(path, data, len);
    fprintf(stderr, "tle-grid: %s: %s\n", path, why);
    return false;
}

/* The run-time pack leaves the PTX out, the emulator's the cubin and the TIR. */
static bool write_packs(Arena *a, const GridOptions *o, const Grid *g,
                        const PackVariant *variants) {
    PackVariant *part = arena_array(a, PackVariant, g->n_variants + 1);
    static const PackItem nothing = {NULL, 0};

    for (uint32_t i = 0; i < g->n_variants; i++) {
        part[i] = variants[i];
        part[i].ptx = nothing;
    }
    bool ok = write_pack(a, o, g, pack_suffixes[0], part);
    for (uint32_t i = 0; i < g->n_variants; i++) {
        part[i] = variants[i];
        part[i].cubin = part[i].tir = nothing;
    }
    return write_pack(a, o, g, pack_suffixes[1], part) && ok;
}

/* A path in a rule of make. What a build has in its own file names may be anything. */
static void add_path(StrBuf *b, const char *path) {
    for (; *path; path++) {
        if (*path == ' ' || *path == '#' || *path == '\\')
            strbuf_addc(b, '\\');
        if (*path == '$')
            strbuf_addc(b, '$');
        strbuf_addc(b, *path);
    }
}

/* Absolute, because make and ninja need not run where this program does. */
static bool add_absolute(Arena *a, StrBuf *b, const char *path) {
    char *whole = realpath(path, NULL);

    if (!whole) {
        fprintf(stderr, "tle-grid: %s cannot be found: %s\n", path, strerror(errno));
        return false;
    }
    strbuf_addz(b, " \\\n  ");
    add_path(b, arena_strndup(a, whole, strlen(whole)));
    free(whole);
    return true;
}

static bool write_depfile(Arena *a, const GridOptions *o, const Grid *g) {
    StrBuf b;
    bool ok = true;

    strbuf_init(&b, a);
    add_path(&b, pack_path(a, o, g, pack_suffixes[0]));
    strbuf_addc(&b, ':');
    for (uint32_t i = 0; i < o->build.read.len; i++)
        ok = add_absolute(a, &b, o->build.read.data[i]) && ok;
    strbuf_addc(&b, '\n');
    return ok && write_file(o->depfile, b.text, b.len);
}

static bool read_grid(Arena *a, const GridOptions *o, Grid *out) {
    size_t len;
    const char *text = file_read(a, o->grid, &len);
    const char *why = text ? grid_read(a, o->grid, text, len, out) : strerror(errno);

    if (why) {
        fprintf(stderr, "tle-grid: %s: %s\n", o->grid, why);
        return false;
    }
    if (!grid_keep_arch(out, o->arch)) {
        fprintf(stderr, "tle-grid: %s: archs does not list %s\n", o->grid, o->arch);
        return false;
    }
    return true;
}

static int run(Arena *a, GridOptions *o) {
    Grid g;

    if (!read_grid(a, o, &g))
        return EXIT_FAILED;
    if (mkdir(o->out, 0777) && errno != EEXIST) {
        fprintf(stderr, "tle-grid: %s cannot be made: %s\n", o->out, strerror(errno));
        return EXIT_FAILED;
    }
    PackVariant *variants = arena_array(a, PackVariant, g.n_variants + 1);
    o->build.grid = &g;
    if (!grid_build(a, &o->build, variants) || !write_packs(a, o, &g, variants))
        return EXIT_FAILED;
    if (o->depfile && !write_depfile(a, o, &g))
        return EXIT_FAILED;
    if (!o->build.ptxas)
        fprintf(stderr,
                "tle-grid: no ptxas was named, so %s has no cubins and runs on the "
                "emulator only\n",
                g.op);
    printf("%s for %s: %u variants, %u compiled, %u kept\n", g.op, o->arch, g.n_variants,
           o->build.compiled, o->build.from_cache);
    return 0;
}

int main(int argc, char **argv) {
    GridOptions o;
    int code = read_options(&o, argc, argv);

    if (code >= 0)
        return code;
    Arena *a = arena_new(NULL, NULL);
    if (!a)
        return EXIT_INTERNAL;
    code = run(a, &o);
    arena_free(a);
    return code;
}
