/* Child processes, see child.h. */
#define _POSIX_C_SOURCE 200809L /* fork, poll, strsignal */

#include "driver/child.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- starting --- */

static void close_pair(int fds[2]) {
    close(fds[0]);
    close(fds[1]);
}

static void run_child(ChildFn *fn, void *user, int out[2], int err[2]) {
    static const struct rlimit no_core = {0, 0};

    close(out[0]);
    if (dup2(err[1], 2) < 0)
        _exit(126);
    close_pair(err);
    setrlimit(RLIMIT_CORE, &no_core); /* its crash is reported, not left behind as a file */
    fn(user, out[1]);
    fflush(stderr);
    _exit(0);
}

bool child_start(Child *c, Arena *a, ChildFn *fn, void *user) {
    int out[2], err[2];

    memset(c, 0, sizeof *c);
    if (pipe(out))
        return false;
    if (pipe(err)) {
        close_pair(out);
        return false;
    }
    fflush(NULL);
    c->pid = fork();
    if (!c->pid)
        run_child(fn, user, out, err);
    close(out[1]);
    close(err[1]);
    c->out_fd = out[0];
    c->err_fd = err[0];
    strbuf_init(&c->out, a);
    strbuf_init(&c->err, a);
    strbuf_addz(&c->out, "");
    strbuf_addz(&c->err, "");
    if (c->pid < 0) {
        close(out[0]);
        close(err[0]);
        return false;
    }
    return true;
}

/* --- waiting --- */

/* One read; closes the descriptor at its end. */
static void drain(int *fd, StrBuf *into) {
    char part[65536];
    ssize_t n = read(*fd, part, sizeof part);

    if (n > 0)
        strbuf_add(into, part, (size_t)n);
    else if (n == 0 || errno != EINTR) {
        close(*fd);
        *fd = -1;
    }
}

static void reap(Child *c) {
    while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
        ;
    c->ended = true;
}

/* The descriptors of one child that are still open. */
static uint32_t watch(Child *c, struct pollfd *fds) {
    uint32_t n = 0;

    if (c->out_fd >= 0)
        fds[n++] = (struct pollfd){.fd = c->out_fd, .events = POLLIN};
    if (c->err_fd >= 0)
        fds[n++] = (struct pollfd){.fd = c->err_fd, .events = POLLIN};
    return n;
}

static void serve(Child *c, const struct pollfd *fd) {
    if (!fd->revents)
        return;
    if (fd->fd == c->out_fd)
        drain(&c->out_fd, &c->out);
    else
        drain(&c->err_fd, &c->err);
}

enum { MAX_CHILDREN = 256 };

/* One round of poll; the child that came to its end, or NULL. */
static Child *serve_all(Child *const *running, uint32_t n) {
    struct pollfd fds[2 * MAX_CHILDREN];
    uint32_t first[MAX_CHILDREN + 1], len = 0;

    for (uint32_t i = 0; i < n; i++) {
        first[i] = len;
        len += watch(running[i], &fds[len]);
    }
    first[n] = len;
    if (poll(fds, len, -1) < 0)
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = first[i]; k < first[i + 1]; k++)
            serve(running[i], &fds[k]);
        if (running[i]->out_fd < 0 && running[i]->err_fd < 0) {
            reap(running[i]);
            return running[i];
        }
    }
    return NULL;
}

Child *child_wait(Child *const *children, uint32_t n) {
    for (;;) {
        Child *running[MAX_CHILDREN], *ended;
        uint32_t len = 0;

        for (uint32_t i = 0; i < n && len < MAX_CHILDREN; i++)
            if (children[i] && !children[i]->ended)
                running[len++] = children[i];
        if (!len)
            return NULL;
        ended = serve_all(running, len);
        if (ended)
            return ended;
    }
}

bool child_succeeded(const Child *c) {
    return c->ended && WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0;
}

const char *child_fate(const Child *c, Arena *a) {
    StrBuf b;

    strbuf_init(&b, a);
    if (WIFSIGNALED(c->status))
        strbuf_addf(&b, "was killed by signal %d (%s)", WTERMSIG(c->status),
                    strsignal(WTERMSIG(c->status)));
    else
        strbuf_addf(&b, "ended with status %d", WEXITSTATUS(c->status));
    return b.text;
}

/* --- rows --- */

static bool write_all(int fd, const char *data, size_t len) {
    while (len) {
        ssize_t n = write(fd, data, len);

        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0)
            data += n, len -= (size_t)n;
    }
    return true;
}

void child_put(int out, const void *data, size_t len) {
    uint64_t head = len;

    if (!write_all(out, (const char *)&head, sizeof head) || !write_all(out, data, len))
        _exit(125); /* the parent is gone */
}

ChildReader child_reader(const void *data, size_t len) {
    const char *p = data;
    ChildReader r = {p, p + len};

    return r;
}

bool child_take(ChildReader *r, const char **data_out, size_t *len_out) {
    uint64_t head;

    if ((size_t)(r->end - r->at) < sizeof head)
        return false;
    memcpy(&head, r->at, sizeof head);
    if ((size_t)(r->end - r->at) - sizeof head < head)
        return false;
    *data_out = r->at + sizeof head;
    *len_out = (size_t)head;
    r->at = *data_out + head;
    return true;
}
