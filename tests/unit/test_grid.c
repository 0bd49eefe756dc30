/* Grid files: what rows with axes stand for, and what is said about wrong ones. */
#include "driver/grid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Two types, each with its own widest load, and one row of a kernel for them. */
static const char axes[] =
    "{\"schema\": 1, \"op\": \"scale\", \"archs\": [\"sm_80\", \"sm_90a\"],"
    " \"sig\": {\"n\": \"i32\", \"x\": \"*fp64\"},"
    " \"axes\": {"
    "  \"dtype\": ["
    "   {\"name\": \"f32\", \"sig\": {\"x\": \"*fp32\"}, \"legal\": {\"dtype\": \"fp32\"}},"
    "   {\"name\": \"f16\", \"sig\": {\"x\": \"*fp16\"}, \"legal\": {\"dtype\": \"fp16\"},"
    "    \"archs\": [\"sm_90a\"]}],"
    "  \"align\": ["
    "   {\"name\": \"v4\", \"with\": {\"dtype\": [\"f32\"]}, \"const\": {\"GROUP\": 4},"
    "    \"sig\": {\"x\": \":16\", \"n\": \":4\"}, \"legal\": {\"align\": 16}},"
    "   {\"name\": \"v8\", \"with\": {\"dtype\": [\"f16\"]}, \"const\": {\"GROUP\": 8},"
    "    \"sig\": {\"x\": \":16\", \"n\": \":8\"}, \"legal\": {\"align\": 16}},"
    "   {\"name\": \"v1\", \"const\": {\"GROUP\": 1}, \"min_ctas\": 2, \"meant\": {\"align\": [1, "
    "8]}}]},"
    " \"kernels\": [{\"source\": \"s.py\", \"kernel\": \"scale\","
    "  \"axes\": {\"by\": [{\"name\": \"by2\", \"const\": {\"BY\": 2}}]},"
    "  \"variants\": [{\"name\": \"scale__{dtype}__{by}__{align}__w4\","
    "   \"axes\": [\"dtype\", \"by\", \"align\"],"
    "   \"const\": {\"B\": 512}, \"num_warps\": 4, \"legal\": {\"n\": [0, 100]}}]}]}";

static const SemaParam *param(const GridVariant *v, const char *name) {
    for (uint32_t i = 0; i < v->params.len; i++)
        if (!strcmp(v->params.at[i].name, name))
            return &v->params.at[i];
    fail_msg("%s has no parameter %s", v->name, name);
    return NULL;
}

static const char *constant(const GridVariant *v, const char *name) {
    for (uint32_t i = 0; i < v->consts.len; i++)
        if (!strcmp(v->consts.at[i].name, name))
            return v->consts.at[i].value;
    fail_msg("%s has no constant %s", v->name, name);
    return NULL;
}

static void check_variant(const GridVariant *v, const char *name, const char *type, uint32_t fact,
                          const char *group, const char *legal) {
    assert_string_equal(v->name, name);
    assert_string_equal(v->source, "kernels/scale/s.py");
    assert_int_equal(v->params.len, 2);
    assert_string_equal(param(v, "x")->type, type);
    assert_int_equal(param(v, "x")->divisible, fact > 1 ? 16 : 1);
    assert_string_equal(param(v, "n")->type, "i32");
    assert_int_equal(param(v, "n")->divisible, fact);
    assert_int_equal(v->consts.len, 3);
    assert_string_equal(constant(v, "BY"), "2");
    assert_string_equal(constant(v, "GROUP"), group);
    assert_string_equal(constant(v, "B"), "512");
    assert_int_equal(v->min_ctas, fact > 1 ? 0 : 2);
    assert_int_equal(v->num_warps, 4);
    assert_string_equal(v->legal, legal);
    if (fact > 1)
        assert_null(v->meant);
    else
        assert_string_equal(v->meant, "{\"align\":[1,8]}");
}

static void test_product(void **state) {
    Arena *a = arena_new(NULL, NULL);
    Grid g;

    (void)state;
    assert_null(grid_read(a, "kernels/scale/grid.json", axes, strlen(axes), &g));
    assert_string_equal(g.import_root, "kernels");
    assert_int_equal(g.n_variants, 4);
    check_variant(&g.variants[0], "scale__f32__by2__v4__w4", "*fp32", 4, "4",
                  "{\"dtype\":\"fp32\",\"align\":16,\"n\":[0,100]}");
    check_variant(&g.variants[1], "scale__f32__by2__v1__w4", "*fp32", 1, "1",
                  "{\"dtype\":\"fp32\",\"n\":[0,100]}");
    check_variant(&g.variants[2], "scale__f16__by2__v8__w4", "*fp16", 8, "8",
                  "{\"dtype\":\"fp16\",\"align\":16,\"n\":[0,100]}");
    check_variant(&g.variants[3], "scale__f16__by2__v1__w4", "*fp16", 1, "1",
                  "{\"dtype\":\"fp16\",\"n\":[0,100]}");
    assert_true(grid_keep_arch(&g, "sm_80"));
    assert_int_equal(g.n_variants, 2);
    assert_string_equal(g.variants[1].name, "scale__f32__by2__v1__w4");
    arena_free(a);
}

/* The text with the first `from` replaced, which must be there. */
static char *edited(Arena *a, const char *from, const char *to) {
    const char *at = strstr(axes, from);
    StrBuf b;

    if (!at)
        fail_msg("the grid has no %s", from);
    strbuf_init(&b, a);
    strbuf_add(&b, axes, (size_t)(at - axes));
    strbuf_addz(&b, to);
    strbuf_addz(&b, at + strlen(from));
    return b.text;
}

static void test_wrong_axes(void **state) {
    static const struct {
        const char *from, *to, *says;
    } rows[] = {
        {"[\"dtype\", \"by\"", "[\"type\", \"by\"",
         "kernels[0].variants[0].axes names 'type', which neither the kernel nor the grid defines"},
        {"\"by\", \"align\"]", "\"by\", \"by\"]", "kernels[0].variants[0].axes names 'by' twice"},
        {"__{by}__", "__{bye}__",
         "kernels[0].variants[0](f32, by2, v4).name has {bye}, which is no axis of the row"},
        {"{align}__w4", "{align__w4",
         "kernels[0].variants[0](f32, by2, v4).name has {align__w4}, which is no axis of the row"},
        {"__{align}__", "__",
         "kernels[0].variants[0](f32, by2, v1).name 'scale__f32__by2__w4' is used twice"},
        {"{\"B\": 512}", "{\"BY\": 512}",
         "kernels[0].variants[0](f32, by2, v4).const.BY is given twice"},
        {"\"num_warps\": 4", "\"num_warps\": 4, \"min_ctas\": 1",
         "kernels[0].variants[0](f32, by2, v1).min_ctas is given twice"},
        {"\"x\": \":16\"", "\"x\": \"*fp16:16\"",
         "kernels[0].variants[0](f32, by2, v4).sig.x is given twice"},
        {"\"n\": \":4\"", "\"m\": \":4\"",
         "kernels[0].variants[0](f32, by2, v4).sig.m is no text, or a fact about no type"},
        {"\"with\": {\"dtype\": [\"f32\"]}", "\"with\": {\"type\": [\"f32\"]}",
         "kernels[0].variants[0]: v4 goes with 'type', which is no axis of the row or has no list"},
        {"{\"name\": \"by2\"", "{\"title\": \"by2\"",
         "kernels[0].axes.by[0] has the unknown key 'title', expected one of name with const "
         "num_warps min_ctas sig legal meant allow_spills disable_pass disable_strategy archs "},
        {"\"const\": {\"GROUP\": 8}", "\"const\": 8", "the grid.axes.align[1].const is no object"},
        {"\"meant\": {\"align\": [1, 8]}", "\"meant\": 8",
         "the grid.axes.align[2].meant is no object"},
        {"\"meant\": {\"align\": [1, 8]}", "\"meant\": {\"align\": 8}",
         "kernels[0].variants[0](f32, by2, v1).meant.align is no [low, high]"},
        {"\"meant\": {\"align\": [1, 8]}", "\"meant\": {\"aligned\": [1, 8]}",
         "scale__f32__by2__v1__w4.meant.aligned is no fact that a variant's legal limits"},
        {"\"num_warps\": 4", "\"num_warps\": 4, \"meant\": {\"align\": [1, 4]}",
         "kernels[0].variants[0](f32, by2, v1).meant.align is given twice"},
        {"[{\"name\": \"by2\", \"const\": {\"BY\": 2}}]", "[]",
         "kernels[0].axes.by is missing, empty or no array"},
        {"{\"name\": \"by2\",", "{\"name\": \"by2\", \"with\": {\"align\": [\"v2\"]},",
         "kernels[0].variants[0] stands for no variant: no choices go with each other"},
        {"\"num_warps\": 4", "\"num_warps\": 4, \"disable_strategy\": \"sum-scans\"",
         "kernels[0].variants[0](f32, by2, v4).disable_strategy: 'sum-scans' is no strategy, "
         "expected "
         "some of ballot-scan, packed-scan, sum-scan, redux, whole-vectors"},
        {"\"num_warps\": 4", "\"num_warps\": 4, \"disable_pass\": 1",
         "kernels[0].variants[0](f32, by2, v4).disable_pass is missing or no text"},
        {"\"archs\": [\"sm_90a\"]}]", "\"archs\": [\"sm_89\"]}]",
         "kernels[0].variants[0](f16, by2, v8).archs[0] is none of the grid's archs"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Arena *a = arena_new(NULL, NULL);
        const char *text = edited(a, rows[i].from, rows[i].to);
        Grid g;
        const char *why = grid_read(a, "kernels/scale/grid.json", text, strlen(text), &g);

        assert_non_null(why);
        assert_string_equal(why, rows[i].says);
        arena_free(a);
    }
}

static void test_import_root(void **state) {
    static const char *const rows[][2] = {
        {"grid.json", ".."},         {"topk/grid.json", "."},     {"a/topk/grid.json", "a"},
        {"/topk/grid.json", "/"},    {"../grid.json", "../.."},   {"./grid.json", "./.."},
        {"../topk/grid.json", ".."}, {"a//topk//grid.json", "a"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Arena *a = arena_new(NULL, NULL);
        Grid g;

        assert_null(grid_read(a, rows[i][0], axes, strlen(axes), &g));
        assert_string_equal(g.import_root, rows[i][1]);
        arena_free(a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product),
        cmocka_unit_test(test_wrong_axes),
        cmocka_unit_test(test_import_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
