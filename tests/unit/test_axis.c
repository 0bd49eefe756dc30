/* generator/analysis/axis: facts of written-out cases, and soundness: random programs are evaluated
 * element by element, and every claim of the analysis must hold for the values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/axis.h"
#include "analysis/axis_range.h"

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

/* --- written-out cases --- */

typedef struct Finder {
    const char *name;
    IrValue found;
} Finder;

static void find_in_op(IrModule *m, IrOp op, void *user) {
    Finder *f = user;
    for (uint32_t i = 0; i < ir_result_count(m, op); i++)
        if (!strcmp(str_text(ir_strings(m), ir_value_name(m, ir_result(m, op, i))), f->name))
            f->found = ir_result(m, op, i);
    for (uint32_t r = 0; r < ir_region_count(m, op); r++)
        for (uint32_t i = 0; i < ir_arg_count(m, ir_region_block(m, op, r)); i++) {
            IrValue v = ir_arg(m, ir_region_block(m, op, r), i);
            if (!strcmp(str_text(ir_strings(m), ir_value_name(m, v)), f->name))
                f->found = v;
        }
}

static Axis *parse(Fixture *f, const char *text) {
    uint32_t file = sources_add(f->sources, "axis.tir", text, strlen(text));
    bool ok = ir_parse(f->m, file, f->diag) && ir_verify(f->m, f->diag);
    if (!ok)
        diag_print(f->diag, stderr, false);
    assert_true(ok);
    return axis_analyse(f->arena, f->m, ir_func(f->m, 0));
}

static IrValue value(Fixture *f, const char *name) {
    Finder find = {name, 0};
    ir_walk(f->m, ir_func(f->m, 0), find_in_op, &find);
    if (!find.found)
        fail_msg("no value %s", name);
    return find.found;
}

typedef struct Expected {
    const char *name;
    unsigned dim;
    int64_t contiguity, divisibility, constancy;
} Expected;

static void check(Fixture *f, const Axis *x, const Expected *e, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const AxisInfo *a = axis_info(x, value(f, e[i].name));
        unsigned d = e[i].dim;
        if (a->contiguity[d] != e[i].contiguity || a->divisibility[d] != e[i].divisibility ||
            a->constancy[d] != e[i].constancy)
            fail_msg("%s dimension %u: %lld %lld %lld", e[i].name, d, (long long)a->contiguity[d],
                     (long long)a->divisibility[d], (long long)a->constancy[d]);
    }
}

#define CHECK(f, x, ...)                                                                           \
    do {                                                                                           \
        const Expected e_[] = __VA_ARGS__;                                                         \
        check(f, x, e_, sizeof e_ / sizeof *e_);                                                   \
    } while (0)

static void test_arithmetic(void **state) {
    Fixture *f = *state;
    Axis *x = parse(f, "func @k(%n: i32 divisible 16, %k: i32) [num_warps = 1] {\n"
                       "  %r = arange [start = 0, end = 192] : tile<192xi32>\n"
                       "  %s = arange [start = 8, end = 136] : tile<128xi32>\n"
                       "  %ns = splat %n : tile<192xi32>\n"
                       "  %ks = splat %k : tile<192xi32>\n"
                       "  %sum = add %r, %ns : tile<192xi32>\n"
                       "  %odd = add %r, %ks : tile<192xi32>\n"
                       "  %four = const 4 : tile<192xi32>\n"
                       "  %div = sdiv %r, %four : tile<192xi32>\n"
                       "  %rem = srem %r, %four : tile<192xi32>\n"
                       "  %wild = sdiv %sum, %four : tile<192xi32>\n"
                       "  %two = const 2 : tile<192xi32>\n"
                       "  %shl = shl %r, %two : tile<192xi32>\n"
                       "  %shr = lshr %sum, %two : tile<192xi32>\n"
                       "  %seven = const 7 : tile<192xi32>\n"
                       "  %low = and %sum, %seven : tile<192xi32>\n"
                       "  %mask = const -8 : tile<192xi32>\n"
                       "  %high = and %sum, %mask : tile<192xi32>\n"
                       "  %lt = icmp %sum, %four [cmp = slt] : tile<192xi1>\n"
                       "  %le = icmp %sum, %four [cmp = sle] : tile<192xi1>\n"
                       "  %gt = icmp %ns, %r [cmp = sgt] : tile<192xi1>\n"
                       "  return\n}\n");
    CHECK(f, x,
          {
              {"r", 0, 64, 64, 1},
              {"s", 0, 128, 8, 1},
              {"ns", 0, 1, 16, 64},
              {"sum", 0, 64, 16, 1},
              {"odd", 0, 64, 1, 1},
              {"div", 0, 1, 1, 4},
              {"rem", 0, 4, 4, 1},
              {"wild", 0, 1, 1, 1},
              {"shl", 0, 1, 4, 1},
              {"shr", 0, 1, 1, 4},
              {"low", 0, 8, 8, 1},
              {"high", 0, 1, 8, 8},
              {"lt", 0, 1, 1, 4},
              {"le", 0, 1, 1, 1},
              {"gt", 0, 1, 1, 16},
          });
}

static void test_pointers(void **state) {
    Fixture *f = *state;
    Axis *x =
        parse(f, "func @k(%p: ptr<f32, 1> divisible 16, %row: i64 divisible 4) [num_warps = 1] {\n"
                 "  %r = arange [start = 0, end = 128] : tile<128xi32>\n"
                 "  %q = addptr %p, %row : ptr<f32, 1>\n"
                 "  %qs = splat %q : tile<128xptr<f32, 1>>\n"
                 "  %a = addptr %qs, %r : tile<128xptr<f32, 1>>\n"
                 "  %v = load %a : tile<128xf32>\n"
                 "  %h = bitcast %a : tile<128xptr<f16, 1>>\n"
                 "  %i = ptrtoint %a : tile<128xi64>\n"
                 "  %buf = shared_alloc : buf<8x64xi8>\n"
                 "  %all = local_ptr %buf : tile<8x64xptr<i8, 3>>\n"
                 "  %rows = shared_alloc : buf<4x128xi32>\n"
                 "  %one = const 1 : tile<128xi32>\n"
                 "  %b = local_ptr %rows, %one, %r : tile<128xptr<i32, 3>>\n"
                 "  %c = local_ptr %rows, %r, %one : tile<128xptr<i32, 3>>\n"
                 "  return\n}\n");
    CHECK(f, x,
          {
              {"q", 0, 1, 16, 1},
              {"a", 0, 128, 16, 1},
              {"h", 0, 1, 4, 1},
              {"i", 0, 1, 4, 1},
              {"all", 1, 64, 16, 1},
              {"all", 0, 1, 1, 1},
              {"b", 0, 128, 16, 1},
              {"c", 0, 1, 4, 1},
          });
    IrOp load = ir_value_op(f->m, value(f, "v"));
    assert_int_equal(axis_vector(x, f->m, load, 0, 16), 4);
    assert_int_equal(axis_vector(x, f->m, load, 0, 32), 4);
    assert_int_equal(axis_vector(x, f->m, load, 0, 8), 2);
}

static void test_shapes(void **state) {
    Fixture *f = *state;
    Axis *x = parse(f, "func @k(%n: i32 divisible 8) [num_warps = 1] {\n"
                       "  %r = arange [start = 0, end = 96] : tile<96xi32>\n"
                       "  %e = expand_dims %r [axis = 1] : tile<96x1xi32>\n"
                       "  %b = broadcast %e : tile<96x64xi32>\n"
                       "  %t = trans %b [order = [1, 0]] : tile<64x96xi32>\n"
                       "  %m = reshape %r : tile<6x16xi32>\n"
                       "  %s = splat %n : tile<96xi32>\n"
                       "  %g = fact %s [divisible = [64], contiguous = [16]] : tile<96xi32>\n"
                       "  return\n}\n");
    CHECK(f, x,
          {
              {"r", 0, 32, 32, 1},
              {"e", 0, 32, 32, 1},
              {"e", 1, 1, 1, 1},
              {"b", 0, 32, 32, 1},
              {"b", 1, 1, 1, 64},
              {"t", 1, 32, 32, 1},
              {"t", 0, 1, 1, 64},
              {"m", 1, 16, 16, 1},
              {"m", 0, 1, 1, 1},
              {"g", 0, 16, 64, 32},
          });
}

static void test_flow(void **state) {
    Fixture *f = *state;
    Axis *x = parse(f, "func @k(%n: i32, %q: i32, %c: i1) [num_warps = 1] {\n"
                       "  %z = const 0 : i32\n"
                       "  %step = const 64 : i32\n"
                       "  %r = arange [start = 0, end = 64] : tile<64xi32>\n"
                       "  %eight = const 8 : i32\n"
                       "  %rem = srem %q, %eight : i32\n"
                       "  %ok = icmp %rem, %z [cmp = eq] : i1\n"
                       "  assume %ok\n"
                       "  %use = add %q, %z : i32\n"
                       "  %a, %b = for %z, %n, %step, %r, %r : tile<64xi32>, tile<64xi32> (%i: "
                       "i32, %u: tile<64xi32>, %w: tile<64xi32>) {\n"
                       "    %is = splat %i : tile<64xi32>\n"
                       "    %u2 = add %u, %is : tile<64xi32>\n"
                       "    %w2 = add %w, %u : tile<64xi32>\n"
                       "    yield %u2, %w2\n"
                       "  }\n"
                       "  %d = if %c : i32 {\n"
                       "    yield %q\n"
                       "  } {\n"
                       "    %four = const 4 : i32\n"
                       "    yield %four\n"
                       "  }\n"
                       "  %e = while %d : i32 (%g: i32) {\n"
                       "    condition %c, %g\n"
                       "  } (%h: i32) {\n"
                       "    %two = const 2 : i32\n"
                       "    %h2 = add %h, %two : i32\n"
                       "    yield %h2\n"
                       "  }\n"
                       "  return\n}\n");
    CHECK(f, x,
          {
              {"q", 0, 1, 8, 1},
              {"use", 0, 1, 8, 1},
              {"i", 0, 1, 64, 1},
              {"u", 0, 64, 64, 1},
              {"a", 0, 64, 64, 1},
              {"w", 0, 1, 1, 1},
              {"d", 0, 1, 4, 1},
              {"e", 0, 1, 2, 1},
          });
}

/* An assumption in a branch says nothing about code outside it. */
static void test_assume_in_branch(void **state) {
    Fixture *f = *state;
    Axis *x = parse(f, "func @k(%q: i32, %c: i1) [num_warps = 1] {\n"
                       "  %z = const 0 : i32\n"
                       "  %seven = const 7 : i32\n"
                       "  %low = and %q, %seven : i32\n"
                       "  %ok = icmp %low, %z [cmp = eq] : i1\n"
                       "  if %c {\n"
                       "    assume %ok\n"
                       "    yield\n"
                       "  } {\n"
                       "    yield\n"
                       "  }\n"
                       "  return\n}\n");
    CHECK(f, x, {{"q", 0, 1, 1, 1}});
}

static void test_ranges(void **state) {
    Fixture *f = *state;
    parse(f, "func @k(%n: i32) [num_warps = 1] {\n"
             "  %z = const 0 : i32\n"
             "  %one = const 1 : i32\n"
             "  %pid = program_id [axis = 0] : i32\n"
             "  %k = const 1000 : i32\n"
             "  %far = mul %pid, %k : i32\n"
             "  %m = srem %pid, %k : i32\n"
             "  %near = mul %m, %k : i32\n"
             "  %wide = sext %far : i64\n"
             "  for %z, %n, %one (%i: i32) {\n"
             "    yield\n"
             "  }\n"
             "  return\n}\n");
    static const struct {
        const char *name;
        int64_t lo, hi;
    } expected[] = {
        {"far", INT32_MIN, INT32_MAX},  {"m", 0, 999},           {"near", 0, 999000},
        {"wide", INT32_MIN, INT32_MAX}, {"i", 0, INT32_MAX - 1}, {"n", INT32_MIN, INT32_MAX},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        Range r = range_of(f->m, value(f, expected[i].name));
        assert_true(r.lo == expected[i].lo && r.hi == expected[i].hi);
    }
}

/* --- soundness --- */

enum { EXTENT = 48, VALUES = 40, PROGRAMS = 3000 };

typedef struct Program {
    Fixture *f;
    IrBuilder b;
    uint64_t random;
    IrValue value[VALUES];
    int32_t element[VALUES][EXTENT]; /* the model's values */
    uint32_t len;
} Program;

static uint32_t next_random(Program *p, uint32_t below) {
    p->random = p->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(p->random >> 33) % below;
}

static bool evaluate(IrKind kind, int32_t a, int32_t b, int32_t *out) {
    uint32_t x = (uint32_t)a, y = (uint32_t)b;
    switch ((int)kind) {
    case IR_OP_ADD:
        *out = (int32_t)(x + y);
        return true;
    case IR_OP_SUB:
        *out = (int32_t)(x - y);
        return true;
    case IR_OP_MUL:
        *out = (int32_t)(x * y);
        return true;
    case IR_OP_AND:
        *out = a & b;
        return true;
    case IR_OP_OR:
        *out = a | b;
        return true;
    case IR_OP_XOR:
        *out = a ^ b;
        return true;
    case IR_OP_SMIN:
        *out = a < b ? a : b;
        return true;
    case IR_OP_UMAX:
        *out = x > y ? a : b;
        return true;
    case IR_OP_SHL:
        *out = y < 32 ? (int32_t)(x << y) : 0;
        return true;
    case IR_OP_LSHR:
        *out = y < 32 ? (int32_t)(x >> y) : 0;
        return true;
    case IR_OP_ASHR:
        *out = a >> (y < 32 ? y : 31);
        return true;
    case IR_OP_SDIV:
    case IR_OP_SREM:
        if (b == 0 || (a == INT32_MIN && b == -1))
            return false;
        *out = kind == IR_OP_SDIV ? a / b : a % b;
        return true;
    case IR_OP_UDIV:
    case IR_OP_UREM:
        if (b == 0)
            return false;
        *out = (int32_t)(kind == IR_OP_UDIV ? x / y : x % y);
        return true;
    default:
        return false;
    }
}

static void add_leaf(Program *p) {
    IrModule *m = p->f->m;
    int64_t shape[1] = {EXTENT};
    IrType tile = ir_tile(m, ir_scalar(m, IR_I32), 1, shape, 0);
    int32_t *out = p->element[p->len];
    if (next_random(p, 2)) {
        int64_t start = next_random(p, 9) * 4;
        IrOp op = ir_build(&p->b, IR_OP_ARANGE, NULL, 0, &tile, 1);
        ir_set_int(m, op, IR_KEY_START, start);
        ir_set_int(m, op, IR_KEY_END, start + EXTENT);
        for (int32_t i = 0; i < EXTENT; i++)
            out[i] = (int32_t)start + i;
        p->value[p->len++] = ir_result(m, op, 0);
        return;
    }
    static const int32_t constants[] = {0,  1,  2,         3,         4,          5,   7,
                                        8,  12, 16,        24,        31,         64,  -1,
                                        -4, -8, INT32_MIN, INT32_MAX, 0x7ffffff0, 4096};
    int32_t c = constants[next_random(p, sizeof constants / sizeof *constants)];
    p->value[p->len] = ir_build_int(&p->b, tile, c);
    for (int32_t i = 0; i < EXTENT; i++)
        out[i] = c;
    p->len++;
}

/* A parameter with a fact, whose value honours it. */
static void add_parameter(Program *p, uint32_t index, uint32_t divisible) {
    IrModule *m = p->f->m;
    int64_t shape[1] = {EXTENT};
    IrType tile = ir_tile(m, ir_scalar(m, IR_I32), 1, shape, 0);
    IrOp func = ir_func(m, ir_func_count(m) - 1);
    int32_t c = (int32_t)((next_random(p, 1u << 31) << 1 | next_random(p, 2)) & ~(divisible - 1));
    ir_set_param_fact(m, func, index, divisible);
    p->value[p->len] = ir_build_splat(&p->b, tile, ir_arg(m, ir_region_block(m, func, 0), index));
    for (int32_t i = 0; i < EXTENT; i++)
        p->element[p->len][i] = c;
    p->len++;
}

static void add_binary(Program *p) {
    static const IrKind kinds[] = {IR_OP_ADD,  IR_OP_SUB,  IR_OP_MUL,  IR_OP_AND,  IR_OP_OR,
                                   IR_OP_XOR,  IR_OP_SMIN, IR_OP_UMAX, IR_OP_SHL,  IR_OP_LSHR,
                                   IR_OP_ASHR, IR_OP_SDIV, IR_OP_SREM, IR_OP_UDIV, IR_OP_UREM,
                                   IR_OP_ADD,  IR_OP_MUL,  IR_OP_SDIV, IR_OP_SREM};
    IrKind kind = kinds[next_random(p, sizeof kinds / sizeof *kinds)];
    uint32_t a = next_random(p, p->len), b = next_random(p, p->len);
    int32_t out[EXTENT];
    for (int32_t i = 0; i < EXTENT; i++)
        if (!evaluate(kind, p->element[a][i], p->element[b][i], &out[i]))
            return;
    p->value[p->len] = ir_build2(&p->b, kind, p->value[a], p->value[b]);
    memcpy(p->element[p->len++], out, sizeof out);
}

static void add_compare(Program *p) {
    int cmp = IR_CMP_EQ + (int)next_random(p, IR_CMP_UGE - IR_CMP_EQ + 1);
    uint32_t a = next_random(p, p->len), b = next_random(p, p->len);
    uint32_t c = next_random(p, p->len), d = next_random(p, p->len);
    IrValue cond = ir_build_cmp(&p->b, IR_OP_ICMP, cmp, p->value[a], p->value[b]);
    p->value[p->len] = ir_build_select(&p->b, cond, p->value[c], p->value[d]);
    for (int32_t i = 0; i < EXTENT; i++) {
        int32_t x = p->element[a][i], y = p->element[b][i];
        uint32_t u = (uint32_t)x, v = (uint32_t)y;
        bool holds[] = {[IR_CMP_EQ] = x == y,
                        [IR_CMP_NE] = x != y,
                        [IR_CMP_SLT] = x<y, [IR_CMP_SLE] = x <= y, [IR_CMP_SGT] = x> y,
                        [IR_CMP_SGE] = x >= y,
                        [IR_CMP_ULT] = u<v, [IR_CMP_ULE] = u <= v, [IR_CMP_UGT] = u> v,
                        [IR_CMP_UGE] = u >= v};
        p->element[p->len][i] = p->element[holds[cmp] ? c : d][i];
    }
    p->len++;
}

/* Aligned groups inside a run that divisibility vouches for count up; groups of `constancy` are
 * equal; starts of runs are multiples. */
static bool claims_hold(const AxisInfo *a, const int32_t *e) {
    int64_t run = a->contiguity[0], div = a->divisibility[0], same = a->constancy[0];
    int64_t vouched = run < div ? run : div;
    for (int64_t i = 0; i < EXTENT; i++) {
        int64_t first = i - i % vouched, group = i - i % same;
        if ((int64_t)e[i] != (int64_t)e[first] + (i - first) || e[i] != e[group])
            return false;
        if (i % run == 0 && e[i] % div)
            return false;
    }
    return !a->is_const || a->value == e[0];
}

static void test_sound(void **state) {
    uint32_t useful = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        void *fixture;
        assert_int_equal(setup(&fixture), 0);
        Program p = {.f = fixture, .random = seed};
        IrModule *m = p.f->m;
        IrType params[2] = {ir_scalar(m, IR_I32), ir_scalar(m, IR_I32)};
        IrOp func = ir_new_func(m, str_internz(ir_strings(m), "f"), (Span){0}, params, 2, 1);
        p.b = (IrBuilder){.m = m};
        ir_at_end(&p.b, ir_region_block(m, func, 0));
        add_parameter(&p, 0, 16);
        add_parameter(&p, 1, 1);
        for (int i = 0; i < 6; i++)
            add_leaf(&p);
        while (p.len < VALUES && next_random(&p, 100)) {
            if (next_random(&p, 5))
                add_binary(&p);
            else
                add_compare(&p);
        }
        Axis *x = axis_analyse(p.f->arena, m, func);
        for (uint32_t i = 0; i < p.len; i++) {
            const AxisInfo *a = axis_info(x, p.value[i]);
            if (!claims_hold(a, p.element[i])) {
                StrBuf text;
                strbuf_init(&text, p.f->arena);
                ir_print_op(m, func, &text);
                fail_msg("seed %d value %u (%%%u): %lld %lld %lld\n%s", (int)seed, i, p.value[i],
                         (long long)a->contiguity[0], (long long)a->divisibility[0],
                         (long long)a->constancy[0], text.text);
            }
            useful += i > 8 && (a->contiguity[0] > 1 || a->constancy[0] > 1);
        }
        teardown(&fixture);
    }
    assert_true(useful > PROGRAMS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_arithmetic, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pointers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shapes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_flow, setup, teardown),
        cmocka_unit_test_setup_teardown(test_assume_in_branch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ranges, setup, teardown),
        cmocka_unit_test(test_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
