/* The files of a handle: pack files found outside the library, then those inside it.
 *
 * Packs are looked for in the folders of TLE_PACK_PATH and, where the build keeps packs outside the
 * library, in tle/packs beside it. Of several files for one operator and architecture the first
 * counts. */
#ifndef CORE_FILES_H
#define CORE_FILES_H

#include "core/sources.h"

typedef struct TleiFiles {
    TleiEmbedded *list;
    size_t count;
    size_t mapped; /* the first of them, which are mapped files with names of their own */
    size_t capacity;
} TleiFiles;

/* Lists the files. A folder of TLE_PACK_PATH that cannot be read is PACK_NOT_FOUND; a file that
 * cannot be mapped PACK_CORRUPT. Contents are not looked at. */
tle_status tlei_files_open(TleiFiles *files, const TleiSources *sources, TleiError *e);
/* Also after a failed open. */
void tlei_files_close(TleiFiles *files);
/* Where packs are looked for, for messages. */
const char *tlei_files_where(const TleiSources *sources);

#endif
