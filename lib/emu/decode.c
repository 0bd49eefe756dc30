/* Decoding: operands to codes, simple instructions by the rows of insns.def, others by name. */
#include "decode.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SCRATCH_BYTES 256u

void decode_bad(Decoder *d, const char *format, ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ptx_fail(d->context, TLE_EMU_BAD_PTX, d->s->line, "%s: %s",
             ptx_name(d->context, d->s->spelling), text);
}

void decode_unsupported(Decoder *d) {
    ptx_fail(d->context, TLE_EMU_NOT_SUPPORTED, d->s->line, "not supported: %s at line %u",
             ptx_name(d->context, d->s->spelling), d->s->line);
}

/* ---- qualifiers --------------------------------------------------------------------------- */

bool decode_take(Decoder *d, PtxMod m) {
    uint64_t bit = (uint64_t)1 << (m % 64);
    bool had = d->mods[m / 64] & bit;
    d->mods[m / 64] &= ~bit;
    return had;
}

static bool has(const Decoder *d, PtxMod m) {
    return m == MOD_NONE || (d->mods[m / 64] >> (m % 64) & 1);
}

PtxMod decode_take_one(Decoder *d, const PtxMod *list) {
    for (; *list != MOD_NONE; list++)
        if (decode_take(d, *list))
            return *list;
    return MOD_NONE;
}

PtxType decode_type(const Decoder *d, uint32_t k) {
    return k < d->s->type_count ? (PtxType)d->s->types[k] : TY_NONE;
}

uint32_t decode_flags(Decoder *d, uint32_t allowed, Rounding *rounding) {
    static const struct {
        PtxMod mod;
        uint32_t flag;
    } table[] = {{MOD_FTZ, F_FTZ},          {MOD_SAT, F_SAT},         {MOD_RELU, F_RELU},
                 {MOD_NAN_, F_NAN},         {MOD_XORSIGN, F_XORSIGN}, {MOD_CC, F_CC},
                 {MOD_CLAMP, F_CLAMP},      {MOD_APPROX, F_APPROX},   {MOD_SATFINITE, F_SATFINITE},
                 {MOD_SHIFTAMT, F_SHIFTAMT}};
    static const struct {
        PtxMod mod;
        Rounding r;
    } modes[] = {{MOD_RN, ROUND_RN}, {MOD_RZ, ROUND_RZ}, {MOD_RM, ROUND_RM}, {MOD_RP, ROUND_RP}};
    uint32_t flags = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if ((allowed & table[i].flag) && decode_take(d, table[i].mod))
            flags |= table[i].flag;
    if (allowed & F_XORSIGN)
        decode_take(d, MOD_ABS);
    if (allowed & F_CLAMP)
        decode_take(d, MOD_WRAP);
    for (int i = 0; i < 4 && (allowed & (F_ROUND | F_NEAREST)); i++)
        if ((i == 0 || (allowed & F_ROUND)) && decode_take(d, modes[i].mod))
            *rounding = modes[i].r;
    return flags;
}

static void check_all_taken(Decoder *d) {
    for (uint32_t i = 0; i < PTX_MOD_WORDS; i++)
        if (d->mods[i])
            decode_unsupported(d);
}

/* ---- operands ----------------------------------------------------------------------------- */

void decode_operands(Decoder *d, uint32_t least, uint32_t most) {
    if (d->s->operand_count < least || d->s->operand_count > most)
        decode_bad(d, "%u operands, expected %u", d->s->operand_count, least);
}

const Operand *decode_operand(Decoder *d, uint32_t k) {
    if (k >= d->s->operand_count)
        decode_bad(d, "operand %u is missing", k + 1);
    return &d->s->operands[k];
}

static uint32_t plane_bytes(PtxType t) {
    return t == TY_PRED ? 4 : ptx_type_bytes(t) <= 4 ? 128 : ptx_type_bytes(t) == 8 ? 256 : 512;
}

static uint32_t width_of(PtxType t) {
    return ptx_type_bytes(t) <= 4 ? 4 : ptx_type_bytes(t);
}

int32_t decode_temp(Decoder *d, bool wide) {
    uint32_t at = (d->frame_bytes + 63) & ~63u;
    d->frame_bytes = at + (wide ? 256 : 128);
    return (int32_t)at;
}

int32_t decode_const(Decoder *d, uint64_t value, bool wide) {
    Map *m = wide ? &d->const_wide_map : &d->const_narrow_map;
    uint32_t at = map_find(m, value, 0);
    if (!at) {
        vec_push(d->context->arena, &d->const_values, value);
        vec_push(d->context->arena, &d->const_wide, (uint8_t)wide);
        at = d->const_values.len;
        map_put(m, value, at);
    }
    return (int32_t)((at - 1) * 256) | 1;
}

uint32_t decode_reg_bytes(const Decoder *d, const Operand *o) {
    return width_of(d->source->regs.data[o->reg].type);
}

static uint64_t float_value(PtxType type, const Operand *o) {
    uint64_t bits = (uint64_t)o->value;
    float f;
    double v;
    if ((o->kind == OPND_FLOAT32) == (ptx_type_bytes(type) == 4))
        return bits;
    if (o->kind == OPND_FLOAT32) {
        uint32_t narrow = (uint32_t)bits;
        memcpy(&f, &narrow, sizeof f);
        v = (double)f;
        memcpy(&bits, &v, sizeof v);
        return bits;
    }
    memcpy(&v, &bits, sizeof v);
    f = (float)v;
    uint32_t narrow;
    memcpy(&narrow, &f, sizeof f);
    return narrow;
}

static const struct {
    const char *name;
    uint32_t bytes;
} special_table[SREG_COUNT] = {
#define X(id, text, bytes) {text, bytes},
#include "special.def"
#undef X
};

static int32_t special(Decoder *d, const Operand *o, bool wide) {
    const char *name = ptx_name(d->context, o->name);
    for (uint32_t i = 0; i < SREG_COUNT; i++) {
        if (strcmp(name, special_table[i].name) != 0)
            continue;
        Insn in = decode_begin(d, x_mov_special, CLASS_MOVE);
        in.d = decode_temp(d, wide);
        in.sub = (uint8_t)i;
        in.sub2 = o->element;
        in.type = special_table[i].bytes == 1 ? TY_PRED : TY_B32;
        in.flags = wide ? F_WIDE64 : 0;
        in.guarded = false;
        decode_emit(d, in);
        return in.d;
    }
    ptx_fail(d->context, TLE_EMU_NOT_SUPPORTED, d->s->line, "not supported: %s at line %u", name,
             d->s->line);
}

static bool is_kernel_param(const Decoder *d, uint32_t var) {
    for (uint32_t i = 0; d->source->is_entry && i < d->source->params.len; i++)
        if (d->source->params.data[i] == var)
            return true;
    return false;
}

/* The address of a variable as a value. */
static int32_t symbol(Decoder *d, const Operand *o, bool wide) {
    const PtxVar *v = &d->module->ptx->vars.data[o->var];
    uint64_t address = v->address + (uint64_t)o->value;
    if (v->space == SPACE_LOCAL || v->space == SPACE_PARAM) {
        bool param = is_kernel_param(d, o->var);
        if (param && !wide)
            decode_bad(d, "address of a kernel parameter needs 64 bits");
        Insn in = decode_begin(d, param ? x_mov_param : x_mov_frame, CLASS_MOVE);
        in.d = decode_temp(d, wide);
        in.imm = (int64_t)address;
        in.flags = wide ? F_WIDE64 : 0;
        in.guarded = false;
        decode_emit(d, in);
        return in.d;
    }
    return decode_const(d, wide ? address : (uint32_t)address, wide);
}

static int32_t function_address(Decoder *d, const Operand *o, bool wide) {
    uint32_t id = map_find(&d->module->ptx->function_ids, o->name, 0);
    if (!id || !wide)
        decode_bad(d, "unknown name '%s'", ptx_name(d->context, o->name));
    return decode_const(d, FUNC_WINDOW | (id - 1), true);
}

static int32_t value_code(Decoder *d, const Operand *o, PtxType type, bool wide) {
    uint64_t v = (uint64_t)o->value;
    switch (o->kind) {
    case OPND_INT:
        return decode_const(d, wide ? v : (uint32_t)v, wide);
    case OPND_FLOAT32:
    case OPND_FLOAT64:
        return decode_const(d, float_value(type, o), wide);
    case OPND_SPECIAL:
        return special(d, o, wide);
    case OPND_SYMBOL:
        return symbol(d, o, wide);
    case OPND_NAME:
        return function_address(d, o, wide);
    default:
        decode_bad(d, "operand of the wrong kind");
    }
}

int32_t decode_src(Decoder *d, const Operand *o, PtxType type) {
    if (o->kind == OPND_REG) {
        if (decode_reg_bytes(d, o) != width_of(type) ||
            d->source->regs.data[o->reg].type == TY_PRED)
            decode_bad(d, "register of the wrong size for .%s", ptx_type_text(type));
        return d->reg_codes[o->reg];
    }
    return value_code(d, o, type, width_of(type) == 8);
}

int32_t decode_dst(Decoder *d, const Operand *o, PtxType type) {
    if (o->kind == OPND_SINK)
        return SINK;
    if (o->kind != OPND_REG)
        decode_bad(d, "destination is not a register");
    if (decode_reg_bytes(d, o) != width_of(type) || d->source->regs.data[o->reg].type == TY_PRED)
        decode_bad(d, "destination register of the wrong size for .%s", ptx_type_text(type));
    return d->reg_codes[o->reg];
}

int32_t decode_any(Decoder *d, const Operand *o, uint32_t want, uint32_t *bytes) {
    *bytes = want;
    if (o->kind == OPND_SINK)
        return SINK;
    if (o->kind == OPND_REG) {
        if (d->source->regs.data[o->reg].type == TY_PRED)
            decode_bad(d, "predicate register where a value is expected");
        *bytes = decode_reg_bytes(d, o);
        return d->reg_codes[o->reg];
    }
    return value_code(d, o, want == 8 ? TY_B64 : TY_B32, want == 8);
}

int32_t decode_pred(Decoder *d, const Operand *o, bool *negated) {
    *negated = o->negated;
    if (o->kind == OPND_INT)
        return o->value ? d->true_code : d->false_code;
    if (o->kind == OPND_SPECIAL)
        return special(d, o, false);
    if (o->kind != OPND_REG || d->source->regs.data[o->reg].type != TY_PRED)
        decode_bad(d, "operand is not a predicate");
    return d->reg_codes[o->reg];
}

int32_t decode_pred_dst(Decoder *d, const Operand *o) {
    if (!o || o->kind == OPND_SINK)
        return SINK;
    if (o->kind != OPND_REG || d->source->regs.data[o->reg].type != TY_PRED)
        decode_bad(d, "destination is not a predicate");
    return d->reg_codes[o->reg];
}

PtxSpace decode_address(Decoder *d, Insn *in, const Operand *o, PtxSpace space) {
    uint32_t bytes;
    if (o->kind != OPND_MEM || !o->base)
        decode_bad(d, "operand is not an address");
    in->imm = o->value;
    const Operand *base = o->base;
    if (base->kind == OPND_REG) {
        in->a = decode_any(d, base, 8, &bytes);
        in->flags |= bytes == 8 ? F_ADDR64 : 0;
        if (bytes == 4 && space == SPACE_GENERIC)
            decode_bad(d, "generic address in a 32-bit register");
        return space;
    }
    in->flags |= F_NO_BASE;
    if (base->kind == OPND_INT) {
        in->imm += base->value;
        return space;
    }
    if (base->kind != OPND_SYMBOL)
        decode_bad(d, "address of an unknown name");
    const PtxVar *v = &d->module->ptx->vars.data[base->var];
    in->imm += (int64_t)v->address;
    if (v->space == SPACE_LOCAL || (v->space == SPACE_PARAM && !is_kernel_param(d, base->var))) {
        in->flags |= F_FRAME;
        return SPACE_LOCAL;
    }
    if (space == SPACE_GENERIC && v->space == SPACE_SHARED)
        in->imm |= (int64_t)SHARED_WINDOW;
    return v->space == SPACE_PARAM ? SPACE_PARAM : space == SPACE_GENERIC ? space : v->space;
}

/* ---- emitting ----------------------------------------------------------------------------- */

Insn decode_begin(const Decoder *d, ExecFn *fn, InsnClass cls) {
    Insn in = {.fn = fn, .cls = (uint8_t)cls, .line = d->s->line, .loc = d->s->loc};
    in.guarded = d->guarded;
    in.guard_negated = d->guard_negated;
    in.guard = (uint32_t)d->guard;
    in.spelling = ptx_name(d->context, d->s->spelling);
    return in;
}

Insn *decode_emit(Decoder *d, Insn in) {
    vec_push(d->context->arena, &d->code, in);
    return &d->code.data[d->code.len - 1];
}

int32_t *decode_ext(Decoder *d, uint32_t count) {
    return arena_array(d->context->arena, int32_t, count + 1);
}

/* ---- simple instructions ------------------------------------------------------------------ */

typedef struct Row {
    const char *mnemonic;
    PtxMod m1, m2;
    PtxType type;
    ExecFn *fn;
    const char *operands;
    uint8_t sub;
    uint32_t flags;
    InsnClass cls;
} Row;

static const Row rows[] = {
#define S(mnemonic, m1, m2, type, fn, operands, sub, flags, cls)                                   \
    {#mnemonic, MOD_##m1, MOD_##m2, TY_##type, x_##fn, operands, sub, flags, CLASS_##cls},
#include "insns.def"
#undef S
};

static PtxType double_width(PtxType t) {
    return ptx_type_bytes(t) == 2 ? TY_B32 : TY_B64;
}

static int32_t row_operand(Decoder *d, const Row *r, char kind, const Operand *o) {
    bool negated = false;
    int32_t code;
    switch (kind) {
    case 'D':
        return decode_dst(d, o, r->type);
    case 'W':
        return decode_dst(d, o, double_width(r->type));
    case 'I':
        return decode_dst(d, o, TY_B32);
    case 'P':
        return decode_pred_dst(d, o);
    case 'A':
        return decode_src(d, o, r->type);
    case 'w':
        return decode_src(d, o, double_width(r->type));
    case 'U':
        return decode_src(d, o, TY_B32);
    default:
        code = decode_pred(d, o, &negated);
        if (negated)
            decode_unsupported(d);
        return code;
    }
}

static void decode_row(Decoder *d, const Row *r) {
    Insn in = {0};
    Rounding rounding = ROUND_RN;
    uint32_t n = (uint32_t)strlen(r->operands);
    int32_t codes[5] = {0}, d2 = 0;
    uint32_t flags;
    if (r->m1 != MOD_NONE)
        decode_take(d, r->m1);
    if (r->m2 != MOD_NONE)
        decode_take(d, r->m2);
    flags = decode_flags(d, r->flags, &rounding);
    decode_operands(d, n, n);
    for (uint32_t k = 0; k < n; k++)
        codes[k] = row_operand(d, r, r->operands[k], decode_operand(d, k));
    in = decode_begin(d, r->fn, r->cls);
    in.d = codes[0];
    in.d2 = d2;
    in.a = codes[1];
    in.b = codes[2];
    in.c = codes[3];
    in.e = codes[4];
    in.type = (uint8_t)r->type;
    in.sub = r->sub;
    in.flags = flags | (r->m1 == MOD_CC || r->m2 == MOD_CC ? F_CC : 0);
    in.rounding = (uint8_t)rounding;
    decode_emit(d, in);
}

static bool decode_simple(Decoder *d) {
    const char *name = ptx_name(d->context, d->s->opcode);
    PtxType type = decode_type(d, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == type && !strcmp(rows[i].mnemonic, name) && has(d, rows[i].m1) &&
            has(d, rows[i].m2)) {
            if (d->s->type_count != 1)
                decode_unsupported(d);
            decode_row(d, &rows[i]);
            return true;
        }
    return false;
}

static const struct {
    const char *mnemonic;
    DecodeFn *decode;
} special_decoders[] = {
    {"ld", dec_ld},
    {"ldu", dec_ld},
    {"st", dec_st},
    {"atom", dec_atom},
    {"red", dec_red},
    {"prefetch", dec_prefetch},
    {"prefetchu", dec_prefetch},
    {"applypriority", dec_discard},
    {"discard", dec_discard},
    {"cp", dec_cp},
    {"createpolicy", dec_createpolicy},
    {"mov", dec_mov},
    {"cvta", dec_cvta},
    {"isspacep", dec_isspacep},
    {"setp", dec_setp},
    {"set", dec_set},
    {"selp", dec_selp},
    {"slct", dec_slct},
    {"cvt", dec_cvt},
    {"lop3", dec_lop3},
    {"dp4a", dec_dp4a},
    {"dp2a", dec_dp2a},
    {"mapa", dec_mapa},
    {"getctarank", dec_getctarank},
    {"bra", dec_bra},
    {"brx", dec_brx},
    {"call", dec_call},
    {"ret", dec_ret},
    {"exit", dec_exit},
    {"trap", dec_trap},
    {"brkpt", dec_trap},
    {"bar", dec_bar},
    {"barrier", dec_barrier},
    {"fence", dec_fence},
    {"membar", dec_membar},
    {"shfl", dec_shfl},
    {"vote", dec_vote},
    {"match", dec_match},
    {"redux", dec_redux},
    {"elect", dec_elect},
    {"activemask", dec_activemask},
    {"nanosleep", dec_nanosleep},
    {"mbarrier", dec_mbarrier},
    {"pmevent", dec_nop},
    {"setmaxnreg", dec_setmaxnreg},
    {"griddepcontrol", dec_griddepcontrol},
    {"wgmma", dec_wgmma},
    {"mma", dec_mma},
    {"wmma", dec_wmma},
    {"ldmatrix", dec_ldmatrix},
    {"stmatrix", dec_stmatrix},
    {"movmatrix", dec_movmatrix},
    {"alloca", dec_alloca},
    {"stacksave", dec_stacksave},
    {"stackrestore", dec_stackrestore},
};

/* Forms of simple instructions that have no row: three operands for two, two types for one. */
static bool decode_variant(Decoder *d, const char *name) {
    static const char *const mixed[] = {"add", "sub", "fma"};
    PtxType t = decode_type(d, 0), second = decode_type(d, 1);
    bool max = !strcmp(name, "max");
    if (t == TY_F32 && d->s->type_count == 1 && d->s->operand_count == 4 &&
        (max || !strcmp(name, "min"))) {
        dec_minmax3(d, max);
        return true;
    }
    for (uint32_t k = 0; k < 3; k++)
        if (t == TY_F32 && d->s->type_count == 2 && (second == TY_F16 || second == TY_BF16) &&
            !strcmp(name, mixed[k])) {
            dec_mixed(d, k);
            return true;
        }
    if (has(d, MOD_OOB) && !strcmp(name, "fma")) {
        dec_fma_oob(d);
        return true;
    }
    return false;
}

static void decode_statement(Decoder *d) {
    const char *name = ptx_name(d->context, d->s->opcode);
    if (d->s->order_count == 0xff)
        decode_unsupported(d);
    if (dec_is_video(name)) {
        dec_video(d);
        check_all_taken(d);
        return;
    }
    for (size_t i = 0; i < sizeof special_decoders / sizeof *special_decoders; i++)
        if (!strcmp(special_decoders[i].mnemonic, name)) {
            special_decoders[i].decode(d);
            check_all_taken(d);
            return;
        }
    if (!decode_variant(d, name) && !decode_simple(d))
        decode_unsupported(d);
    check_all_taken(d);
}

/* ---- functions ---------------------------------------------------------------------------- */

static void place_registers(Decoder *d) {
    const PtxFunction *f = d->source;
    uint32_t at = SCRATCH_BYTES;
    d->reg_codes = arena_array(d->context->arena, int32_t, f->regs.len + 1);
    for (uint32_t i = 0; i < f->regs.len; i++)
        if (f->regs.data[i].type != TY_PRED) {
            d->reg_codes[i] = (int32_t)at;
            at += plane_bytes(f->regs.data[i].type);
        }
    d->true_code = 0;
    for (uint32_t i = 0; i < f->regs.len; i++)
        if (f->regs.data[i].type == TY_PRED) {
            d->reg_codes[i] = (int32_t)at;
            at += 4;
        }
    d->frame_bytes = at;
}

static void make_constants(Decoder *d) {
    uint32_t n = d->const_values.len;
    uint8_t *room = arena_alloc(d->context->arena, (size_t)n * 256 + 64);
    d->fn->consts = room + (64 - ((uintptr_t)room & 63));
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < LANES; k++) {
            uint64_t v = d->const_values.data[i];
            uint32_t narrow = (uint32_t)v;
            uint8_t *at = d->fn->consts + (size_t)i * 256;
            if (d->const_wide.data[i])
                memcpy(at + 8 * k, &v, 8);
            else
                memcpy(at + 4 * k, &narrow, 4);
        }
}

static void set_statement(Decoder *d, uint32_t i) {
    d->s = &d->source->statements.data[i];
    d->statement_insn[i] = d->code.len;
    memcpy(d->mods, d->s->mods, sizeof d->mods);
    d->guarded = d->s->guarded;
    d->guard_negated = d->s->guard_negated;
    d->guard = d->guarded ? d->reg_codes[d->s->guard] : 0;
}

static void emit_end(Decoder *d) {
    PtxStatement end = {.line = d->s ? d->s->line : d->source->line};
    d->s = &end;
    d->guarded = false;
    Insn in = decode_begin(d, d->source->is_entry ? x_exit : x_ret, CLASS_CONTROL);
    in.ends = d->source->is_entry ? INSN_EXIT : INSN_RETURN;
    in.spelling = "end of the function";
    decode_emit(d, in);
}

static void decode_function(struct tle_emu_module *m, PtxContext *c, Function *f) {
    Decoder *d = arena_new_of(c->arena, Decoder);
    uint32_t n = f->source->statements.len;
    d->context = c;
    d->module = m;
    d->source = f->source;
    d->fn = f;
    map_init(&d->const_narrow_map, c->arena);
    map_init(&d->const_wide_map, c->arena);
    place_registers(d);
    d->false_code = decode_const(d, 0, false);
    d->true_code = decode_const(d, 0xffffffffu, false);
    d->statement_insn = arena_array(c->arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        set_statement(d, i);
        decode_statement(d);
    }
    d->statement_insn[n] = d->code.len;
    emit_end(d);
    cfg_finish(d);
    make_constants(d);
    f->frame_bytes = (d->frame_bytes + 63) & ~63u;
}

void decode_module(struct tle_emu_module *m, PtxContext *c) {
    for (uint32_t k = 0; k < m->ptx->functions.len; k++)
        if (m->functions[k].source->has_body)
            decode_function(m, c, &m->functions[k]);
}
