/* The stages of a compilation, see compile.h. */
#include "driver/compile.h"

#include "base/file.h"
#include "driver/imports.h"
#include "emit/meta.h"
#include "emit/ptx_count.h"
#include "parse/parse.h"

#include <string.h>
#include <time.h>

double compile_now_ms(void) {
    struct timespec t;

    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void report(const Compile *c, const char *stage, double ms) {
    if (c->request->on_time)
        c->request->on_time(c->request->user, stage, ms);
}

/* --- source --- */

static bool is_tir(const CompileRequest *r) {
    size_t n = strlen(r->path);

    return n > 4 && !strcmp(r->path + n - 4, ".tir");
}

bool compile_open(Compile *c, const CompileRequest *r, Arena *a) {
    Interner *strings = interner_new(a);

    *c = (Compile){
        .request = r, .arena = a, .source_name = source_display_name(r->source_root, r->path)};
    c->sources = sources_new(a);
    c->diag = diag_new(a, c->sources);
    c->source = file_read(a, r->path, &c->source_len);
    if (!c->source)
        return false;
    c->file = sources_add(c->sources, c->source_name, c->source, c->source_len);
    c->ast = ast_new(a, strings, c->sources);
    c->m = ir_module_new(a, strings, c->sources);
    return true;
}

bool compile_parse(Compile *c) {
    double start = compile_now_ms();
    bool ok = is_tir(c->request) ? ir_parse(c->m, c->file, c->diag) && ir_verify(c->m, c->diag)
                                 : parse_file(c->ast, c->file, c->diag);

    report(c, "lex/parse", compile_now_ms() - start);
    return ok;
}

/* --- TIR --- */

static bool specialise(Compile *c) {
    const CompileRequest *r = c->request;
    SemaRequest s = {.kernel = r->kernel,
                     .params = r->params.at,
                     .n_params = r->params.len,
                     .consts = r->consts.at,
                     .n_consts = r->consts.len,
                     .num_warps = r->num_warps,
                     .arch = r->target->name,
                     .sm = r->target->sm,
                     .import_root = r->import_root,
                     .source_root = r->source_root};
    double start = compile_now_ms();
    bool ok = sema_specialise(c->ast, &s, c->m, c->diag);

    if (ok && r->min_ctas)
        ir_set_int(c->m, ir_func(c->m, 0), IR_KEY_MIN_CTAS, r->min_ctas);
    report(c, "sema", compile_now_ms() - start);
    return ok;
}

bool compile_tir(Compile *c) {
    PassOptions o = c->request->pass;

    if (is_tir(c->request)) {
        if (!o.passes)
            return true;
        if (!strcmp(o.passes, "pipeline"))
            o.passes = NULL;
    } else if (!specialise(c)) {
        return false;
    }
    o.time = c->request->on_time != NULL;
    o.on_time = c->request->on_time;
    o.user = c->request->user;
    return pass_run(c->m, c->request->target, &o, c->diag);
}

Span compile_span(const Compile *c) {
    Span none = {0, 0, 0};

    return ir_func_count(c->m) ? ir_span(c->m, ir_func(c->m, 0)) : none;
}

const char *compile_kernel_name(const Compile *c) {
    return str_text(ir_strings(c->m), ir_str(c->m, ir_func(c->m, 0), IR_KEY_NAME));
}

/* --- code --- */

bool compile_ptx(Compile *c) {
    bool ok = cg_compile(c->m, c->request->target, &c->request->cg, c->arena, c->diag, &c->cg);

    report(c, "codegen", c->cg.ms_emit_ir);
    report(c, "llvm-opt", c->cg.ms_optimise);
    report(c, "llvm-emit", c->cg.ms_assembly);
    return ok;
}

bool compile_cubin(Compile *c, const char *ptxas) {
    PtxasOptions o = {ptxas, c->request->target->name, c->request->cg.line_info};
    double start = compile_now_ms();

    c->assembled =
        ptxas_run(c->arena, &o, c->cg.ptx, c->cg.ptx_len, compile_span(c), c->diag, &c->cubin);
    report(c, "ptxas", compile_now_ms() - start);
    return c->assembled;
}

/* --- metadata --- */

enum { GRID_BARRIER_BYTES = 16 }; /* the word that a barrier of the grid counts in */

static const char *elem_type_text(const Compile *c, IrType t) {
    static const char *const names[IR_ELEM_COUNT] = {
        [IR_I1] = "i1",    [IR_I8] = "i8",          [IR_I16] = "i16",      [IR_I32] = "i32",
        [IR_I64] = "i64",  [IR_F16] = "fp16",       [IR_BF16] = "bf16",    [IR_F32] = "fp32",
        [IR_F64] = "fp64", [IR_F8E4M3] = "fp8e4nv", [IR_F8E5M2] = "fp8e5",
    };
    const char *name = names[ir_type(c->m, t)->elem];

    return name ? name : "i8";
}

/* As the signature spells it (it knows unsigned types), else as the IR has it. */
static const char *param_type(const Compile *c, const char *name, IrType t) {
    const ParamList *sig = &c->request->params;
    StrBuf b;

    for (uint32_t i = 0; i < sig->len; i++)
        if (!strcmp(sig->at[i].name, name))
            return sig->at[i].type;
    if (!ir_is_ptr(c->m, t))
        return elem_type_text(c, t);
    strbuf_init(&b, c->arena);
    strbuf_addf(&b, "*%s", elem_type_text(c, ir_type(c->m, t)->of));
    return b.text;
}

static void fill_params(const Compile *c, Meta *m) {
    IrBlock body = ir_region_block(c->m, ir_func(c->m, 0), 0);
    uint32_t n = ir_arg_count(c->m, body);
    MetaParam *p = arena_array(c->arena, MetaParam, n + 1);

    for (uint32_t i = 0; i < n; i++) {
        IrValue arg = ir_arg(c->m, body, i);

        p[i].name = str_text(ir_strings(c->m), ir_value_name(c->m, arg));
        p[i].type = param_type(c, p[i].name, ir_value_type(c->m, arg));
        p[i].size = p[i].align = signature_size(p[i].type).bytes;
    }
    meta_place_params(p, n);
    m->params = p;
    m->n_params = n;
}

static void fill_consts(const Compile *c, Meta *m) {
    const ConstList *list = &c->request->consts;
    MetaConst *k = arena_array(c->arena, MetaConst, list->len + 1);

    for (uint32_t i = 0; i < list->len; i++)
        k[i] = (MetaConst){list->at[i].name, meta_const_json(c->arena, list->at[i].value)};
    m->consts = k;
    m->n_consts = list->len;
}

static void fill_launch(const Compile *c, Meta *m) {
    IrOp func = ir_func(c->m, 0);
    const IrAttrData *cluster = ir_attr(c->m, func, IR_KEY_CLUSTER);

    for (uint32_t g = 0; g < ir_group_count(c->m, func); g++) {
        const IrGroup *group = ir_group_at(c->m, func, g);
        uint32_t last = group->first_warp + group->num_warps;

        m->num_warps = last > m->num_warps ? last : m->num_warps;
    }
    m->threads = m->num_warps * 32;
    for (uint32_t i = 0; i < 3; i++)
        m->cluster[i] = cluster && i < cluster->len ? (uint32_t)cluster->ints[i] : 1;
    m->cooperative = ir_int(c->m, func, IR_KEY_COOPERATIVE, 0) != 0;
    m->dependent_launch =
        c->request->target->sm >= PASS_SM_CLUSTERS && ir_int(c->m, func, IR_KEY_DEPENDENT, 0);
    m->zeroed = m->cooperative ? GRID_BARRIER_BYTES : 0;
    m->shared_bytes = (uint32_t)ir_int(c->m, func, IR_KEY_SHARED_BYTES, 0);
}

static void hash_sources(const Compile *c, char hex[65]) {
    const char *root = is_tir(c->request) ? NULL : c->request->import_root;
    SourceSet set = imports_find(c->arena, c->request->path, c->source, c->source_len, root);

    imports_hash(&set, hex);
}

void compile_meta(const Compile *c, const CompileLabel *label, StrBuf *out) {
    char hash[65];
    Meta m = {.name = label->name,
              .op = label->op,
              .legal = label->legal,
              .meant = label->meant,
              .kernel = compile_kernel_name(c),
              .source = c->source_name,
              .source_sha256 = hash,
              .arch = c->request->target->name};

    hash_sources(c, hash);
    fill_launch(c, &m);
    fill_params(c, &m);
    fill_consts(c, &m);
    m.ptx_instructions = ptx_count(c->cg.ptx, c->cg.ptx_len);
    m.assembled = c->assembled;
    m.registers = c->cubin.registers;
    m.spill_bytes = c->cubin.spill_bytes;
    m.cubin_bytes = (uint32_t)c->cubin.cubin_len;
    meta_print(&m, out);
}
