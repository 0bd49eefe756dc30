/* Module, function and walk: what every operation has in common. The operations themselves are in
 * the cg_<group>.c files, found through cg.def. */
#include "codegen/cg_impl.h"
#include <llvm-c/Analysis.h>
#include <string.h>
#include <time.h>

/* --- values --- */

void cg_unsupported(Cg *c, IrOp op, const char *format, ...) {
    StrBuf text;
    va_list args;

    strbuf_init(&text, c->arena);
    va_start(args, format);
    strbuf_vaddf(&text, format, args);
    va_end(args);
    diag_error(c->diag, DIAG_CODEGEN_UNSUPPORTED, ir_span(c->m, op), "%s: %s",
               ir_mnemonic(ir_kind(c->m, op)), text.text);
    c->failed = true;
}

CgRegs cg_new_regs(Cg *c, uint32_t len) {
    CgRegs r = {arena_array(c->arena, V, len), len};

    return r;
}

bool cg_uses(const Cg *c, CgStrategy s) {
    return !(c->options->without >> s & 1);
}

const Layout *cg_layout(const Cg *c, IrType t) {
    const IrTypeData *type = ir_type(c->m, t);

    return type->kind == IR_TILE ? layout_get(ir_layouts(c->m), type->layout) : NULL;
}

CgRegs cg_new_regs_for(Cg *c, IrType t) {
    const Layout *l = cg_layout(c, t);

    return cg_new_regs(c, l ? layout_registers(l) : 1);
}

CgRegs cg_regs(Cg *c, IrValue v) {
    static const CgRegs none = {NULL, 0};

    return v < c->values.len ? c->values.data[v] : none;
}

CgRegs cg_operand(Cg *c, IrOp op, uint32_t i) {
    return cg_regs(c, ir_operand(c->m, op, i));
}

V cg_scalar(Cg *c, IrValue v) {
    return cg_regs(c, v).at[0];
}

void cg_set(Cg *c, IrValue v, CgRegs regs) {
    static const CgRegs none = {NULL, 0};

    while (c->values.len <= v)
        vec_push(c->arena, &c->values, none);
    c->values.data[v] = regs;
}

void cg_set_scalar(Cg *c, IrValue v, V x) {
    CgRegs r = cg_new_regs(c, 1);

    r.at[0] = x;
    cg_set(c, v, r);
}

LLVMBasicBlockRef cg_new_block(Cg *c, const char *name) {
    return LLVMAppendBasicBlockInContext(c->ctx, c->fn, name);
}

/* --- the walk --- */

CgElem *cg_elementwise(IrKind kind) {
    static CgElem *const table[IR_OP_COUNT] = {
#define OP(name, fn)
#define EACH(name, fn) [IR_OP_##name] = fn,
#include "codegen/cg.def"
#undef OP
#undef EACH
    };

    return table[kind];
}

static CgFn *whole_op(IrKind kind) {
    static CgFn *const table[IR_OP_COUNT] = {
#define OP(name, fn) [IR_OP_##name] = fn,
#define EACH(name, fn)
#include "codegen/cg.def"
#undef OP
#undef EACH
    };

    return table[kind];
}

/* A scalar operand of a tile operation (the condition of a select) serves every register. */
static void emit_elementwise(Cg *c, IrOp op, CgElem *fn) {
    IrValue result = ir_result(c->m, op, 0);
    uint32_t n = ir_operand_count(c->m, op);
    CgRegs out = cg_new_regs_for(c, ir_value_type(c->m, result));

    for (uint32_t r = 0; r < out.len && !c->failed; r++) {
        V x[4];

        for (uint32_t i = 0; i < n && i < 4; i++) {
            CgRegs in = cg_operand(c, op, i);

            x[i] = in.at[in.len == 1 ? 0 : r];
        }
        out.at[r] = fn(c, op, x);
    }
    cg_set(c, result, out);
}

/* Every tile must have a layout, over one CTA, by now. */
static bool check_type(Cg *c, IrOp op, IrType t) {
    const IrTypeData *type = ir_type(c->m, t);

    if (type->kind != IR_TILE)
        return true;
    if (!type->layout) {
        cg_unsupported(c, op, "a tile without a layout (was the layout pass run?)");
        return false;
    }
    const Layout *l = layout_get(ir_layouts(c->m), type->layout);
    if (l->bits[LAYOUT_CTA]) {
        cg_unsupported(c, op, "a tile that is distributed over the CTAs of a cluster");
        return false;
    }
    if (1u << l->bits[LAYOUT_WARP] != cg_warps(c, op) || l->bits[LAYOUT_LANE] != CG_WARP_BITS) {
        cg_unsupported(c, op, "a layout for %u warps in a group of %u", 1u << l->bits[LAYOUT_WARP],
                       cg_warps(c, op));
        return false;
    }
    return true;
}

static void emit_op(Cg *c, IrOp op) {
    IrKind kind = ir_kind(c->m, op);
    CgElem *each = cg_elementwise(kind);
    CgFn *whole = whole_op(kind);

    cg_debug_at(c, ir_span(c->m, op));
    for (uint32_t i = 0; i < ir_result_count(c->m, op); i++)
        if (!check_type(c, op, ir_value_type(c->m, ir_result(c->m, op, i))))
            return;
    if (each)
        emit_elementwise(c, op, each);
    else if (whole)
        whole(c, op);
    else
        cg_unsupported(c, op, "not supported by code generation");
}

void cg_block(Cg *c, IrBlock b) {
    for (IrOp op = ir_first(c->m, b); op && !c->failed; op = ir_next(c->m, op))
        if (!ir_trait(c->m, op, IR_TRAIT_TERMINATOR))
            emit_op(c, op);
}

/* --- the function --- */

static void function_attr(Cg *c, const char *name, const char *value) {
    LLVMAttributeRef a = LLVMCreateStringAttribute(c->ctx, name, (unsigned)strlen(name), value,
                                                   (unsigned)strlen(value));

    LLVMAddAttributeAtIndex(c->fn, CG_ON_FUNCTION, a);
}

static void function_flag(Cg *c, const char *name) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    LLVMAddAttributeAtIndex(c->fn, CG_ON_FUNCTION, LLVMCreateEnumAttribute(c->ctx, kind, 0));
}

/* The cluster is part of the launch, so the kernel may say it: the assembler then leaves out the
 * way that a launch without one would take at each of the cluster's barriers. */
static void cluster_bounds(Cg *c) {
    const IrAttrData *a = ir_attr(c->m, c->func, IR_KEY_CLUSTER);
    long long size[3] = {1, 1, 1};
    StrBuf text;

    for (uint32_t i = 0; a && i < 3 && i < a->len; i++)
        size[i] = (long long)a->ints[i];
    if (size[0] * size[1] * size[2] == 1)
        return;
    strbuf_init(&text, c->arena);
    strbuf_addf(&text, "%lld,%lld,%lld", size[0], size[1], size[2]);
    function_attr(c, "nvvm.cluster_dim", text.text);
}

static void launch_bounds(Cg *c) {
    uint32_t warps = 0;
    StrBuf text;

    for (uint32_t g = 0; g < ir_group_count(c->m, c->func); g++) {
        const IrGroup *group = ir_group_at(c->m, c->func, g);

        if (group->first_warp + group->num_warps > warps)
            warps = group->first_warp + group->num_warps;
    }
    strbuf_init(&text, c->arena);
    strbuf_addf(&text, "%u", warps * CG_WARP);
    function_attr(c, "nvvm.reqntid", text.text);
    if (ir_has(c->m, c->func, IR_KEY_MIN_CTAS)) {
        strbuf_init(&text, c->arena);
        strbuf_addf(&text, "%lld", (long long)ir_int(c->m, c->func, IR_KEY_MIN_CTAS, 1));
        function_attr(c, "nvvm.minctasm", text.text);
    }
    cluster_bounds(c);
}

/* i1 parameters travel as bytes. */
static LLVMTypeRef param_type(Cg *c, IrType t) {
    LLVMTypeRef type = cg_type(c, t);

    return type == c->i1 ? c->i8 : type;
}

static void param_alignment(Cg *c, uint32_t i, uint32_t bytes) {
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);

    LLVMAddAttributeAtIndex(c->fn, i + 1, LLVMCreateEnumAttribute(c->ctx, kind, bytes));
}

/* Tells LLVM that a parameter is a multiple of a power of two. */
static void assume_multiple(Cg *c, V x, uint32_t multiple) {
    LLVMTypeRef t = LLVMTypeOf(x);
    V low = LLVMBuildAnd(c->b, x, LLVMConstInt(t, multiple - 1, 0), "");
    V zero = LLVMBuildICmp(c->b, LLVMIntEQ, low, LLVMConstNull(t), "");

    cg_intrinsic(c, "llvm.assume", NULL, 0, &zero, 1);
}

static uint32_t power_of_two_factor(uint32_t x) {
    return x ? x & (~x + 1) : 1;
}

/* Elements are aligned to their size in any case. */
static uint32_t pointer_alignment(Cg *c, IrType t, uint32_t multiple) {
    uint32_t bytes = ir_elem_bytes(c->m, ir_type(c->m, t)->of);

    return multiple > bytes ? multiple : bytes;
}

static void bind_params(Cg *c, IrBlock body) {
    for (uint32_t i = 0; i < ir_arg_count(c->m, body); i++) {
        IrValue arg = ir_arg(c->m, body, i);
        IrType t = ir_value_type(c->m, arg);
        const char *name = str_text(ir_strings(c->m), ir_value_name(c->m, arg));
        uint32_t multiple = power_of_two_factor(ir_param_fact(c->m, c->func, i));
        V x = LLVMGetParam(c->fn, i);

        LLVMSetValueName2(x, name, strlen(name));
        if (cg_type(c, t) == c->i1)
            x = LLVMBuildTrunc(c->b, x, c->i1, "");
        if (ir_is_ptr(c->m, t))
            param_alignment(c, i, pointer_alignment(c, t, multiple));
        else if (multiple > 1 && LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMIntegerTypeKind)
            assume_multiple(c, x, multiple);
        cg_set_scalar(c, arg, x);
    }
}

static void declare_function(Cg *c, IrBlock body) {
    const char *name = str_text(ir_strings(c->m), ir_str(c->m, c->func, IR_KEY_NAME));
    uint32_t n = ir_arg_count(c->m, body);
    LLVMTypeRef *types = arena_array(c->arena, LLVMTypeRef, n + 1);

    for (uint32_t i = 0; i < n; i++)
        types[i] = param_type(c, ir_value_type(c->m, ir_arg(c->m, body, i)));
    c->fn = LLVMAddFunction(c->mod, name, LLVMFunctionType(c->none, types, n, 0));
    LLVMSetFunctionCallConv(c->fn, 71); /* ptx_kernel */
    function_flag(c, "nounwind");
    launch_bounds(c);
    c->smem = LLVMAddGlobalInAddressSpace(c->mod, LLVMArrayType2(c->i8, 0), "smem", 3);
    LLVMSetLinkage(c->smem, LLVMExternalLinkage);
    LLVMSetAlignment(c->smem, 1024);
    cg_debug_function(c, name, ir_span(c->m, c->func));
}

static void emit_function(Cg *c) {
    IrBlock body = ir_region_block(c->m, c->func, 0);

    declare_function(c, body);
    LLVMBasicBlockRef entry = cg_new_block(c, "entry"), start = cg_new_block(c, "body");
    LLVMPositionBuilderAtEnd(c->entry, entry);
    LLVMPositionBuilderBefore(c->entry, LLVMBuildBr(c->entry, start));
    LLVMPositionBuilderAtEnd(c->b, start);
    cg_debug_at(c, ir_span(c->m, c->func));
    cg_threads_begin(c);
    bind_params(c, body);
    cg_block(c, body);
    if (!c->failed)
        LLVMBuildRetVoid(c->b);
    if (c->di)
        LLVMDIBuilderFinalize(c->di);
}

/* --- the compilation --- */

static void on_llvm_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
    Cg *c = user;
    char *text = LLVMGetDiagInfoDescription(info);

    if (LLVMGetDiagInfoSeverity(info) == LLVMDSError) {
        diag_error(c->diag, DIAG_CODEGEN_LLVM, ir_span(c->m, c->func), "LLVM says: %s", text);
        c->failed = true;
    }
    LLVMDisposeMessage(text);
}

static const char *module_text(Cg *c) {
    char *text = LLVMPrintModuleToString(c->mod);
    const char *copy = arena_strndup(c->arena, text, strlen(text));

    LLVMDisposeMessage(text);
    return copy;
}

static bool verify_llvm(Cg *c) {
    char *why = NULL;
    bool bad = LLVMVerifyModule(c->mod, LLVMReturnStatusAction, &why);

    if (bad)
        diag_error(c->diag, DIAG_CODEGEN_LLVM, ir_span(c->m, c->func), "invalid LLVM IR: %s", why);
    LLVMDisposeMessage(why);
    return !bad;
}

static double now_ms(void) {
    struct timespec t;

    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void lap(double *at, double *out) {
    double now = now_ms();

    *out = now - *at;
    *at = now;
}

static bool run(Cg *c, LLVMTargetMachineRef machine, CgResult *out) {
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    double at = now_ms();

    LLVMSetModuleDataLayout(c->mod, layout);
    LLVMDisposeTargetData(layout);
    LLVMSetTarget(c->mod, "nvptx64-nvidia-cuda");
    if (c->options->line_info)
        cg_debug_begin(c);
    emit_function(c);
    if (c->failed)
        return false;
    if (c->options->want_llvm)
        out->llvm = module_text(c);
    if (!verify_llvm(c))
        return false;
    lap(&at, &out->ms_emit_ir);
    if (!cg_optimise(c, machine) || c->failed)
        return false;
    if (c->options->want_llvm)
        out->llvm_opt = module_text(c);
    lap(&at, &out->ms_optimise);
    bool ok = cg_assembly(c, machine, out) && !c->failed;
    lap(&at, &out->ms_assembly);
    return ok;
}

static void open_cg(Cg *c) {
    const char *name = str_text(ir_strings(c->m), ir_str(c->m, c->func, IR_KEY_NAME));

    c->ctx = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(c->ctx, on_llvm_diagnostic, c);
    c->mod = LLVMModuleCreateWithNameInContext(name, c->ctx);
    c->b = LLVMCreateBuilderInContext(c->ctx);
    c->entry = LLVMCreateBuilderInContext(c->ctx);
    cg_init_types(c);
}

static void close_cg(Cg *c) {
    if (c->di)
        LLVMDisposeDIBuilder(c->di);
    LLVMDisposeBuilder(c->entry);
    LLVMDisposeBuilder(c->b);
    LLVMDisposeModule(c->mod);
    LLVMContextDispose(c->ctx);
}

bool cg_compile(IrModule *m, const PassTarget *target, const CgOptions *o, Arena *a, Diag *d,
                CgResult *out) {
    Span nowhere = {0, 0, 0};
    Cg c = {.m = m, .target = target, .options = o, .arena = a, .diag = d};
    char *why = NULL;

    if (ir_func_count(m) != 1) {
        diag_error(d, DIAG_CODEGEN_UNSUPPORTED, nowhere, "a module of %u functions, expected one",
                   ir_func_count(m));
        return false;
    }
    c.func = ir_func(m, 0);
    LLVMTargetMachineRef machine = cg_machine(target, o->opt_level, &why);
    if (!machine) {
        diag_error(d, DIAG_CODEGEN_LLVM, ir_span(m, c.func), "no LLVM target for %s: %s",
                   target->name, why ? why : "unknown");
        LLVMDisposeMessage(why);
        return false;
    }
    open_cg(&c);
    bool ok = run(&c, machine, out);
    close_cg(&c);
    LLVMDisposeTargetMachine(machine);
    return ok;
}
