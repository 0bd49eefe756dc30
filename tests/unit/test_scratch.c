/* generator/analysis: scratch of operations, scannable layouts, roots of shared pointers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/layout_rule.h"
#include "analysis/scratch.h"
#include "analysis/shared_roots.h"

#include <string.h>

typedef struct Fixture {
    Arena *arena;
    IrModule *m;
    Sources *sources;
    Diag *diag;
} Fixture;

static int setup(void **state) {
    Arena *a = arena_new(NULL, NULL);
    Fixture *f = arena_new_of(a, Fixture);
    f->arena = a;
    f->sources = sources_new(a);
    f->diag = diag_new(a, f->sources);
    f->m = ir_module_new(a, interner_new(a), f->sources);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    arena_free(((Fixture *)*state)->arena);
    return 0;
}

static void parse(Fixture *f, const char *text) {
    uint32_t file = sources_add(f->sources, "scratch.tir", text, strlen(text));
    bool ok = ir_parse(f->m, file, f->diag) && ir_verify(f->m, f->diag);
    if (!ok)
        diag_print(f->diag, stderr, false);
    assert_true(ok);
}

typedef struct Finder {
    const char *name;
    IrValue found;
} Finder;

static void find_in_op(IrModule *m, IrOp op, void *user) {
    Finder *f = user;
    for (uint32_t i = 0; i < ir_result_count(m, op); i++)
        if (!strcmp(str_text(ir_strings(m), ir_value_name(m, ir_result(m, op, i))), f->name))
            f->found = ir_result(m, op, i);
}

static IrValue value(Fixture *f, const char *name) {
    Finder find = {name, 0};
    ir_walk(f->m, ir_func(f->m, 0), find_in_op, &find);
    if (!find.found)
        fail_msg("no value %s", name);
    return find.found;
}

static void want(Fixture *f, const char *name, uint32_t bytes, uint32_t barriers) {
    Scratch s = scratch_of(f->m, ir_value_op(f->m, value(f, name)));
    if (s.bytes != bytes || s.barriers != barriers)
        fail_msg("%s needs %u bytes and %u barriers", name, s.bytes, s.barriers);
}

#define ADD(a, b, c)                                                                               \
    " (%" a ": i32, %" b ": i32) {\n    %" c " = add %" a ", %" b " : i32\n    yield %" c "\n  "   \
    "}\n"

static void test_sizes(void **state) {
    Fixture *f = *state;
    parse(f,
          "#w = layout<block=[512] repeat=[3] reg=[[128], [256]] lane=[[1], [2], [4], [8], [16]] "
          "warp=[[32], [64]] cta=[]>\n"
          "#v = layout<block=[512] repeat=[3] reg=[[1], [2]] lane=[[4], [8], [16], [32], [64]] "
          "warp=[[128], [256]] cta=[]>\n"
          "#c = layout<block=[32] repeat=[1] reg=[] lane=[[1], [2], [4], [8], [16]] warp=[[0], "
          "[0]] cta=[]>\n"
          "#t = layout<block=[32, 32] repeat=[1, 1] reg=[[0, 1], [0, 2], [16, 0]] lane=[[0, 4], "
          "[0, 8], [0, 16], [1, 0], [2, 0]] warp=[[4, 0], [8, 0]] cta=[]>\n"
          "#u = layout<block=[32, 32] repeat=[1, 1] reg=[[1, 0], [2, 0], [0, 16]] lane=[[4, 0], "
          "[8, 0], [16, 0], [0, 1], [0, 2]] warp=[[0, 4], [0, 8]] cta=[]>\n"
          "#s = layout<block=[32] repeat=[1] reg=[[16]] lane=[[0], [0], [0], [1], [2]] warp=[[4], "
          "[8]] "
          "cta=[]>\n"
          "func @k(%p: ptr<i32, 1>, %n: i32) [num_warps = 4] {\n"
          "  %x = arange [start = 0, end = 1536] : tile<1536xi32, #w>\n"
          "  %zero = const 0 : i32\n"
          "  %moved = convert_layout %x : tile<1536xi32, #v>\n"
          "  %sum = reduce %x [axis = 0] : i32" ADD(
              "a", "b", "c") "  %s1, %s2 = reduce %x, %x [axis = 0] : i32, i32 (%d: i32, %e: i32, "
                             "%g: i32, %h: i32) {\n"
                             "    yield %d, %e\n  }\n"
                             "  %run = scan %x [axis = 0] : tile<1536xi32, #w>" ADD(
                                 "i", "j",
                                 "k") "  %few = scan %moved [axis = 0] : tile<1536xi32, "
                                      "#v>" ADD("i2", "j2",
                                                "k2") "  %h16 = histogram %x : tile<32xi32, "
                                                      "#c>\n"
                                                      "  %old = atomic_rmw %p, %n [rmw = add, "
                                                      "sem = relaxed, scope = gpu] : i32\n"
                                                      "  %unused = atomic_rmw %p, %n [rmw = "
                                                      "add, sem = relaxed, scope = gpu] : "
                                                      "i32\n"
                                                      "  %ps = splat %p : tile<32xptr<i32, "
                                                      "1>, #c>\n"
                                                      "  %copies = atomic_rmw %ps, %h16 [rmw "
                                                      "= add, sem = relaxed, scope = gpu] : "
                                                      "tile<32xi32, #c>\n"
                                                      "  %use = add %copies, %copies : "
                                                      "tile<32xi32, #c>\n"
                                                      "  %use2 = add %old, %old : i32\n"
                                                      "  %m = const 1 : tile<32x32xi32, #t>\n"
                                                      "  %mt = convert_layout %m : "
                                                      "tile<32x32xi32, #u>\n"
                                                      "  %down = reduce %m [axis = 1] : "
                                                      "tile<32xi32, #s>" ADD("l", "m2",
                                                                             "n2") "  return\n}\n");
    want(f, "moved", 1536 * 4, 1);
    want(f, "sum", 16, 1);
    want(f, "s1", 32, 1);
    want(f, "run", 12 * 4 * 4, 1); /* 3 repeats of 4 outer blocks, 4 warps */
    want(f, "few", 3 * 4 * 4, 1);
    want(f, "h16", 128, 2);
    want(f, "old", 4, 1);
    want(f, "unused", 0, 0);
    want(f, "copies", 128, 1);
    want(f, "mt", 32 * (32 + 4) * 4, 1);
    want(f, "down", 0, 0); /* rows stay within a warp */
    IrOp pair = ir_value_op(f->m, value(f, "s1"));
    assert_int_equal(scratch_part(f->m, pair, 0), 0);
    assert_int_equal(scratch_part(f->m, pair, 1), 16);
}

/* Elements have their own bytes, inside what scratch_of reserves. */
static void test_addresses(void **state) {
    Fixture *f = *state;
    static const int64_t extents[][2] = {{3, 64}, {64, 24}, {32, 32}, {192, 16}};
    for (size_t e = 0; e < sizeof extents / sizeof *extents; e++)
        for (uint32_t bytes = 1; bytes <= 8; bytes *= 2) {
            Layout l = layout_blocked(2, extents[e], (const uint32_t[]){1, 1},
                                      (const uint8_t[]){1, 0}, 32, 4);
            uint32_t rows = (uint32_t)extents[e][0], columns = (uint32_t)extents[e][1];
            uint32_t size = rows * scratch_pitch(&l, bytes) * bytes;
            uint8_t *used = arena_array(f->arena, uint8_t, size);
            for (uint32_t i = 0; i < rows; i++)
                for (uint32_t k = 0; k < columns; k++) {
                    uint32_t at = scratch_address(&l, bytes, (uint32_t[LAYOUT_MAX_RANK]){i, k});
                    assert_true(at % bytes == 0 && at + bytes <= size && !used[at]);
                    used[at] = 1;
                }
        }
}

static void test_scannable(void **state) {
    (void)state;
    Layout l = {.rank = 1,
                .block_log2 = {6},
                .repeat = {3},
                .bits = {2, 3, 1},
                .basis = {{1}, {32}, {2}, {4}, {8}, {16}}};
    assert_true(layout_valid(&l, NULL));
    assert_true(layout_scannable(&l, 0));
    assert_int_equal(scratch_scan_blocks(&l, 0), 6);
    assert_int_equal(scratch_axis_warps(&l, 0), 2);
    l.basis[2][0] = 16;
    l.basis[5][0] = 2; /* a warp below the lanes */
    assert_false(layout_scannable(&l, 0));
}

static void want_roots(Fixture *f, const Roots *r, const char *name, const char *first,
                       const char *second, bool unknown) {
    uint32_t len, expected = (first ? 1u : 0u) + (second ? 1u : 0u);
    bool is_unknown;
    const IrOp *ops = roots_of(r, value(f, name), &len, &is_unknown);
    assert_int_equal(len, expected);
    assert_int_equal(is_unknown, unknown);
    for (uint32_t i = 0; i < len; i++)
        assert_true((first && ops[i] == ir_value_op(f->m, value(f, first))) ||
                    (second && ops[i] == ir_value_op(f->m, value(f, second))));
}

static void test_roots(void **state) {
    Fixture *f = *state;
    parse(f, "func @k(%c: i1, %n: i32, %g: ptr<ptr<i32, 3>, 1>) [num_warps = 1] {\n"
             "  %z = const 0 : i32\n"
             "  %one = const 1 : i32\n"
             "  %a = shared_alloc : buf<16xi32>\n"
             "  %b = shared_alloc : buf<16xi32>\n"
             "  %p = local_ptr %a, %z : ptr<i32, 3>\n"
             "  %q = local_ptr %b, %z : ptr<i32, 3>\n"
             "  %sel = select %c, %p, %q : ptr<i32, 3>\n"
             "  %loop = for %z, %n, %one, %p : ptr<i32, 3> (%i: i32, %r: ptr<i32, 3>) {\n"
             "    %next = addptr %r, %one : ptr<i32, 3>\n"
             "    yield %next\n"
             "  }\n"
             "  %swap = for %z, %n, %one, %p : ptr<i32, 3> (%i2: i32, %r2: ptr<i32, 3>) {\n"
             "    yield %q\n"
             "  }\n"
             "  %int = ptrtoint %q : i64\n"
             "  %back = inttoptr %int : ptr<i32, 3>\n"
             "  %mem = load %g : ptr<i32, 3>\n"
             "  %v = load %p : i32\n"
             "  return\n}\n");
    const Roots *r = roots_analyse(f->arena, f->m, ir_func(f->m, 0));
    want_roots(f, r, "p", "a", NULL, false);
    want_roots(f, r, "sel", "a", "b", false);
    want_roots(f, r, "loop", "a", NULL, false);
    want_roots(f, r, "next", "a", NULL, false);
    want_roots(f, r, "swap", "a", "b", false);
    want_roots(f, r, "back", "b", NULL, false);
    want_roots(f, r, "mem", NULL, NULL, true);
    want_roots(f, r, "v", NULL, NULL, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sizes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_addresses, setup, teardown),
        cmocka_unit_test(test_scannable),
        cmocka_unit_test_setup_teardown(test_roots, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
