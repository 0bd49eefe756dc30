/* Building a grid, see grid_build.h.
 *
 * The key of a variant is a hash of all that its result depends on: this program, LLVM, ptxas, the
 * texts of its source and of what that imports, and the variant's own description. A child sends
 * its result as rows (child.h): the diagnostics, then the parts of a pack entry; the cache keeps
 * those parts as they came. */
#define _POSIX_C_SOURCE 200809L /* open_memstream, mkdir */

#include "driver/grid_build.h"

#include "base/file.h"
#include "base/sha256.h"
#include "driver/child.h"
#include "driver/compile.h"
#include "driver/imports.h"
#include "driver/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Task {
    const GridBuild *build;
    const GridVariant *variant;
    Arena *arena;
    PackVariant *out;
    char key[65];
    Child child;
} Task;

typedef struct SourceHash {
    const char *path;
    char hex[65];
} SourceHash;

/* --- in the child --- */

static void put_item(int out, PackItem item) {
    uint8_t there = item.data != NULL;

    child_put(out, &there, 1);
    child_put(out, item.data ? item.data : "", item.len);
}

static void put_diagnostics(int out, const Diag *d) {
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    if (f) {
        if (diag_errors(d) || diag_warnings(d))
            diag_print(d, f, false);
        fclose(f);
    }
    child_put(out, text ? text : "", len);
    free(text);
}

static CompileRequest request_of(const Task *t) {
    const GridVariant *v = t->variant;

    return (CompileRequest){
        .path = v->source,
        .source_root = t->build->source_root,
        .import_root = t->build->grid->import_root,
        .kernel = v->kernel,
        .target = t->build->target,
        .params = v->params,
        .consts = v->consts,
        .num_warps = v->num_warps,
        .min_ctas = v->min_ctas,
        .pass = {.dump = stderr, .disable = v->disable_pass},
        .cg = {.opt_level = CG_OPT_LEVEL, .line_info = true, .without = v->without}};
}

static bool check_spills(Compile *c, const GridVariant *v) {
    if (!c->cubin.spill_bytes || v->allow_spills)
        return true;
    diag_error(c->diag, DIAG_EMIT_SPILL, compile_span(c),
               "%s spills %u bytes of registers, expected none (its grid row does not allow it)",
               v->name, c->cubin.spill_bytes);
    return false;
}

static bool compile_all(Compile *c, const Task *t, StrBuf *tir) {
    if (!compile_parse(c) || !compile_tir(c))
        return false;
    strbuf_init(tir, c->arena);
    ir_print(c->m, tir);
    if (!compile_ptx(c))
        return false;
    if (!t->build->ptxas)
        return true;
    return compile_cubin(c, t->build->ptxas) && check_spills(c, t->variant);
}

static void compile_variant(void *user, int out) {
    const Task *t = user;
    CompileRequest r = request_of(t);
    const GridVariant *v = t->variant;
    CompileLabel label = {v->name, t->build->grid->op, v->legal, v->meant};
    StrBuf tir, meta;
    Compile c;

    if (!compile_open(&c, &r, t->arena))
        exit(1); /* the parent has read the file before: it says what is wrong */
    bool ok = compile_all(&c, t, &tir);
    put_diagnostics(out, c.diag);
    if (!ok)
        return;
    strbuf_init(&meta, t->arena);
    compile_meta(&c, &label, &meta);
    put_item(out, (PackItem){meta.text, meta.len});
    put_item(out, (PackItem){c.cubin.cubin, c.cubin.cubin_len});
    put_item(out, (PackItem){c.cg.ptx, c.cg.ptx_len});
    put_item(out, (PackItem){tir.text, tir.len});
}

/* --- results --- */

static bool take_item(ChildReader *r, PackItem *out) {
    const char *there, *data;
    size_t n, len;

    if (!child_take(r, &there, &n) || n != 1 || !child_take(r, &data, &len))
        return false;
    out->data = *there ? data : NULL;
    out->len = *there ? len : 0;
    return true;
}

/* Points into `data`, which must stay. */
static bool take_parts(Task *t, const char *data, size_t len) {
    ChildReader r = child_reader(data, len);
    PackVariant v = {.name = t->variant->name};

    if (!take_item(&r, &v.meta) || !take_item(&r, &v.cubin) || !take_item(&r, &v.ptx) ||
        !take_item(&r, &v.tir) || r.at != r.end)
        return false;
    *t->out = v;
    return true;
}

/* --- the cache --- */

static const char *cache_path(const Task *t) {
    StrBuf b;

    strbuf_init(&b, t->arena);
    strbuf_addf(&b, "%s/%s.variant", t->build->cache, t->key);
    return b.text;
}

static bool from_cache(Task *t) {
    size_t len;
    const char *data = t->build->cache ? file_read(t->arena, cache_path(t), &len) : NULL;

    return data && take_parts(t, data, len);
}

static void keep(const Task *t, const char *data, size_t len) {
    if (t->build->cache && !file_write(cache_path(t), data, len))
        fprintf(stderr, "tle-grid: %s cannot be written: %s\n", cache_path(t), strerror(errno));
}

/* What every key starts with. */
static bool hash_tools(Arena *a, const GridBuild *b, Sha256 *out) {
    size_t len;
    const char *self = file_read(a, "/proc/self/exe", &len);
    const char *ptxas = b->ptxas ? ptxas_version(a, b->ptxas) : "";

    sha256_init(out);
    if (!self)
        fprintf(stderr, "tle-grid: this program cannot be read: %s\n", strerror(errno));
    if (!ptxas)
        fprintf(stderr, "tle-grid: %s cannot be run\n", b->ptxas);
    if (!self || !ptxas)
        return false;
    const char *llvm = cg_version(a);
    sha256_add(out, self, len);
    sha256_add(out, llvm, strlen(llvm) + 1);
    sha256_add(out, ptxas, strlen(ptxas) + 1);
    sha256_add(out, b->target->name, strlen(b->target->name) + 1);
    sha256_add(out, b->grid->op, strlen(b->grid->op) + 1);
    return true;
}

static bool find_sources(Arena *a, const GridBuild *b, const char *path, SourceSet *out) {
    size_t len;
    const char *text = file_read(a, path, &len);

    if (text)
        *out = imports_find(a, path, text, len, b->grid->import_root);
    else
        fprintf(stderr, "tle-grid: %s cannot be read: %s\n", path, strerror(errno));
    return text != NULL;
}

static void note_read(Arena *a, GridBuild *b, const char *path) {
    for (uint32_t i = 0; i < b->read.len; i++)
        if (!strcmp(b->read.data[i], path))
            return;
    vec_push(a, &b->read, path);
}

/* The hash of a variant's sources, names and texts. Variants of one source stand together, so only
 * the last one's is at hand. */
static bool hash_sources(Arena *a, GridBuild *b, const char *path, SourceHash *last) {
    SourceSet set;
    Sha256 h;

    if (last->path && !strcmp(last->path, path))
        return true;
    if (!find_sources(a, b, path, &set))
        return false;
    sha256_init(&h);
    for (uint32_t i = 0; i < set.files.len; i++) {
        const SourceText *file = &set.files.data[i];
        uint64_t len = file->len;

        note_read(a, b, file->path);
        sha256_add(&h, file->path, strlen(file->path) + 1);
        sha256_add(&h, &len, sizeof len);
        sha256_add(&h, file->text, file->len);
    }
    sha256_end_hex(&h, last->hex);
    last->path = path;
    return true;
}

static void make_key(Task *t, const Sha256 *tools, const SourceHash *sources) {
    Sha256 h = *tools;

    sha256_add(&h, t->variant->source, strlen(t->variant->source) + 1);
    sha256_add(&h, t->variant->text, strlen(t->variant->text) + 1);
    sha256_add(&h, sources->hex, sizeof sources->hex);
    sha256_end_hex(&h, t->key);
}

/* --- running --- */

/* One sentence for a child that came to a bad end. */
static void print_end(const Task *t) {
    fprintf(stderr, "tle-grid: the compilation of %s %s: %s\n", t->variant->name,
            child_fate(&t->child, t->arena), t->child.err.text);
}

static bool finish_task(Task *t) {
    ChildReader r = child_reader(t->child.out.text, t->child.out.len);
    const char *diagnostics;
    size_t len;

    if (!child_succeeded(&t->child) || !child_take(&r, &diagnostics, &len)) {
        print_end(t);
        return false;
    }
    fwrite(diagnostics, 1, len, stderr);
    if (r.at == r.end)
        return false;
    keep(t, r.at, (size_t)(r.end - r.at));
    if (take_parts(t, r.at, (size_t)(r.end - r.at)))
        return true;
    print_end(t);
    return false;
}

static Task *task_of(Task *tasks, uint32_t n, const Child *child) {
    for (uint32_t i = 0; i < n; i++)
        if (&tasks[i].child == child)
            return &tasks[i];
    return NULL;
}

/* Starts tasks as others end, at most `jobs` at once. */
static bool run_tasks(Arena *a, GridBuild *b, Task *tasks, uint32_t n) {
    Child **running = arena_array(a, Child *, n + 1);
    uint32_t started = 0, active = 0;
    bool ok = true;

    while (started < n || active) {
        for (; started < n && active < b->jobs; started++) {
            if (!child_start(&tasks[started].child, a, compile_variant, &tasks[started])) {
                fprintf(stderr, "tle-grid: no process can be made: %s\n", strerror(errno));
                ok = false;
                continue;
            }
            running[started] = &tasks[started].child;
            active++;
        }
        Child *ended = child_wait(running, started);
        if (!ended)
            break;
        active--;
        ok = finish_task(task_of(tasks, n, ended)) && ok;
    }
    b->compiled = n;
    return ok;
}

bool grid_build(Arena *a, GridBuild *b, PackVariant *out) {
    uint32_t n = b->grid->n_variants, todo = 0;
    Task *tasks = arena_array(a, Task, n + 1);
    SourceHash sources = {0};
    Sha256 tools;

    if (!hash_tools(a, b, &tools))
        return false;
    if (b->cache && mkdir(b->cache, 0777) && errno != EEXIST) {
        fprintf(stderr, "tle-grid: %s cannot be made: %s\n", b->cache, strerror(errno));
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        Task *t = &tasks[todo];

        *t = (Task){.build = b, .variant = &b->grid->variants[i], .arena = a, .out = &out[i]};
        if (!hash_sources(a, b, t->variant->source, &sources))
            return false;
        make_key(t, &tools, &sources);
        if (from_cache(t))
            b->from_cache++;
        else
            todo++;
    }
    if (todo)
        cg_init();
    return run_tasks(a, b, tasks, todo);
}
