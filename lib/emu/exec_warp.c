/* Instructions in which the lanes of a warp see each other. Each waits until all members of its
 * mask have come (warp_gather); a lane's register is read as it is when the last has come. */
#include "exec.h"
#include "fp.h"
#include <string.h>

/* Member mask of the executing lanes; different values in different lanes are a fault. */
static uint32_t members_of(Warp *w, const Insn *in, int32_t code, uint32_t mask) {
    const uint32_t *m = plane32(w, code);
    uint32_t lane = first_lane(mask), want = m[lane];
    for (uint32_t i = 0; i < LANES; i++)
        if ((mask >> i & 1) && m[i] != want) {
            report_add(w, in, i, TLE_EMU_REPORT_BAD_OPERAND, 0, 0,
                       "member mask 0x%08x of lane %u differs from 0x%08x of lane %u", m[i], i,
                       want, lane);
            break;
        }
    if ((want & mask) != mask)
        report_add(w, in, first_lane(mask & ~want), TLE_EMU_REPORT_BAD_OPERAND, 0, 0,
                   "executing lanes 0x%08x are not all in the member mask 0x%08x", mask, want);
    return want | mask;
}

static uint32_t shfl_source(const Insn *in, uint32_t lane, uint32_t b, uint32_t c, bool *valid) {
    uint32_t clamp = c & 31, segment = c >> 8 & 31;
    uint32_t low = lane & segment, high = low | (clamp & ~segment);
    int32_t j;
    b &= 31;
    switch ((int)in->sub) {
    case MOD_UP:
        j = (int32_t)lane - (int32_t)b;
        *valid = j >= (int32_t)high;
        break;
    case MOD_DOWN:
        j = (int32_t)(lane + b);
        *valid = j <= (int32_t)high;
        break;
    case MOD_BFLY:
        j = (int32_t)(lane ^ b);
        *valid = j <= (int32_t)high;
        break;
    default: /* idx */
        j = (int32_t)(low | (b & ~segment));
        *valid = j <= (int32_t)high;
    }
    return *valid ? (uint32_t)j : lane;
}

/* shfl.sync d|p, a, b, c, members */
void x_shfl(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t value[LANES], all, inside = 0;
    if (!warp_gather(w, in, mask, members_of(w, in, in->e, mask), false, &all))
        return;
    uint32_t *d = plane32(w, in->d);
    const uint32_t *b = plane32(w, in->b), *c = plane32(w, in->c);
    memcpy(value, plane32(w, in->a), sizeof value);
    for (uint32_t i = 0; i < LANES; i++) {
        bool valid;
        if (!(all >> i & 1))
            continue;
        uint32_t from = shfl_source(in, i, b[i], c[i], &valid);
        inside |= (uint32_t)valid << i;
        if (!(all >> from & 1)) {
            if (w->launch->checks & TLE_EMU_CHECK_BARRIER)
                report_add(w, in, i, TLE_EMU_REPORT_BAD_OPERAND, 0, 0,
                           "shuffle reads lane %u, which does not take part", from);
            d[i] = 0;
            continue;
        }
        d[i] = value[from];
    }
    if (in->d2)
        set_pred(w, in->d2, inside, all);
}

/* vote.sync.mode d, {!}a, members */
void x_vote(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t all, votes;
    if (!warp_gather(w, in, mask, members_of(w, in, in->b, mask), false, &all))
        return;
    votes = (*pred_of(w, in->a) ^ (in->flags & F_NEGATED ? ALL_LANES : 0)) & all;
    if (in->sub == MOD_BALLOT) {
        uint32_t *d = plane32(w, in->d);
        FOR_LANES(all, { d[i] = votes; });
        return;
    }
    bool yes = in->sub == MOD_ANY   ? votes != 0
               : in->sub == MOD_ALL ? votes == all
                                    : votes == all || votes == 0;
    set_pred(w, in->d, yes ? ALL_LANES : 0, all);
}

static uint64_t match_value(const Warp *w, const Insn *in, uint32_t i) {
    return in->size == 8 ? plane64(w, in->a)[i] : plane32(w, in->a)[i];
}

/* match.any d, a, members; match.all d|p, a, members */
void x_match(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t all, equal[LANES] = {0};
    if (!warp_gather(w, in, mask, members_of(w, in, in->b, mask), false, &all))
        return;
    for (uint32_t i = 0; i < LANES; i++)
        for (uint32_t j = 0; j < LANES && all >> i & 1; j++)
            if ((all >> j & 1) && match_value(w, in, i) == match_value(w, in, j))
                equal[i] |= 1u << j;
    uint32_t *d = plane32(w, in->d);
    bool same = equal[first_lane(all)] == all;
    FOR_LANES(all, { d[i] = in->sub == MOD_ANY ? equal[i] : same ? all : 0; });
    if (in->sub == MOD_ALL && in->d2)
        set_pred(w, in->d2, same ? ALL_LANES : 0, all);
}

/* -0 is below +0; a NaN gives way to a number, or with .NaN takes over. */
static uint32_t redux_float(const Insn *in, uint32_t a, uint32_t b) {
    float x = fp_f32(a), y = fp_f32(b);
    if (x != x || y != y)
        return (in->flags & F_NAN) || (x != x && y != y) ? NAN32 : x != x ? b : a;
    bool less = x < y || (x == y && (a >> 31) > (b >> 31));
    return less == (in->sub == MOD_MIN) ? a : b;
}

static uint32_t redux_step(const Insn *in, uint32_t a, uint32_t b) {
    if (in->type == TY_F32)
        return redux_float(in, a, b);
    bool sign = in->flags & F_SIGNED;
    switch ((int)in->sub) {
    case MOD_ADD:
        return a + b;
    case MOD_MIN:
        return (sign ? (int32_t)a < (int32_t)b : a < b) ? a : b;
    case MOD_MAX:
        return (sign ? (int32_t)a > (int32_t)b : a > b) ? a : b;
    case MOD_AND:
        return a & b;
    case MOD_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

/* redux.sync.op d, a, members */
void x_redux(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t all, first, r;
    if (!warp_gather(w, in, mask, members_of(w, in, in->b, mask), false, &all))
        return;
    const uint32_t *a = plane32(w, in->a);
    first = first_lane(all);
    uint32_t keep = in->flags & F_ABS ? 0x7fffffffu : ALL_LANES;
    r = a[first] & keep;
    for (uint32_t i = first + 1; i < LANES; i++)
        if (all >> i & 1)
            r = redux_step(in, r, a[i] & keep);
    uint32_t *d = plane32(w, in->d);
    FOR_LANES(all, { d[i] = r; });
}

/* elect.sync d|p, members: the lowest lane is the leader */
void x_elect(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t all, leader;
    if (!warp_gather(w, in, mask, members_of(w, in, in->a, mask), false, &all))
        return;
    leader = first_lane(all);
    uint32_t *d = plane32(w, in->d);
    FOR_LANES(all, { d[i] = leader; });
    set_pred(w, in->d2, 1u << leader, all);
}

void x_activemask(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d);
    FOR_LANES(mask, { d[i] = mask; });
}

void x_bar_warp(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t all;
    if (warp_gather(w, in, mask, members_of(w, in, in->a, mask), false, &all))
        race_warp_sync(w);
}
