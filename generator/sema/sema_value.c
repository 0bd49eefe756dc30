/* Values and dtypes: makers, questions, and how they read in messages. */
#include "sema/sema_mesh.h"
#include <stdio.h>
#include <string.h>

typedef enum DClass { CLASS_NONE, CLASS_BOOL, CLASS_SIGNED, CLASS_UNSIGNED, CLASS_FLOAT } DClass;

typedef struct DInfo {
    const char *tl, *sig;
    IrElem elem;
    DClass class;
} DInfo;

static const DInfo dinfo[D_COUNT] = {
    [D_NONE] = {"void", "void", IR_ELEM_NONE, CLASS_NONE},
#define X(name, tl, sig, elem, class) [D_##name] = {tl, sig, IR_##elem, CLASS_##class},
#include "sema/dtype.def"
#undef X
};

static SVal of_kind(SKind kind) {
    SVal x;
    memset(&x, 0, sizeof x);
    x.kind = kind;
    return x;
}

SVal sv_error(void) {
    return of_kind(SV_ERROR);
}

SVal sv_none(void) {
    return of_kind(SV_NONE);
}

SVal sv_bool(bool value) {
    SVal x = of_kind(SV_BOOL);
    x.num.i = value;
    x.literal = true;
    return x;
}

SVal sv_int(int64_t value) {
    SVal x = of_kind(SV_INT);
    x.num.i = value;
    x.literal = true;
    return x;
}

SVal sv_float(double value) {
    SVal x = of_kind(SV_FLOAT);
    x.num.f = value;
    x.literal = true;
    return x;
}

SVal sv_str(Str text) {
    SVal x = of_kind(SV_STR);
    x.str = text;
    return x;
}

SVal sv_dtype(DType t) {
    SVal x = of_kind(SV_DTYPE);
    x.dtype = t;
    return x;
}

SVal sv_tuple(Sema *s, const SVal *items, uint32_t len) {
    SVal x = of_kind(SV_TUPLE);
    x.len = len;
    x.items = arena_array(s->arena, SVal, len ? len : 1);
    if (len)
        memcpy(x.items, items, len * sizeof *items);
    return x;
}

SVal sv_tensor(Sema *s, IrValue v, DType dtype) {
    SVal x = of_kind(SV_TENSOR);
    const IrTypeData *t = ir_type(s->m, ir_value_type(s->m, v));
    x.dtype = dtype;
    x.v = v;
    if (t->kind == IR_TILE) {
        int64_t *shape = arena_array(s->arena, int64_t, t->rank);
        memcpy(shape, t->shape, t->rank * sizeof *shape);
        x.rank = t->rank;
        x.shape = shape;
    }
    return x;
}

bool sv_is_number(SVal x) {
    return x.kind == SV_BOOL || x.kind == SV_INT || x.kind == SV_FLOAT;
}

bool sv_is_const(SVal x) {
    if (x.kind == SV_TUPLE) {
        for (uint32_t i = 0; i < x.len; i++)
            if (!sv_is_const(x.items[i]))
                return false;
        return true;
    }
    return sv_is_number(x) || x.kind == SV_NONE || x.kind == SV_STR || x.kind == SV_DTYPE;
}

DType dt(DBase base) {
    DType t = {(uint8_t)base, 0, 0};
    return t;
}

DType dt_ptr(DType pointee, uint8_t space) {
    DType t = {pointee.base, (uint8_t)(pointee.depth + 1), space};
    return t;
}

bool dt_equal(DType a, DType b) {
    return a.base == b.base && a.depth == b.depth && a.space == b.space;
}

bool dt_is_ptr(DType t) {
    return t.depth > 0;
}

static DClass class_of(DType t) {
    return t.depth ? CLASS_NONE : dinfo[t.base].class;
}

bool dt_is_float(DType t) {
    return class_of(t) == CLASS_FLOAT;
}

bool dt_is_int(DType t) {
    DClass c = class_of(t);
    return c == CLASS_BOOL || c == CLASS_SIGNED || c == CLASS_UNSIGNED;
}

bool dt_is_unsigned(DType t) {
    return class_of(t) == CLASS_UNSIGNED;
}

bool dt_is_signed(DType t) {
    return class_of(t) == CLASS_SIGNED;
}

uint32_t dt_bits(DType t) {
    return t.depth ? 64 : ir_elem_bits(dinfo[t.base].elem);
}

DType dt_pointee(DType t) {
    DType p = {t.base, (uint8_t)(t.depth - 1), (uint8_t)(t.depth > 1 ? IR_SPACE_GLOBAL : 0)};
    return p;
}

const char *dt_name(Sema *s, DType t) {
    StrBuf b;
    strbuf_init(&b, s->arena);
    for (unsigned i = 0; i < t.depth; i++)
        strbuf_addz(&b, "pointer<");
    strbuf_addz(&b, dinfo[t.base].tl);
    for (unsigned i = 0; i < t.depth; i++)
        strbuf_addc(&b, '>');
    return b.text;
}

bool dt_from_signature(const char *text, DType *out) {
    static const struct {
        const char *other, *sig;
    } aliases[] = {{"f16", "fp16"}, {"f32", "fp32"}, {"f64", "fp64"}, {"bf", "bf16"}};
    DType t = {0, 0, 0};
    while (*text == '*') {
        text++;
        t.depth++;
        t.space = IR_SPACE_GLOBAL;
    }
    if (t.depth > 4)
        return false;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (!strcmp(text, aliases[i].other))
            text = aliases[i].sig;
    for (unsigned i = 1; i < D_COUNT; i++) {
        if (!strcmp(text, dinfo[i].sig) || !strcmp(text, dinfo[i].tl)) {
            t.base = (uint8_t)i;
            *out = t;
            return true;
        }
    }
    return false;
}

IrType dt_ir(Sema *s, DType t) {
    if (t.depth) {
        DType inner = dt_pointee(t);
        /* Booleans take a byte in memory; loads and stores convert. */
        bool boolean = !inner.depth && inner.base == D_INT1;
        return ir_ptr(s->m, boolean ? ir_scalar(s->m, IR_I8) : dt_ir(s, inner), t.space);
    }
    return ir_scalar(s->m, dinfo[t.base].elem);
}

IrType sv_ir_type(Sema *s, DType t, uint32_t rank, const int64_t *shape) {
    IrType elem = dt_ir(s, t);
    return rank ? ir_tile(s->m, elem, rank, shape, 0) : elem;
}

static void add_shape(StrBuf *b, SVal x) {
    for (unsigned i = 0; i < x.rank; i++)
        strbuf_addf(b, "%s%lld", i ? ", " : "[", (long long)x.shape[i]);
    if (x.rank)
        strbuf_addc(b, ']');
}

static void describe(Sema *s, SVal x, StrBuf *b) {
    switch (x.kind) {
    case SV_ERROR:
        strbuf_addz(b, "an erroneous value");
        return;
    case SV_NONE:
        strbuf_addz(b, "None");
        return;
    case SV_BOOL:
        strbuf_addf(b, "the constant %s", x.num.i ? "True" : "False");
        return;
    case SV_INT:
        strbuf_addf(b, "the constant %lld", (long long)x.num.i);
        return;
    case SV_FLOAT:
        strbuf_addf(b, "the constant %g", x.num.f);
        return;
    case SV_STR:
        strbuf_addf(b, "the string '%s'", str_text(s->strings, x.str));
        return;
    case SV_DTYPE:
        strbuf_addf(b, "the %s %s", x.rank ? "type" : "dtype", dt_name(s, x.dtype));
        add_shape(b, x);
        return;
    case SV_TUPLE:
        strbuf_addf(b, "a tuple of %u", x.len);
        return;
    case SV_SLICE:
    case SV_ELLIPSIS:
        strbuf_addz(b, "a slice");
        return;
    case SV_TENSOR:
        strbuf_addz(b, dt_name(s, x.dtype));
        add_shape(b, x);
        return;
    case SV_BUFFER:
        strbuf_addf(b, "a %s buffer of %s", x.items ? "remote" : "shared", dt_name(s, x.dtype));
        add_shape(b, x);
        return;
    case SV_FUNCTION:
    case SV_BUILTIN:
    case SV_METHOD:
        strbuf_addz(b, "a function");
        return;
    case SV_NAMESPACE:
        strbuf_addf(b, "the module %s", sema_namespace_name(str_text(s->strings, x.str)));
        return;
    case SV_RANGE:
        strbuf_addz(b, "a range");
        return;
    case SV_MESH:
        strbuf_addz(b, mesh_text(s, x.mesh));
        return;
    case SV_DICT:
        strbuf_addf(b, "a dict of %u", x.len);
        return;
    }
}

const char *sv_describe(Sema *s, SVal x) {
    StrBuf b;
    strbuf_init(&b, s->arena);
    describe(s, x, &b);
    return b.text;
}

SVal sema_error(Sema *s, DiagCode code, Span at, const char *format, ...) {
    StrBuf b;
    va_list args;
    strbuf_init(&b, s->arena);
    va_start(args, format);
    strbuf_vaddf(&b, format, args);
    va_end(args);
    diag_error(s->diag, code, at, "%s", b.text);
    sema_context_notes(s);
    return sv_error();
}
