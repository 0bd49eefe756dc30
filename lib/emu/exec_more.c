/* Arithmetic that sm_90 and sm_100 added, the stack, assertions. */
#include "exec_more.h"
#include "fp.h"
#include <string.h>

/* ---- mixed precision ---------------------------------------------------------------------- */

static float widen(const Insn *in, uint32_t bits) {
    return (float)fp_unpack((PtxType)in->type2, bits & 0xffff);
}

static uint32_t mixed(const Insn *in, uint32_t a, uint32_t b, uint32_t c) {
    float x = widen(in, a), z = fp_f32(c), r;
    Rounding m = (Rounding)in->rounding;
    r = in->sub == MIXED_FMA   ? fp_fma32(x, widen(in, b), z, m)
        : in->sub == MIXED_SUB ? fp_add32(x, -z, m)
                               : fp_add32(x, z, m);
    if (in->flags & F_SAT)
        return r > 0 ? fp_u32(r < 1 ? r : 1) : 0;
    return fp_canon(r);
}

void x_mixed(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d);
    const uint32_t *a = plane32(w, in->a), *b = plane32(w, in->b), *c = plane32(w, in->c);
    FOR_LANES(mask, { d[i] = mixed(in, a[i], b[i], c[i]); });
}

static uint32_t least_or_greatest(uint32_t a, uint32_t b, bool nan, bool max) {
    float x = fp_f32(a), y = fp_f32(b);
    if (x != x || y != y)
        return nan || (x != x && y != y) ? NAN32 : x != x ? b : a;
    bool a_less = x < y || (x == y && (a >> 31) > (b >> 31));
    return a_less != max ? a : b;
}

static uint32_t minmax3(const Insn *in, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t v[3] = {a, b, c};
    bool nan = in->flags & F_NAN;
    for (uint32_t k = 0; k < 3; k++) {
        v[k] = in->flags & F_FTZ ? fp_flush(v[k]) : v[k];
        v[k] &= in->flags & F_ABS ? 0x7fffffffu : 0xffffffffu;
    }
    return least_or_greatest(least_or_greatest(v[0], v[1], nan, in->sub), v[2], nan, in->sub);
}

void x_minmax3(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d);
    const uint32_t *a = plane32(w, in->a), *b = plane32(w, in->b), *c = plane32(w, in->c);
    FOR_LANES(mask, { d[i] = minmax3(in, a[i], b[i], c[i]); });
}

/* The NaN that tensor copies fill in for elements out of bounds; as a factor it makes zero. */
static bool is_outside(uint32_t bits) {
    return (bits & 0x7fff) == 0x7ff7;
}

void x_fma_oob(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d), zero[LANES];
    const uint32_t *a = plane32(w, in->a), *b = plane32(w, in->b);
    for (uint32_t i = 0; i < LANES; i++) {
        zero[i] = 0;
        for (uint32_t s = 0; s < 32; s += 16)
            if (is_outside(a[i] >> s) || is_outside(b[i] >> s))
                zero[i] |= 0xffffu << s;
    }
    x_half(w, in, mask);
    FOR_LANES(mask, { d[i] &= ~zero[i]; });
}

/* ---- the stack ---------------------------------------------------------------------------- */

static uint32_t *dynamic_of(Warp *w) {
    Frame *f = w->f->frame;
    if (!f->dynamic)
        f->dynamic = arena_array(w->launch->arena, uint32_t, LANES);
    return f->dynamic;
}

static uint64_t operand(const Warp *w, const Insn *in, int32_t code, uint32_t i) {
    return in->flags & F_WIDE64 ? plane64(w, code)[i] : plane32(w, code)[i];
}

static void result(const Warp *w, const Insn *in, uint32_t i, uint64_t v) {
    if (in->flags & F_WIDE64)
        plane64(w, in->d)[i] = v;
    else
        plane32(w, in->d)[i] = (uint32_t)v;
}

/* Behind the frame's variables and what it has allocated so far; a lane's own. */
void x_alloca(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *dynamic = dynamic_of(w);
    const Frame *f = w->f->frame;
    uint64_t fixed = (uint64_t)f->local_base + f->fn->local_bytes, align = (uint64_t)in->imm;
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t bytes = operand(w, in, in->a, i), at;
        if (!(mask >> i & 1))
            continue;
        at = (fixed + dynamic[i] + align - 1) & ~(align - 1);
        if (bytes > w->launch->local_bytes || at + bytes > w->launch->local_bytes) {
            report_add(w, in, i, TLE_EMU_REPORT_BOUNDS, at, 0,
                       "alloca of %llu bytes overflows the stack of %u bytes",
                       (unsigned long long)bytes, w->launch->local_bytes);
            bytes = 0;
        }
        result(w, in, i, at);
        dynamic[i] = (uint32_t)(at + bytes - fixed);
    }
}

void x_stacksave(Warp *w, const Insn *in, uint32_t mask) {
    const uint32_t *dynamic = dynamic_of(w);
    for (uint32_t i = 0; i < LANES; i++)
        if (mask >> i & 1)
            result(w, in, i, dynamic[i]);
}

void x_stackrestore(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *dynamic = dynamic_of(w);
    for (uint32_t i = 0; i < LANES; i++)
        if (mask >> i & 1)
            dynamic[i] = (uint32_t)operand(w, in, in->a, i);
}

/* __assertfail of CUDA's assert */
void x_assert(Warp *w, const Insn *in, uint32_t mask) {
    report_add(w, in, first_lane(mask), TLE_EMU_REPORT_TRAP, 0, 0, "an assertion failed");
    w->launch->status = TLE_EMU_TRAP;
    w->launch->stop = w->stop = true;
}
