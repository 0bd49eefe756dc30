/* Runtime `if` and the conditional expression: both sides in regions of an IF operation.
 *
 * When one branch returns and the other does not, the rest of the chain runs inside the other one;
 * since that is all that follows, the function then ends with the IF. When a branch returns on
 * some of its paths only, a flag says so and the rest runs under `if not returned`. */
#include "sema/sema_core.h"

static IrOp build_if(Sema *s, IrValue cond, Span at) {
    s->b.span = at;
    return ir_build(&s->b, IR_OP_IF, &cond, 1, NULL, 0);
}

/* Points the builder and the scope into one region. */
static void begin_side(Sema *s, Side *side, IrOp op, uint32_t region, const SemaScope *scope) {
    side->block = ir_region_block(s->m, op, region);
    s->scope = sema_scope_copy(s, scope);
    ir_at_end(&s->b, side->block);
}

static void end_side(Sema *s, Side *side, Outcome out) {
    side->out = out;
    side->scope = s->scope;
}

/* The rest of the chain, where the paths on which `o.returned` holds have returned already. */
static Outcome run_guarded(Sema *s, Outcome o, Cont *k, Span at) {
    IrOp op = build_if(s, o.returned, at);
    SemaScope *scope = s->scope;
    Side sides[2];
    begin_side(s, &sides[0], op, 0, scope);
    end_side(s, &sides[0], (Outcome){.flow = FLOW_RETURNS, .value = o.value, .at = o.at});
    begin_side(s, &sides[1], op, 1, scope);
    end_side(s, &sides[1], sema_run(s, k));
    return sema_join_sides(s, op, sides, at);
}

/* What remains after a statement that ended with `o`. */
static Outcome run_rest(Sema *s, Outcome o, Cont *k, Span at) {
    bool done = sema_cont_done(k), body = sema_cont_is_body(k);
    if (o.flow == FLOW_RETURNS || (done && !body))
        return o;
    if (done && o.value.kind == SV_NONE) {
        o.flow = FLOW_RETURNS;
        return o;
    }
    return o.flow == FLOW_FALLS ? sema_run(s, k) : run_guarded(s, o, k, at);
}

static void resume_side(Sema *s, Side *side, Cont *k, Span at) {
    ir_at_end(&s->b, side->block);
    s->scope = side->scope;
    end_side(s, side, run_rest(s, side->out, k, at));
}

Outcome sema_runtime_if(Sema *s, AstId stmt, IrValue cond, Cont **k) {
    AstNode n = *ast_node(s->ast, stmt);
    Span at = ast_node(s->ast, n.a)->span;
    IrOp op = build_if(s, cond, at);
    SemaScope *scope = s->scope;
    Side sides[2];
    for (uint32_t i = 0; i < 2; i++) {
        begin_side(s, &sides[i], op, i, scope);
        end_side(s, &sides[i], sema_run_list(s, i ? n.list2 : n.list));
    }
    bool returns[2] = {sides[0].out.flow == FLOW_RETURNS, sides[1].out.flow == FLOW_RETURNS};
    bool nest = returns[0] != returns[1];
    if (nest) {
        resume_side(s, &sides[returns[0] ? 1 : 0], *k, at);
        *k = NULL;
    }
    Outcome out = sema_join_sides(s, op, sides, at);
    if (nest || out.flow == FLOW_FALLS)
        return out;
    out = run_rest(s, out, *k, at);
    *k = NULL;
    return out;
}

/* `x if c else y` where both regions turned out empty: a select says the same with less. */
static SVal select_instead(Sema *s, IrOp op, const Join *j, IrValue cond, SVal joined) {
    if (joined.kind != SV_TENSOR || ir_result_count(s->m, op) != 1 ||
        joined.v != ir_result(s->m, op, 0))
        return joined;
    if (ir_first(s->m, j->block[0]) != ir_last(s->m, j->block[0]) ||
        ir_first(s->m, j->block[1]) != ir_last(s->m, j->block[1]))
        return joined;
    joined.v = ir_build_select(&s->b, cond, j->yields[0].data[0], j->yields[1].data[0]);
    ir_erase(s->m, op);
    return joined;
}

static SVal runtime_ternary(Sema *s, const AstNode *n, IrValue cond) {
    IrOp op = build_if(s, cond, n->span);
    SemaScope *scope = s->scope;
    Join j = {.s = s,
              .op = op,
              .at = n->span,
              .live_text = {"where the condition holds", "where the condition does not hold"},
              .live = {true, true},
              .anonymous = true};
    SVal v[2];
    for (uint32_t i = 0; i < 2; i++) {
        j.block[i] = ir_region_block(s->m, op, i);
        ir_at_end(&s->b, j.block[i]);
        v[i] = sema_eval(s, i ? n->c : n->b);
    }
    s->scope = scope;
    const Hole *hole = NULL;
    Str what = str_internz(s->strings, "the value");
    SVal joined = sema_join_value(&j, v[0], v[1], what, &hole);
    sema_join_finish(&j);
    if (hole)
        return sema_error(s, hole->code, n->span, "the value %s", hole->why);
    return select_instead(s, op, &j, cond, joined);
}

SVal sema_ternary(Sema *s, AstId expr) {
    AstNode n = *ast_node(s->ast, expr);
    Span at = ast_node(s->ast, n.a)->span;
    bool known, value;
    IrValue cond;
    if (!sema_condition(s, sema_eval(s, n.a), at, &known, &value, &cond))
        return sv_error();
    if (known)
        return sema_eval(s, value ? n.b : n.c);
    return runtime_ternary(s, &n, cond);
}
