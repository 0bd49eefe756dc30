/* Work in a child process: a crash there is a status here, and several run at once.
 *
 * The child is a fork: it sees the parent's memory as it was, so nothing is passed in. What it
 * sends to `out` and whatever it prints to standard error comes back as bytes. */
#ifndef DRIVER_CHILD_H
#define DRIVER_CHILD_H

#include "base/str.h"

#include <sys/types.h>

typedef struct Child {
    pid_t pid;
    int out_fd, err_fd; /* -1 once closed */
    StrBuf out, err;
    int status; /* as of waitpid, once it has ended */
    bool ended;
} Child;

/* Writes its result with child_put. */
typedef void ChildFn(void *user, int out);

/* False, with errno set, when no process can be made. */
bool child_start(Child *c, Arena *a, ChildFn *fn, void *user);
/* Reads from all children until one of them has ended that had not before; returns it, or NULL when
 * all have. NULL entries are skipped. */
Child *child_wait(Child *const *children, uint32_t n);
bool child_succeeded(const Child *c);
/* "was killed by signal 6 (Aborted)", "ended with status 1". */
const char *child_fate(const Child *c, Arena *a);

/* --- results: a row of byte strings --- */
void child_put(int out, const void *data, size_t len);

typedef struct ChildReader {
    const char *at, *end;
} ChildReader;

ChildReader child_reader(const void *data, size_t len);
/* False when the row ends early. */
bool child_take(ChildReader *r, const char **data_out, size_t *len_out);

#endif
