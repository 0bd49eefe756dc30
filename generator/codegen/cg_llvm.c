/* LLVM-C in short form: types, constants, intrinsics, inline PTX, memory, debug locations. */
#include "codegen/cg_impl.h"
#include <string.h>

/* --- types and constants --- */

void cg_init_types(Cg *c) {
    c->none = LLVMVoidTypeInContext(c->ctx);
    c->i1 = LLVMInt1TypeInContext(c->ctx);
    c->i8 = LLVMInt8TypeInContext(c->ctx);
    c->i16 = LLVMInt16TypeInContext(c->ctx);
    c->i32 = LLVMInt32TypeInContext(c->ctx);
    c->i64 = LLVMInt64TypeInContext(c->ctx);
    c->f16 = LLVMHalfTypeInContext(c->ctx);
    c->bf16 = LLVMBFloatTypeInContext(c->ctx);
    c->f32 = LLVMFloatTypeInContext(c->ctx);
    c->f64 = LLVMDoubleTypeInContext(c->ctx);
}

LLVMTypeRef cg_elem_llvm(const Cg *c, IrElem e) {
    switch (e) {
    case IR_I1:
        return c->i1;
    case IR_I8:
    case IR_F8E4M3:
    case IR_F8E5M2:
        return c->i8;
    case IR_I16:
        return c->i16;
    case IR_I32:
        return c->i32;
    case IR_I64:
        return c->i64;
    case IR_F16:
        return c->f16;
    case IR_BF16:
        return c->bf16;
    case IR_F32:
        return c->f32;
    case IR_F64:
        return c->f64;
    case IR_ELEM_NONE:
    case IR_ELEM_COUNT:
        break;
    }
    return c->none;
}

LLVMTypeRef cg_type(const Cg *c, IrType t) {
    const IrTypeData *type = ir_type(c->m, t);

    if (type->kind == IR_BUF)
        return LLVMPointerTypeInContext(c->ctx, IR_SPACE_SHARED);
    type = ir_type(c->m, ir_elem_type(c->m, t));
    if (type->kind == IR_PTR)
        return LLVMPointerTypeInContext(c->ctx, type->space);
    return cg_elem_llvm(c, type->elem);
}

unsigned cg_bits(const Cg *c, LLVMTypeRef t) {
    if (LLVMGetTypeKind(t) == LLVMPointerTypeKind)
        return LLVMGetPointerAddressSpace(t) == IR_SPACE_GLOBAL ? 64 : 32;
    if (LLVMGetTypeKind(t) == LLVMIntegerTypeKind)
        return LLVMGetIntTypeWidth(t);
    return t == c->f64 ? 64 : t == c->f32 ? 32 : 16;
}

LLVMTypeRef cg_int_type(const Cg *c, unsigned bits) {
    return LLVMIntTypeInContext(c->ctx, bits);
}

V cg_i32(const Cg *c, uint32_t x) {
    return LLVMConstInt(c->i32, x, 0);
}

V cg_const(const Cg *c, LLVMTypeRef t, int64_t x) {
    (void)c;
    return LLVMConstInt(t, (unsigned long long)x, 1);
}

bool cg_is_true(V x) {
    return LLVMIsAConstantInt(x) && LLVMConstIntGetZExtValue(x) == 1;
}

V cg_to_int(Cg *c, V x) {
    LLVMTypeRef t = LLVMTypeOf(x);

    if (LLVMGetTypeKind(t) == LLVMIntegerTypeKind)
        return x;
    if (LLVMGetTypeKind(t) == LLVMPointerTypeKind)
        return LLVMBuildPtrToInt(c->b, x, cg_int_type(c, cg_bits(c, t)), "");
    return LLVMBuildBitCast(c->b, x, cg_int_type(c, cg_bits(c, t)), "");
}

V cg_from_int(Cg *c, V x, LLVMTypeRef t) {
    if (LLVMTypeOf(x) == t)
        return x;
    if (LLVMGetTypeKind(t) == LLVMPointerTypeKind)
        return LLVMBuildIntToPtr(c->b, x, t, "");
    return LLVMBuildBitCast(c->b, x, t, "");
}

/* --- calls --- */

V cg_intrinsic(Cg *c, const char *name, const LLVMTypeRef *overloads, unsigned n_overloads,
               const V *args, unsigned n_args) {
    LLVMTypeRef types[4] = {0};
    V values[8] = {0};
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));

    for (unsigned i = 0; i < n_overloads && i < 4; i++)
        types[i] = overloads[i];
    for (unsigned i = 0; i < n_args && i < 8; i++)
        values[i] = args[i];
    V fn = LLVMGetIntrinsicDeclaration(c->mod, id, types, n_overloads);
    LLVMTypeRef type = LLVMIntrinsicGetType(c->ctx, id, types, n_overloads);
    return LLVMBuildCall2(c->b, type, fn, values, n_args, "");
}

void cg_call_attr(Cg *c, V call, const char *name, uint64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    LLVMAddCallSiteAttribute(call, CG_ON_FUNCTION, LLVMCreateEnumAttribute(c->ctx, kind, value));
}

V cg_asm(Cg *c, const char *text, const char *constraints, LLVMTypeRef result, const V *args,
         unsigned n_args, bool effects) {
    LLVMTypeRef *types = arena_array(c->arena, LLVMTypeRef, n_args + 1);
    V *values = arena_array(c->arena, V, n_args + 1);

    for (unsigned i = 0; i < n_args; i++) {
        types[i] = LLVMTypeOf(args[i]);
        values[i] = args[i];
    }
    LLVMTypeRef type = LLVMFunctionType(result, types, n_args, 0);
    V code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), effects,
                              0, LLVMInlineAsmDialectATT, 0);
    V call = LLVMBuildCall2(c->b, type, code, values, n_args, "");
    cg_call_attr(c, call, "nounwind", 0);
    return call;
}

/* `effects` keeps its place among stores in the back end, which ignores the attribute. */
V cg_asm_read(Cg *c, const char *text, const char *constraints, LLVMTypeRef result, const V *args,
              unsigned n_args) {
    enum { READ_EVERY_LOCATION = 0x555 }; /* two bits a location: 1 = read */
    V call = cg_asm(c, text, constraints, result, args, n_args, true);

    cg_call_attr(c, call, "memory", READ_EVERY_LOCATION);
    cg_call_attr(c, call, "willreturn", 0);
    return call;
}

/* --- memory --- */

V cg_shared_ptr(Cg *c, V byte_offset) {
    return LLVMBuildGEP2(c->b, c->i8, c->smem, &byte_offset, 1, "");
}

V cg_load_at(Cg *c, LLVMTypeRef t, V ptr, unsigned align) {
    V x = LLVMBuildLoad2(c->b, t, ptr, "");

    LLVMSetAlignment(x, align);
    return x;
}

void cg_store_at(Cg *c, V x, V ptr, unsigned align) {
    LLVMSetAlignment(LLVMBuildStore(c->b, x, ptr), align);
}

unsigned cg_scratch_bytes(const Cg *c, LLVMTypeRef t) {
    unsigned bits = cg_bits(c, t);

    return bits < 8 ? 1 : bits / 8;
}

V cg_load_scratch(Cg *c, LLVMTypeRef t, V ptr) {
    if (t != c->i1)
        return cg_load_at(c, t, ptr, cg_scratch_bytes(c, t));
    V byte = cg_load_at(c, c->i8, ptr, 1);
    return LLVMBuildICmp(c->b, LLVMIntNE, byte, LLVMConstNull(c->i8), "");
}

void cg_store_scratch(Cg *c, V x, V ptr) {
    LLVMTypeRef t = LLVMTypeOf(x);

    if (t == c->i1)
        x = LLVMBuildZExt(c->b, x, c->i8, "");
    cg_store_at(c, x, ptr, cg_scratch_bytes(c, t));
}

/* --- debug locations: `.loc` lines with relative file names, nothing else --- */

enum { EMIT_DIRECTIVES_ONLY = 3 }; /* DICompileUnit::DebugDirectivesOnly; no name in LLVM-C */

static LLVMMetadataRef debug_file(Cg *c, uint32_t file) {
    const char *name = file ? source_name(ir_sources(c->m), file) : "";

    return LLVMDIBuilderCreateFile(c->di, name, strlen(name), "", 0);
}

void cg_debug_begin(Cg *c) {
    uint32_t file = ir_span(c->m, c->func).file;

    if (!file)
        return;
    c->di = LLVMCreateDIBuilder(c->mod);
    LLVMDIBuilderCreateCompileUnit(c->di, LLVMDWARFSourceLanguageC, debug_file(c, file), "tlec", 4,
                                   1, "", 0, 0, "", 0, (LLVMDWARFEmissionKind)EMIT_DIRECTIVES_ONLY,
                                   0, 0, 0, "", 0, "", 0);
    V version = LLVMConstInt(c->i32, LLVMDebugMetadataVersion(), 0);
    LLVMAddModuleFlag(c->mod, LLVMModuleFlagBehaviorWarning, "Debug Info Version", 18,
                      LLVMValueAsMetadata(version));
}

void cg_debug_function(Cg *c, const char *name, Span at) {
    uint32_t line, col;

    if (!c->di)
        return;
    source_place(ir_sources(c->m), at.file, at.lo, &line, &col);
    LLVMMetadataRef file = debug_file(c, at.file);
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(c->di, file, NULL, 0, LLVMDIFlagZero);
    c->subprogram = LLVMDIBuilderCreateFunction(c->di, file, name, strlen(name), name, strlen(name),
                                                file, line, type, 0, 1, line, LLVMDIFlagZero, 1);
    c->scope_file = at.file;
    LLVMSetSubprogram(c->fn, c->subprogram);
}

static LLVMMetadataRef debug_scope(Cg *c, uint32_t file) {
    if (file == c->scope_file)
        return c->subprogram;
    while (c->scopes.len <= file)
        vec_push(c->arena, &c->scopes, NULL);
    if (!c->scopes.data[file])
        c->scopes.data[file] =
            LLVMDIBuilderCreateLexicalBlockFile(c->di, c->subprogram, debug_file(c, file), 0);
    return c->scopes.data[file];
}

void cg_debug_at(Cg *c, Span at) {
    uint32_t line, col;

    if (!c->di || !at.file)
        return;
    source_place(ir_sources(c->m), at.file, at.lo, &line, &col);
    LLVMMetadataRef place =
        LLVMDIBuilderCreateDebugLocation(c->ctx, line, col, debug_scope(c, at.file), NULL);
    LLVMSetCurrentDebugLocation2(c->b, place);
}
