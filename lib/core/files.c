/* Finding and mapping pack files. */
#include "core/files.h"
#include "core/env.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static tle_status no_memory(TleiError *e) {
    return tlei_fail(e, TLE_STATUS_OUT_OF_MEMORY, "no memory for the list of packs");
}

static tle_status append(TleiFiles *files, TleiEmbedded file, TleiError *e) {
    if (files->count == files->capacity) {
        size_t capacity = files->capacity ? 2 * files->capacity : 16;
        TleiEmbedded *list = realloc(files->list, capacity * sizeof *list);
        if (!list)
            return no_memory(e);
        files->list = list;
        files->capacity = capacity;
    }
    files->list[files->count++] = file;
    return TLE_STATUS_OK;
}

/* ---- mapping ---- */

static const void *map(const char *path, size_t *size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (fd < 0)
        return NULL;
    void *bytes = MAP_FAILED;
    if (!fstat(fd, &about) && about.st_size > 0) {
        *size = (size_t)about.st_size;
        bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
    } else {
        errno = ENODATA;
    }
    int problem = errno;
    close(fd);
    errno = problem;
    return bytes == MAP_FAILED ? NULL : bytes;
}

static tle_status map_file(TleiFiles *files, const char *folder, const char *name, TleiError *e) {
    char path[PATH_MAX];
    size_t size = 0;
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    const uint8_t *bytes = n > 0 && (size_t)n < sizeof path ? map(path, &size) : NULL;
    if (!bytes)
        return tlei_fail(e, TLE_STATUS_PACK_CORRUPT, "pack %s/%s cannot be read: %s", folder, name,
                         strerror(errno));
    char *own = strdup(name);
    tle_status status =
        own ? append(files, (TleiEmbedded){own, bytes, bytes + size}, e) : no_memory(e);
    if (status) {
        munmap((void *)(uintptr_t)bytes, size);
        free(own);
        return status;
    }
    files->mapped++;
    return TLE_STATUS_OK;
}

/* ---- folders ---- */

static int is_pack(const struct dirent *entry) {
    size_t n = strlen(entry->d_name), suffix = strlen(".tlepack");
    return n > suffix && !strcmp(entry->d_name + n - suffix, ".tlepack");
}

/* In the order of their names, so that the same folder always gives the same handle. */
static tle_status map_folder(TleiFiles *files, const char *folder, bool must_exist, TleiError *e) {
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, is_pack, alphasort);
    if (n < 0 && !must_exist && errno == ENOENT)
        return TLE_STATUS_OK;
    if (n < 0)
        return tlei_fail(e, TLE_STATUS_PACK_NOT_FOUND, "folder of packs %s cannot be read: %s",
                         folder, strerror(errno));
    tle_status status = TLE_STATUS_OK;
    for (int i = 0; i < n; i++) {
        if (!status)
            status = map_file(files, folder, entries[i]->d_name, e);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* Folders are separated by colons. */
static tle_status map_named(TleiFiles *files, TleiError *e) {
    const char *folders = tlei_env(TLEI_ENV_PACK_PATH);
    tle_status status = TLE_STATUS_OK;
    while (folders && *folders && !status) {
        char folder[PATH_MAX];
        size_t len = strcspn(folders, ":");
        int n = snprintf(folder, sizeof folder, "%.*s", (int)len, folders);
        if (n >= (int)sizeof folder)
            return tlei_fail(e, TLE_STATUS_PACK_NOT_FOUND, "a folder of TLE_PACK_PATH is too long");
        if (len)
            status = map_folder(files, folder, true, e);
        folders += len + (folders[len] == ':');
    }
    return status;
}

/* tle/packs beside the object that this code is in. */
static tle_status map_beside(TleiFiles *files, TleiError *e) {
    Dl_info self;
    char folder[PATH_MAX];
    if (!dladdr(&tlei_builtin_sources, &self) || !self.dli_fname)
        return TLE_STATUS_OK;
    const char *slash = strrchr(self.dli_fname, '/');
    int dir = slash ? (int)(slash - self.dli_fname) : 1;
    int n = snprintf(folder, sizeof folder, "%.*s/tle/packs", dir, slash ? self.dli_fname : ".");
    return n > 0 && (size_t)n < sizeof folder ? map_folder(files, folder, false, e) : TLE_STATUS_OK;
}

/* ---- the list ---- */

tle_status tlei_files_open(TleiFiles *files, const TleiSources *sources, TleiError *e) {
    tle_status status = TLE_STATUS_OK;
    if (sources->pack_files)
        status = map_named(files, e);
    if (!status && sources->pack_files == TLEI_PACKS_BESIDE)
        status = map_beside(files, e);
    for (size_t i = 0; i < *sources->file_count && !status; i++)
        status = append(files, sources->files[i], e);
    return status;
}

void tlei_files_close(TleiFiles *files) {
    for (size_t i = 0; i < files->mapped; i++) {
        const TleiEmbedded *file = &files->list[i];
        munmap((void *)(uintptr_t)file->begin, (size_t)(file->end - file->begin));
        free((char *)(uintptr_t)file->name);
    }
    free(files->list);
    *files = (TleiFiles){0};
}

const char *tlei_files_where(const TleiSources *sources) {
    return sources->pack_files == TLEI_PACKS_BESIDE
               ? "in TLE_PACK_PATH, in tle/packs beside the library or inside it"
               : "in TLE_PACK_PATH or inside the library";
}
