/* Addresses: parameters of kernels, frames of local memory, module variables on the host, and
 * shared variables, where only those that one kernel reaches must not overlap. */
#include "exec.h"
#include <string.h>

static uint64_t align_up(uint64_t v, uint64_t to) {
    return to > 1 ? (v + to - 1) & ~(to - 1) : v;
}

static PtxVar *var_of(struct tle_emu_module *m, uint32_t id) {
    return &m->ptx->vars.data[id];
}

/* ---- frames ------------------------------------------------------------------------------- */

static uint64_t place_vars(struct tle_emu_module *m, const uint32_t *ids, uint32_t count,
                           uint64_t at) {
    for (uint32_t i = 0; i < count; i++) {
        PtxVar *v = var_of(m, ids[i]);
        at = align_up(at, v->align);
        v->address = at;
        at += v->bytes;
    }
    return at;
}

static void layout_frame(struct tle_emu_module *m, PtxContext *c, Function *f) {
    const PtxFunction *s = f->source;
    uint64_t at = 0;
    if (s->is_entry) {
        uint64_t bytes = place_vars(m, s->params.data, s->params.len, 0);
        if (bytes > 32764)
            ptx_fail(c, TLE_EMU_BAD_PTX, s->line, "parameters of more than 32764 bytes");
        f->param_bytes = (uint32_t)bytes;
    } else {
        at = place_vars(m, s->params.data, s->params.len, at);
        at = place_vars(m, s->results.data, s->results.len, at);
    }
    at = align_up(place_vars(m, s->locals.data, s->locals.len, at), 16);
    if (at > 512 * 1024)
        ptx_fail(c, TLE_EMU_NOT_SUPPORTED, s->line, "local memory of %s is over 512 KiB", f->name);
    f->local_bytes = (uint32_t)at;
}

/* ---- call graph --------------------------------------------------------------------------- */

static void add_callee(struct tle_emu_module *m, Function *f, uint32_t id) {
    for (uint32_t i = 0; i < f->callees.len; i++)
        if (f->callees.data[i] == id)
            return;
    vec_push(m->arena, &f->callees, id);
}

static void find_callees(struct tle_emu_module *m, Function *f, const Operand *o) {
    if (o->kind == OPND_NAME) {
        uint32_t id = map_find(&m->ptx->function_ids, o->name, 0);
        if (id)
            add_callee(m, f, id - 1);
    }
    for (uint32_t i = 0; i < o->elem_count; i++)
        find_callees(m, f, &o->elems[i]);
}

static void merge_shared(struct tle_emu_module *m, PtxFunction *into, const PtxFunction *from) {
    for (uint32_t i = 0; i < from->shared.len; i++) {
        uint32_t k = 0;
        while (k < into->shared.len && into->shared.data[k] != from->shared.data[i])
            k++;
        if (k == into->shared.len)
            vec_push(m->arena, &into->shared, from->shared.data[i]);
    }
}

/* Deepest chain of local frames; `state` 1 marks functions on the way down. */
static uint32_t depth(struct tle_emu_module *m, Function *f, uint8_t *state) {
    uint32_t deepest = 0;
    if (state[f->index] == 2)
        return f->total_local;
    if (state[f->index] == 1) {
        f->recursive = true;
        return RECURSION_ROOM;
    }
    state[f->index] = 1;
    for (uint32_t i = 0; i < f->callees.len; i++) {
        Function *g = &m->functions[f->callees.data[i]];
        uint32_t d = depth(m, g, state);
        deepest = d > deepest ? d : deepest;
        merge_shared(m, (PtxFunction *)(uintptr_t)f->source, g->source);
    }
    if (f->calls_by_address) { /* of anything: room as for recursion */
        deepest = deepest > RECURSION_ROOM ? deepest : RECURSION_ROOM;
        for (uint32_t k = 0; k < m->ptx->functions.len; k++)
            if (!m->functions[k].source->is_entry)
                merge_shared(m, (PtxFunction *)(uintptr_t)f->source, m->functions[k].source);
    }
    f->total_local = f->local_bytes + deepest + (f->allocates ? RECURSION_ROOM : 0);
    state[f->index] = 2;
    return f->total_local;
}

static bool allocates(const PtxContext *c, const PtxStatement *s) {
    return !strcmp(ptx_name(c, s->opcode), "alloca");
}

static bool is_indirect(const PtxContext *c, const PtxStatement *s) {
    if (strcmp(ptx_name(c, s->opcode), "call") != 0)
        return false;
    for (uint32_t i = 0; i < s->operand_count; i++)
        if (s->operands[i].kind == OPND_REG)
            return true;
    return false;
}

static void layout_calls(struct tle_emu_module *m, const PtxContext *c) {
    uint32_t n = m->ptx->functions.len;
    uint8_t *state = arena_array(m->arena, uint8_t, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        const PtxFunction *s = m->functions[k].source;
        for (uint32_t i = 0; i < s->statements.len; i++) {
            m->functions[k].calls_by_address |= is_indirect(c, &s->statements.data[i]);
            m->functions[k].allocates |= allocates(c, &s->statements.data[i]);
            for (uint32_t o = 0; o < s->statements.data[i].operand_count; o++)
                find_callees(m, &m->functions[k], &s->statements.data[i].operands[o]);
        }
    }
    for (uint32_t k = 0; k < n; k++)
        depth(m, &m->functions[k], state);
}

/* ---- shared variables --------------------------------------------------------------------- */

static bool uses(const Function *f, uint32_t id) {
    for (uint32_t i = 0; i < f->source->shared.len; i++)
        if (f->source->shared.data[i] == id)
            return true;
    return false;
}

static bool is_dynamic(const PtxVar *v) {
    return v->is_extern || v->bytes == 0;
}

/* Puts one variable behind all that its kernels already hold. */
static void place_shared(struct tle_emu_module *m, uint32_t id) {
    PtxVar *v = var_of(m, id);
    uint64_t at = 0;
    for (uint32_t k = 0; k < m->ptx->functions.len; k++)
        if (m->functions[k].source->is_entry && uses(&m->functions[k], id) &&
            m->functions[k].static_shared > at)
            at = m->functions[k].static_shared;
    at = align_up(at, v->align);
    v->address = SHARED_BASE + at;
    for (uint32_t k = 0; k < m->ptx->functions.len; k++) {
        Function *f = &m->functions[k];
        if (!f->source->is_entry || !uses(f, id))
            continue;
        f->static_shared = (uint32_t)(at + (is_dynamic(v) ? 0 : v->bytes));
        f->uses_dynamic |= is_dynamic(v);
    }
}

static void layout_shared(struct tle_emu_module *m, PtxContext *c) {
    uint32_t n = m->ptx->vars.len;
    for (int dynamic = 0; dynamic < 2; dynamic++)
        for (uint32_t id = 1; id < n; id++) {
            const PtxVar *v = var_of(m, id);
            if (v->space != SPACE_SHARED || is_dynamic(v) != (dynamic == 1))
                continue;
            if (v->bytes > (1u << CLUSTER_SHIFT) - SHARED_BASE)
                ptx_fail(c, TLE_EMU_BAD_PTX, v->line, "shared variable of over 16 MiB");
            place_shared(m, id);
        }
}

/* ---- module variables --------------------------------------------------------------------- */

static void place_module_var(struct tle_emu_module *m, PtxContext *c, PtxVar *v) {
    uint64_t align = v->align < 256 ? 256 : v->align;
    Region r = {.kind = REGION_MODULE, .size = v->bytes ? v->bytes : 1};
    if (v->is_extern)
        ptx_fail(c, TLE_EMU_NOT_SUPPORTED, v->line, "not supported: extern variable %s",
                 ptx_name(c, v->name));
    uint8_t *p = arena_alloc(m->arena, v->bytes + align);
    p += align - ((uintptr_t)p & (align - 1));
    v->storage = p;
    v->address = (uint64_t)(uintptr_t)p;
    r.base = v->address;
    r.read_only = v->space == SPACE_CONST;
    r.name = ptx_name(c, v->name);
    if (!memory_add(&m->device->d.regions, r))
        ptx_fail(c, TLE_EMU_OUT_OF_MEMORY, 0, "no memory for variable %s", r.name);
}

static uint64_t symbol_value(struct tle_emu_module *m, PtxContext *c, const PtxVar *v,
                             const PtxInit *init) {
    uint32_t id = map_find(&m->ptx->globals, init->name, 0);
    uint32_t fn = map_find(&m->ptx->function_ids, init->name, 0);
    if (id) {
        const PtxVar *target = var_of(m, id);
        uint64_t window = init->generic && target->space == SPACE_SHARED ? SHARED_WINDOW : 0;
        return (target->address | window) + init->value;
    }
    if (fn)
        return (FUNC_WINDOW | (fn - 1)) + init->value;
    ptx_fail(c, TLE_EMU_BAD_PTX, v->line, "unknown symbol '%s' in an initialiser",
             ptx_name(c, init->name));
}

static void layout_variables(struct tle_emu_module *m, PtxContext *c) {
    uint32_t n = m->ptx->vars.len;
    for (uint32_t id = 1; id < n; id++)
        if (var_of(m, id)->space == SPACE_GLOBAL || var_of(m, id)->space == SPACE_CONST)
            place_module_var(m, c, var_of(m, id));
    for (uint32_t id = 1; id < n; id++) {
        PtxVar *v = var_of(m, id);
        for (uint32_t k = 0; v->storage && k < v->inits.len; k++) {
            const PtxInit *init = &v->inits.data[k];
            uint64_t value = init->symbol ? symbol_value(m, c, v, init) : init->value;
            memcpy((uint8_t *)v->storage + init->offset, &value, init->bytes < 8 ? init->bytes : 8);
        }
    }
}

void layout_module(struct tle_emu_module *m, PtxContext *c) {
    uint32_t n = m->ptx->functions.len;
    m->functions = arena_array(m->arena, Function, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        Function *f = &m->functions[k];
        f->source = m->ptx->functions.data[k];
        f->name = ptx_name(c, f->source->name);
        f->index = k;
        layout_frame(m, c, f);
    }
    layout_calls(m, c);
    layout_shared(m, c);
    layout_variables(m, c);
}
