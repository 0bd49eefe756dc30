/* Verifiers of functions, control flow and terminators. */
#include "ir/ir_verify.h"

enum { MAX_WARPS = 32, MAX_BARRIERS = 16, MAX_REGISTERS = 255, MAX_CLUSTER = 16 };

static bool is_i1(const IrModule *m, IrType t) {
    return ir_type(m, t)->kind == IR_SCALAR && ir_elem(m, t) == IR_I1;
}

static void check_groups(IrVerifier *v, IrOp op) {
    for (uint32_t i = 0; i < ir_group_count(v->m, op); i++) {
        const IrGroup *g = ir_group_at(v->m, op, i);
        if (!g->num_warps || g->num_warps > MAX_WARPS || g->first_warp > MAX_WARPS - g->num_warps)
            ir_bad(v, op, "group %u has %u warps from %u on, expected 1 .. %d in all", i,
                   g->num_warps, g->first_warp, MAX_WARPS);
        else if (g->registers > MAX_REGISTERS || g->first_barrier >= MAX_BARRIERS)
            ir_bad(v, op, "group %u has %u registers (at most %d) and barrier %u (at most %d)", i,
                   g->registers, MAX_REGISTERS, g->first_barrier, MAX_BARRIERS - 1);
    }
}

static void check_cluster(IrVerifier *v, IrOp op) {
    const IrAttrData *cluster = ir_attr(v->m, op, IR_KEY_CLUSTER);
    int64_t total = 1;
    for (uint32_t i = 0; cluster && i < cluster->len; i++) {
        int64_t n = cluster->ints[i];
        total = n < 1 || n > MAX_CLUSTER ? MAX_CLUSTER + 1 : total * n;
        if (total > MAX_CLUSTER)
            break;
    }
    if (cluster && (!cluster->len || cluster->len > 3 || total > MAX_CLUSTER))
        ir_bad(v, op, "a cluster has 1 to 3 dimensions and at most %d blocks", MAX_CLUSTER);
}

void ir_verify_func(IrVerifier *v, IrOp op) {
    const IrModule *m = v->m;
    IrBlock body = ir_region_block(m, op, 0);
    if (ir_parent(m, op))
        ir_bad(v, op, "functions do not nest");
    int64_t warps = ir_int(m, op, IR_KEY_NUM_WARPS, 0);
    if (warps < 1 || warps > MAX_WARPS)
        ir_bad(v, op, "%lld warps, expected 1 .. %d", (long long)warps, MAX_WARPS);
    for (uint32_t i = 0; i < ir_arg_count(m, body); i++) {
        IrType t = ir_value_type(m, ir_arg(m, body, i));
        if (ir_type(m, t)->kind != IR_SCALAR && ir_type(m, t)->kind != IR_PTR)
            ir_bad(v, op, "parameter %u is %s, expected a scalar or a pointer", i,
                   ir_type_text(v, t));
        uint32_t fact = ir_param_fact(m, op, i);
        if (!fact || fact & (fact - 1))
            ir_bad(v, op, "parameter %u is divisible by %u, expected a power of two", i, fact);
    }
    check_groups(v, op);
    check_cluster(v, op);
}

/* The terminators' places are checked with their block, their operands by the parent. */
void ir_verify_return(IrVerifier *v, IrOp op) {
    (void)v;
    (void)op;
}

void ir_verify_yield(IrVerifier *v, IrOp op) {
    (void)v;
    (void)op;
}

void ir_verify_condition(IrVerifier *v, IrOp op) {
    if (!is_i1(v->m, ir_operand_type(v, op, 0)))
        ir_bad(v, op, "operand 0 is %s, expected i1", ir_type_text(v, ir_operand_type(v, op, 0)));
}

void ir_verify_if(IrVerifier *v, IrOp op) {
    uint32_t len;
    IrType *types = ir_types_of_results(v, op, &len);
    if (!is_i1(v->m, ir_operand_type(v, op, 0))) {
        ir_bad(v, op, "condition is %s, expected i1", ir_type_text(v, ir_operand_type(v, op, 0)));
        return;
    }
    for (uint32_t i = 0; i < 2; i++)
        if (!ir_want_args(v, op, i, NULL, 0) || !ir_want_passed(v, op, i, 0, types, len))
            return;
}

void ir_verify_for(IrVerifier *v, IrOp op) {
    uint32_t len, results = ir_result_count(v->m, op);
    IrType *args = ir_types_of_operands(v, op, 2, &len); /* the step's type stands for the index */
    const IrTypeData *index = ir_type(v->m, args[0]);
    if (index->kind != IR_SCALAR || ir_elem_is_float(index->elem) || index->elem == IR_I1) {
        ir_bad(v, op, "step is %s, expected an integer", ir_type_text(v, args[0]));
        return;
    }
    int64_t step;
    if (ir_const_int(v->m, ir_operand(v->m, op, 2), &step) && step <= 0)
        ir_bad(v, op, "step is %lld, expected more than 0", (long long)step);
    if (results != len - 1) {
        ir_bad(v, op, "%u results for %u carried values", results, len - 1);
        return;
    }
    if (!ir_want_operand(v, op, 0, args[0]) || !ir_want_operand(v, op, 1, args[0]) ||
        !ir_want_args(v, op, 0, args, len) || !ir_want_passed(v, op, 0, 0, args + 1, len - 1))
        return;
    for (uint32_t i = 0; i < results; i++)
        if (!ir_want_result(v, op, i, args[i + 1]))
            return;
}

void ir_verify_while(IrVerifier *v, IrOp op) {
    uint32_t len, results;
    IrType *carried = ir_types_of_operands(v, op, 0, &len);
    IrType *types = ir_types_of_results(v, op, &results);
    if (ir_want_args(v, op, 0, carried, len) && ir_want_passed(v, op, 0, 1, types, results) &&
        ir_want_args(v, op, 1, types, results))
        ir_want_passed(v, op, 1, 0, carried, len);
}
