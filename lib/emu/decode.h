/* Shared by the decoder's files: from a PtxStatement to Insns.
 *
 * A decoder takes the qualifiers that it understands; those left make the instruction "not
 * supported". Special registers and addresses of local variables get a hidden move in front. */
#ifndef EMU_DECODE_H
#define EMU_DECODE_H

#include "exec.h"

#define F_ROUND   (1u << 30) /* in rows: any of rn rz rm rp */
#define F_NEAREST (1u << 31) /* in rows: rn only */

typedef struct Fixup {
    uint32_t insn;
    Str label;
    uint32_t scope, line;
    uint32_t table; /* index in the table + 1 */
} Fixup;

typedef struct Decoder {
    PtxContext *context;
    struct tle_emu_module *module;
    const PtxFunction *source;
    Function *fn;
    VEC(Insn) code;
    int32_t *reg_codes;
    VEC(uint64_t) const_values; /* value, then wide or not */
    VEC(uint8_t) const_wide;
    Map const_narrow_map, const_wide_map;
    VEC(Fixup) fixups;
    uint32_t *statement_insn;
    /* of the statement at hand */
    const PtxStatement *s;
    uint64_t mods[PTX_MOD_WORDS];
    bool guarded, guard_negated;
    int32_t guard;
    uint32_t frame_bytes;
    int32_t false_code, true_code;
} Decoder;

#if defined(__GNUC__)
__attribute__((noreturn, format(printf, 2, 3)))
#endif
void decode_bad(Decoder *d, const char *format, ...);
#if defined(__GNUC__)
__attribute__((noreturn))
#endif
void decode_unsupported(Decoder *d);

bool decode_take(Decoder *d, PtxMod m);
/* The first of a list ended by MOD_NONE that is present; MOD_NONE if none. */
PtxMod decode_take_one(Decoder *d, const PtxMod *list);
PtxType decode_type(const Decoder *d, uint32_t k); /* TY_NONE past the end */
/* F_ flags and rounding from qualifiers; only those in `allowed` are taken. */
uint32_t decode_flags(Decoder *d, uint32_t allowed, Rounding *rounding);
void decode_operands(Decoder *d, uint32_t least, uint32_t most);
const Operand *decode_operand(Decoder *d, uint32_t k);

/* Operand codes. `bytes` is the size of the type: up to 4 a narrow plane, 8 a wide one. */
int32_t decode_src(Decoder *d, const Operand *o, PtxType type);
int32_t decode_dst(Decoder *d, const Operand *o, PtxType type);
int32_t decode_pred(Decoder *d, const Operand *o, bool *negated);
int32_t decode_pred_dst(Decoder *d, const Operand *o);
/* A register of whatever width: `bytes` gets 4 or 8. Immediates and symbols are made `want`. */
int32_t decode_any(Decoder *d, const Operand *o, uint32_t want, uint32_t *bytes);
int32_t decode_const(Decoder *d, uint64_t value, bool wide);
uint32_t decode_reg_bytes(const Decoder *d, const Operand *o);
/* A fresh narrow or wide plane of the frame. */
int32_t decode_temp(Decoder *d, bool wide);

/* Starts an instruction with guard, line and spelling set. */
Insn decode_begin(const Decoder *d, ExecFn *fn, InsnClass cls);
/* Adds it; the guard of the statement applies. */
Insn *decode_emit(Decoder *d, Insn in);
int32_t *decode_ext(Decoder *d, uint32_t count);

/* Takes a scope: .cta .cluster .gpu .sys, also .gl of membar; SCOPE_NONE if there is none. */
Scope decode_scope(Decoder *d);

/* Address operand into a, imm, flags. Returns the state space if the base names a variable. */
PtxSpace decode_address(Decoder *d, Insn *in, const Operand *o, PtxSpace space);

/* Qualifiers that are hints to caches. */
void decode_hints(Decoder *d);

typedef void DecodeFn(Decoder *d);
/* decode_mem.c */
DecodeFn dec_ld, dec_st, dec_atom, dec_red, dec_prefetch, dec_createpolicy, dec_discard;
/* decode_async.c */
DecodeFn dec_cp, dec_mbarrier, dec_st_async, dec_red_async;
/* decode_move.c */
DecodeFn dec_mov, dec_cvta, dec_isspacep, dec_setp, dec_set, dec_selp, dec_slct, dec_cvt;
DecodeFn dec_lop3, dec_dp4a, dec_dp2a, dec_mapa, dec_getctarank;
/* decode_ctl.c */
DecodeFn dec_bra, dec_brx, dec_call, dec_ret, dec_exit, dec_trap, dec_bar, dec_barrier, dec_fence;
DecodeFn dec_membar, dec_shfl, dec_vote, dec_match, dec_redux, dec_elect, dec_activemask;
DecodeFn dec_nanosleep, dec_nop, dec_setmaxnreg, dec_griddepcontrol;

/* decode_matrix.c */
DecodeFn dec_wgmma, dec_mma, dec_wmma, dec_ldmatrix, dec_stmatrix, dec_movmatrix;

/* decode_video.c */
DecodeFn dec_video, dec_cvt_pack, dec_fma_oob, dec_alloca, dec_stacksave, dec_stackrestore;
bool dec_is_video(const char *name);
void dec_mixed(Decoder *d, uint32_t op);
void dec_minmax3(Decoder *d, bool max);

/* cfg.c: finds where branches meet, inserts joins, resolves targets; `targets` are indices. */
void cfg_finish(Decoder *d);

#endif
