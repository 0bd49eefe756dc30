/* Shared by the files of the verifier. A verifier of one operation may rely on what ir_verify.c
 * checked before: counts of operands, results and regions, attributes present and of the right
 * kind, valid types, and terminators of its regions. */
#ifndef IR_IR_VERIFY_H
#define IR_IR_VERIFY_H

#include "ir/ir_impl.h"

typedef struct IrVerifier {
    const IrModule *m;
    Diag *diag;
    Arena *scratch;
    IrOp func;
    bool ok;
    uint32_t depth;
    bool *visible;        /* per value: defined above, in this block or around it */
    VEC(IrValue) defined; /* the visible values, innermost last */
    uint8_t *type_state;  /* per type: 0 unknown, 1 valid, 2 invalid */
} IrVerifier;

#define X(name, text, omin, omax, nres, nreg, flags, verify, keys, help)                           \
    void ir_verify_##verify(IrVerifier *v, IrOp op);
#include "ir/ops.def"
#undef X

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void ir_bad(IrVerifier *v, IrOp op, const char *format, ...);
const char *ir_type_text(IrVerifier *v, IrType t);
/* "operand 1 is f32, expected i32" unless the types are equal. */
bool ir_want_operand(IrVerifier *v, IrOp op, uint32_t i, IrType want);
bool ir_want_result(IrVerifier *v, IrOp op, uint32_t i, IrType want);
IrType ir_operand_type(const IrVerifier *v, IrOp op, uint32_t i);
IrType ir_result_type(const IrVerifier *v, IrOp op, uint32_t i);
IrType ir_i1_like(IrVerifier *v, IrType t); /* i1 in the shape and layout of t */
/* The values that the terminator of region i passes on must have exactly these types; `skip` counts
 * leading operands that are not passed on. */
bool ir_want_passed(IrVerifier *v, IrOp op, uint32_t region, uint32_t skip, const IrType *types,
                    uint32_t len);
bool ir_want_args(IrVerifier *v, IrOp op, uint32_t region, const IrType *types, uint32_t len);
IrType *ir_types_of_operands(IrVerifier *v, IrOp op, uint32_t from, uint32_t *len);
IrType *ir_types_of_results(IrVerifier *v, IrOp op, uint32_t *len);

#endif
