/* A program that finds the library at run time, as an engine with optional backends does, and that
 * can load and unload it more than once. */
#include <tle/tle.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef uint32_t (*version_fn)(void);

static int load_once(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    version_fn version = NULL;
    void *symbol = dlsym(library, "tle_version");
    memcpy(&version, &symbol, sizeof symbol);
    int failed = !version || version() != (uint32_t)TLE_VERSION_HEX;
    if (failed) {
        fprintf(stderr, "tle_version is missing or does not match the header\n");
    }
    return dlclose(library) != 0 || failed;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s <libtle.so>\n", argv[0]);
        return 2;
    }
    return load_once(argv[1]) || load_once(argv[1]);
}
