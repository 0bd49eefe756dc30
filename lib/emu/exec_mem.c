/* Loads and stores. Addresses become host pointers in access.c, where all checks are; here
 * bytes move. Element k of a vector access lies k elements after the address. */
#include "exec.h"
#include <string.h>

#define LOAD_AS(S, T)                                                                              \
    FOR_LANES(mask, {                                                                              \
        T v;                                                                                       \
        memcpy(&v, host[i] + at, sizeof v);                                                        \
        d[i] = (S)v;                                                                               \
    })

static void load_32(uint32_t *d, const Insn *in, uint32_t mask, uint8_t **host, uint32_t at) {
    bool sign = in->flags & F_SIGNED;
    if (in->size == 4)
        LOAD_AS(uint32_t, uint32_t);
    else if (in->size == 2 && sign)
        LOAD_AS(uint32_t, int16_t);
    else if (in->size == 2)
        LOAD_AS(uint32_t, uint16_t);
    else if (sign)
        LOAD_AS(uint32_t, int8_t);
    else
        LOAD_AS(uint32_t, uint8_t);
}

static void load_64(uint64_t *d, const Insn *in, uint32_t mask, uint8_t **host, uint32_t at) {
    bool sign = in->flags & F_SIGNED;
    if (in->size == 8)
        LOAD_AS(uint64_t, uint64_t);
    else if (in->size == 4 && sign)
        LOAD_AS(uint64_t, int32_t);
    else if (in->size == 4)
        LOAD_AS(uint64_t, uint32_t);
    else if (in->size == 2 && sign)
        LOAD_AS(uint64_t, int16_t);
    else if (in->size == 2)
        LOAD_AS(uint64_t, uint16_t);
    else if (sign)
        LOAD_AS(uint64_t, int8_t);
    else
        LOAD_AS(uint64_t, uint8_t);
}

/* A load that was refused still defines its register. */
static void zero_lanes(Warp *w, const Insn *in, uint32_t lanes) {
    for (uint32_t k = 0; k < in->ext_count; k++)
        for (uint32_t i = 0; i < LANES; i++) {
            if (!(lanes >> i & 1))
                continue;
            if (in->flags & F_WIDE64)
                plane64(w, in->ext[k])[i] = 0;
            else
                plane32(w, in->ext[k])[i] = 0;
        }
}

static void order_read(Warp *w, const Insn *in, uint32_t mask, const uint64_t *address) {
    for (uint32_t i = 0; i < LANES; i++)
        if (mask >> i & 1)
            race_sync_read(w, in, address[i]);
}

void x_ld(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t address[LANES];
    uint8_t *host[LANES];
    access_addresses(w, in, mask, address);
    uint32_t ok =
        access_resolve(w, in, mask, address, (uint32_t)in->size * in->vec, ACCESS_READ, host);
    if (ok != mask)
        zero_lanes(w, in, mask & ~ok);
    if (ok == 0)
        return;
    if (in->flags & F_STRONG)
        note_look(w, in, address[first_lane(ok)]);
    if (in->flags & F_STRONG && in->space != SPACE_SHARED)
        w->cta->cluster->polls++;
    if ((in->flags & F_STRONG) && (w->launch->checks & TLE_EMU_CHECK_RACE))
        order_read(w, in, ok, address);
    for (uint32_t k = 0; k < in->ext_count; k++) {
        if (in->flags & F_WIDE64)
            load_64(plane64(w, in->ext[k]), in, ok, host, k * in->size);
        else
            load_32(plane32(w, in->ext[k]), in, ok, host, k * in->size);
    }
}

/* A kernel parameter: the same bytes for every thread. */
void x_ld_param(Warp *w, const Insn *in, uint32_t mask) {
    uint8_t *host[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        host[i] = w->launch->params + in->imm;
    for (uint32_t k = 0; k < in->ext_count; k++) {
        if (in->flags & F_WIDE64)
            load_64(plane64(w, in->ext[k]), in, mask, host, k * in->size);
        else
            load_32(plane32(w, in->ext[k]), in, mask, host, k * in->size);
    }
}

#define STORE_AS(S, T)                                                                             \
    do {                                                                                           \
        const S *s = (const S *)(const void *)plane(w, in->ext[k]);                                \
        FOR_LANES(mask, {                                                                          \
            T v = (T)s[i];                                                                         \
            memcpy(host[i] + at, &v, sizeof v);                                                    \
        });                                                                                        \
    } while (0)

static void store_element(Warp *w, const Insn *in, uint32_t mask, uint8_t **host, uint32_t k) {
    uint32_t at = k * in->size;
    bool wide = in->flags & F_WIDE64;
    if (in->size == 8)
        STORE_AS(uint64_t, uint64_t);
    else if (in->size == 4 && wide)
        STORE_AS(uint64_t, uint32_t);
    else if (in->size == 4)
        STORE_AS(uint32_t, uint32_t);
    else if (in->size == 2 && wide)
        STORE_AS(uint64_t, uint16_t);
    else if (in->size == 2)
        STORE_AS(uint32_t, uint16_t);
    else if (wide)
        STORE_AS(uint64_t, uint8_t);
    else
        STORE_AS(uint32_t, uint8_t);
}

void x_st(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t address[LANES];
    uint8_t *host[LANES];
    access_addresses(w, in, mask, address);
    uint32_t ok =
        access_resolve(w, in, mask, address, (uint32_t)in->size * in->vec, ACCESS_WRITE, host);
    if (ok == 0)
        return;
    note_change(w->launch);
    if (w->launch->checks & TLE_EMU_CHECK_RACE) {
        race_store_conflict(w, in, ok, host);
        for (uint32_t i = 0; i < LANES && in->flags & F_STRONG; i++)
            if (ok >> i & 1)
                race_sync_write(w, in, address[i]);
    }
    for (uint32_t k = 0; k < in->ext_count; k++)
        store_element(w, in, ok, host, k);
}

/* ---- hints ------------------------------------------------------------------------------- */

/* A prefetch may name any address; nothing happens. */
void x_prefetch(Warp *w, const Insn *in, uint32_t mask) {
    (void)w;
    (void)in;
    (void)mask;
}

/* A policy is a token without effect. */
void x_createpolicy(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t *d = plane64(w, in->d);
    FOR_LANES(mask, { d[i] = (uint64_t)0x10 << 56; });
}
