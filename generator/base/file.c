/* Whole files in and out, on POSIX calls.
 *
 * A write goes to a temporary file beside the target and is renamed over it: readers see the old
 * contents or the new ones. Only a regular file is replaced so; links are followed, and devices and
 * pipes written to. There is no fsync: the files are build products, and what a power failure
 * loses is built again. */
#define _POSIX_C_SOURCE 200809L
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_STEP = 64 * 1024, COMPARE_STEP = 4096 };

static ssize_t read_some(int fd, void *to, size_t len) {
    ssize_t got;
    do
        got = read(fd, to, len);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Room for the whole file and one byte more, so that the end is seen without growing. */
static size_t first_size(int fd) {
    struct stat st;
    if (fstat(fd, &st) || st.st_size <= 0)
        return READ_STEP;
    return (size_t)st.st_size + 1;
}

static char *read_all(Arena *a, int fd, size_t *len_out) {
    size_t cap = first_size(fd), len = 0;
    char *text = arena_alloc(a, cap + 1);
    for (;;) {
        ssize_t got = read_some(fd, text + len, cap - len);
        if (got < 0)
            return NULL;
        if (got == 0)
            break;
        len += (size_t)got;
        if (len < cap)
            continue;
        char *grown = arena_alloc(a, cap * 2 + 1);
        memcpy(grown, text, len);
        text = grown;
        cap *= 2;
    }
    text[len] = '\0';
    *len_out = len;
    return text;
}

char *file_read(Arena *a, const char *path, size_t *len_out) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *text = read_all(a, fd, len_out);
    int saved = errno;
    close(fd);
    errno = saved;
    return text;
}

static bool same_contents(const char *path, const unsigned char *data, size_t len) {
    unsigned char part[COMPARE_STEP];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool same = !fstat(fd, &st) && S_ISREG(st.st_mode) && (uintmax_t)st.st_size == len;
    size_t at = 0;
    while (same && at < len) {
        ssize_t got = read_some(fd, part, sizeof part);
        same = got > 0 && (size_t)got <= len - at && !memcmp(part, data + at, (size_t)got);
        at += same ? (size_t)got : 0;
    }
    close(fd);
    return same;
}

static bool write_all(int fd, const unsigned char *data, size_t len) {
    while (len) {
        ssize_t put = write(fd, data, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        data += put;
        len -= (size_t)put;
    }
    return true;
}

/* Writes to what opening `path` for writing gives. */
static bool write_opened(const char *path, const void *data, size_t len) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    bool ok = write_all(fd, data, len);
    int saved = errno;
    if (close(fd) && ok)
        return false;
    errno = saved;
    return ok;
}

static bool write_and_rename(const char *temporary, const char *path, const void *data,
                             size_t len) {
    bool ok = write_opened(temporary, data, len) && !rename(temporary, path);
    int saved = errno;
    if (!ok) {
        unlink(temporary);
        errno = saved;
    }
    return ok;
}

/* Whether a file may take the name: a device, a pipe or a link must keep it. */
static bool replaceable(const char *path) {
    struct stat st;
    return lstat(path, &st) || S_ISREG(st.st_mode);
}

bool file_write(const char *path, const void *data, size_t len) {
    if (!replaceable(path))
        return write_opened(path, data, len);
    if (same_contents(path, data, len))
        return true;
    size_t size = strlen(path) + 32;
    char *temporary = malloc(size);
    if (!temporary)
        return false;
    snprintf(temporary, size, "%s.%ld.tmp", path, (long)getpid());
    bool ok = write_and_rename(temporary, path, data, len);
    int saved = errno;
    free(temporary);
    errno = saved;
    return ok;
}
