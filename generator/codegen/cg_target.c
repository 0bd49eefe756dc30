/* LLVM's target machine: optimisation and assembly text. */
#include "codegen/cg_impl.h"
#include <llvm-c/Error.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>

void cg_init(void) {
    /* Process-wide, all of them:
     * - Shared addresses are 32 bits wide only with the first.
     * - LLVM widens neighbouring loads over elements that the kernel does not read, which may be
     * past the end of an array or another thread's; the coalesce pass makes vectors of its own.
     * - Straight-line strength reduction takes time that grows with the square of a kernel's size,
     * and takes a moved `or disjoint` for a sum when its bits overlap. That one, its neighbour and
     * the one of loops share little here: addresses are sums of one base and small constants. */
    static const char *const options[] = {"tlec", "-nvptx-short-ptr",
                                          "-disable-nvptx-load-store-vectorizer",
                                          "-opt-disable=slsr,nary-reassociate", "-disable-lsr"};

    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMParseCommandLineOptions(sizeof options / sizeof *options, options, NULL);
}

const char *cg_version(Arena *a) {
    unsigned major, minor, patch;
    StrBuf b;

    LLVMGetVersion(&major, &minor, &patch);
    strbuf_init(&b, a);
    strbuf_addf(&b, "LLVM %u.%u.%u", major, minor, patch);
    return b.text;
}

LLVMTargetMachineRef cg_machine(const PassTarget *target, uint32_t opt_level, char **why_out) {
    LLVMTargetRef t = NULL;

    if (LLVMGetTargetFromTriple("nvptx64-nvidia-cuda", &t, why_out))
        return NULL;
    LLVMTargetMachineOptionsRef o = LLVMCreateTargetMachineOptions();
    LLVMTargetMachineOptionsSetCPU(o, target->name);
    char features[16];

    snprintf(features, sizeof features, "+ptx%u", target->ptx);
    LLVMTargetMachineOptionsSetFeatures(o, features);
    LLVMTargetMachineOptionsSetCodeGenOptLevel(o, opt_level == 0   ? LLVMCodeGenLevelNone
                                                  : opt_level == 1 ? LLVMCodeGenLevelLess
                                                  : opt_level == 2 ? LLVMCodeGenLevelDefault
                                                                   : LLVMCodeGenLevelAggressive);
    LLVMTargetMachineRef machine = LLVMCreateTargetMachineWithOptions(t, "nvptx64-nvidia-cuda", o);
    LLVMDisposeTargetMachineOptions(o);
    return machine;
}

/* A kernel comes as one function that the tile passes have been through: what is left is to drop
 * what lanes compute alike, to join blocks and to combine instructions. The passes of LLVM's own
 * pipelines that move code between blocks, unswitch, unroll or speculate cost more registers than
 * they save instructions. */
static const char PIPELINE[] = "function(early-cse<memssa>,simplifycfg<no-speculate-blocks>,"
                               "instcombine<no-verify-fixpoint>,adce)";

bool cg_optimise(Cg *c, LLVMTargetMachineRef machine) {
    LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error =
        LLVMRunPasses(c->mod, c->options->opt_level ? PIPELINE : "default<O0>", machine, o);
    LLVMDisposePassBuilderOptions(o);
    if (!error)
        return true;
    char *text = LLVMGetErrorMessage(error);
    diag_error(c->diag, DIAG_CODEGEN_LLVM, ir_span(c->m, c->func), "LLVM's optimiser says: %s",
               text);
    LLVMDisposeErrorMessage(text);
    return false;
}

bool cg_assembly(Cg *c, LLVMTargetMachineRef machine, CgResult *out) {
    LLVMMemoryBufferRef text = NULL;
    char *why = NULL;

    if (LLVMTargetMachineEmitToMemoryBuffer(machine, c->mod, LLVMAssemblyFile, &why, &text)) {
        diag_error(c->diag, DIAG_CODEGEN_LLVM, ir_span(c->m, c->func),
                   "LLVM's assembly printer says: %s", why);
        LLVMDisposeMessage(why);
        return false;
    }
    out->ptx_len = LLVMGetBufferSize(text);
    out->ptx = arena_strndup(c->arena, LLVMGetBufferStart(text), out->ptx_len);
    LLVMDisposeMemoryBuffer(text);
    return true;
}
