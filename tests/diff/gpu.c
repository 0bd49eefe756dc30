/* Runs a program on a GPU through the CUDA driver, which is opened at run time. */
#include "machine.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4 << 20 };

struct DiffGpu {
    void *library;
    int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*current)(void *);
    int (*alloc)(uint64_t *, size_t), (*to)(uint64_t, const void *, size_t);
    int (*from)(void *, uint64_t, size_t);
    int (*load)(void **, const void *), (*unload)(void *), (*find)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    uint64_t in, out;
};

static int resolve(DiffGpu *g) {
    const struct {
        void *where;
        const char *name;
    } names[] = {{&g->init, "cuInit"},
                 {&g->get, "cuDeviceGet"},
                 {&g->retain, "cuDevicePrimaryCtxRetain"},
                 {&g->current, "cuCtxSetCurrent"},
                 {&g->alloc, "cuMemAlloc_v2"},
                 {&g->to, "cuMemcpyHtoD_v2"},
                 {&g->from, "cuMemcpyDtoH_v2"},
                 {&g->load, "cuModuleLoadData"},
                 {&g->unload, "cuModuleUnload"},
                 {&g->find, "cuModuleGetFunction"},
                 {&g->launch, "cuLaunchKernel"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *f = dlsym(g->library, names[i].name);
        if (!f)
            return 1;
        memcpy(names[i].where, &f, sizeof f);
    }
    return 0;
}

DiffGpu *diff_gpu_open(void) {
    DiffGpu *g = calloc(1, sizeof *g);
    void *context;
    int device;
    if (!g)
        return NULL;
    g->library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!g->library || resolve(g) || g->init(0) || g->get(&device, 0) ||
        g->retain(&context, device) || g->current(context) || g->alloc(&g->in, DIFF_INPUT_BYTES) ||
        g->alloc(&g->out, ROOM)) {
        free(g);
        return NULL;
    }
    return g;
}

void diff_gpu_close(DiffGpu *g) {
    free(g);
}

int diff_gpu_run(DiffGpu *g, const DiffProgram *p, const uint8_t *in, uint8_t *out) {
    void *module = NULL, *kernel = NULL;
    uint32_t trips = DIFF_TRIPS;
    void *params[] = {&g->in, &g->out, &trips};
    if (p->out_bytes > ROOM)
        return -1;
    diff_output_init(p, out);
    int error = g->load(&module, p->text);
    if (error)
        return error;
    error = g->to(g->in, in, DIFF_INPUT_BYTES);
    error = error ? error : g->to(g->out, out, p->out_bytes);
    error = error ? error : g->find(&kernel, module, "k");
    error = error ? error : g->launch(kernel, p->grid, 1, 1, p->block, 1, 1, 0, NULL, params, NULL);
    error = error ? error : g->from(out, g->out, p->out_bytes);
    g->unload(module);
    return error;
}
