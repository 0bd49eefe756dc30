/* Loops: unrolled ones as items of the chain, runtime `for` and `while` as operations that carry
 * the variables which the body assigns.
 *
 * Carried numbers become tensors of their default type before the loop; every iteration must give
 * the type back. A variable that cannot be carried (buffers, strings, functions, ...) keeps its
 * value from before the loop when the body uses it; that the body then also changes it is an error,
 * since the next iteration would have to see the change. */
#include "sema/sema_core.h"

/* --- unrolled --- */

static uint64_t trip_count(int64_t start, int64_t stop, int64_t step) {
    if (step > 0 ? start >= stop : start <= stop)
        return 0;
    uint64_t distance =
        step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    return (distance - 1) / stride + 1;
}

static bool counted_loop(Sema *s, AstId stmt, SVal range, StaticLoop *out) {
    out->start = range.items[S_RANGE_START].num.i;
    out->step = range.items[S_RANGE_STEP].num.i;
    uint64_t trips = trip_count(out->start, range.items[S_RANGE_STOP].num.i, out->step);
    out->counted = true;
    out->trips = (uint32_t)trips;
    if (trips <= SEMA_MAX_UNROLL)
        return true;
    sema_error(s, DIAG_SEMA_RANGE, ast_node(s->ast, ast_node(s->ast, stmt)->b)->span,
               "this loop unrolls into %llu iterations, the limit is %d", (unsigned long long)trips,
               SEMA_MAX_UNROLL);
    return false;
}

bool sema_static_loop(Sema *s, AstId stmt, SVal iterable, StaticLoop *out) {
    out->stmt = stmt;
    if (iterable.kind == SV_RANGE)
        return counted_loop(s, stmt, iterable, out);
    if (iterable.kind == SV_TUPLE) {
        out->items = iterable.items;
        out->trips = iterable.len;
        return true;
    }
    if (iterable.kind != SV_ERROR)
        sema_error(s, DIAG_SEMA_TYPE, ast_node(s->ast, ast_node(s->ast, stmt)->b)->span,
                   "a for loop runs over a range or a tuple, found %s", sv_describe(s, iterable));
    return false;
}

/* --- carried variables --- */

typedef struct Carried {
    Str name;
    SVal value; /* as before the loop, numbers turned into tensors */
} Carried;

typedef struct Loop {
    Sema *s;
    Span at;
    AstNode stmt;
    AssignedNames names;
    VEC(Carried) carried;
    VEC(IrValue) values; /* initial values, then what the body yields */
    bool *read;          /* by name: the body used the value from before the loop, uncarried */
    SemaScope *before;
} Loop;

static bool has_leaf(SVal x) {
    if (x.kind != SV_TUPLE)
        return x.kind == SV_TENSOR || sv_is_number(x);
    for (uint32_t i = 0; i < x.len; i++)
        if (has_leaf(x.items[i]))
            return true;
    return false;
}

/* Numbers to tensors; collects the leaves. */
static SVal carry_in(Loop *l, SVal x) {
    Sema *s = l->s;
    if (sv_is_number(x))
        x = sema_tensor(s, x, dt(D_NONE), l->at);
    if (x.kind == SV_TENSOR)
        vec_push(s->arena, &l->values, x.v);
    if (x.kind != SV_TUPLE)
        return x;
    SVal t = sv_tuple(s, x.items, x.len);
    for (uint32_t i = 0; i < x.len; i++)
        t.items[i] = carry_in(l, x.items[i]);
    return t;
}

/* The same value with its leaves replaced by results or block arguments, taken in order. */
static SVal rebuild(Loop *l, SVal x, const IrValue **next, Str name) {
    if (x.kind == SV_TENSOR) {
        x.v = *(*next)++;
        sema_name_value(l->s, x, name);
    }
    if (x.kind != SV_TUPLE)
        return x;
    SVal t = sv_tuple(l->s, x.items, x.len);
    for (uint32_t i = 0; i < x.len; i++)
        t.items[i] = rebuild(l, x.items[i], next, name);
    return t;
}

static void loop_begin(Loop *l, Sema *s, AstId stmt) {
    *l = (Loop){.s = s, .stmt = *ast_node(s->ast, stmt), .before = s->scope};
    l->at = ast_node(s->ast, l->stmt.kind == AST_FOR ? l->stmt.b : l->stmt.a)->span;
    sema_assigned(s, l->stmt.list, &l->names);
    l->read = arena_array(s->arena, bool, l->names.names.len + 1);
}

static bool is_loop_target(const Loop *l, Str name) {
    return l->stmt.kind == AST_FOR && ast_node(l->s->ast, l->stmt.a)->name == name;
}

/* Chooses what to carry; the builder stands before the loop. */
static void loop_carry(Loop *l) {
    Sema *s = l->s;
    for (uint32_t i = 0; i < l->names.names.len; i++) {
        Assigned a = l->names.names.data[i];
        const SemaVar *var = sema_local(s, a.name);
        if (!a.varies || !var || var->hole || !has_leaf(var->value) || is_loop_target(l, a.name))
            continue;
        Carried c = {a.name, carry_in(l, var->value)};
        vec_push(s->arena, &l->carried, c);
    }
}

static void loop_types(const Loop *l, IrType **types) {
    *types = arena_array(l->s->arena, IrType, l->values.len + 1);
    for (uint32_t i = 0; i < l->values.len; i++)
        (*types)[i] = ir_value_type(l->s->m, l->values.data[i]);
}

/* Enters a region whose block gets the carried values as arguments. */
static void loop_enter(Loop *l, IrBlock block) {
    Sema *s = l->s;
    IrValue *args = arena_array(s->arena, IrValue, l->values.len + 1);
    const IrValue *next = args;
    for (uint32_t i = 0; i < l->values.len; i++)
        args[i] = ir_add_arg(s->m, block, ir_value_type(s->m, l->values.data[i]));
    ir_at_end(&s->b, block);
    s->scope = sema_scope_copy(s, l->before);
    for (uint32_t i = 0; i < l->names.names.len; i++) {
        Str name = l->names.names.data[i].name;
        const SemaVar *var = sema_local(s, name);
        if (!var || var->hole)
            continue;
        SemaVar *watched = arena_new_of(s->arena, SemaVar);
        *watched = (SemaVar){.value = var->value, .read = &l->read[i]};
        sema_scope_set(s, s->scope, sema_slot(s, name), watched);
    }
    for (uint32_t i = 0; i < l->carried.len; i++) {
        Carried c = l->carried.data[i];
        sema_bind(s, c.name, rebuild(l, c.value, &next, c.name));
    }
}

static Outcome loop_body(Loop *l) {
    Sema *s = l->s;
    s->frame->runtime_loops++;
    Outcome o = sema_run_list(s, l->stmt.list);
    s->frame->runtime_loops--;
    return o;
}

static bool number_fits(SVal x, DType t) {
    if (dt_is_float(t))
        return true;
    return t.base == D_INT1 ? x.kind == SV_BOOL : dt_is_int(t) && x.kind != SV_FLOAT;
}

static bool yield_mismatch(Loop *l, SVal want, SVal got, Str name) {
    Sema *s = l->s;
    if (got.kind == SV_ERROR)
        return false;
    sema_error(s, DIAG_SEMA_TYPE, l->at,
               "loop-carried variable '%s' is %s before the loop but %s at the end of its body",
               sema_text(s, name), sv_describe(s, want), sv_describe(s, got));
    return false;
}

/* Collects the leaves of a carried variable at the end of the body. */
static bool carry_out(Loop *l, SVal want, SVal got, Str name) {
    Sema *s = l->s;
    if (want.kind == SV_TENSOR && !want.rank && sv_is_number(got) && number_fits(got, want.dtype))
        got = sema_tensor(s, got, want.dtype, l->at);
    if (want.kind == SV_TENSOR) {
        if (!sema_same_type(want, got))
            return yield_mismatch(l, want, got, name);
        vec_push(s->arena, &l->values, got.v);
        return true;
    }
    if (want.kind != SV_TUPLE)
        return sema_same(want, got) || yield_mismatch(l, want, got, name);
    if (got.kind != SV_TUPLE || got.len != want.len)
        return yield_mismatch(l, want, got, name);
    for (uint32_t i = 0; i < want.len; i++)
        if (!carry_out(l, want.items[i], got.items[i], name))
            return false;
    return true;
}

/* Ends the body; false after diagnostics. */
static bool loop_yield(Loop *l) {
    Sema *s = l->s;
    bool ok = true;
    l->values.len = 0;
    for (uint32_t i = 0; i < l->carried.len; i++) {
        Carried c = l->carried.data[i];
        SVal got = sema_use_var(s, c.name, sema_local(s, c.name), l->at);
        ok = carry_out(l, c.value, got, c.name) && ok;
    }
    s->b.span = l->stmt.span;
    if (ok)
        ir_build(&s->b, IR_OP_YIELD, l->values.data, l->values.len, NULL, 0);
    return ok;
}

/* A variable that the loop assigns and does not carry: keeps its value when the body left it the
 * same, else it has none afterwards. */
static void close_uncarried(Loop *l, const SemaScope *body, uint32_t i) {
    Sema *s = l->s;
    Str name = l->names.names.data[i].name;
    const SemaVar *before = sema_local(s, name), *after = sema_scope_get(body, sema_slot(s, name));
    if (before && before->hole)
        return;
    bool same = before && after && !after->hole && sema_same(before->value, after->value);
    if (same && !is_loop_target(l, name))
        return;
    if (before && l->read[i])
        sema_error(
            s, DIAG_SEMA_FLOW, l->stmt.span,
            "'%s' (%s) is used and then reassigned in this runtime loop, which cannot carry it",
            sema_text(s, name), sv_describe(s, before->value));
    sema_bind_hole(s, name, DIAG_SEMA_FLOW, l->stmt.span,
                   before ? "is reassigned in a runtime loop and has no value after it"
                          : "is assigned inside a runtime loop only and has no value after it");
}

static void close_target(Loop *l, AstId target) {
    AstNode n = *ast_node(l->s->ast, target);
    if (n.kind == AST_NAME)
        sema_bind_hole(l->s, n.name, DIAG_SEMA_FLOW, l->stmt.span,
                       "is the variable of a runtime loop and has no value after it");
}

static bool is_carried(const Loop *l, Str name) {
    for (uint32_t i = 0; i < l->carried.len; i++)
        if (l->carried.data[i].name == name)
            return true;
    return false;
}

/* The scope after the loop; op = 0 after an error. */
static void loop_end(Loop *l, IrOp op) {
    Sema *s = l->s;
    const SemaScope *body = s->scope;
    s->scope = sema_scope_copy(s, l->before);
    IrValue *results = arena_array(s->arena, IrValue, l->values.len + 1);
    const IrValue *next = results;
    for (uint32_t i = 0; op && i < ir_result_count(s->m, op); i++)
        results[i] = ir_result(s->m, op, i);
    for (uint32_t i = 0; i < l->carried.len; i++) {
        Carried c = l->carried.data[i];
        sema_bind(s, c.name, op ? rebuild(l, c.value, &next, c.name) : sv_error());
    }
    for (uint32_t i = 0; i < l->names.names.len; i++)
        if (!is_carried(l, l->names.names.data[i].name))
            close_uncarried(l, body, i);
    if (l->stmt.kind == AST_FOR)
        close_target(l, l->stmt.a);
}

/* --- for --- */

typedef struct Bounds {
    SVal lower, upper, step;
    DType iv;      /* the loop variable's type in the source */
    DType counter; /* the operation's: int32 or int64 */
    bool reversed; /* negative constant step: counts up, the variable counts down */
} Bounds;

static DType bound_type(SVal x) {
    if (x.kind == SV_TENSOR)
        return dt_bits(x.dtype) < 32 ? dt(D_INT32) : x.dtype;
    return dt(x.num.i >= INT32_MIN && x.num.i <= INT32_MAX ? D_INT32 : D_INT64);
}

/* Integer promotion: the wider wins, at equal width the unsigned one. */
static DType wider(DType a, DType b) {
    if (dt_bits(a) != dt_bits(b))
        return dt_bits(a) > dt_bits(b) ? a : b;
    return dt_is_unsigned(b) ? b : a;
}

/* The counter compares signed, so unsigned bounds count in 64 bits. */
static bool resolve_bounds(Loop *l, SVal range, Bounds *b) {
    Sema *s = l->s;
    SVal items[3] = {range.items[S_RANGE_START], range.items[S_RANGE_STOP],
                     range.items[S_RANGE_STEP]};
    b->iv = wider(wider(bound_type(items[0]), bound_type(items[1])), bound_type(items[2]));
    b->counter = dt(dt_is_unsigned(b->iv) || dt_bits(b->iv) == 64 ? D_INT64 : D_INT32);
    if (sv_is_number(items[2]) && items[2].num.i == INT64_MIN) {
        sema_error(s, DIAG_SEMA_RANGE, l->at, "the step of a range is too large");
        return false;
    }
    b->reversed = sv_is_number(items[2]) && items[2].num.i < 0;
    if (b->reversed) {
        SVal start = items[0];
        items[0] = items[1];
        items[1] = start;
        items[2].num.i = -items[2].num.i;
    }
    b->lower = sema_cast(s, items[0], b->counter, false, l->at);
    b->upper = sema_cast(s, items[1], b->counter, false, l->at);
    b->step = sema_cast(s, items[2], b->counter, false, l->at);
    return b->lower.kind == SV_TENSOR && b->upper.kind == SV_TENSOR && b->step.kind == SV_TENSOR;
}

static void set_attribute(Sema *s, IrOp op, SVal range, SRangeItem item, IrKey key) {
    SVal x = range.items[item];
    if (x.kind == SV_INT || x.kind == SV_BOOL)
        ir_set_int(s->m, op, key, x.num.i);
}

/* A flag that says "false" is left out. */
static void set_flag(Sema *s, IrOp op, SVal range, SRangeItem item, IrKey key) {
    SVal x = range.items[item];
    if ((x.kind == SV_INT || x.kind == SV_BOOL) && x.num.i)
        ir_set_int(s->m, op, key, 1);
}

static IrOp build_for(Loop *l, SVal range, const Bounds *b) {
    Sema *s = l->s;
    uint32_t n = l->values.len;
    IrValue *operands = arena_array(s->arena, IrValue, n + 3);
    operands[0] = b->lower.v;
    operands[1] = b->upper.v;
    operands[2] = b->step.v;
    for (uint32_t i = 0; i < n; i++)
        operands[i + 3] = l->values.data[i];
    IrType *types;
    loop_types(l, &types);
    s->b.span = l->stmt.span;
    IrOp op = ir_build(&s->b, IR_OP_FOR, operands, n + 3, types, n);
    set_attribute(s, op, range, S_RANGE_NUM_STAGES, IR_KEY_NUM_STAGES);
    set_attribute(s, op, range, S_RANGE_UNROLL, IR_KEY_UNROLL);
    set_flag(s, op, range, S_RANGE_FLATTEN, IR_KEY_FLATTEN);
    set_flag(s, op, range, S_RANGE_NO_LICM, IR_KEY_NO_LICM);
    set_flag(s, op, range, S_RANGE_REORDER, IR_KEY_REORDER);
    return op;
}

/* Binds the loop variable from the counter. Counting down: start - (counter - stop). */
static void bind_variable(Loop *l, IrValue counter, const Bounds *b) {
    Sema *s = l->s;
    SVal iv = sv_tensor(s, counter, b->counter);
    s->b.span = l->at;
    if (b->reversed) {
        iv = sema_binary(s, AST_OP_SUB, b->upper, iv, l->at);
        iv = sema_binary(s, AST_OP_ADD, iv, b->lower, l->at);
    }
    sema_assign(s, l->stmt.a, sema_cast(s, iv, b->iv, false, l->at));
}

void sema_runtime_for(Sema *s, AstId stmt, SVal range) {
    Loop l;
    Bounds b;
    loop_begin(&l, s, stmt);
    if (ast_node(s->ast, l.stmt.a)->kind != AST_NAME)
        sema_error(s, DIAG_SEMA_UNSUPPORTED, ast_node(s->ast, l.stmt.a)->span,
                   "the variable of a runtime loop must be a plain name");
    if (!resolve_bounds(&l, range, &b)) {
        sema_assign(s, l.stmt.a, sv_error());
        sema_poison_list(s, l.stmt.list);
        return;
    }
    loop_carry(&l);
    IrOp op = build_for(&l, range, &b);
    IrBlock body = ir_region_block(s->m, op, 0);
    IrValue counter = ir_add_arg(s->m, body, dt_ir(s, b.counter));
    loop_enter(&l, body);
    bind_variable(&l, counter, &b);
    loop_body(&l);
    bool ok = loop_yield(&l);
    ir_after_op(&s->b, op);
    loop_end(&l, ok ? op : 0);
}

/* --- while --- */

static IrOp build_while(Loop *l) {
    Sema *s = l->s;
    IrType *types;
    loop_types(l, &types);
    s->b.span = l->stmt.span;
    return ir_build(&s->b, IR_OP_WHILE, l->values.data, l->values.len, types, l->values.len);
}

/* Region 0: the condition on this iteration's values. */
static bool while_condition(Loop *l, IrOp op, bool *never) {
    Sema *s = l->s;
    IrBlock block = ir_region_block(s->m, op, 0);
    loop_enter(l, block);
    bool known, value;
    IrValue cond;
    SVal test = sema_eval(s, l->stmt.a);
    if (!sema_condition(s, test, l->at, &known, &value, &cond))
        return false;
    *never = known && !value;
    if (known && value)
        sema_error(s, DIAG_SEMA_FLOW, l->at, "this loop never ends: its condition is always true");
    if (known)
        return !value;
    IrValue *operands = arena_array(s->arena, IrValue, l->values.len + 1);
    operands[0] = cond;
    for (uint32_t i = 0; i < l->values.len; i++)
        operands[i + 1] = ir_arg(s->m, block, i);
    s->b.span = l->at;
    ir_build(&s->b, IR_OP_CONDITION, operands, l->values.len + 1, NULL, 0);
    return true;
}

void sema_while(Sema *s, AstId stmt) {
    Loop l;
    loop_begin(&l, s, stmt);
    if (l.stmt.list2.len)
        sema_error(s, DIAG_SEMA_FLOW, l.stmt.span, "the else branch of a loop is not supported");
    loop_carry(&l);
    IrOp op = build_while(&l);
    bool never = false, ok = while_condition(&l, op, &never);
    if (ok && never) {
        ir_after_op(&s->b, op);
        ir_erase(s->m, op);
        s->scope = l.before;
        return;
    }
    if (ok) {
        loop_enter(&l, ir_region_block(s->m, op, 1));
        loop_body(&l);
        ok = loop_yield(&l);
    }
    ir_after_op(&s->b, op);
    loop_end(&l, ok ? op : 0);
}
