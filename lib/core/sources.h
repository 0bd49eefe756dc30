/* Where a handle's kernels, tables and devices come from: the library's own, or a test's. */
#ifndef CORE_SOURCES_H
#define CORE_SOURCES_H

#include "device/device.h"

/* A file inside the library: "<op>.<arch>.tlepack", "<op>.<arch>.emu.tlepack" or
 * "dispatch/<arch>/<op>.json". */
typedef struct TleiEmbedded {
    const char *name;
    const uint8_t *begin, *end;
} TleiEmbedded;

/* Whether packs in files count as well (core/files.h). */
typedef enum TleiPackFiles {
    TLEI_PACKS_INSIDE = 0, /* no file counts */
    TLEI_PACKS_NAMED,      /* those in the folders of TLE_PACK_PATH */
    TLEI_PACKS_BESIDE      /* those, and those in tle/packs beside the library */
} TleiPackFiles;

typedef struct TleiSources {
    const TleiEmbedded *files;
    const size_t *file_count;
    TleiPackFiles pack_files;
    const TleiDeviceOps *devices[4]; /* by tle_device_kind */
} TleiSources;

/* Made by the build (cmake/embed.cmake). */
extern const TleiEmbedded tlei_embedded[];
extern const size_t tlei_embedded_count;

extern const TleiSources tlei_builtin_sources;

/* tle_create with other sources, which must outlive the handle. */
tle_status tlei_create(tle_handle *handle, const tle_handle_options *options,
                       const TleiSources *sources, TleiError *e);

#endif
