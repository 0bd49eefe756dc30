/* Executes every row of differential.def on the emulator and on the GPU and compares bits.
 *
 *   differential            both, mismatches printed; needs a driver
 *
 * The CUDA driver is opened at run time; without one the program says so and exits 77. */
#include "emu/operands.h"
#include "tle/tle_emu.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 4096, TEXT = 4096 };

typedef struct Row {
    const char *text, *classes, *choices;
} Row;

static const Row rows[] = {
#define X(text, classes, choices) {text, classes, choices},
#include "differential.def"
#undef X
};

/* ---- operands ----------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *s) {
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

static void fill(uint64_t *in) {
    uint64_t seed = 88172645463325252u, n = OPERAND_COUNT;
    for (uint64_t i = 0; i < COUNT; i++)
        for (uint64_t k = 0; k < 3; k++) {
            uint64_t v = next_random(&seed);
            if (i < COUNT / 2)
                v = operand(i * (2 * k + 1) + i / n * k);
            else if (i < COUNT * 3 /
                             4) { /* near each other, near one, near the narrow formats' limits */
                uint32_t e = 100 + (uint32_t)(v >> 40) % 45;
                v = (v & 0x800fffff807fffffu) | (uint64_t)(e + 896) << 52 | (uint64_t)e << 23;
            }
            in[3 * i + k] = v;
        }
}

/* ---- kernels ------------------------------------------------------------------------------ */

static const char *type_of(char c) {
    return c == 'd' ? "b64" : c == 'h' ? "b16" : "b32";
}

static const char *reg_of(char c) {
    return c == 'd' ? "rd" : c == 'h' ? "h" : "r";
}

static void make_kernel(const char *body, const char *classes, char *text) {
    int n = snprintf(text, TEXT,
                     ".version 8.6\n.target sm_90a\n.address_size 64\n"
                     ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                     ".reg .b16 %%h<4>;\n.reg .b32 %%r<4>;\n.reg .b64 %%rd<4>;\n"
                     ".reg .b64 %%in, %%out;\n.reg .b32 %%i, %%t;\n.reg .b64 %%o;\n"
                     "ld.param.u64 %%in, [in];\nld.param.u64 %%out, [out];\n"
                     "mov.u32 %%i, %%ctaid.x;\nshl.b32 %%i, %%i, 8;\nmov.u32 %%t, "
                     "%%tid.x;\nadd.u32 %%i, %%i, %%t;\nmul.wide.u32 %%o, %%i, 24;\n"
                     "add.u64 %%in, %%in, %%o;\nmul.wide.u32 %%o, %%i, 8;\n"
                     "add.u64 %%out, %%out, %%o;\n");
    for (int k = 1; classes[k]; k++)
        n += snprintf(text + n, (size_t)(TEXT - n), "ld.global.%s %%%s%d, [%%in+%d];\n",
                      type_of(classes[k]), reg_of(classes[k]), k, 8 * (k - 1));
    snprintf(text + n, (size_t)(TEXT - n), "%s\nst.global.%s [%%out], %%%s0;\nret;\n}\n", body,
             type_of(classes[0]), reg_of(classes[0]));
}

/* '@' before '%' guards an instruction; any other stands for the choice ("-" is nothing). */
static void substitute(const char *text, const char *choice, size_t length, char *out) {
    if (length == 1 && *choice == '-')
        length = 0;
    for (; *text; text++) {
        if (*text == '@' && text[1] != '%') {
            memcpy(out, choice, length);
            out += length;
        } else {
            *out++ = *text;
        }
    }
    *out = '\0';
}

/* ---- the GPU ------------------------------------------------------------------------------ */

typedef struct Gpu {
    int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*current)(void *);
    int (*alloc)(uint64_t *, size_t), (*to)(uint64_t, const void *, size_t);
    int (*from)(void *, uint64_t, size_t), (*set)(uint64_t, unsigned char, size_t);
    int (*load)(void **, const void *), (*unload)(void *), (*find)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    uint64_t in, out;
} Gpu;

static int open_gpu(Gpu *g) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW), *context;
    int device;
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
                 {&g->set, "cuMemsetD8_v2"},
                 {&g->load, "cuModuleLoadData"},
                 {&g->unload, "cuModuleUnload"},
                 {&g->find, "cuModuleGetFunction"},
                 {&g->launch, "cuLaunchKernel"}};
    if (!lib)
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *f = dlsym(lib, names[i].name);
        memcpy(names[i].where, &f, sizeof f);
    }
    return !g->init(0) && !g->get(&device, 0) && !g->retain(&context, device) &&
           !g->current(context) && !g->alloc(&g->in, COUNT * 24) && !g->alloc(&g->out, COUNT * 8);
}

static int run_gpu(Gpu *g, const char *text, const uint64_t *in, uint64_t *out) {
    void *module, *kernel, *params[] = {&g->in, &g->out};
    int error = g->load(&module, text);
    if (error)
        return error;
    g->to(g->in, in, COUNT * 24);
    g->set(g->out, 0, COUNT * 8);
    g->find(&kernel, module, "k");
    error = g->launch(kernel, COUNT / 256, 1, 1, 256, 1, 1, 0, NULL, params, NULL);
    if (!error)
        error = g->from(out, g->out, COUNT * 8);
    g->unload(module);
    return error;
}

/* ---- the emulator, and the comparison ------------------------------------------------------ */

static int run_emu(tle_emu_device *d, const char *text, const uint64_t *in, uint64_t *out) {
    tle_emu_module *m;
    tle_emu_launch_config c = {.struct_size = sizeof c, .grid = {COUNT / 256}, .block = {256}};
    tle_emu_status s = tle_emu_module_load(d, text, strlen(text), "row", &m);
    if (s)
        return s;
    memset(out, 0, COUNT * 8);
    s = tle_emu_launch(d, tle_emu_module_kernel_at(m, 0), &c, (void *[]){&in, &out});
    tle_emu_module_unload(m);
    return s;
}

typedef struct Tally {
    int rows, refused, different;
} Tally;

static void compare(const char *body, const uint64_t *in, const uint64_t *emu, const uint64_t *gpu,
                    Tally *t) {
    int shown = 0, bad = 0;
    for (int i = 0; i < COUNT; i++) {
        if (emu[i] == gpu[i])
            continue;
        bad++;
        if (shown++ < 3)
            printf("  a %llx b %llx c %llx: emulator %llx, GPU %llx\n",
                   (unsigned long long)in[3 * i], (unsigned long long)in[3 * i + 1],
                   (unsigned long long)in[3 * i + 2], (unsigned long long)emu[i],
                   (unsigned long long)gpu[i]);
    }
    if (bad)
        printf("%d of %d differ: %s\n", bad, COUNT, body);
    t->different += bad != 0;
}

static void run_choice(Gpu *g, tle_emu_device *d, const Row *row, const char *choice, size_t length,
                       Tally *t) {
    static char body[TEXT], text[TEXT];
    static uint64_t in[3 * COUNT], emu[COUNT], gpu[COUNT];
    fill(in);
    tle_emu_register(d, in, sizeof in, 1);
    tle_emu_register(d, emu, sizeof emu, 0);
    substitute(row->text, choice, length, body);
    make_kernel(body, row->classes, text);
    int ours = run_emu(d, text, in, emu), theirs = run_gpu(g, text, in, gpu);
    t->rows++;
    if (ours || theirs) {
        t->refused++;
        printf("refused (emulator %d %s, GPU %d): %s\n", ours, ours ? tle_emu_last_error(d) : "",
               theirs, body);
    } else {
        compare(body, in, emu, gpu, t);
    }
    tle_emu_unregister(d, in);
    tle_emu_unregister(d, emu);
}

int main(void) {
    Gpu g = {0};
    Tally t = {0};
    tle_emu_device *d;
    if (!open_gpu(&g)) {
        printf("no CUDA driver\n");
        return 77;
    }
    if (tle_emu_create(NULL, &d))
        return 1;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const char *at = rows[r].choices;
        do {
            size_t length = strcspn(at, " ");
            run_choice(&g, d, &rows[r], at, length, &t);
            at += length;
            at += strspn(at, " ");
        } while (*at);
    }
    printf("%d instructions, %d refused, %d differ\n", t.rows, t.refused, t.different);
    tle_emu_destroy(d);
    return t.refused || t.different;
}
