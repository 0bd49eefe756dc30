/* Moves, packing, special registers, comparisons and selections, conversions of address spaces. */
#include "ahead.h"
#include "fp.h"

void x_mov_32(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d);
    const uint32_t *a = plane32(w, in->a);
    FOR_LANES(mask, { d[i] = a[i]; });
}

void x_mov_64(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t *d = plane64(w, in->d);
    const uint64_t *a = plane64(w, in->a);
    FOR_LANES(mask, { d[i] = a[i]; });
}

/* Address of a variable in local memory: relative to the frame. */
void x_mov_frame(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t v = (uint64_t)in->imm + w->f->frame->local_base;
    if (in->flags & F_WIDE64) {
        uint64_t *d = plane64(w, in->d);
        FOR_LANES(mask, { d[i] = v; });
    } else {
        uint32_t *d = plane32(w, in->d);
        FOR_LANES(mask, { d[i] = (uint32_t)v; });
    }
}

/* Address of a kernel parameter: where this launch keeps it. */
void x_mov_param(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t v = ((uint64_t)(uintptr_t)w->launch->params + (uint64_t)in->imm) | PARAM_WINDOW;
    uint64_t *d = plane64(w, in->d);
    FOR_LANES(mask, { d[i] = v; });
}

/* mov d, {a, b, …}: the first element is lowest. Elements may have 8, 16, 32 or 64 bits. */
void x_pack(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t bits = 8u * in->size;
    FOR_LANES(mask, {
        uint64_t v = 0;
        for (uint32_t k = 0; k < in->ext_count; k++) {
            uint64_t e = in->size == 8 ? plane64(w, in->ext[k])[i] : plane32(w, in->ext[k])[i];
            if (bits < 64)
                e &= ((uint64_t)1 << bits) - 1;
            v |= e << (bits * k);
        }
        if (in->flags & F_WIDE64)
            plane64(w, in->d)[i] = v;
        else
            plane32(w, in->d)[i] = (uint32_t)v;
    });
}

void x_unpack(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t bits = 8u * in->size;
    FOR_LANES(mask, {
        uint64_t v = in->flags & F_WIDE64 ? plane64(w, in->a)[i] : plane32(w, in->a)[i];
        for (uint32_t k = 0; k < in->ext_count; k++) {
            uint64_t e = v >> (bits * k);
            if (in->size == 8)
                plane64(w, in->ext[k])[i] = e;
            else
                plane32(w, in->ext[k])[i] = (uint32_t)(e & (((uint64_t)1 << bits) - 1));
        }
    });
}

/* ---- special registers -------------------------------------------------------------------- */

static uint32_t thread_index(const Warp *w, uint32_t lane, uint32_t axis) {
    const uint32_t *n = w->launch->block;
    uint32_t t = w->id * LANES + lane;
    return axis == 0 ? t % n[0] : axis == 1 ? t / n[0] % n[1] : axis == 2 ? t / n[0] / n[1] : 0;
}

static uint64_t launch_register(const Warp *w, SpecialReg reg, uint32_t k) {
    const Launch *l = w->launch;
    const Cta *c = w->cta;
    switch ((int)reg) {
    case SREG_NTID:
        return k < 3 ? l->block[k] : 0;
    case SREG_CTAID:
        return k < 3 ? c->id[k] : 0;
    case SREG_NCTAID:
        return k < 3 ? l->grid[k] : 0;
    case SREG_CLUSTERID:
        return k < 3 ? c->id[k] / l->cluster[k] : 0;
    case SREG_NCLUSTERID:
        return k < 3 ? l->grid[k] / l->cluster[k] : 0;
    case SREG_CLUSTER_CTAID:
        return k < 3 ? c->id[k] % l->cluster[k] : 0;
    case SREG_CLUSTER_NCTAID:
        return k < 3 ? l->cluster[k] : 0;
    case SREG_CLUSTER_CTARANK:
        return c->rank;
    case SREG_CLUSTER_NCTARANK:
        return l->cluster_size;
    case SREG_NWARPID:
        return l->warps;
    case SREG_NSMID:
        return l->device->sm_count;
    case SREG_SMID:
        return (c->cluster->number * l->cluster_size + c->rank) % l->device->sm_count;
    case SREG_IS_EXPLICIT_CLUSTER:
        return l->in_clusters;
    case SREG_DYNAMIC_SMEM_SIZE:
        return l->dynamic_bytes;
    case SREG_TOTAL_SMEM_SIZE:
    case SREG_AGGR_SMEM_SIZE:
        return l->shared_bytes;
    case SREG_RESERVED_SMEM_END:
    case SREG_RESERVED_SMEM_CAP:
        return SHARED_BASE;
    /* One warp instruction is one clock and one nanosecond. */
    case SREG_CLOCK: /* whoever looks at the time waits for that too */
    case SREG_CLOCK64:
    case SREG_GLOBALTIMER:
    case SREG_GLOBALTIMER_LO:
        note_change(w->launch);
        return ahead_time(w);
    case SREG_CLOCK_HI:
    case SREG_GLOBALTIMER_HI:
        return ahead_time(w) >> 32;
    default:
        return 0;
    }
}

static uint32_t lane_mask(SpecialReg reg, uint32_t lane) {
    uint32_t below = (1u << lane) - 1, self = 1u << lane;
    switch ((int)reg) {
    case SREG_LANEMASK_LT:
        return below;
    case SREG_LANEMASK_LE:
        return below | self;
    case SREG_LANEMASK_GT:
        return ~(below | self);
    case SREG_LANEMASK_GE:
        return ~below;
    default:
        return self;
    }
}

static bool is_lane_mask(SpecialReg reg) {
    return reg >= SREG_LANEMASK_EQ && reg <= SREG_LANEMASK_GE;
}

void x_mov_special(Warp *w, const Insn *in, uint32_t mask) {
    SpecialReg reg = (SpecialReg)in->sub;
    uint64_t uniform = launch_register(w, reg, in->sub2);
    FOR_LANES(mask, {
        uint64_t v = uniform;
        if (reg == SREG_TID)
            v = thread_index(w, i, in->sub2);
        else if (reg == SREG_LANEID)
            v = i;
        else if (reg == SREG_WARPID)
            v = w->id;
        else if (is_lane_mask(reg))
            v = lane_mask(reg, i);
        if (in->flags & F_WIDE64)
            plane64(w, in->d)[i] = v;
        else
            plane32(w, in->d)[i] = (uint32_t)v;
    });
    if (in->type == TY_PRED)
        set_pred(w, in->d, uniform ? ALL_LANES : 0, mask);
}

/* ---- comparisons -------------------------------------------------------------------------- */

#define EACH(expr)                                                                                 \
    for (uint32_t i = 0; i < LANES; i++)                                                           \
        bits |= (uint32_t)(expr) << i;                                                             \
    break;

#define COMPARE_INT(name, S, T)                                                                    \
    static uint32_t compare_##name(const Warp *w, const Insn *in) {                                \
        const S *pa = (const S *)(const void *)plane(w, in->a);                                    \
        const S *pb = (const S *)(const void *)plane(w, in->b);                                    \
        uint32_t bits = 0;                                                                         \
        switch ((int)in->sub) {                                                                    \
        case MOD_EQ:                                                                               \
            EACH((T)pa[i] == (T)pb[i])                                                             \
        case MOD_NE:                                                                               \
            EACH((T)pa[i] != (T)pb[i])                                                             \
        case MOD_LT:                                                                               \
            EACH((T)pa[i] < (T)pb[i])                                                              \
        case MOD_LE:                                                                               \
            EACH((T)pa[i] <= (T)pb[i])                                                             \
        case MOD_GT:                                                                               \
            EACH((T)pa[i] > (T)pb[i])                                                              \
        default:                                                                                   \
            EACH((T)pa[i] >= (T)pb[i])                                                             \
        }                                                                                          \
        return bits;                                                                               \
    }
COMPARE_INT(u16, uint32_t, uint16_t)
COMPARE_INT(s16, uint32_t, int16_t)
COMPARE_INT(u32, uint32_t, uint32_t)
COMPARE_INT(s32, uint32_t, int32_t)
COMPARE_INT(u64, uint64_t, uint64_t)
COMPARE_INT(s64, uint64_t, int64_t)

static bool compare_doubles(PtxMod op, double a, double b) {
    bool nan = a != a || b != b;
    switch ((int)op) {
    case MOD_EQ:
        return a == b;
    case MOD_NE:
        return !nan && a != b;
    case MOD_LT:
        return a < b;
    case MOD_LE:
        return a <= b;
    case MOD_GT:
        return a > b;
    case MOD_GE:
        return a >= b;
    case MOD_EQU:
        return nan || a == b;
    case MOD_NEU:
        return nan || a != b;
    case MOD_LTU:
        return nan || a < b;
    case MOD_LEU:
        return nan || a <= b;
    case MOD_GTU:
        return nan || a > b;
    case MOD_GEU:
        return nan || a >= b;
    case MOD_NUM:
        return !nan;
    default: /* nan */
        return nan;
    }
}

static double float_operand(const Warp *w, const Insn *in, int32_t code, uint32_t i, int shift) {
    uint32_t bits;
    if (in->type == TY_F64)
        return fp_f64(plane64(w, code)[i]);
    bits = plane32(w, code)[i];
    if (in->type == TY_F32)
        return (double)fp_f32(in->flags & F_FTZ ? fp_flush(bits) : bits);
    bits = bits >> shift & 0xffff;
    PtxType t = in->type == TY_F16 || in->type == TY_F16X2 ? TY_F16 : TY_BF16;
    if ((in->flags & F_FTZ) && !(bits & (t == TY_F16 ? 0x7c00u : 0x7f80u)))
        bits &= 0x8000;
    return fp_unpack(t, bits);
}

static uint32_t compare_floats(const Warp *w, const Insn *in, int shift) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < LANES; i++)
        bits |= (uint32_t)compare_doubles((PtxMod)in->sub, float_operand(w, in, in->a, i, shift),
                                          float_operand(w, in, in->b, i, shift))
                << i;
    return bits;
}

/* lo, ls, hi, hs are the unsigned orders: decoding maps them to lt, le, gt, ge. */
static uint32_t compare(const Warp *w, const Insn *in) {
    switch ((int)in->type) {
    case TY_B16:
    case TY_U16:
        return compare_u16(w, in);
    case TY_S16:
        return compare_s16(w, in);
    case TY_B32:
    case TY_U32:
        return compare_u32(w, in);
    case TY_S32:
        return compare_s32(w, in);
    case TY_B64:
    case TY_U64:
        return compare_u64(w, in);
    case TY_S64:
        return compare_s64(w, in);
    default:
        return compare_floats(w, in, 0);
    }
}

static uint32_t combine(const Warp *w, const Insn *in, uint32_t bits) {
    if (!(in->flags & F_COMBINE))
        return bits;
    uint32_t c = *pred_of(w, in->c) ^ (in->flags & F_NEGATED ? ALL_LANES : 0);
    return in->sub2 == MOD_AND ? bits & c : in->sub2 == MOD_OR ? bits | c : bits ^ c;
}

void x_setp(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t p, q;
    if (in->type == TY_F16X2 || in->type == TY_BF16X2) { /* one predicate for each half */
        p = combine(w, in, compare_floats(w, in, 0));
        q = combine(w, in, compare_floats(w, in, 16));
    } else {
        uint32_t bits = compare(w, in);
        p = combine(w, in, bits);
        q = combine(w, in, ~bits);
    }
    set_pred(w, in->d, p, mask);
    if (in->d2)
        set_pred(w, in->d2, q, mask);
}

#define SETP_FAST(name, expr)                                                                      \
    void x_setp_##name(Warp *w, const Insn *in, uint32_t mask) {                                   \
        set_pred(w, in->d, expr, mask);                                                            \
    }
SETP_FAST(u32, compare_u32(w, in))
SETP_FAST(s32, compare_s32(w, in))
SETP_FAST(u64, compare_u64(w, in))
SETP_FAST(s64, compare_s64(w, in))

void x_setp_f32(Warp *w, const Insn *in, uint32_t mask) {
    const uint32_t *pa = plane32(w, in->a), *pb = plane32(w, in->b);
    uint32_t less = 0, equal = 0, nan = 0, bits;
    for (uint32_t i = 0; i < LANES; i++) {
        float a = fp_f32(pa[i]), b = fp_f32(pb[i]);
        less |= (uint32_t)(a < b) << i;
        equal |= (uint32_t)(a == b) << i;
        nan |= (uint32_t)(a != a || b != b) << i;
    }
    switch ((int)in->sub) {
    case MOD_EQ:
    case MOD_EQU:
        bits = equal;
        break;
    case MOD_NE:
    case MOD_NEU:
        bits = ~(equal | nan);
        break;
    case MOD_LT:
    case MOD_LTU:
        bits = less;
        break;
    case MOD_LE:
    case MOD_LEU:
        bits = less | equal;
        break;
    case MOD_GT:
    case MOD_GTU:
        bits = ~(less | equal | nan);
        break;
    case MOD_GE:
    case MOD_GEU:
        bits = ~(less | nan);
        break;
    case MOD_NUM:
        bits = ~nan;
        break;
    default:
        bits = nan;
    }
    if (in->sub >= MOD_EQU && in->sub <= MOD_GEU)
        bits |= nan;
    set_pred(w, in->d, bits, mask);
}

/* set: all ones or zero for integers, 1.0 or 0.0 for floats; two halves for packed types */
void x_set(Warp *w, const Insn *in, uint32_t mask) {
    bool packed = in->type == TY_F16X2 || in->type == TY_BF16X2;
    uint32_t low = combine(w, in, packed ? compare_floats(w, in, 0) : compare(w, in));
    uint32_t high = packed ? combine(w, in, compare_floats(w, in, 16)) : 0;
    uint32_t *d = plane32(w, in->d), yes = (uint32_t)in->imm;
    FOR_LANES(mask, {
        d[i] = low >> i & 1 ? yes : 0;
        if (packed)
            d[i] = (low >> i & 1 ? yes & 0xffff : 0) | (high >> i & 1 ? yes & 0xffff0000u : 0);
    });
}

void x_selp_32(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d), p = *pred_of(w, in->c);
    const uint32_t *a = plane32(w, in->a), *b = plane32(w, in->b);
    FOR_LANES(mask, { d[i] = p >> i & 1 ? a[i] : b[i]; });
}

void x_selp_64(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t *d = plane64(w, in->d);
    uint32_t p = *pred_of(w, in->c);
    const uint64_t *a = plane64(w, in->a), *b = plane64(w, in->b);
    FOR_LANES(mask, { d[i] = p >> i & 1 ? a[i] : b[i]; });
}

/* slct d, a, b, c: a where c >= 0 (f32: NaN and, with .ftz, denormals count as their sign says) */
void x_slct(Warp *w, const Insn *in, uint32_t mask) {
    const uint32_t *c = plane32(w, in->c);
    FOR_LANES(mask, {
        uint32_t bits = in->flags & F_FTZ ? fp_flush(c[i]) : c[i];
        bool first = in->type2 == TY_F32 ? fp_f32(bits) >= 0 : (int32_t)c[i] >= 0;
        if (in->flags & F_WIDE64)
            plane64(w, in->d)[i] = first ? plane64(w, in->a)[i] : plane64(w, in->b)[i];
        else
            plane32(w, in->d)[i] = first ? plane32(w, in->a)[i] : plane32(w, in->b)[i];
    });
}

/* ---- address spaces ----------------------------------------------------------------------- */

static uint64_t window_of(const Insn *in) {
    return in->space == SPACE_SHARED ? SHARED_WINDOW : in->space == SPACE_LOCAL ? LOCAL_WINDOW : 0;
}

void x_cvta_from(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t *d = plane64(w, in->d), window = window_of(in);
    const uint64_t *a = plane64(w, in->a);
    uint64_t keep = in->space == SPACE_PARAM ? ~PARAM_WINDOW : ~(uint64_t)0;
    FOR_LANES(mask, { d[i] = window ? (a[i] & 0xffffffffu) | window : a[i] & keep; });
}

void x_cvta_to(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t *d = plane64(w, in->d), window = window_of(in);
    const uint64_t *a = plane64(w, in->a);
    uint64_t own = in->space == SPACE_PARAM ? PARAM_WINDOW : 0;
    FOR_LANES(mask, { d[i] = window ? a[i] & 0xffffffffu : a[i] | own; });
}

void x_isspacep(Warp *w, const Insn *in, uint32_t mask) {
    const uint64_t *a = plane64(w, in->a);
    uint64_t window = window_of(in);
    uint64_t params = (uint64_t)(uintptr_t)w->launch->params;
    uint32_t bits = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        bool inside = (a[i] & WINDOW_MASK) == window;
        if (in->space == SPACE_SHARED && !(in->flags & F_CLUSTER))
            inside = inside && ((uint32_t)a[i] >> CLUSTER_SHIFT == 0 ||
                                (uint32_t)a[i] >> CLUSTER_SHIFT == w->cta->rank + 1);
        if (in->space == SPACE_PARAM)
            inside = a[i] - params < w->launch->fn->param_bytes;
        if (in->space == SPACE_CONST) {
            Region *r = memory_find(&w->launch->device->regions, a[i], 1, false);
            inside = r && r->kind == REGION_MODULE && r->read_only;
        }
        bits |= (uint32_t)inside << i;
    }
    set_pred(w, in->d, bits, mask);
}

/* mapa d, a, rank: the same place in another CTA of the cluster */
void x_mapa(Warp *w, const Insn *in, uint32_t mask) {
    const uint32_t *rank = plane32(w, in->b);
    for (uint32_t i = 0; i < LANES; i++)
        if ((mask >> i & 1) && rank[i] >= w->cta->cluster->count)
            report_add(w, in, i, TLE_EMU_REPORT_BAD_OPERAND, 0, 0,
                       "rank %u in a cluster of %u CTAs", rank[i], w->cta->cluster->count);
    FOR_LANES(mask, {
        uint64_t a = in->flags & F_ADDR64 ? plane64(w, in->a)[i] : plane32(w, in->a)[i];
        uint64_t r = (a & 0xffffffu) | (uint64_t)(rank[i] % MAX_CLUSTER + 1) << CLUSTER_SHIFT;
        if (in->space == SPACE_GENERIC)
            r |= SHARED_WINDOW;
        if (in->flags & F_WIDE64)
            plane64(w, in->d)[i] = r;
        else
            plane32(w, in->d)[i] = (uint32_t)r;
    });
}

void x_getctarank(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d);
    FOR_LANES(mask, {
        uint64_t a = in->flags & F_ADDR64 ? plane64(w, in->a)[i] : plane32(w, in->a)[i];
        uint32_t top = (uint32_t)a >> CLUSTER_SHIFT;
        d[i] = top ? top - 1 : w->cta->rank;
    });
}
