/* LLVM's target machine: optimisation and assembly text. */
#include "codegen/cg_impl.h"
#include <llvm-c/Error.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>

void cg_init(void) {
    /* Shared addresses are 32 bits wide only with the first of these process-wide options. Without
     * the second LLVM widens neighbouring loads over elements that the kernel does not read, which
     * may be past the end of an array or another thread's; the coalesce pass makes vectors of its
     * own. */
    static const char *const options[] = {"tlec", "-nvptx-short-ptr",
                                          "-disable-nvptx-load-store-vectorizer"};

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

static bool packs_halves(LLVMValueRef x) {
    if (!LLVMIsAInstruction(x) || LLVMGetInstructionOpcode(x) != LLVMShl)
        return false;
    LLVMValueRef amount = LLVMGetOperand(x, 1);
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(x));
    return LLVMIsAConstantInt(amount) && LLVMConstIntGetZExtValue(amount) >= bits / 2;
}

/* Turns `or disjoint` into the sum that it stands for, but where it packs two halves of a word.
 * LLVM derives it from the condition of a block and may then move it out of the block, where bits
 * overlap; its strength reduction of straight lines still takes the moved value for a sum, and gets
 * other addresses. */
static void disjoint_to_sum(LLVMBuilderRef b, LLVMValueRef x) {
    if (LLVMGetInstructionOpcode(x) != LLVMOr || !LLVMGetIsDisjoint(x) ||
        LLVMGetTypeKind(LLVMTypeOf(x)) != LLVMIntegerTypeKind)
        return;
    LLVMValueRef left = LLVMGetOperand(x, 0), right = LLVMGetOperand(x, 1);
    if (packs_halves(left) || packs_halves(right))
        return;
    LLVMPositionBuilderBefore(b, x);
    LLVMReplaceAllUsesWith(x, LLVMBuildAdd(b, left, right, ""));
    LLVMInstructionEraseFromParent(x);
}

static void disjoint_to_sums(Cg *c) {
    for (LLVMValueRef f = LLVMGetFirstFunction(c->mod); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            for (LLVMValueRef x = LLVMGetFirstInstruction(k), next; x; x = next) {
                next = LLVMGetNextInstruction(x);
                disjoint_to_sum(c->b, x);
            }
}

bool cg_optimise(Cg *c, LLVMTargetMachineRef machine) {
    static const char *const pipelines[] = {"default<O0>", "default<O1>", "default<O2>",
                                            "default<O3>"};
    uint32_t level = c->options->opt_level > 3 ? 3 : c->options->opt_level;
    LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();

    /* A thread's code has no loops over neighbouring elements left to vectorise. */
    LLVMPassBuilderOptionsSetLoopVectorization(o, 0);
    LLVMPassBuilderOptionsSetLoopInterleaving(o, 0);
    LLVMPassBuilderOptionsSetSLPVectorization(o, 0);
    LLVMErrorRef error = LLVMRunPasses(c->mod, pipelines[level], machine, o);
    LLVMDisposePassBuilderOptions(o);
    if (!error) {
        disjoint_to_sums(c);
        return true;
    }
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
