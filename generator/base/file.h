/* Whole files in and out. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/arena.h"
#include <stdbool.h>

/* Reads a whole file; the text is NUL-terminated past `*len_out`. On failure returns NULL and
 * errno says why. */
char *file_read(Arena *a, const char *path, size_t *len_out);
/* Writes to a temporary name beside `path` and renames, so a reader never sees half a file.
 * Leaves the file untouched (and its time stamp old) when the contents are already equal. What is
 * no regular file itself (a link, a device, a pipe) is written to and stays what it is. */
bool file_write(const char *path, const void *data, size_t len);

#endif
