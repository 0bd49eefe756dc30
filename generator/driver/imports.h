/* Which files a kernel file is made of: itself, and what it and they import from under the import
 * root, whatever a kernel uses of them. Content hashes and dependencies of the build come from
 * here, so a file that is not in the set must not be able to change the result of a compilation. */
#ifndef DRIVER_IMPORTS_H
#define DRIVER_IMPORTS_H

#include "base/arena.h"
#include "base/vec.h"
#include <stddef.h>

typedef struct SourceText {
    const char *path, *text;
    size_t len;
} SourceText;

typedef struct SourceSet {
    VEC(SourceText) files; /* the file itself, then the others by path */
} SourceSet;

/* `import_root` may be NULL: then nothing is imported. What is wrong in a file is for the
 * compilation to say; its text is in the set all the same. */
SourceSet imports_find(Arena *a, const char *path, const char *text, size_t len,
                       const char *import_root);
/* Of the texts one after the other. */
void imports_hash(const SourceSet *set, char hex[65]);

#endif
