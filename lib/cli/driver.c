#include "cli/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static bool find(Driver *d, const char *symbol, void *field) {
    void *address = dlsym(d->library, symbol);
    memcpy(field, &address,
           sizeof address); /* ISO C has no cast from object to function pointers */
    return address != NULL;
}

bool driver_open(Driver *d, int ordinal, char *why, size_t why_size) {
    int device = 0;
    void *context = NULL;
    memset(d, 0, sizeof *d);
    d->library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!d->library) {
        snprintf(why, why_size, "libcuda.so.1 cannot be opened: this needs an NVIDIA GPU");
        return false;
    }
#define X(result, name, symbol, params)                                                            \
    if (!find(d, symbol, &d->name)) {                                                              \
        snprintf(why, why_size, "the driver has no %s", symbol);                                   \
        return false;                                                                              \
    }
#include "cli/driver.def"
#undef X
    int code = d->init(0);
    code = code ? code : d->device_get(&device, ordinal);
    code = code ? code : d->retain(&context, device);
    code = code ? code : d->set_current(context);
    if (code)
        snprintf(why, why_size, "the driver failed to start: error %d", code);
    return code == 0;
}
