/* Running ptxas, see ptxas.h. */
#define _XOPEN_SOURCE 700 /* mkdtemp, realpath, dprintf */

#include "emit/ptxas.h"

#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PTX_NAME   "kernel.ptx"
#define CUBIN_NAME "kernel.cubin"

/* --- processes --- */

static void run_in_child(const char *dir, char *const *argv, int out) {
    if (dup2(out, 1) < 0 || dup2(out, 2) < 0 || (dir && chdir(dir)))
        _exit(126);
    execvp(argv[0], argv);
    dprintf(2, "%s cannot be run: %s\n", argv[0], strerror(errno));
    _exit(127);
}

static void read_all(int fd, StrBuf *out) {
    char part[4096];
    ssize_t n;

    while ((n = read(fd, part, sizeof part)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            strbuf_add(out, part, (size_t)n);
}

/* Exit status of the program, -1 when there is none; its output is added to `log`. */
static int run_program(const char *dir, char *const *argv, StrBuf *log) {
    int fds[2], status = -1;

    if (pipe(fds))
        return -1;
    pid_t pid = fork();
    if (!pid)
        run_in_child(dir, argv, fds[1]);
    close(fds[1]);
    if (pid > 0) {
        read_all(fds[0], log);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    close(fds[0]);
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Names with a slash must survive the change of directory. */
static const char *absolute(Arena *a, const char *path) {
    if (!strchr(path, '/'))
        return path;
    char *real = realpath(path, NULL);
    const char *copy = real ? arena_strndup(a, real, strlen(real)) : path;

    free(real);
    return copy;
}

const char *ptxas_version(Arena *a, const char *path) {
    char *program = arena_strndup(a, path, strlen(path)), *flag = arena_strndup(a, "--version", 9);
    char *argv[] = {program, flag, NULL};
    StrBuf log;

    strbuf_init(&log, a);
    return run_program(NULL, argv, &log) ? NULL : log.text;
}

/* --- the report --- */

/* The number before `what` in a line of ptxas -v, 0 when absent. */
static uint32_t number_before(const char *log, const char *what) {
    const char *p = strstr(log, what);

    if (!p)
        return 0;
    while (p > log && p[-1] >= '0' && p[-1] <= '9')
        p--;
    return (uint32_t)strtoul(p, NULL, 10);
}

static void read_report(const char *log, PtxasResult *out) {
    const char *used = strstr(log, "Used ");

    out->registers = used ? (uint32_t)strtoul(used + 5, NULL, 10) : 0;
    out->spill_bytes =
        number_before(log, " bytes spill stores") + number_before(log, " bytes spill loads");
    out->stack_bytes = number_before(log, " bytes stack frame");
    out->shared_bytes = number_before(log, " bytes smem");
    out->barriers = number_before(log, " barriers");
}

/* ptxas only warns when it serialises wgmma, which costs most of the speed. */
static bool serialises(const char *log) {
    return strstr(log, "wgmma") && strstr(log, "serializ");
}

/* --- one run --- */

typedef struct Place {
    char dir[256];
    char ptx[300], cubin[300];
} Place;

static bool make_place(Place *p) {
    const char *base = getenv("TMPDIR");

    snprintf(p->dir, sizeof p->dir, "%s/tlec-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(p->dir))
        return false;
    snprintf(p->ptx, sizeof p->ptx, "%s/" PTX_NAME, p->dir);
    snprintf(p->cubin, sizeof p->cubin, "%s/" CUBIN_NAME, p->dir);
    return true;
}

static void drop_place(const Place *p) {
    unlink(p->ptx);
    unlink(p->cubin);
    rmdir(p->dir);
}

static int assemble(Arena *a, const PtxasOptions *o, const Place *p, StrBuf *log) {
    const char *words[] = {absolute(a, o->path),
                           "-arch",
                           o->arch,
                           "-O3",
                           "-v",
                           "-o",
                           CUBIN_NAME,
                           PTX_NAME,
                           o->line_info ? "--generate-line-info" : NULL,
                           NULL};
    char *argv[sizeof words / sizeof *words] = {0};

    for (size_t i = 0; words[i]; i++)
        argv[i] = arena_strndup(a, words[i], strlen(words[i]));
    return run_program(p->dir, argv, log);
}

static bool run_at(Arena *a, const PtxasOptions *o, const Place *p, Span at, Diag *d,
                   PtxasResult *out) {
    StrBuf log;

    strbuf_init(&log, a);
    strbuf_addz(&log, "");
    int status = assemble(a, o, p, &log);
    if (status) {
        diag_error(d, DIAG_EMIT_PTXAS, at, "ptxas ended with status %d: %s", status, log.text);
        return false;
    }
    if (serialises(log.text)) {
        diag_error(d, DIAG_EMIT_PTXAS, at, "ptxas serialises wgmma: %s", log.text);
        return false;
    }
    read_report(log.text, out);
    out->cubin = file_read(a, p->cubin, &out->cubin_len);
    if (!out->cubin)
        diag_error(d, DIAG_EMIT_PTXAS, at, "ptxas wrote no cubin: %s", log.text);
    return out->cubin != NULL;
}

bool ptxas_run(Arena *a, const PtxasOptions *o, const char *ptx, size_t len, Span at, Diag *d,
               PtxasResult *out) {
    Place p;

    if (!make_place(&p)) {
        diag_error(d, DIAG_EMIT_PTXAS, at, "no temporary directory: %s", strerror(errno));
        return false;
    }
    bool ok = file_write(p.ptx, ptx, len);
    if (!ok)
        diag_error(d, DIAG_EMIT_PTXAS, at, "%s cannot be written: %s", p.ptx, strerror(errno));
    ok = ok && run_at(a, o, &p, at, d, out);
    drop_place(&p);
    return ok;
}
