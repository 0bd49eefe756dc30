/* Loading a module: parse, lay out, decode, all in one arena; any failure undoes everything. */
#include "exec.h"
#include <stdlib.h>
#include <string.h>

typedef struct Loading {
    jmp_buf escape;
    PtxContext context;
} Loading;

static void out_of_memory(void *user, size_t wanted) {
    Loading *l = user;
    (void)wanted;
    l->context.status = TLE_EMU_OUT_OF_MEMORY;
    memcpy(l->context.error, "no memory for the module", 25);
    longjmp(l->escape, 1);
}

static void list_kernels(struct tle_emu_module *m) {
    uint32_t n = m->ptx->functions.len;
    m->kernels = arena_array(m->arena, tle_emu_kernel *, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        Function *f = &m->functions[k];
        if (!f->source->is_entry || !f->source->has_body)
            continue;
        tle_emu_kernel *e = arena_new_of(m->arena, tle_emu_kernel);
        e->module = m;
        e->fn = f;
        m->kernels[m->kernel_count++] = e;
    }
}

static void load(struct tle_emu_module *m, Loading *l, const char *ptx, size_t length,
                 const char *name) {
    PtxContext *c = arena_new_of(m->arena, PtxContext); /* names outlive the loading */
    l->context.names = m->names = interner_new(m->arena);
    l->context.arena = m->arena;
    l->context.escape = &l->escape;
    m->name = arena_strndup(m->arena, name, strlen(name));
    l->context.module_name = m->name;
    *c = l->context;
    m->ptx = ptx_parse(&l->context, ptx, length);
    if (m->ptx->arch > m->device->d.sm_arch)
        ptx_fail(&l->context, TLE_EMU_NOT_SUPPORTED, 0, "not supported: sm_%u on a device of sm_%u",
                 m->ptx->arch, m->device->d.sm_arch);
    layout_module(m, &l->context);
    decode_module(m, &l->context);
    list_kernels(m);
    m->ptx->context = c;
}

tle_emu_status module_load(Device *d, const char *ptx, size_t length, const char *name,
                           struct tle_emu_module **out) {
    struct tle_emu_module *m = calloc(1, sizeof *m);
    Loading *l = calloc(1, sizeof *l);
    tle_emu_status status;
    d->error[0] = '\0';
    if (!m || !l) {
        free(m);
        free(l);
        return device_fail(d, TLE_EMU_OUT_OF_MEMORY, "no memory for a module");
    }
    m->device = (struct tle_emu_device *)(void *)d;
    m->next = d->modules;
    if (d->modules)
        d->modules->previous = m;
    d->modules = m;
    l->context.error = d->error;
    l->context.error_size = sizeof d->error;
    m->arena = arena_new(out_of_memory, l);
    if (m->arena && setjmp(l->escape) == 0) {
        load(m, l, ptx, length, name);
        *out = m;
        free(l);
        return TLE_EMU_OK;
    }
    status = m->arena ? l->context.status : TLE_EMU_OUT_OF_MEMORY;
    module_free(m);
    free(l);
    return status;
}

void module_free(struct tle_emu_module *m) {
    Device *d = &m->device->d;
    for (uint32_t id = 1; m->ptx && id < m->ptx->vars.len; id++) {
        const PtxVar *v = &m->ptx->vars.data[id];
        Region *r = v->storage ? memory_at(&d->regions, v->address, REGION_MODULE) : NULL;
        if (r)
            memory_remove(&d->regions, r);
    }
    if (m->previous)
        m->previous->next = m->next;
    else
        d->modules = m->next;
    if (m->next)
        m->next->previous = m->previous;
    if (m->arena)
        arena_free(m->arena);
    free(m);
}
