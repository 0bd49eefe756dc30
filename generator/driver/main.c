/* tlec: compiles one kernel of a TLE file.
 *
 * The front end and the passes run here; code generation runs in a child process, because LLVM
 * aborts on what it cannot select. What the child says supersedes this process's diagnostics: it
 * starts with a copy of them.
 *
 * Exit codes: 0 success, 1 diagnostics were printed, 2 wrong usage, 70 internal error. */
#define _POSIX_C_SOURCE 200809L /* open_memstream, isatty */

#include "base/file.h"
#include "driver/child.h"
#include "driver/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_DIAGNOSTICS = 1, EXIT_USAGE = 2, EXIT_INTERNAL = 70 };

typedef struct Job {
    Arena *arena;
    Options options;
    Compile compile;
    double start_ms;
    bool printed; /* the child has printed all diagnostics */
} Job;

/* --- reports --- */

static void on_time(void *user, const char *stage, double ms) {
    (void)user;
    fprintf(stderr, "%10.3f ms  %s\n", ms, stage);
}

static void print_diagnostics(const Job *j, FILE *out) {
    const Diag *d = j->compile.diag;

    if (j->options.json)
        diag_print_json(d, out);
    else
        diag_print(d, out, isatty(2));
}

static int finish(Job *j, bool ok) {
    const Diag *d = j->compile.diag;

    if (!j->printed && (diag_errors(d) || diag_warnings(d)))
        print_diagnostics(j, stderr);
    if (j->options.time)
        on_time(NULL, "total", compile_now_ms() - j->start_ms);
    return ok ? 0 : EXIT_DIAGNOSTICS;
}

static int write_output(Job *j, const void *data, size_t len) {
    const char *path = j->options.output;
    bool ok =
        path ? file_write(path, data, len) : fwrite(data, 1, len, stdout) == len && !fflush(stdout);

    if (!ok)
        fprintf(stderr, "tlec: %s cannot be written: %s\n", path ? path : "standard output",
                strerror(errno));
    return finish(j, ok);
}

/* --- code generation in a child --- */

typedef struct ChildResult {
    bool ok;
    double ms_emit_ir, ms_optimise, ms_assembly;
} ChildResult;

static void put_text(int out, const char *text, size_t len) {
    child_put(out, text ? text : "", text ? len : 0);
}

static void put_diagnostics(const Job *j, int out) {
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    if (f) {
        if (diag_errors(j->compile.diag) || diag_warnings(j->compile.diag))
            print_diagnostics(j, f);
        fclose(f);
    }
    put_text(out, text, len);
    free(text);
}

static void generate(void *user, int out) {
    Job *j = user;
    const CgResult *r = &j->compile.cg;
    ChildResult head = {0};

    cg_init();
    head.ok = cg_compile(j->compile.m, j->options.compile.target, &j->options.compile.cg, j->arena,
                         j->compile.diag, &j->compile.cg);
    head.ms_emit_ir = r->ms_emit_ir;
    head.ms_optimise = r->ms_optimise;
    head.ms_assembly = r->ms_assembly;
    child_put(out, &head, sizeof head);
    put_diagnostics(j, out);
    put_text(out, r->ptx, r->ptx_len);
    put_text(out, r->llvm, r->llvm ? strlen(r->llvm) : 0);
    put_text(out, r->llvm_opt, r->llvm_opt ? strlen(r->llvm_opt) : 0);
}

static const char *take_text(Job *j, ChildReader *r, size_t *len_out) {
    const char *text = "";
    size_t len = 0;

    child_take(r, &text, &len);
    *len_out = len;
    return arena_strndup(j->arena, text, len);
}

/* The line of the child's last words that LLVM's fatal errors start with, else all of them. */
static const char *last_words(Arena *a, const Child *c) {
    const char *at = strstr(c->err.text, "LLVM ERROR: ");
    const char *text = at ? at : c->err.text;

    return arena_strndup(a, text, at ? strcspn(text, "\n") : strlen(text));
}

static bool take_result(Job *j, const Child *child) {
    ChildReader r = child_reader(child->out.text, child->out.len);
    CgResult *cg = &j->compile.cg;
    ChildResult head;
    const char *data;
    size_t len;

    if (!child_succeeded(child) || !child_take(&r, &data, &len) || len != sizeof head) {
        diag_error(j->compile.diag, DIAG_CODEGEN_LLVM, compile_span(&j->compile),
                   "code generation %s: %s", child_fate(child, j->arena),
                   last_words(j->arena, child));
        return false;
    }
    memcpy(&head, data, sizeof head);
    const char *diagnostics = take_text(j, &r, &len);
    fwrite(diagnostics, 1, len, stderr);
    j->printed = len > 0;
    cg->ptx = take_text(j, &r, &cg->ptx_len);
    cg->llvm = take_text(j, &r, &len);
    cg->llvm_opt = take_text(j, &r, &len);
    if (j->options.time) {
        on_time(NULL, "codegen", head.ms_emit_ir);
        on_time(NULL, "llvm-opt", head.ms_optimise);
        on_time(NULL, "llvm-emit", head.ms_assembly);
    }
    return head.ok;
}

static bool generate_in_child(Job *j) {
    Child child, *list = &child;

    if (!child_start(&child, j->arena, generate, j)) {
        diag_error(j->compile.diag, DIAG_CODEGEN_LLVM, compile_span(&j->compile),
                   "no process for code generation: %s", strerror(errno));
        return false;
    }
    child_wait(&list, 1);
    return take_result(j, &child);
}

/* --- outputs --- */

static int emit_ast(Job *j, bool ok) {
    StrBuf text;

    strbuf_init(&text, j->arena);
    ast_print(j->compile.ast, j->compile.ast->root, &text);
    int code = write_output(j, text.text, text.len);
    return ok ? code : EXIT_DIAGNOSTICS;
}

static int emit_tir(Job *j) {
    StrBuf text;

    strbuf_init(&text, j->arena);
    ir_print(j->compile.m, &text);
    return write_output(j, text.text, text.len);
}

static int emit_meta(Job *j) {
    const char *name = compile_kernel_name(&j->compile);
    CompileLabel label = {name, name, "{}", NULL};
    StrBuf text;

    strbuf_init(&text, j->arena);
    compile_meta(&j->compile, &label, &text);
    strbuf_addc(&text, '\n');
    return write_output(j, text.text, text.len);
}

/* The assembler to use when one is needed: the one named, the environment's, the path's. */
static const char *ptxas_path(const Job *j) {
    const char *env = getenv("TLE_PTXAS");

    return j->options.ptxas ? j->options.ptxas : env && *env ? env : "ptxas";
}

static int emit_code(Job *j) {
    Compile *c = &j->compile;
    bool assemble =
        j->options.emit == EMIT_CUBIN || (j->options.emit == EMIT_META && j->options.ptxas);

    if (!generate_in_child(j) || (assemble && !compile_cubin(c, ptxas_path(j))))
        return finish(j, false);
    switch (j->options.emit) {
    case EMIT_LLVM:
        return write_output(j, c->cg.llvm, strlen(c->cg.llvm));
    case EMIT_LLVM_OPT:
        return write_output(j, c->cg.llvm_opt, strlen(c->cg.llvm_opt));
    case EMIT_PTX:
        return write_output(j, c->cg.ptx, c->cg.ptx_len);
    case EMIT_CUBIN:
        return write_output(j, c->cubin.cubin, c->cubin.cubin_len);
    case EMIT_META:
        return emit_meta(j);
    case EMIT_AST:
    case EMIT_TIR:
        break;
    }
    return EXIT_INTERNAL;
}

static int list_kernels(Job *j) {
    const char *const *names = sema_kernels(j->compile.ast);

    for (; *names; names++)
        printf("%s\n", *names);
    return finish(j, true);
}

static int run(Job *j) {
    if (j->options.time)
        j->options.compile.on_time = on_time;
    if (!compile_open(&j->compile, &j->options.compile, j->arena)) {
        fprintf(stderr, "tlec: %s cannot be read: %s\n", j->options.compile.path, strerror(errno));
        return EXIT_DIAGNOSTICS;
    }
    bool parsed = compile_parse(&j->compile);
    if (j->options.emit == EMIT_AST)
        return emit_ast(j, parsed);
    if (!parsed)
        return finish(j, false);
    if (j->options.list_kernels)
        return list_kernels(j);
    if (!compile_tir(&j->compile))
        return finish(j, false);
    return j->options.emit == EMIT_TIR ? emit_tir(j) : emit_code(j);
}

int main(int argc, char **argv) {
    Job j = {.start_ms = compile_now_ms(), .arena = arena_new(NULL, NULL)};
    int code = 0;

    if (!j.arena)
        return EXIT_INTERNAL;
    const char *why = options_read(j.arena, argc, argv, &j.options);
    if (why) {
        fprintf(stderr, "tlec: %s (tlec --help prints the options)\n", why);
        code = EXIT_USAGE;
    } else if (j.options.help) {
        options_help(stdout);
    } else if (j.options.version) {
        printf("tlec " TLEC_VERSION ", %s\n", cg_version(j.arena));
    } else {
        code = run(&j);
    }
    arena_free(j.arena);
    return code;
}
