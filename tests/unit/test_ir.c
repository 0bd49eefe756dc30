/* The data model of TIR: hash-consing, use lists, building, editing, walking, and what the verifier
 * finds in modules that the text form cannot express. */
#include "ir/ir.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef struct Fixture {
    Arena *arena;
    Sources *sources;
    Interner *strings;
    IrModule *m;
    Diag *diag;
    IrOp func;
    IrBuilder b;
    IrType i32, f32;
} Fixture;

/* A kernel with parameters (i32, i32) and nothing in it yet. */
static int setup(void **state) {
    Arena *a = arena_new(NULL, NULL);
    Fixture *f = arena_new_of(a, Fixture);
    f->arena = a;
    f->sources = sources_new(a);
    f->strings = interner_new(a);
    f->m = ir_module_new(a, f->strings, f->sources);
    f->diag = diag_new(a, f->sources);
    f->i32 = ir_scalar(f->m, IR_I32);
    f->f32 = ir_scalar(f->m, IR_F32);
    IrType params[2] = {f->i32, f->i32};
    f->func = ir_new_func(f->m, str_internz(f->strings, "k"), (Span){0}, params, 2, 4);
    f->b = (IrBuilder){.m = f->m};
    ir_at_end(&f->b, ir_region_block(f->m, f->func, 0));
    *state = f;
    return 0;
}

static int teardown(void **state) {
    arena_free(((Fixture *)*state)->arena);
    return 0;
}

static IrValue param(Fixture *f, uint32_t i) {
    return ir_arg(f->m, ir_region_block(f->m, f->func, 0), i);
}

static void finish(Fixture *f) {
    ir_build(&f->b, IR_OP_RETURN, NULL, 0, NULL, 0);
}

static uint32_t uses_of(const Fixture *f, IrValue v) {
    uint32_t n = 0;
    for (IrUse u = ir_first_use(f->m, v); u; u = ir_next_use(f->m, u)) {
        assert_int_equal(ir_operand(f->m, ir_use_op(f->m, u), ir_use_index(f->m, u)), v);
        n++;
    }
    return n;
}

static const char *text_of(Fixture *f) {
    StrBuf b;
    strbuf_init(&b, f->arena);
    ir_print(f->m, &b);
    return b.text;
}

static void test_types_are_unique(void **state) {
    Fixture *f = *state;
    int64_t shape[2] = {64, 96};
    IrType ptr = ir_ptr(f->m, f->f32, IR_SPACE_GLOBAL);
    IrType tile = ir_tile(f->m, ptr, 2, shape, 0);
    assert_int_equal(tile, ir_tile(f->m, ptr, 2, shape, 0));
    assert_int_not_equal(tile, ir_tile(f->m, ptr, 1, shape, 0));
    assert_int_not_equal(tile, ir_buf(f->m, ptr, 2, shape, 0));
    assert_int_not_equal(ptr, ir_ptr(f->m, f->f32, IR_SPACE_SHARED));
    assert_int_equal(ir_elem_type(f->m, tile), ptr);
    assert_true(ir_is_tile(f->m, tile) && ir_is_ptr(f->m, tile));
    assert_int_equal(ir_elem(f->m, tile), IR_ELEM_NONE);
    assert_int_equal(ir_tile_elems(f->m, tile), 6144);
    assert_int_equal(ir_tile_elems(f->m, f->f32), 1);
    IrType numbers = ir_type_with_elem(f->m, tile, f->f32);
    assert_int_equal(numbers, ir_tile(f->m, f->f32, 2, shape, 0));
    assert_int_equal(ir_type_with_elem(f->m, f->i32, f->f32), f->f32);
    assert_int_equal(ir_type_with_layout(f->m, ptr, 1), ptr);
    assert_int_equal(ir_elem_bytes(f->m, ir_scalar(f->m, IR_I1)), 1);
    assert_int_equal(ir_elem_bytes(f->m, ptr), 8);
    StrBuf b;
    strbuf_init(&b, f->arena);
    ir_type_print(f->m, tile, &b);
    assert_string_equal(b.text, "tile<64x96xptr<f32, 1>>");
}

static void test_attributes(void **state) {
    Fixture *f = *state;
    int64_t order[2] = {1, 0};
    IrOp op = ir_build(&f->b, IR_OP_POISON, NULL, 0, &f->i32, 1);
    ir_set_ints(f->m, op, IR_KEY_ORDER, order, 2);
    ir_set_int(f->m, op, IR_KEY_AXIS, 1);
    ir_set_int(f->m, op, IR_KEY_AXIS, 2);
    ir_set_float(f->m, op, IR_KEY_FLOAT_VALUE, -0.0);
    ir_set_str(f->m, op, IR_KEY_NAME, str_internz(f->strings, "n"));
    assert_int_equal(ir_int(f->m, op, IR_KEY_AXIS, 0), 2);
    assert_true(signbit(ir_float(f->m, op, IR_KEY_FLOAT_VALUE, 1)));
    assert_int_equal(ir_attr(f->m, op, IR_KEY_ORDER)->ints[0], 1);
    assert_int_equal(ir_int(f->m, op, IR_KEY_START, 7), 7);
    IrOp copy = ir_build(&f->b, IR_OP_POISON, NULL, 0, &f->i32, 1);
    ir_copy_attrs(f->m, op, copy);
    assert_true(ir_same_attrs(f->m, op, copy));
    assert_int_equal(ir_hash_attrs(f->m, op), ir_hash_attrs(f->m, copy));
    ir_unset(f->m, op, IR_KEY_AXIS);
    ir_set_float(f->m, copy, IR_KEY_FLOAT_VALUE, 0.0);
    assert_false(ir_has(f->m, op, IR_KEY_AXIS));
    assert_false(ir_same_attrs(f->m, op, copy));
}

static void test_use_lists(void **state) {
    Fixture *f = *state;
    IrValue x = param(f, 0), y = param(f, 1);
    IrValue sum = ir_build2(&f->b, IR_OP_ADD, x, x);
    IrOp add = ir_value_op(f->m, sum);
    assert_int_equal(uses_of(f, x), 2);
    ir_set_operand(f->m, add, 1, y);
    assert_int_equal(uses_of(f, x), 1);
    assert_int_equal(uses_of(f, y), 1);
    /* operands move to a larger place as they are added */
    IrOp yield = ir_build(&f->b, IR_OP_YIELD, NULL, 0, NULL, 0);
    for (int i = 0; i < 20; i++)
        ir_add_operand(f->m, yield, i % 2 ? x : sum);
    assert_int_equal(uses_of(f, x), 11);
    ir_remove_operand(f->m, yield, 0);
    assert_int_equal(uses_of(f, sum), 9);
    assert_int_equal(ir_operand(f->m, yield, 0), x);
    ir_replace(f->m, sum, y);
    assert_true(ir_unused(f->m, sum));
    assert_int_equal(uses_of(f, y), 10);
    ir_erase(f->m, yield);
    assert_int_equal(uses_of(f, x), 1);
    assert_int_equal(ir_kind(f->m, yield), IR_OP_NONE);
    ir_erase(f->m, add);
    assert_true(ir_unused(f->m, x) && ir_unused(f->m, y));
    assert_int_equal(ir_first(f->m, ir_region_block(f->m, f->func, 0)), 0);
}

static void test_insertion_points(void **state) {
    Fixture *f = *state;
    IrValue a = ir_build_int(&f->b, f->i32, 1);
    IrValue c = ir_build_int(&f->b, f->i32, 3);
    ir_at_op(&f->b, ir_value_op(f->m, c));
    IrValue b = ir_build_int(&f->b, f->i32, 2);
    ir_after_op(&f->b, ir_value_op(f->m, c));
    IrValue d = ir_build_int(&f->b, f->i32, 4);
    ir_move_before(f->m, ir_value_op(f->m, d), ir_value_op(f->m, a));
    IrValue order[4] = {d, a, b, c};
    IrOp op = ir_first(f->m, ir_region_block(f->m, f->func, 0));
    for (int i = 0; i < 4; i++, op = ir_next(f->m, op))
        assert_int_equal(op, ir_value_op(f->m, order[i]));
    assert_int_equal(op, 0);
    assert_int_equal(ir_last(f->m, ir_region_block(f->m, f->func, 0)), ir_value_op(f->m, c));
    assert_int_equal(ir_prev(f->m, ir_value_op(f->m, a)), ir_value_op(f->m, d));
}

static void test_constants(void **state) {
    Fixture *f = *state;
    int64_t shape[1] = {8}, i;
    double d;
    IrType tile = ir_tile(f->m, ir_scalar(f->m, IR_I8), 1, shape, 0);
    assert_true(ir_const_int(f->m, ir_build_int(&f->b, tile, 200), &i));
    assert_int_equal(i, -56);
    assert_true(ir_const_int(f->m, ir_build_int(&f->b, ir_scalar(f->m, IR_I1), -1), &i));
    assert_int_equal(i, 1);
    IrValue x = ir_build_float(&f->b, f->f32, 0.1);
    IrType floats = ir_tile(f->m, f->f32, 1, shape, 0);
    assert_true(ir_const_float(f->m, ir_build_splat(&f->b, floats, x), &d));
    assert_true(d == (double)0.1f);
    assert_false(ir_const_int(f->m, x, &i));
    assert_false(ir_const_int(f->m, param(f, 0), &i));
}

/* for %i = x .. y { if c { yield i } else { yield s } } with a sum carried along */
static IrOp build_loop(Fixture *f) {
    IrValue operands[4] = {param(f, 0), param(f, 1), ir_build_int(&f->b, f->i32, 1), param(f, 0)};
    IrOp loop = ir_build(&f->b, IR_OP_FOR, operands, 4, &f->i32, 1);
    IrBuilder b = f->b;
    IrBlock body = ir_region_block(f->m, loop, 0);
    IrValue i = ir_add_arg(f->m, body, f->i32), s = ir_add_arg(f->m, body, f->i32);
    ir_set_value_name(f->m, i, str_internz(f->strings, "i"));
    ir_at_end(&b, body);
    IrValue c = ir_build_cmp(&b, IR_OP_ICMP, IR_CMP_SLT, i, s);
    IrOp choice = ir_build(&b, IR_OP_IF, &c, 1, &f->i32, 1);
    IrValue next = ir_result(f->m, choice, 0);
    ir_build(&b, IR_OP_YIELD, &next, 1, NULL, 0);
    ir_at_end(&b, ir_region_block(f->m, choice, 0));
    ir_build(&b, IR_OP_YIELD, &i, 1, NULL, 0);
    ir_at_end(&b, ir_region_block(f->m, choice, 1));
    ir_build(&b, IR_OP_YIELD, &s, 1, NULL, 0);
    return loop;
}

static void test_clone(void **state) {
    Fixture *f = *state;
    IrOp loop = build_loop(f);
    Map map;
    map_init(&map, f->arena);
    map_put(&map, param(f, 0), param(f, 1));
    IrOp copy = ir_clone(&f->b, loop, &map);
    finish(f);
    assert_true(ir_verify(f->m, f->diag));
    assert_int_equal(ir_operand(f->m, copy, 0), param(f, 1));
    assert_int_equal(map_find(&map, ir_result(f->m, loop, 0), 0), ir_result(f->m, copy, 0));
    /* the copy's regions use the copy's arguments */
    IrBlock body = ir_region_block(f->m, copy, 0);
    assert_int_equal(uses_of(f, ir_arg(f->m, body, 0)), 2);
    assert_string_equal(str_text(f->strings, ir_value_name(f->m, ir_arg(f->m, body, 0))), "i");
    assert_non_null(strstr(text_of(f), "%8 = for %1, %1, %2, %1 : i32 (%i.9: i32, %10: i32) {"));
    ir_erase(f->m, loop);
    assert_true(ir_verify(f->m, f->diag));
}

static void count(IrModule *m, IrOp op, void *user) {
    ((uint32_t *)user)[ir_kind(m, op)]++;
}

static void test_walk_and_inline(void **state) {
    Fixture *f = *state;
    uint32_t counts[IR_OP_COUNT] = {0};
    IrOp loop = build_loop(f);
    finish(f);
    ir_walk(f->m, f->func, count, counts);
    assert_int_equal(counts[IR_OP_YIELD], 3);
    assert_int_equal(counts[IR_OP_FOR], 1);
    assert_int_equal(ir_func_of(f->m, loop), f->func);
    IrBlock body = ir_region_block(f->m, loop, 0);
    ir_replace(f->m, ir_arg(f->m, body, 0), param(f, 0));
    ir_replace(f->m, ir_arg(f->m, body, 1), param(f, 1));
    ir_inline_block(f->m, body, loop);
    ir_erase(f->m, loop);
    assert_true(ir_verify(f->m, f->diag));
    memset(counts, 0, sizeof counts);
    ir_walk(f->m, f->func, count, counts);
    assert_int_equal(counts[IR_OP_FOR], 0);
    assert_int_equal(counts[IR_OP_IF], 1);
}

static void test_lists_of_results_and_arguments(void **state) {
    Fixture *f = *state;
    IrOp op = ir_build(&f->b, IR_OP_ASM, NULL, 0, NULL, 0);
    for (int i = 0; i < 12; i++)
        ir_add_result(f->m, op, i % 2 ? f->i32 : f->f32);
    IrValue last = ir_result(f->m, op, 11);
    ir_remove_result(f->m, op, 0);
    assert_int_equal(ir_result_count(f->m, op), 11);
    assert_int_equal(ir_value_index(f->m, last), 10);
    assert_int_equal(ir_result(f->m, op, 10), last);
    ir_remove_arg(f->m, ir_region_block(f->m, f->func, 0), 0);
    assert_int_equal(ir_value_index(f->m, param(f, 0)), 0);
}

static void test_groups_and_facts(void **state) {
    Fixture *f = *state;
    assert_int_equal(ir_group_count(f->m, f->func), 1);
    assert_int_equal(ir_group_at(f->m, f->func, 0)->num_warps, 4);
    assert_int_equal(ir_add_group(f->m, f->func, (IrGroup){4, 4, 240, 1}), 1);
    assert_int_equal(ir_param_fact(f->m, f->func, 1), 1);
    ir_set_param_fact(f->m, f->func, 1, 16);
    assert_int_equal(ir_param_fact(f->m, f->func, 0), 1);
    assert_int_equal(ir_param_fact(f->m, f->func, 1), 16);
}

/* Text cannot name a value outside its region; a pass can by mistake. */
static void test_verify_dominance(void **state) {
    Fixture *f = *state;
    IrOp loop = build_loop(f);
    finish(f);
    assert_true(ir_verify(f->m, f->diag));
    IrValue inside = ir_arg(f->m, ir_region_block(f->m, loop, 0), 0);
    ir_at_op(&f->b, ir_last(f->m, ir_region_block(f->m, f->func, 0)));
    ir_build2(&f->b, IR_OP_ADD, inside, inside);
    assert_false(ir_verify(f->m, f->diag));
    assert_int_equal(diag_errors(f->diag), 1);
}

static void test_verify_order(void **state) {
    Fixture *f = *state;
    IrValue x = ir_build_int(&f->b, f->i32, 1);
    IrValue y = ir_build2(&f->b, IR_OP_ADD, x, x);
    finish(f);
    ir_move_before(f->m, ir_value_op(f->m, y), ir_value_op(f->m, x));
    assert_false(ir_verify(f->m, f->diag));
}

static void test_verify_terminator(void **state) {
    Fixture *f = *state;
    finish(f);
    ir_build_int(&f->b, f->i32, 1);
    assert_false(ir_verify(f->m, f->diag));
}

static void test_spans_survive_text(void **state) {
    Fixture *f = *state;
    uint32_t py = sources_add(f->sources, "k.py", "line one\nline two\n", 18);
    f->b.span = (Span){py, 9, 13};
    ir_build_int(&f->b, f->i32, 1);
    finish(f);
    const char *text = text_of(f);
    uint32_t tir = sources_add(f->sources, "k.tir", text, strlen(text));
    IrModule *again = ir_module_new(f->arena, f->strings, f->sources);
    assert_true(ir_parse(again, tir, f->diag));
    Span at = ir_span(again, ir_first(again, ir_region_block(again, ir_func(again, 0), 0)));
    assert_int_equal(at.file, py);
    assert_int_equal(at.lo, 9);
    assert_int_equal(at.hi, 13);
    StrBuf b;
    strbuf_init(&b, f->arena);
    ir_print(again, &b);
    assert_string_equal(b.text, text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_types_are_unique, setup, teardown),
        cmocka_unit_test_setup_teardown(test_attributes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_use_lists, setup, teardown),
        cmocka_unit_test_setup_teardown(test_insertion_points, setup, teardown),
        cmocka_unit_test_setup_teardown(test_constants, setup, teardown),
        cmocka_unit_test_setup_teardown(test_clone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_walk_and_inline, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lists_of_results_and_arguments, setup, teardown),
        cmocka_unit_test_setup_teardown(test_groups_and_facts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_verify_dominance, setup, teardown),
        cmocka_unit_test_setup_teardown(test_verify_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_verify_terminator, setup, teardown),
        cmocka_unit_test_setup_teardown(test_spans_survive_text, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
