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

typedef struct GridOptions {
    const char *grid, *arch, *out;
    GridBuild build;
} GridOptions;

static const char usage[] =
    "usage: tle-grid --grid FILE --arch ARCH --out DIR [options]\n"
    "  --grid=FILE         the grid, e.g. kernels_tle/topk/grid.json\n"
    "  --arch=ARCH         architecture, e.g. sm_90a\n"
    "  --out=DIR           where the packs go\n"
    "  --cache=DIR         where compiled variants are kept from one run to the next\n"
    "  --ptxas=PATH        the assembler; without it the packs have no cubins\n"
    "  --source-root=DIR   directory that names of source files are relative to\n"
    "  -j N                compilations at once (default: the number of processors)\n"
    "  --version, --help\n";

static const struct option long_options[] = {
    {"grid", required_argument, NULL, 'g'},
    {"arch", required_argument, NULL, 'a'},
    {"out", required_argument, NULL, 'o'},
    {"cache", required_argument, NULL, 'c'},
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

static bool write_pack(Arena *a, const GridOptions *o, const Grid *g, const char *suffix,
                       const PackVariant *variants) {
    const char *why = NULL;
    size_t len = 0;
    StrBuf path;
    void *data = pack_build(a, g->op, o->arch, variants, g->n_variants, &len, &why);

    strbuf_init(&path, a);
    strbuf_addf(&path, "%s/%s.%s%s", o->out, g->op, o->arch, suffix);
    if (!data) {
        fprintf(stderr, "tle-grid: %s: %s\n", path.text, why);
        return false;
    }
    if (!file_write(path.text, data, len)) {
        fprintf(stderr, "tle-grid: %s cannot be written: %s\n", path.text, strerror(errno));
        return false;
    }
    return true;
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
    bool ok = write_pack(a, o, g, ".tlepack", part);
    for (uint32_t i = 0; i < g->n_variants; i++) {
        part[i] = variants[i];
        part[i].cubin = part[i].tir = nothing;
    }
    return write_pack(a, o, g, ".emu.tlepack", part) && ok;
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
