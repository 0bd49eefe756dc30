/* Gives the planted faults to a GPU, so that compute-sanitizer can judge the same kernels that the
 * emulator judges.
 *
 *   tle-gpu-faults list                     index, name, kind of each case, tab-separated
 *   tle-gpu-faults ptx INDEX faulty|fixed   the PTX of one kernel
 *   tle-gpu-faults run FIRST faulty|fixed   launches FIRST and those after it
 *
 * `run` prints a line for each launch and ends when a launch breaks the context or hangs, with the
 * number to go on from on its last line: "next N". Kernels are named f0, f1, ... and t0, t1, ...
 * for the twins, so reports of a tool tell which they are about. */
#include "emu/faults/fault_async.h"
#include "emu/faults/fault_case.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* X(field, symbol, parameters) */
#define DRIVER(X)                                                                                  \
    X(init, "cuInit", (unsigned flags))                                                            \
    X(device_get, "cuDeviceGet", (int *device, int ordinal))                                       \
    X(retain, "cuDevicePrimaryCtxRetain", (void **context, int device))                            \
    X(set_current, "cuCtxSetCurrent", (void *context))                                             \
    X(load, "cuModuleLoadData", (void **module, const void *image))                                \
    X(function, "cuModuleGetFunction", (void **function, void *module, const char *name))          \
    X(alloc, "cuMemAlloc_v2", (uint64_t *address, size_t bytes))                                   \
    X(release, "cuMemFree_v2", (uint64_t address))                                                 \
    X(upload, "cuMemcpyHtoD_v2", (uint64_t to, const void *from, size_t bytes))                    \
    X(stream_create, "cuStreamCreate", (void **stream, unsigned flags))                            \
    X(encode, "cuTensorMapEncodeTiled",                                                            \
      (void *map, int type, unsigned rank, uint64_t address, const uint64_t *dims,                 \
       const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,        \
       int swizzle, int promotion, int fill))                                                      \
    X(query, "cuStreamQuery", (void *stream))                                                      \
    X(launch, "cuLaunchKernelEx",                                                                  \
      (const LaunchConfig *config, void *function, void **params, void **extra))

/* CUlaunchAttribute and CUlaunchConfig. */
typedef struct LaunchAttribute {
    uint32_t id, pad;
    union {
        uint32_t dims[3];
        char room[64];
    } value;
} LaunchAttribute;

typedef struct LaunchConfig {
    uint32_t grid[3], block[3], shared;
    void *stream;
    LaunchAttribute *attributes;
    uint32_t attribute_count;
} LaunchConfig;

enum { CASES = (int)FAULT_COUNT + (int)ASYNC_COUNT, MOST_BYTES = ASYNC_BYTES };
enum { ATTRIBUTE_CLUSTER = 4, STILL_RUNNING = 600, HANGS = -1, SECONDS = 4 };

typedef struct Gpu {
#define X(field, symbol, params) int(*field) params;
    DRIVER(X)
#undef X
    void *stream;
} Gpu;

static bool find(void *library, const char *symbol, void *field) {
    void *address = dlsym(library, symbol);
    memcpy(field, &address, sizeof address); /* ISO C has no cast to function pointers */
    return address != NULL;
}

static bool open_gpu(Gpu *g) {
    int device = 0;
    void *context = NULL, *library = dlopen("libcuda.so.1", RTLD_NOW);
    bool found = library != NULL;
#define X(field, symbol, params) found = found && find(library, symbol, &g->field);
    DRIVER(X)
#undef X
    return found && !g->init(0) && !g->device_get(&device, 0) && !g->retain(&context, device) &&
           !g->set_current(context) && !g->stream_create(&g->stream, 1);
}

/* 0, an error of the driver, or HANGS. */
static int wait_for(const Gpu *g) {
    const struct timespec pause = {.tv_nsec = 1000000};
    time_t end = time(NULL) + SECONDS;
    int code;
    while ((code = g->query(g->stream)) == STILL_RUNNING && time(NULL) < end)
        nanosleep(&pause, NULL);
    return code == STILL_RUNNING ? HANGS : code;
}

/* ---- one kernel ---------------------------------------------------------------------------- */

/* The text of a kernel with a name of its own, whichever table it is from. */
static bool kernel_text(unsigned index, bool faulty, char *name, size_t name_size, char *text,
                        size_t size) {
    static const char entry[] = ".entry k(";
    static char plain[16384];
    fault_kernel(index, faulty, name, name_size);
    if (index < FAULT_COUNT)
        return fault_text(&fault_cases[index], faulty, name, text, size);
    const AsyncCase *c = &async_cases[index - FAULT_COUNT];
    if (!async_text(faulty ? c->faulty : c->fixed, plain, sizeof plain))
        return false;
    const char *at = strstr(plain, entry);
    if (!at)
        return false;
    int n = snprintf(text, size, "%.*s.entry %s(%s", (int)(at - plain), plain, name,
                     at + sizeof entry - 1);
    return n > 0 && (size_t)n < size;
}

static int launch(const Gpu *g, unsigned ctas, unsigned cluster, unsigned shared, void *function,
                  void **params) {
    LaunchAttribute attribute = {.id = ATTRIBUTE_CLUSTER, .value.dims = {cluster, 1, 1}};
    LaunchConfig config = {.grid = {ctas, 1, 1},
                           .block = {FAULT_THREADS, 1, 1},
                           .shared = shared,
                           .stream = g->stream,
                           .attributes = &attribute,
                           .attribute_count = cluster > 1};
    int code = g->launch(&config, function, params, NULL);
    return code ? code : wait_for(g);
}

static int launch_async(const Gpu *g, void *function, uint64_t a, uint64_t b) {
    static const uint64_t dims[] = {16, 64}, strides[] = {64};
    static const uint32_t box[] = {16, 16}, steps[] = {1, 1};
    _Alignas(64) char map[128];
    int code = g->encode(map, 2, 2, a, dims, strides, box, steps, 0, 0, 0, 0);
    return code ? code : launch(g, 2, 2, 0, function, (void *[]){&a, &b, map});
}

static int run_case(const Gpu *g, unsigned index, bool faulty) {
    static char text[16384];
    const char zeros[MOST_BYTES] = {0};
    const FaultCase *c = index < FAULT_COUNT ? &fault_cases[index] : NULL;
    size_t bytes = c ? FAULT_BYTES : ASYNC_BYTES;
    char name[16];
    uint64_t p = 0, q = 0;
    int n = FAULT_N;
    void *module = NULL, *function = NULL;
    if (!kernel_text(index, faulty, name, sizeof name, text, sizeof text))
        return 1;
    int code = g->load(&module, text);
    code = code ? code : g->function(&function, module, name);
    code = code ? code : g->alloc(&p, bytes);
    code = code ? code : g->alloc(&q, bytes);
    code = code ? code : g->upload(p, zeros, bytes);
    if (code)
        return code;
    if (!c)
        return launch_async(g, function, p, q);
    if (faulty && c->shape == FAULT_FREED && (code = g->release(p)))
        return code;
    return launch(g, fault_ctas(c), fault_cluster(c), FAULT_SHARED, function,
                  (void *[]){&p, &q, &n});
}

static int run_from(unsigned index, unsigned count, bool faulty) {
    Gpu g = {0};
    if (!open_gpu(&g)) {
        fprintf(stderr, "no GPU\n");
        return 1;
    }
    for (; index < count; index++) {
        int code = run_case(&g, index, faulty);
        printf("case %u %s %d\n", index, faulty ? "faulty" : "fixed", code);
        if (code) {
            printf("next %u\n", index + 1);
            fflush(stdout);
            _exit(0); /* what hangs would keep an orderly exit waiting */
        }
    }
    printf("next %u\n", count);
    return 0;
}

/* ---- commands ------------------------------------------------------------------------------ */

static const char *async_kind(tle_emu_report_kind kind) {
    switch ((int)kind) {
    case TLE_EMU_REPORT_MBARRIER:
        return "MBARRIER";
    case TLE_EMU_REPORT_RACE:
        return "RACE";
    case TLE_EMU_REPORT_PROXY:
        return "PROXY";
    case TLE_EMU_REPORT_CLUSTER:
        return "CLUSTER";
    case TLE_EMU_REPORT_DEADLOCK:
        return "DEADLOCK";
    case TLE_EMU_REPORT_BOUNDS:
        return "BOUNDS";
    case TLE_EMU_REPORT_ALIGN:
        return "ALIGN";
    case TLE_EMU_REPORT_UNINIT:
        return "UNINIT";
    case TLE_EMU_REPORT_BAD_OPERAND:
        return "BAD_OPERAND";
    default:
        return "OTHER";
    }
}

static int list(void) {
    for (unsigned i = 0; i < FAULT_COUNT; i++)
        printf("%u\t%s\t%s\n", i, fault_cases[i].name, fault_cases[i].kind_name);
    for (unsigned i = 0; i < ASYNC_COUNT; i++)
        printf("%u\t%s\t%s\n", FAULT_COUNT + i, async_cases[i].name,
               async_kind(async_cases[i].kind));
    return 0;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    unsigned index = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    unsigned last = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : CASES;
    bool faulty = argc > 3 && !strcmp(argv[3], "faulty");
    static char text[16384];
    char name[16];
    if (!strcmp(what, "list"))
        return list();
    if (!strcmp(what, "ptx") && index < CASES)
        return kernel_text(index, faulty, name, sizeof name, text, sizeof text) ? puts(text) < 0
                                                                                : 1;
    if (!strcmp(what, "run") && argc > 3)
        return run_from(index, last < CASES ? last : CASES, faulty);
    fprintf(stderr, "Usage: %s list | ptx INDEX faulty|fixed | run FIRST faulty|fixed [END]\n",
            argv[0]);
    return 2;
}
